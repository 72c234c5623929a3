/* Times in nanoseconds and their quantiles. */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { SAMPLES_MAX = 1 << 21 };

/* When the array is full, later times are left out. */
struct samples {
    uint32_t *nanos;
    size_t count;
};

/* Returns an empty set, with a NULL array when there is no memory. */
static inline struct samples make_samples(void) {
    struct samples s = {.nanos = malloc(SAMPLES_MAX * sizeof(uint32_t))};
    return s;
}

static inline void sample(struct samples *s, int64_t nanos) {
    if (s->count < SAMPLES_MAX) {
        s->nanos[s->count++] = nanos > UINT32_MAX ? UINT32_MAX : (uint32_t)nanos;
    }
}

static inline int by_value(const void *left, const void *right) {
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    return (l > r) - (l < r);
}

static inline void sort_samples(struct samples *s) {
    qsort(s->nanos, s->count, sizeof s->nanos[0], by_value);
}

/* Returns the value below which the given part of the sorted samples lies, in µs. */
static inline double quantile(const struct samples *s, double part) {
    return s->count == 0 ? 0 : s->nanos[(size_t)(part * (double)(s->count - 1))] / 1e3;
}

#endif
