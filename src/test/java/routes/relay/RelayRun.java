package routes.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A relay with a client that remembers, and an allocator that counts. */
final class RelayRun implements AutoCloseable {

    final AnswerFacts facts = new AnswerFacts();
    final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false, true);
    final AnswerRelay relay;
    final List<ByteBuf> handedOn = new ArrayList<>();
    private final ByteArrayOutputStream client = new ByteArrayOutputStream();

    RelayRun(RelayPlan plan, int scratch) {
        relay = new AnswerRelay(plan, facts, allocator, new byte[scratch]);
    }

    RelayRun(RelayPlan plan) {
        this(plan, 16 * 1024);
    }

    static RelayPlan chunked(Content content, boolean cut) {
        return new RelayPlan(Framing.CHUNKED, -1, Framing.CHUNKED, content, cut);
    }

    RelayState read(String bytes) {
        return read(bytes(bytes));
    }

    RelayState read(byte[] bytes) {
        return read(bytes, 0, bytes.length);
    }

    RelayState read(byte[] bytes, int from, int to) {
        return relay.relay(allocator.buffer(Math.max(1, to - from)).writeBytes(bytes, from, to - from), this::take);
    }

    boolean end(String event) {
        return relay.endWith(bytes(event), this::take);
    }

    RelayState upstreamClosed() {
        return relay.upstreamClosed(this::take);
    }

    byte[] client() {
        return client.toByteArray();
    }

    String clientText() {
        return client.toString(StandardCharsets.ISO_8859_1);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    static String chunk(String data) {
        return Integer.toHexString(data.length()) + "\r\n" + data + "\r\n";
    }

    private void take(ByteBuf owned) {
        assertThat(owned.refCnt()).isPositive();
        byte[] copy = new byte[owned.readableBytes()];
        owned.getBytes(owned.readerIndex(), copy);
        client.writeBytes(copy);
        handedOn.add(owned);
    }

    @Override
    public void close() {
        relay.release();
        relay.release();
        handedOn.forEach(ByteBuf::release);
        assertThat(handedOn).allSatisfy(buffer -> assertThat(buffer.refCnt()).isZero());
        assertThat(allocator.metric().usedHeapMemory())
                .as("heap bytes not released")
                .isZero();
        assertThat(allocator.metric().usedDirectMemory())
                .as("direct bytes not released")
                .isZero();
    }
}
