/*
 * What the two load programs share: the request that every connection sends, and a connection that sends it.
 */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "answer.h"
#include "clock.h"

enum { REQUEST_HEAD_MAX = 1024, READ_BYTES = 64 * 1024, BODY_BYTES_MAX = 16 * 1024 * 1024 };

struct request {
    char *bytes;
    size_t length;
};

struct connection {
    int fd;
    size_t sent;            /* bytes of the request that the kernel took */
    bool watches_writable;
    bool answered;          /* had at least one first byte (streams) or one whole answer (load) */
    int64_t started_nanos;
    int64_t first_byte_nanos;
    int64_t last_byte_nanos;
    struct answer answer;
};

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

/* Returns the number or ends the program when it is outside [low, high]. */
static long number(const char *option, const char *text, long low, long high) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || *end != 0 || end == text || value < low || value > high) {
        fail("%s: %s (expected: %ld to %ld)", option, text, low, high);
    }
    return value;
}

static struct request read_request(const char *body_file, const char *key) {
    FILE *file = fopen(body_file, "rb");
    if (file == NULL) {
        fail("%s: %s", body_file, strerror(errno));
    }
    fseek(file, 0, SEEK_END);
    long body_bytes = ftell(file);
    rewind(file);
    if (body_bytes < 1 || body_bytes > BODY_BYTES_MAX) {
        fail("%s: %ld bytes (expected: 1 to %d)", body_file, body_bytes, BODY_BYTES_MAX);
    }
    struct request r;
    r.bytes = malloc(REQUEST_HEAD_MAX + (size_t)body_bytes);
    if (r.bytes == NULL) {
        fail("out of memory");
    }
    int head = snprintf(r.bytes, REQUEST_HEAD_MAX,
        "POST /v1/chat/completions HTTP/1.1\r\n"
        "Host: gateway.example\r\n"
        "User-Agent: bench/1\r\n"
        "Accept: application/json\r\n"
        "Authorization: Bearer %s\r\n"
        "Content-Type: application/json\r\n"
        "Content-Length: %ld\r\n\r\n", key, body_bytes);
    if (head >= REQUEST_HEAD_MAX) {
        fail("the key is too long");
    }
    if (fread(r.bytes + head, 1, (size_t)body_bytes, file) != (size_t)body_bytes) {
        fail("%s: short read", body_file);
    }
    fclose(file);
    r.length = (size_t)head + (size_t)body_bytes;
    return r;
}

/* A request without a key and without a body. */
static inline struct request get_request(const char *path) {
    struct request r = {.bytes = malloc(REQUEST_HEAD_MAX)};
    int n = snprintf(r.bytes, REQUEST_HEAD_MAX, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    if (n >= REQUEST_HEAD_MAX) {
        fail("the path is too long");
    }
    r.length = (size_t)n;
    return r;
}

static void watch(int poll, struct connection *c, bool writable) {
    struct epoll_event event = {.events = EPOLLIN | (writable ? EPOLLOUT : 0u), .data.ptr = c};
    if (epoll_ctl(poll, EPOLL_CTL_MOD, c->fd, &event) != 0) {
        fail("epoll_ctl: %s", strerror(errno));
    }
    c->watches_writable = writable;
}

/* Sends what the kernel takes of the request; the rest goes when the socket is writable again. */
static void send_request(int poll, struct connection *c, const struct request *r) {
    while (c->sent < r->length) {
        ssize_t n = send(c->fd, r->bytes + c->sent, r->length - c->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            break;
        }
        if (n < 0) {
            fail("send: %s", strerror(errno));
        }
        c->sent += (size_t)n;
    }
    bool more = c->sent < r->length;
    if (more != c->watches_writable) {
        watch(poll, c, more);
    }
}

static void begin_request(int poll, struct connection *c, const struct request *r) {
    answer_reset(&c->answer);
    c->sent = 0;
    c->first_byte_nanos = 0;
    c->started_nanos = now_nanos();
    send_request(poll, c, r);
}

static void open_connection(int poll, struct connection *c, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0) {
        fail("connect to port %d: %s", port, strerror(errno));
    }
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &event) != 0) {
        fail("epoll_ctl: %s", strerror(errno));
    }
    c->watches_writable = false;
}

/* Ends the program unless the answer is a 200 in good order: a benchmark with errors measures nothing. */
static void check_answer(const struct connection *c) {
    const struct answer *a = &c->answer;
    if (a->state == BAD || (a->state != IN_HEAD && a->status != 200)) {
        fail("bad answer: %.*s", (int)(a->head_bytes < 400 ? a->head_bytes : 400), a->head);
    }
}

#endif
