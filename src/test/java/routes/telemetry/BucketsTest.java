package routes.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BucketsTest {

    @Test
    void aValueOnABoundaryBelongsBelowItAndOneAboveAllHasItsPlace() {
        Buckets buckets = new Buckets(new long[] {10, 20});

        for (long value : new long[] {0, 10, 11, 20, 21, 1000}) {
            buckets.record(value);
        }

        assertThat(buckets.counts()).containsExactly(2, 2, 2);
        assertThat(buckets.sum()).isEqualTo(1062);
    }

    @Property(tries = 200)
    void everyValueIsCountedOnceInTheFirstBucketThatHoldsIt(
            @ForAll @LongRange(max = 100_000_000_000L) long value, @ForAll Scale scale) {
        Buckets buckets = scale.buckets();

        buckets.record(value);

        long[] counts = buckets.counts();
        assertThat(LongStream.of(counts).sum()).isEqualTo(1);
        int bucket = 0;
        while (counts[bucket] == 0) {
            bucket++;
        }
        double shown = value / scale.unit();
        assertThat(shown).isLessThanOrEqualTo(scale.shown()[bucket]);
        assertThat(bucket == 0 || shown > scale.shown()[bucket - 1]).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void boundariesAscendToInfinity(Scale scale) {
        assertThat(scale.shown()).isSorted().doesNotHaveDuplicates().endsWith(Double.POSITIVE_INFINITY);
        assertThat(scale.buckets().counts()).hasSameSizeAs(scale.shown());
    }
}
