/*
 * An HTTP/1.1 answer, read piece by piece as the load programs receive it.
 *
 * It follows Content-Length and chunked framing, counts server-sent events (blocks that end with an empty line,
 * "[DONE]" included) and says when the answer is complete. A proxy may frame an answer anew, so that nothing is
 * assumed about where reads or chunks begin.
 *
 * Bounds: a head of at most 4 KiB, a chunk-size line of at most 8 hexadecimal digits; beyond these the answer is bad.
 */
#ifndef BENCH_ANSWER_H
#define BENCH_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ANSWER_HEAD_MAX = 4096, CHUNK_SIZE_DIGITS_MAX = 8 };

enum answer_state { IN_HEAD, IN_LENGTH, IN_CHUNK_SIZE, IN_CHUNK_EXTENSION, IN_CHUNK, AFTER_CHUNK, IN_TRAILER, COMPLETE, BAD };

struct answer {
    enum answer_state state;
    int status;
    size_t head_bytes;
    size_t remaining;      /* bytes left of the body or of the chunk */
    int size_digits;       /* hexadecimal digits read of the chunk-size line */
    bool line_has_text;    /* trailer: the line so far is not empty */
    char last_byte;        /* of the body: an event may end across two reads */
    long events;
    char head[ANSWER_HEAD_MAX + 1];
};

/* Makes ready for the next answer. Event counts start again at zero. */
static inline void answer_reset(struct answer *a) {
    a->state = IN_HEAD;
    a->status = 0;
    a->head_bytes = 0;
    a->remaining = 0;
    a->size_digits = 0;
    a->line_has_text = false;
    a->last_byte = 0;
    a->events = 0;
}

static inline void count_events(struct answer *a, const char *data, size_t length) {
    const char *end = data + length;
    if (a->last_byte == '\n' && data[0] == '\n') {
        a->events++;
    }
    for (const char *p = data; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++) {
        if (p + 1 < end && p[1] == '\n') {
            a->events++;
            p++;
        }
        if (p + 1 >= end) {
            break;
        }
    }
    a->last_byte = end[-1];
}

static inline void read_head(struct answer *a) {
    a->head[a->head_bytes] = 0;
    if (strncmp(a->head, "HTTP/1.1 ", 9) != 0) {
        a->state = BAD;
        return;
    }
    a->status = atoi(a->head + 9);
    const char *length = strcasestr(a->head, "\ncontent-length:");
    if (length != NULL) {
        a->remaining = strtoul(length + 16, NULL, 10);
        a->state = a->remaining > 0 ? IN_LENGTH : COMPLETE;
    } else if (strcasestr(a->head, "\ntransfer-encoding: chunked") != NULL) {
        a->state = IN_CHUNK_SIZE;
    } else {
        a->state = BAD;
    }
}

static inline int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Takes the next bytes and returns how many of them belong to this answer; the state says whether it is complete. */
static inline size_t answer_feed(struct answer *a, const char *data, size_t length) {
    size_t at = 0;
    while (at < length && a->state != COMPLETE && a->state != BAD) {
        char c = data[at];
        switch (a->state) {
            case IN_HEAD:
                at++;
                if (a->head_bytes == ANSWER_HEAD_MAX) {
                    a->state = BAD;
                    break;
                }
                a->head[a->head_bytes++] = c;
                if (c == '\n' && a->head_bytes >= 4 && memcmp(a->head + a->head_bytes - 4, "\r\n\r\n", 4) == 0) {
                    read_head(a);
                }
                break;
            case IN_LENGTH:
            case IN_CHUNK: {
                size_t part = length - at < a->remaining ? length - at : a->remaining;
                count_events(a, data + at, part);
                at += part;
                a->remaining -= part;
                if (a->remaining == 0) {
                    a->state = a->state == IN_LENGTH ? COMPLETE : AFTER_CHUNK;
                }
                break;
            }
            case IN_CHUNK_SIZE: {
                int digit = hex_digit(c);
                if (digit >= 0 && a->size_digits < CHUNK_SIZE_DIGITS_MAX) {
                    a->remaining = a->remaining * 16 + (size_t)digit;
                    a->size_digits++;
                    at++;
                } else {
                    a->state = a->size_digits > 0 && digit < 0 ? IN_CHUNK_EXTENSION : BAD;
                }
                break;
            }
            case IN_CHUNK_EXTENSION:
                at++;
                if (c == '\n') {
                    a->size_digits = 0;
                    a->line_has_text = false;
                    a->state = a->remaining > 0 ? IN_CHUNK : IN_TRAILER;
                }
                break;
            case AFTER_CHUNK:
                at++;
                if (c == '\n') {
                    a->state = IN_CHUNK_SIZE;
                } else if (c != '\r') {
                    a->state = BAD;
                }
                break;
            case IN_TRAILER:
                at++;
                if (c == '\n') {
                    a->state = a->line_has_text ? IN_TRAILER : COMPLETE;
                    a->line_has_text = false;
                } else if (c != '\r') {
                    a->line_has_text = true;
                }
                break;
            case COMPLETE:
            case BAD:
                break;
        }
    }
    return at;
}

#endif
