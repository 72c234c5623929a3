package routes.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Any stream, any chunking, any split into reads. */
class AnswerRelayPropertyTest {

    private static final int[] SCRATCHES = {1, 7, 64, 1000, 16 * 1024};

    @Property(tries = 1000)
    void everySplitGivesTheSameBytesFactsAndEnd(@ForAll long seed, @ForAll @IntRange(min = 0, max = 12) int size) {
        Random random = new Random(seed);
        RandomStream stream = new RandomStream(random, size, true);
        RelayPlan plan = plan(random, stream.all().length);
        byte[] wire = plan.upstream() == Framing.CHUNKED ? RandomStream.chunked(random, stream.all()) : stream.all();
        try (RelayRun run = new RelayRun(plan, SCRATCHES[random.nextInt(SCRATCHES.length)])) {
            int from = 0;
            RelayState state = wire.length == 0 ? run.read("") : RelayState.MORE;
            List<Integer> reads = RandomStream.reads(random, wire.length);
            for (int to : reads) {
                assertThat(state).isEqualTo(RelayState.MORE);
                state = run.read(wire, from, to);
                if (state == RelayState.MORE && random.nextInt(reads.size()) < 8) {
                    assertNothingDecidedIsHeld(run, plan, stream, received(plan, wire, to));
                }
                from = to;
            }
            if (plan.upstream() == Framing.CLOSE) {
                assertThat(state).isEqualTo(RelayState.MORE);
                state = run.upstreamClosed();
            }
            assertThat(state).isEqualTo(RelayState.END);
            assertThat(run.upstreamClosed()).isEqualTo(RelayState.END);
            assertThat(run.relay.extraBytes()).isFalse();
            assertThat(clientData(plan, run)).isEqualTo(plan.cutUsage() ? stream.withoutUsage() : stream.all());
            if (plan.client() == Framing.CHUNKED) {
                assertThat(ClientBody.of(run.client()).complete()).isTrue();
            }
            if (plan.keepsFraming() && !plan.cutUsage()) {
                assertThat(run.client()).isEqualTo(wire);
            }
            if (plan.upstream() == Framing.CHUNKED && plan.client() == Framing.CHUNKED) {
                assertThat(ClientBody.of(run.client()).trailers())
                        .isEqualTo(ClientBody.of(wire).trailers());
            }
            assertFacts(run.facts, stream);
        }
    }

    @Property(tries = 1000)
    void anAnswerCutOffAnywhereHasNoEnd(@ForAll long seed, @ForAll @IntRange(min = 1, max = 8) int size) {
        Random random = new Random(seed);
        RandomStream stream = new RandomStream(random, size, false);
        RelayPlan plan = plan(random, stream.all().length);
        if (plan.upstream() == Framing.CLOSE) {
            return;
        }
        byte[] wire = plan.upstream() == Framing.CHUNKED ? RandomStream.chunked(random, stream.all()) : stream.all();
        int cut = random.nextInt(wire.length);
        try (RelayRun run = new RelayRun(plan, SCRATCHES[random.nextInt(SCRATCHES.length)])) {
            int from = 0;
            for (int to : RandomStream.reads(random, cut)) {
                assertThat(run.read(wire, from, to)).isEqualTo(RelayState.MORE);
                from = to;
            }
            assertThat(run.upstreamClosed()).isEqualTo(RelayState.MALFORMED);
            assertThat(run.read("more")).isEqualTo(RelayState.MALFORMED);
            byte[] data = received(plan, wire, cut);
            byte[] kept = plan.cutUsage() ? keptOf(stream, data.length, true) : data;
            assertThat(clientData(plan, run)).isEqualTo(kept);
            if (plan.client() == Framing.CHUNKED) {
                assertThat(ClientBody.of(run.client()).complete()).isFalse();
            }
        }
    }

