package routes.telemetry;

import java.util.stream.DoubleStream;

/**
 * The boundaries of a kind of histogram, as metrics show them and as they are compared with what is measured.
 *
 * <p>Those of {@code gen_ai.*} are the boundaries that OpenTelemetry's semantic conventions for generative AI recommend, and
 * further ones above them where the gateway's own time-outs let a request take longer.
 */
enum Scale {
    FIRST_TOKEN(
            1e9, 0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 30.0,
            60.0),
    OUTPUT_TOKEN(1e9, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5),
    DURATION(
            1e9, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68,
            655.36),
    TOKENS(1, 1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864),
    QUEUE_WAIT(1e9, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0);

    private final double unit;
    private final double[] shown;
    private final long[] measured;

    /** @param unit how much of what is measured makes one of what is shown: nanoseconds for seconds */
    Scale(double unit, double... shown) {
        this.unit = unit;
        this.shown = shown;
        this.measured = DoubleStream.of(shown)
                .mapToLong(each -> Math.round(each * unit))
                .toArray();
    }

    Buckets buckets() {
        return new Buckets(measured);
    }

    double unit() {
        return unit;
    }

    /** The boundaries and the one above all of them. */
    double[] shown() {
        double[] all = new double[shown.length + 1];
        System.arraycopy(shown, 0, all, 0, shown.length);
        all[shown.length] = Double.POSITIVE_INFINITY;
        return all;
    }
}
