package routes.simulation;

import java.util.Random;

/** Log-normal numbers between bounds. @param mean before the bounds cut @param spread sigma of the logarithm */
record Lengths(double mean, double spread, double least, double most) {

    double draw(Random random) {
        double value = mean * StrictMath.exp(spread * random.nextGaussian() - spread * spread / 2);
        return Math.max(least, Math.min(most, value));
    }

    int tokens(Random random) {
        return (int) draw(random);
    }

    /** How often until it ends, at least once. */
    static int geometric(Random random, double mean, int most) {
        int count = 1;
        while (count < most && random.nextDouble() > 1 / mean) {
            count++;
        }
        return count;
    }

    static double exponential(Random random, double mean) {
        return -mean * StrictMath.log(1 - random.nextDouble());
    }
}
