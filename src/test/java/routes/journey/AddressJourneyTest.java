package routes.journey;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.DnsServer;
import routes.fixture.FakeCluster;
import routes.fixture.FakeReplica;
import routes.fixture.Payloads;
import routes.fixture.RawClient;
import routes.fixture.RawResponse;
import routes.fixture.Requests;
import routes.fixture.Scripts;
import routes.replica.Replica;
import routes.replica.Replicas;

/** Replicas behind names and services: what clients see when addresses move, come, go, or can't be looked up. */
class AddressJourneyTest {

    private static final String NAME = "gpu.test";
    private static final String FIRST = "127.0.0.1";
    private static final String SECOND = "127.0.0.2";

    /** A request that waited for a look-up would take as long as a query may, which is 2 s. */
    private static final Duration AT_ONCE = Duration.ofMillis(1_500);

    private DnsServer names;
    private FakeReplica one;
    private FakeReplica two;

    @BeforeEach
    void start() throws IOException {
        names = DnsServer.start();
        startReplicas();
    }

    /** Both at one port of different addresses. */
    private void startReplicas() throws IOException {
        for (int tries = 0; two == null; tries++) {
            one = FakeReplica.startAt(FIRST, 0);
            try {
                two = FakeReplica.startAt(SECOND, one.port());
            } catch (BindException e) {
                one.close();
                assertThat(tries)
                        .as("ports that are taken at the other address")
                        .isLessThan(20);
            }
        }
    }

    @AfterEach
    void stop() throws IOException {
        names.close();
        one.close();
        two.close();
        assertThat(one.errors()).isEmpty();
        assertThat(two.errors()).isEmpty();
    }

    private TestGateway.Builder builder() {
        return TestGateway.builder()
                .property("gateway.dns.servers", names.address())
                .property("gateway.dns.min-ttl", "50ms")
                .property("gateway.event-loops", 1);
    }

    private String replica(String options) {
        return "http://" + NAME + ":" + one.port() + options;
    }

    private static Requests request(boolean stream) {
        return Requests.chat("m1", stream).key(TestGateway.KEY);
    }

    private static void askWell(TestGateway gateway) throws IOException {
        try (RawClient client = RawClient.connect(gateway.port())) {
            RawResponse answer = client.exchange(request(false));
            assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        }
    }