    @Property(tries = 1000)
    void randomDamageToTheFramingNeverLeaksOrThrows(@ForAll long seed) {
        Random random = new Random(seed);
        RandomStream stream = new RandomStream(random, 4, true);
        RelayPlan plan = new RelayPlan(Framing.CHUNKED, -1, Framing.CHUNKED, Content.SSE, random.nextBoolean());
        byte[] wire = RandomStream.chunked(random, stream.all());
        for (int i = random.nextInt(4); i >= 0; i--) {
            wire[random.nextInt(wire.length)] = (byte) random.nextInt(256);
        }
        try (RelayRun run = new RelayRun(plan, SCRATCHES[random.nextInt(SCRATCHES.length)])) {
            int from = 0;
            for (int to : RandomStream.reads(random, wire.length)) {
                run.read(wire, from, to);
                from = to;
            }
            RelayState last = run.upstreamClosed();
            if (!plan.cutUsage()) {
                assertThat(Arrays.copyOf(wire, run.client().length)).isEqualTo(run.client());
            }
            if (last == RelayState.MALFORMED && plan.cutUsage()) {
                assertThat(ClientBody.of(run.client()).complete()).isFalse();
            }
        }
    }

    private static RelayPlan plan(Random random, int length) {
        return switch (random.nextInt(10)) {
            case 0 -> new RelayPlan(Framing.LENGTH, length, Framing.LENGTH, Content.SSE, false);
            case 1 -> new RelayPlan(Framing.LENGTH, length, Framing.CHUNKED, Content.SSE, random.nextBoolean());
            case 2 -> new RelayPlan(Framing.LENGTH, length, Framing.CLOSE, Content.SSE, random.nextBoolean());
            case 3 -> new RelayPlan(Framing.CLOSE, -1, Framing.CHUNKED, Content.SSE, random.nextBoolean());
            case 4 -> new RelayPlan(Framing.CLOSE, -1, Framing.CLOSE, Content.SSE, random.nextBoolean());
            case 5 -> new RelayPlan(Framing.CHUNKED, -1, Framing.CLOSE, Content.SSE, random.nextBoolean());
            case 6 -> RelayRun.chunked(Content.SSE, false);
            default -> RelayRun.chunked(Content.SSE, true);
        };
    }

    private static byte[] received(RelayPlan plan, byte[] wire, int to) {
        byte[] part = Arrays.copyOf(wire, to);
        return plan.upstream() == Framing.CHUNKED ? ClientBody.of(part).data() : part;
    }

    private static byte[] clientData(RelayPlan plan, RelayRun run) {
        return plan.client() == Framing.CHUNKED ? ClientBody.of(run.client()).data() : run.client();
    }

    private static void assertNothingDecidedIsHeld(RelayRun run, RelayPlan plan, RandomStream stream, byte[] data) {
        byte[] client = clientData(plan, run);
        if (!plan.cutUsage()) {
            assertThat(client).isEqualTo(data);
        } else {
            assertThat(client.length).isGreaterThanOrEqualTo(keptOf(stream, data.length, false).length);
        }
    }

    /** What is left of the first bytes without usage-only events, with or without a block that is not whole. */
    private static byte[] keptOf(RandomStream stream, int length, boolean partial) {
        ByteArrayOutputStream kept = new ByteArrayOutputStream();
        int left = length;
        for (RandomStream.Block block : stream.blocks) {
            if (left < block.bytes().length) {
                if (partial && !endsButForItsLineFeed(block, left)) {
                    kept.write(block.bytes(), 0, left);
                }
                break;
            }
            left -= block.bytes().length;
            if (!block.usageOnly()) {
                kept.writeBytes(block.bytes());
            }
        }
        return kept.toByteArray();
    }

    /** The CR of a last CRLF ends a block already; the LF goes with it. */
    private static boolean endsButForItsLineFeed(RandomStream.Block block, int have) {
        byte[] bytes = block.bytes();
        return block.usageOnly()
                && have == bytes.length - 1
                && have > 1
                && bytes[have] == '\n'
                && bytes[have - 1] == '\r'
                && (bytes[have - 2] == '\n' || bytes[have - 2] == '\r');
    }

    private static void assertFacts(AnswerFacts facts, RandomStream stream) {
        List<Object> seen = Arrays.asList(
                facts.promptTokens(),
                facts.completionTokens(),
                facts.totalTokens(),
                facts.cachedTokens(),
                facts.events(),
                facts.firstToken(),
                facts.finishReason(),
                facts.sawDone(),
                facts.errorSeen(),
                facts.usageOnlySeen(),
                facts.runningUsage());
        assertThat(seen)
                .containsExactly(
                        stream.prompt,
                        stream.completion,
                        stream.total,
                        stream.cached,
                        stream.events,
                        stream.events > 0,
                        stream.reason,
                        stream.done,
                        stream.error,
                        stream.usageOnly,
                        stream.running);
        assertThat(facts.reasoningTokens()).isEqualTo(-1);
    }
}
