package routes.prompt;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.concurrent.FastThreadLocal;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;
import routes.request.Api;
import routes.request.PrefixLevels;
import routes.request.Prompt;

/**
 * Reads what a prompt's beginning looks like: hashes of all that stands before 1, 2, 4, 8… KB and before the end of the first
 * message by the user, which a conversation's later turns repeat. What counts is the model, then tools, instructions and
 * messages in the order in which a model's template puts them.
 *
 * <p>Of what stands between two deep levels only samples count: another text has another length, or differs in one of them, and
 * a mistake costs a choice that is not the best.
 *
 * <p>A session that the client names, else its {@code prompt_cache_key}, takes the place of the deepest level. Each level's
 * XXH3 is chained to the one before. Equal bytes give equal hashes in every gateway and runtime.
 *
 * <p><b>Threading:</b> one object for each thread. <b>Ownership:</b> borrows the body.
 */
final class Prefix {

    private static final LongHashFunction XX3 = LongHashFunction.xx3();
    private static final long SESSION_SEED = 1;
    private static final long CACHE_KEY_SEED = 2;
    private static final long PREFIX_SEED = 3;
    private static final long SALT_SEED = 4;

    /** The first level's end, in bytes; each further one is twice as deep. */
    private static final int FIRST_LEVEL = 1024;

    /** What is longer counts by {@value #SAMPLES} samples and its length. */
    private static final int LONGEST_WHOLE = 4096;

    private static final int SAMPLES = 4;
    private static final int SAMPLE_BYTES = LONGEST_WHOLE / SAMPLES;

    /** As {@link routes.request.InferenceRequest#promptTokensEstimate} has it. */
    private static final int BYTES_PER_TOKEN = Api.Body.JSON.bytesPerToken();

    private static final FastThreadLocal<Prefix> OF_THREAD = new FastThreadLocal<>() {
        @Override
        protected Prefix initialValue() {
            return new Prefix();
        }
    };

    private final int[] tokens = new int[PrefixLevels.MOST];
    private final long[] hashes = new long[PrefixLevels.MOST];
    private int count;
    private int depth;
    private int nextLevel;
    private long hash;

    private Prefix() {}

    /**
     * The levels of one prompt.
     *
     * @param body the body that {@code prompt} was read from
     * @param session the session that the client named in a header, or null
     */
    static PrefixLevels of(Api api, ByteBuf body, Prompt prompt, @Nullable String session) {
        return OF_THREAD.get().read(api, body, prompt, session);
    }

    /**
     * What the {@code cache_salt} that a client wrote itself adds to its request's levels; 0 when it wrote none.
     *
     * @param body the body that {@code prompt} was read from
     */
    static long ofSalt(ByteBuf body, Prompt prompt) {
        int start = prompt.cacheSaltStart();
        return start < 0 ? 0 : hash(SALT_SEED, body, start, prompt.cacheSaltEnd());
    }

    private PrefixLevels read(Api api, ByteBuf body, Prompt prompt, @Nullable String session) {
        count = 0;
        depth = 0;
        nextLevel = FIRST_LEVEL;
        int earlier = 0;
        if (api.isPrefixed()) {
            hash = hash(PREFIX_SEED, body, prompt.modelStart(), prompt.modelEnd());
            span(body, prompt.toolsStart(), prompt.toolsEnd());
            span(body, prompt.systemStart(), prompt.systemEnd());
            if (prompt.firstUserEnd() >= 0) {
                int before = depth;
                span(body, prompt.messagesStart(), prompt.firstUserEnd());
                if (prompt.lastTurnStart() > prompt.firstUserEnd()) {
                    earlier = (before + prompt.lastTurnStart() - prompt.messagesStart()) / BYTES_PER_TOKEN;
                }
            } else {
                span(body, prompt.promptStart(), prompt.promptEnd());
            }
            if (depth > 0 && (count == 0 || tokens[count - 1] < depth / BYTES_PER_TOKEN)) {
                level();
            }
        }
        explicit(prompt, session);
        return PrefixLevels.of(count, tokens, hashes, body.readableBytes() / BYTES_PER_TOKEN + 1, earlier);
    }

    private void span(ByteBuf body, int start, int end) {
        int at = start;
        while (at >= 0 && at < end) {
            int part = Math.min(end - at, nextLevel - depth);
            sampled(body, at, part);
            at += part;
            depth += part;
            if (depth == nextLevel) {
                level();
                nextLevel = nextLevel > Integer.MAX_VALUE / 2 ? Integer.MAX_VALUE : nextLevel * 2;
            }
        }
    }

    private void sampled(ByteBuf body, int start, int length) {
        if (length <= LONGEST_WHOLE) {
            hash = hash(hash, body, start, start + length);
            return;
        }
        hash += length;
        for (int i = 0; i < SAMPLES; i++) {
            int at = start + (int) ((long) (length - SAMPLE_BYTES) * i / (SAMPLES - 1));
            hash = hash(hash, body, at, at + SAMPLE_BYTES);
        }
    }

    private void level() {
        tokens[count] = depth / BYTES_PER_TOKEN;
        hashes[count] = hash;
        count++;
    }

    private void explicit(Prompt prompt, @Nullable String session) {
        String key = session == null ? prompt.promptCacheKey() : session;
        if (key == null) {
            return;
        }
        if (count == 0) {
            tokens[0] = 0;
            count = 1;
        }
        byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
        hashes[count - 1] = chain(session == null ? CACHE_KEY_SEED : SESSION_SEED, XX3.hashBytes(bytes));
    }

    private static long hash(long before, ByteBuf body, int start, int end) {
        Objects.checkFromToIndex(start, end, body.readableBytes());
        int at = body.readerIndex() + start;
        int length = end - start;
        if (body.hasMemoryAddress()) {
            return chain(before, XX3.hashMemory(body.memoryAddress() + at, length));
        }
        return chain(
                before,
                body.hasArray()
                        ? XX3.hashBytes(body.array(), body.arrayOffset() + at, length)
                        : XX3.hashBytes(ByteBufUtil.getBytes(body, at, length)));
    }

    /** The library derives a table from each seed; mixing the level before into the hash costs a multiplication. */
    private static long chain(long before, long hash) {
        long z = Long.rotateLeft(before, 29) * 0x9e3779b97f4a7c15L ^ hash;
        return (z ^ z >>> 32) * 0xd6e8feb86659fd93L;
    }
}
