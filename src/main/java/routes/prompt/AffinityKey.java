package routes.prompt;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;
import routes.request.Prompt;

/**
 * The number that brings requests with a common beginning to the same replica, where the beginning is cached.
 *
 * <p>It is the session that the client names, else its {@code prompt_cache_key}, else the part of the prompt that a
 * conversation's later turns repeat: model, tools, and the messages up to the end of the first one by the user (of a
 * long one both ends). Each
 * level's XXH3 is chained to the level before, so that equal prefixes of levels give equal prefixes of hashes. A cache
 * salt, which is known only later, is mixed in by the request.
 * Equal bytes give equal keys in every gateway and runtime.
 */
public final class AffinityKey {

    /** Bytes of a prompt without messages that count. */
    private static final int PROMPT_BYTES = 4096;

    /** Bytes at each end of a long span that count. */
    private static final int END_BYTES = 2048;

    private static final LongHashFunction XX3 = LongHashFunction.xx3();
    private static final long SESSION_SEED = 1;
    private static final long CACHE_KEY_SEED = 2;
    private static final long PREFIX_SEED = 3;
    private static final long SALT_SEED = 4;

    private AffinityKey() {}

    /**
     * The key of one request.
     *
     * @param body the body that {@code prompt} was read from; borrowed
     * @param session the session that the client named in a header, or null
     */
    public static long of(ByteBuf body, Prompt prompt, @Nullable String session) {
        if (session != null) {
            return hash(SESSION_SEED, session);
        }
        String cacheKey = prompt.promptCacheKey();
        if (cacheKey != null) {
            return hash(CACHE_KEY_SEED, cacheKey);
        }
        long key = hash(PREFIX_SEED, body, prompt.modelStart(), prompt.modelEnd());
        if (prompt.toolsStart() >= 0) {
            key = hash(key, body, prompt.toolsStart(), prompt.toolsEnd());
        }
        if (prompt.firstUserEnd() >= 0) {
            return ends(key, body, prompt.messagesStart(), prompt.firstUserEnd());
        }
        int start = prompt.promptStart();
        return start < 0 ? key : hash(key, body, start, Math.min(prompt.promptEnd(), start + PROMPT_BYTES));
    }

    /**
     * What the {@code cache_salt} that a client wrote itself adds to its request's key; 0 when it wrote none.
     *
     * @param body the body that {@code prompt} was read from; borrowed
     */
    public static long ofSalt(ByteBuf body, Prompt prompt) {
        int start = prompt.cacheSaltStart();
        return start < 0 ? 0 : hash(SALT_SEED, body, start, prompt.cacheSaltEnd());
    }

    /** A long span counts by its first and last bytes and its length: enough to tell prompts apart, whatever they weigh. */
    private static long ends(long seed, ByteBuf body, int start, int end) {
        if (end - start <= 2 * END_BYTES) {
            return hash(seed, body, start, end);
        }
        long first = hash(seed, body, start, start + END_BYTES);
        return hash(first + end - start, body, end - END_BYTES, end);
    }

    private static long hash(long seed, String text) {
        return chain(seed, XX3.hashBytes(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static long hash(long seed, ByteBuf body, int start, int end) {
        Objects.checkFromToIndex(start, end, body.readableBytes());
        int at = body.readerIndex() + start;
        int length = end - start;
        if (body.hasMemoryAddress()) {
            return chain(seed, XX3.hashMemory(body.memoryAddress() + at, length));
        }
        return chain(
                seed,
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