    /** Constant traffic until the replica was asked so many times; every request is answered. */
    private static void askUntilAsked(TestGateway gateway, FakeReplica replica, int count) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (replica.requests().size() < count) {
            askWell(gateway);
            assertThat(System.nanoTime() - deadline).as("time left").isNegative();
        }
    }

    private static RawResponse beginStream(RawClient client) throws IOException {
        RawResponse answer = client.send(request(true)).begin();
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.until("\"A\"")).isTrue();
        return answer;
    }

    private static void assertEndsWell(RawResponse stream) throws IOException {
        assertThat(stream.finish().end()).contains(RawResponse.End.CLEAN);
        assertThat(stream.text()).endsWith(Payloads.EVENT_DONE);
    }

    private static void hold(FakeReplica replica, CountDownLatch latch) {
        List<String> stream = Payloads.STREAM_WITHOUT_USAGE;
        replica.answering(Scripts.sequence(
                Scripts.held(latch, stream.subList(0, 1), stream.subList(1, stream.size())), Scripts.normal()));
    }

    // ---- one replica, wherever its name leads

    @Test
    void aNameThatMovesTakesNewRequestsAlongAndLeavesStreamsWhereTheyAre() throws Exception {
        names.answers(NAME, 1, FIRST);
        CountDownLatch latch = new CountDownLatch(1);
        hold(one, latch);
        try (TestGateway gateway = builder().model("m1", replica("")).start();
                RawClient client = RawClient.connect(gateway.port())) {
            RawResponse stream = beginStream(client);
            askUntilAsked(gateway, one, 3);
            names.answers(NAME, 1, SECOND);
            askUntilAsked(gateway, two, 1);
            int before = one.requests().size();
            askUntilAsked(gateway, two, 20);
            assertThat(one.requests()).hasSize(before);
            latch.countDown();
            assertEndsWell(stream);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whileNamesCannotBeLookedUpNobodyWaits(boolean silent) throws Exception {
        names.answers(NAME, 0, FIRST);
        try (LogCapture log = LogCapture.at(Level.INFO);
                TestGateway gateway = builder()
                        .model("m1", replica(""))
                        // every request needs a connection
                        .property("gateway.pool-idle-timeout", "1ms")
                        .start();
                Stacks stacks = Stacks.ofThreads("gateway-loop")) {
            askWell(gateway);
            if (silent) {
                names.silent();
            } else {
                names.fails();
            }
            names.awaitMoreQueries(1);
            for (int i = 0; i < 50; i++) {
                long began = System.nanoTime();
                askWell(gateway);
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(AT_ONCE);
            }
            names.awaitMoreQueries(2);
            askWell(gateway);
            assertThat(stacks.frames()).isNotEmpty().noneMatch(AddressJourneyTest::looksUp);

            names.well().answers(NAME, 0, SECOND);
            askUntilAsked(gateway, two, 1);
            TestGateway.await(
                    () -> log.lines().stream().anyMatch(line -> line.contains("is followed again")),
                    "the word that the name is followed again");
            assertThat(log.lines().stream().filter(line -> line.contains(NAME) && line.contains("can't be followed")))
                    .hasSize(1)
                    .allMatch(line -> line.startsWith("WARN") && line.contains("its last addresses stay in use"));
            assertThat(log.lines().stream().filter(line -> line.contains(NAME) && line.contains("is followed again")))
                    .hasSize(1);
        }
    }

    private static boolean looksUp(StackTraceElement frame) {
        boolean jdk = frame.getClassName().startsWith("java.net.Inet");
        return jdk
                && (frame.getMethodName().startsWith("lookup")
                        || frame.getMethodName().startsWith("getAllByName"));
    }

    @Test
    void aNameThatIsUnknownAtTheStartIsFoundLater() throws Exception {
        try (TestGateway gateway =
                builder().modelWith("queueTimeout: 100ms", "m1", replica("")).start()) {
            try (RawClient client = RawClient.connect(gateway.port())) {
                RawResponse answer = client.exchange(request(false));
                assertThat(answer.status()).as("%s", answer).isEqualTo(503);
                assertThat(answer.text()).doesNotContain(NAME);
            }
            int before = names.queries().size();
            names.answers(NAME, 1, FIRST);
            TestGateway.await(
                    () -> names.queries().size() > before
                            && gateway.bean(Replicas.class).all().stream().allMatch(Replica::isUp),
                    "the address");
            askWell(gateway);
            assertThat(one.requests()).hasSize(1);
        }
    }

    // ---- a replica for each address

    @Test
    void addressesThatComeTakeThoseWhoWait() throws Exception {
        names.answers(NAME, 0, FIRST);
        CountDownLatch latch = new CountDownLatch(1);
        hold(one, latch);
        try (TestGateway gateway =
                        builder().model("m1", replica("?resolve=all&slots=1")).start();
                RawClient client = RawClient.connect(gateway.port())) {
            RawResponse stream = beginStream(client);
            CompletableFuture<Void> waiting = inBackground(() -> askWell(gateway));
            TestGateway.await(() -> gateway.queued() == 1, "a request in the queue");
            names.answers(NAME, 0, FIRST, SECOND);
            waiting.get(10, TimeUnit.SECONDS);
            assertThat(two.requests()).hasSize(1);
            latch.countDown();
            assertEndsWell(stream);
        }
    }

    @Test
    void addressesThatGoTakeNoNewRequestsAndKeepTheirStreams() throws Exception {
        names.answers(NAME, 0, FIRST, SECOND);
        CountDownLatch latch = new CountDownLatch(1);
        hold(one, latch);
        hold(two, latch);
        try (TestGateway gateway =
                        builder().model("m1", replica("?resolve=all&slots=1")).start();
                RawClient first = RawClient.connect(gateway.port());
                RawClient second = RawClient.connect(gateway.port())) {
            // one slot each: one stream on each
            RawResponse a = beginStream(first);
            RawResponse b = beginStream(second);
            assertThat(one.requests()).hasSize(1);
            assertThat(two.requests()).hasSize(1);
            names.answers(NAME, 0, SECOND);
            awaitReplicas(gateway, SECOND);
            latch.countDown();
            assertEndsWell(a);
            assertEndsWell(b);
            for (int i = 0; i < 10; i++) {
                askWell(gateway);
            }
            assertThat(one.requests()).hasSize(1);
            assertThat(two.requests()).hasSize(11);
        }
    }

    private static void awaitReplicas(TestGateway gateway, String... hosts) {
        TestGateway.await(
                () -> gateway.bean(Replicas.class).all().stream()
                        .map(replica -> replica.address().host())
                        .sorted()
                        .toList()
                        .equals(List.of(hosts)),
                "the replicas " + List.of(hosts));
    }

    // ---- the pods of a service

    @Test
    void podsOfAServiceTakeRequestsWhileTheyAreReadyAndFinishWhatTheyHave() throws Exception {
        try (FakeCluster cluster = FakeCluster.start()) {
            put(cluster, FakeCluster.ready(FIRST), FakeCluster.unready(SECOND));
            CountDownLatch latch = new CountDownLatch(1);
            hold(one, latch);
            try (TestGateway gateway =
                            builder().model("m1", "k8s://ml/vllm:" + one.port()).start();
                    RawClient client = RawClient.connect(gateway.port())) {
                RawResponse stream = beginStream(client);
                askUntilAsked(gateway, one, 5);
                assertThat(two.requests()).isEmpty();

                put(cluster, FakeCluster.terminating(FIRST), FakeCluster.ready(SECOND));
                askUntilAsked(gateway, two, 1);
                TestGateway.await(() -> !isUp(gateway, FIRST), "the pod that stops");
                int before = one.requests().size();
                askUntilAsked(gateway, two, 10);
                assertThat(one.requests()).hasSize(before);

                put(cluster, FakeCluster.ready(SECOND));
                awaitReplicas(gateway, SECOND);
                latch.countDown();
                assertEndsWell(stream);
                askWell(gateway);
                assertThat(one.requests()).hasSize(before);
            }
        }
    }

    private void put(FakeCluster cluster, Endpoint... pods) {
        cluster.slice("ml", "vllm", "vllm-a", one.port(), pods);
    }

    private static boolean isUp(TestGateway gateway, String host) {
        return gateway.bean(Replicas.class).all().stream()
                .anyMatch(replica -> replica.address().host().equals(host) && replica.isUp());
    }

    // ---- around them

    private interface Work {
        void run() throws IOException;
    }

    private static CompletableFuture<Void> inBackground(Work work) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                work.run();
                done.complete(null);
            } catch (IOException | RuntimeException | AssertionError e) {
                done.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return done;
    }

    /** What the threads with such names were doing each few milliseconds while it was open. */
    private static final class Stacks implements AutoCloseable {

        private final List<StackTraceElement> frames = new ArrayList<>();
        private final CountDownLatch closed = new CountDownLatch(1);

        private Stacks(String prefix) {
            Thread sampler = new Thread(() -> sample(prefix));
            sampler.setDaemon(true);
            sampler.start();
        }

        static Stacks ofThreads(String prefix) {
            return new Stacks(prefix);
        }

        private void sample(String prefix) {
            try {
                do {
                    Thread.getAllStackTraces().forEach((thread, stack) -> {
                        if (thread.getName().startsWith(prefix)) {
                            add(stack);
                        }
                    });
                } while (!closed.await(5, TimeUnit.MILLISECONDS));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private synchronized void add(StackTraceElement[] stack) {
            Stream.of(stack).forEach(frames::add);
        }

        synchronized List<StackTraceElement> frames() {
            return List.copyOf(frames);
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }
}
