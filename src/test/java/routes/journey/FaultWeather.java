package routes.journey;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What befalls the replicas: each 300 to 1500 ms something, one after the other until all has happened and then anew, and it
 * passes after a while. One replica is spared, but for short outages of all.
 *
 * <p><b>Threading:</b> one thread.
 */
final class FaultWeather {

    private static final int OUTAGE_EVERY = 12;

    private interface Change {
        void happen() throws IOException;
    }

    private record Event(long atNanos, Change change) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return Long.compare(atNanos - other.atNanos, 0);
        }
    }

    private final List<FaultyReplica> replicas;
    private final Random random;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final List<Fault> coming = new ArrayList<>();
    private final Map<Fault, Integer> times = new EnumMap<>(Fault.class);
    private int outages;
    private int until = OUTAGE_EVERY;
    private boolean ends;

    FaultWeather(List<FaultyReplica> replicas, long seed) {
        this.replicas = replicas;
        this.random = new Random(seed);
    }

    /** Lets things happen for so long, and all of them pass. */
    void blow(Duration duration) throws IOException {
        long now = System.nanoTime();
        events.add(new Event(now + duration.toNanos(), () -> ends = true));
        events.add(new Event(now, this::next));
        while (!events.isEmpty()) {
            Event event = events.remove();
            while (event.atNanos() - System.nanoTime() > 0) {
                LockSupport.parkNanos(event.atNanos() - System.nanoTime());
            }
            event.change().happen();
        }
    }

    /** How often each fault has come. */
    Map<Fault, Integer> times() {
        return times;
    }

    /** How often all replicas were gone at once. */
    int outages() {
        return outages;
    }

    private void next() throws IOException {
        if (ends) {
            return;
        }
        List<FaultyReplica> well = new ArrayList<>(
                replicas.stream().filter(each -> each.fault() == Fault.NONE).toList());
        Collections.shuffle(well, random);
        if (until-- == 0) {
            until = OUTAGE_EVERY;
            outages++;
            Fault fault = random.nextBoolean() ? Fault.KILLED : Fault.LOADING;
            int millis = 300 + random.nextInt(600);
            for (FaultyReplica each : well) {
                begin(each, fault, millis);
            }
        } else if (well.size() > 1) {
            begin(well.get(0), nextFault(), 600 + random.nextInt(2000));
        }
        in(300 + random.nextInt(1200), this::next);
    }

    private Fault nextFault() {
        if (coming.isEmpty()) {
            coming.addAll(Arrays.asList(Fault.values()));
            coming.remove(Fault.NONE);
            Collections.shuffle(coming, random);
        }
        return coming.remove(coming.size() - 1);
    }

    private void begin(FaultyReplica replica, Fault fault, int millis) throws IOException {
        replica.begin(fault);
        times.merge(fault, 1, Integer::sum);
        if (fault == Fault.FLAPPING) {
            for (int i = 1; i <= 5; i++) {
                in(500 * i, replica::flip);
            }
            in(3000, replica::end);
        } else {
            in(millis, replica::end);
        }
    }

    private void in(int millis, Change change) {
        events.add(new Event(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis), change));
    }
}
