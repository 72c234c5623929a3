package routes.request;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What one attempt changes in the client's body: byte splices in the order of their offsets. The body itself is never
 * changed, so that the next attempt can send it with other edits.
 *
 * <p>Usage is switched on for streams only: on any other request a replica refuses {@code stream_options}. Other members
 * of the client's options stay.
 *
 * <p><b>Threading</b>: not changed once made. <b>Ownership</b>: the arrays that {@link #inserted} returns are shared; do not write to
 * them.
 */
public final class Edits {

    private static final byte[] OPTIONS_MEMBER = ascii("\"stream_options\":{\"include_usage\":true},");
    private static final byte[] OPTIONS_VALUE = ascii("{\"include_usage\":true}");
    private static final byte[] ONLY_MEMBER = ascii("\"include_usage\":true");
    private static final byte[] FIRST_MEMBER = ascii("\"include_usage\":true,");
    private static final byte[] TRUE = ascii("true");

    private static final Edits NONE = new Edits(null, false);

    private final @Nullable Splice first;
    private final boolean injects;

    private Edits(@Nullable Splice first, boolean injects) {
        this.first = first;
        this.injects = injects;
    }

    /** The body as it came. */
    public static Edits none() {
        return NONE;
    }

    /** As {@link #of(Prompt, boolean, String, CacheSalt)}, without a salt. */
    public static Edits of(Prompt prompt, boolean injectUsage, @Nullable String upstreamModel) {
        return of(prompt, injectUsage, upstreamModel, null);
    }

    /**
     * The edits for one attempt.
     *
     * @param injectUsage whether the replica should report usage at the end of a stream
     * @param upstreamModel the name under which the replica knows the model, or null to keep the client's
     * @param salt stands in for the client's own; null to keep that
     */
    public static Edits of(
            Prompt prompt, boolean injectUsage, @Nullable String upstreamModel, @Nullable CacheSalt salt) {
        Splice usage = injectUsage && prompt.stream() ? usage(prompt) : null;
        Splice all = usage;
        if (upstreamModel != null && !upstreamModel.equals(prompt.model())) {
            byte[] name = prompt.form() ? upstreamModel.getBytes(StandardCharsets.UTF_8) : quoted(upstreamModel);
            all = with(all, replacing(prompt.modelStart(), prompt.modelEnd(), name));
        }
        if (salt != null) {
            all = with(
                    all,
                    prompt.cacheSaltStart() < 0
                            ? new Splice(prompt.insertAt(), 0, salt.member())
                            : replacing(prompt.cacheSaltStart(), prompt.cacheSaltEnd(), salt.value()));
        }
        return all == null ? NONE : new Edits(all, usage != null);
    }

    /** How many splices there are, 0 to 3. */
    public int count() {
        int count = 0;
        for (Splice splice = first; splice != null; splice = splice.next) {
            count++;
        }
        return count;
    }

    /** Offset of splice {@code i} in the original body, bytes. */
    public int at(int i) {
        return splice(i).at;
    }

    /** How many bytes of the original body splice {@code i} takes out, from its offset. */
    public int removed(int i) {
        return splice(i).removed;
    }

    /** The bytes that splice {@code i} puts in at its offset. */
    public byte[] inserted(int i) {
        return splice(i).inserted;
    }

    /** Length of the edited body minus that of the original, bytes. */
    public int delta() {
        int delta = 0;
        for (Splice splice = first; splice != null; splice = splice.next) {
            delta += splice.inserted.length - splice.removed;
        }
        return delta;
    }

    /** Whether it is the gateway that asks for usage, not the client. */
    public boolean injects() {
        return injects;
    }

    /**
     * Appends the edited body to {@code out}.
     *
     * <p><b>Ownership</b>: borrows both; the indices of {@code body} stay.
     */
    public void writeTo(ByteBuf body, ByteBuf out) {
        int base = body.readerIndex();
        int length = body.readableBytes();
        out.ensureWritable(length + delta());
        int from = 0;
        for (Splice splice = first; splice != null; splice = splice.next) {
            out.writeBytes(body, base + from, splice.at - from);
            out.writeBytes(splice.inserted);
            from = splice.at + splice.removed;
        }
        out.writeBytes(body, base + from, length - from);
    }

    private static @Nullable Splice usage(Prompt prompt) {
        return switch (prompt.streamOptions()) {
            case ABSENT -> new Splice(prompt.insertAt(), 0, OPTIONS_MEMBER);
            case NULL -> replacing(prompt.streamOptionsStart(), prompt.streamOptionsEnd(), OPTIONS_VALUE);
            case OBJECT -> {
                if (prompt.usageAsked()) {
                    yield null;
                }
                if (prompt.includeUsageStart() >= 0) {
                    yield replacing(prompt.includeUsageStart(), prompt.includeUsageEnd(), TRUE);
                }
                byte[] member = prompt.streamOptionsEmpty() ? ONLY_MEMBER : FIRST_MEMBER;
                yield new Splice(prompt.streamOptionsStart() + 1, 0, member);
            }
            case OTHER -> null;
        };
    }

    private static Splice replacing(int start, int end, byte[] inserted) {
        return new Splice(start, end - start, inserted);
    }

    private static byte[] quoted(String name) {
        StringBuilder json = new StringBuilder(name.length() + 2).append('"');
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private Splice splice(int i) {
        Splice splice = first;
        for (int before = 0; splice != null && before < i; before++) {
            splice = splice.next;
        }
        if (splice == null || i < 0) {
            throw new IndexOutOfBoundsException("splice " + i + " (expected: 0 to " + (count() - 1) + ")");
        }
        return splice;
    }

    /** Puts a splice where its offset belongs, behind others at the same place. */
    private static Splice with(@Nullable Splice chain, Splice added) {
        if (chain == null || added.at < chain.at) {
            added.next = chain;
            return added;
        }
        chain.next = with(chain.next, added);
        return chain;
    }

    /** One change, and the one that follows it in the body: a chain costs no more than its links. */
    private static final class Splice {

        private final int at;
        private final int removed;
        private final byte[] inserted;
        /** Set while the chain is built. */
        private @Nullable Splice next;

        Splice(int at, int removed, byte[] inserted) {
            this.at = at;
            this.removed = removed;
            this.inserted = inserted;
        }
    }
}
