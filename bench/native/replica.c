/*
 * A fake vLLM server: one thread, epoll, any number of connections, answers in vLLM's shape at almost no cost.
 *
 *   POST (any path)   a plain body gets one JSON answer; one with "stream":true gets server-sent events in chunks:
 *                     a role event, --events content events, a finish event, then a usage-only event when the body
 *                     holds "include_usage":true, then [DONE]
 *   GET /health       200 without a body, GET /v1/models and /metrics: what a gateway may probe
 *   GET /bench/set?events=N&interval_ms=N&first_ms=N&always_usage=0|1
 *                     changes the pace of later answers; answers with the counters below as JSON
 *
 * With an interval of 0 the whole stream leaves in one write; else each event is a write of its own. The flags are
 * looked for in the first and the last 512 bytes of a body, so that a long prompt costs nothing to read.
 *
 * Bounds: a request head of 4 KiB, 64 KiB of answer that a slow reader left unread (then the connection is closed),
 * intervals of up to 4 s.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"

enum {
    HEAD_MAX = 4096,
    WINDOW = 512,              /* bytes kept of a body's beginning and of its end */
    PENDING_MAX = 64 * 1024,
    WHEEL_SLOTS = 4096,        /* one per ms */
    EVENTS_MAX = 1000000,
    BURST_EVENTS_MAX = 64,     /* with an interval of 0 */
    ANSWER_MAX = 64 * 1024,
    READ_BYTES = 256 * 1024,
};

static const char *USAGE =
    "replica --ports PORT[,PORT…] [options]\n"
    "  --ports LIST         ports to listen on, 127.0.0.1\n"
    "  --events N           content events of a stream, 1 to 1000000 (default: 1)\n"
    "  --interval N         ms between the events of a stream, 0 to 4000 (default: 0: all in one write)\n"
    "  --first N            ms before the first event when the interval is not 0, 1 to 4000 (default: 20)\n"
    "  --always-usage       send the usage-only event to those too that did not ask\n";

struct connection {
    int fd;
    bool listens;
    bool closed;               /* freed when the wheel lets go of it */
    bool reading_body;
    bool is_get;
    bool on_wheel;
    bool streaming;
    bool wants_usage;
    long body_left;
    long events_sent;
    size_t head_bytes;
    size_t first_bytes, last_bytes;
    size_t pending_bytes, pending_at;
    char *pending;             /* what the kernel did not take yet; NULL when there is nothing */
    struct connection *next;   /* in the wheel's slot */
    char head[HEAD_MAX + 1];
    char first[WINDOW + 1], last[WINDOW + 1];
};

static struct {
    long events, interval_ms, first_ms;
    bool always_usage;
} settings = {.events = 1, .interval_ms = 0, .first_ms = 20};

static struct {
    long open, accepted, requests, streams_open, usage_events;
} counters;

static struct connection *wheel[WHEEL_SLOTS];
static int64_t wheel_millis;
static long on_wheel;
static int poll_fd;
static char stream_head[512], role_chunk[1024], content_chunk[1024], finish_chunk[1024], usage_chunk[1024], done_chunk[64];
static char json_answer[2048];

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static long number(const char *option, const char *text, long low, long high) {
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || (*end != 0 && *end != '&' && *end != ' ') || value < low || value > high) {
        fail("%s: %s (expected: %ld to %ld)", option, text, low, high);
    }
    return value;
}

/* ---- what it says ---- */

#define ID "\"id\":\"chatcmpl-7f3c0a6f1f9b4d5e8a2b3c4d5e6f7a8b\""
#define ABOUT ",\"created\":1754412345,\"model\":\"meta-llama/Llama-3.1-8B-Instruct\""

static void make_chunk(char *chunk, size_t size, const char *event) {
    int n = snprintf(chunk, size, "%zx\r\n%s\r\n", strlen(event), event);
    if (n < 0 || (size_t)n >= size) {
        fail("an event is too long");
    }
}

static void make_delta(char *chunk, size_t size, const char *delta, const char *finish_reason) {
    char event[1024];
    snprintf(event, sizeof event,
        "data: {" ID ",\"object\":\"chat.completion.chunk\"" ABOUT ",\"choices\":[{\"index\":0,\"delta\":{%s},"
        "\"logprobs\":null,\"finish_reason\":%s,\"token_ids\":null}]}\n\n", delta, finish_reason);
    make_chunk(chunk, size, event);
}

static void make_answers(void) {
    snprintf(stream_head, sizeof stream_head,
        "HTTP/1.1 200 OK\r\ndate: Wed, 05 Aug 2026 10:00:00 GMT\r\nserver: uvicorn\r\n"
        "content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n");
    make_delta(role_chunk, sizeof role_chunk, "\"role\":\"assistant\",\"content\":\"\"", "null");
    make_delta(content_chunk, sizeof content_chunk, "\"content\":\" token\"", "null");
    make_delta(finish_chunk, sizeof finish_chunk, "\"content\":\"\"", "\"stop\"");
    make_chunk(usage_chunk, sizeof usage_chunk,
        "data: {" ID ",\"object\":\"chat.completion.chunk\"" ABOUT ",\"choices\":[],"
        "\"usage\":{\"prompt_tokens\":25000,\"total_tokens\":25100,\"completion_tokens\":100}}\n\n");
    make_chunk(done_chunk, sizeof done_chunk, "data: [DONE]\n\n");
    strcat(done_chunk, "0\r\n\r\n");
    static const char JSON[] =
        "{" ID ",\"object\":\"chat.completion\"" ABOUT ",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
        "\"content\":\"Hello! How can I help you today?\",\"refusal\":null,\"annotations\":null,\"audio\":null,"
        "\"function_call\":null,\"tool_calls\":[]},\"logprobs\":null,\"finish_reason\":\"stop\",\"stop_reason\":null}],"
        "\"usage\":{\"prompt_tokens\":12,\"total_tokens\":21,\"completion_tokens\":9,\"prompt_tokens_details\":null},"
        "\"prompt_logprobs\":null}";
    snprintf(json_answer, sizeof json_answer,
        "HTTP/1.1 200 OK\r\ndate: Wed, 05 Aug 2026 10:00:00 GMT\r\nserver: uvicorn\r\ncontent-length: %zu\r\n"
        "content-type: application/json\r\n\r\n%s", strlen(JSON), JSON);
}

/* ---- connections ---- */

static void watch(struct connection *c, uint32_t events, int operation) {
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (epoll_ctl(poll_fd, operation, c->fd, &event) != 0) {
        fail("epoll_ctl: %s", strerror(errno));
    }
}

static void close_connection(struct connection *c) {
    close(c->fd);
    free(c->pending);
    c->pending = NULL;
    c->closed = true;
    counters.open--;
    if (c->streaming) {
        c->streaming = false;
        counters.streams_open--;
    }
    if (!c->on_wheel) {
        free(c);
    }
}

/* Sends, and keeps what the kernel does not take. Returns false when the connection had to be closed. */
static bool write_out(struct connection *c, const char *bytes, size_t length) {
    ssize_t n = 0;
    if (c->pending == NULL) {
        n = send(c->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n == (ssize_t)length) {
            return true;
        }
        if (n < 0 && errno != EAGAIN) {
            close_connection(c);
            return false;
        }
        n = n < 0 ? 0 : n;
        c->pending = malloc(PENDING_MAX);
        c->pending_bytes = c->pending_at = 0;
        watch(c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
    }
    size_t rest = length - (size_t)n;
    if (c->pending == NULL || c->pending_bytes + rest > PENDING_MAX) {
        fprintf(stderr, "a reader is too slow: connection closed\n");
        close_connection(c);
        return false;
    }
    memcpy(c->pending + c->pending_bytes, bytes + n, rest);
    c->pending_bytes += rest;
    return true;
}

static void write_pending(struct connection *c) {
    if (c->pending == NULL) {
        return;
    }
    ssize_t n = send(c->fd, c->pending + c->pending_at, c->pending_bytes - c->pending_at, MSG_NOSIGNAL | MSG_DONTWAIT);
    c->pending_at += n > 0 ? (size_t)n : 0;
    if (c->pending_at == c->pending_bytes) {
        free(c->pending);
        c->pending = NULL;
        watch(c, EPOLLIN, EPOLL_CTL_MOD);
    }
}

static void put_on_wheel(struct connection *c, long millis) {
    size_t slot = (size_t)(wheel_millis + millis) % WHEEL_SLOTS;
    c->next = wheel[slot];
    wheel[slot] = c;
    c->on_wheel = true;
    on_wheel++;
}

/* ---- requests ---- */

static bool body_holds(const struct connection *c, const char *text) {
    size_t n = strlen(text);
    return memmem(c->first, c->first_bytes, text, n) != NULL || memmem(c->last, c->last_bytes, text, n) != NULL;
}

static bool asks(const struct connection *c, const char *compact, const char *spaced) {
    return body_holds(c, compact) || body_holds(c, spaced);
}

static size_t append(char *answer, size_t at, const char *part) {
    size_t n = strlen(part);
    memcpy(answer + at, part, n);
    return at + n;
}

static void send_burst(struct connection *c) {
    static char answer[ANSWER_MAX];
    size_t n = append(answer, 0, stream_head);
    n = append(answer, n, role_chunk);
    for (long i = 0; i < settings.events && i < BURST_EVENTS_MAX; i++) {
        n = append(answer, n, content_chunk);
    }
    n = append(answer, n, finish_chunk);
    n = c->wants_usage ? append(answer, n, usage_chunk) : n;
    n = append(answer, n, done_chunk);
    write_out(c, answer, n);
}

/* Sends the next event of a paced stream; the first goes with the head, the last with all that ends a stream. */
static void send_next_event(struct connection *c) {
    char answer[6 * 1024];
    size_t n = 0;
    if (c->events_sent == 0) {
        n = append(answer, append(answer, 0, stream_head), role_chunk);
    } else if (c->events_sent <= settings.events) {
        n = append(answer, 0, content_chunk);
    } else {
        n = append(answer, 0, finish_chunk);
        n = c->wants_usage ? append(answer, n, usage_chunk) : n;
        n = append(answer, n, done_chunk);
        c->streaming = false;
        counters.streams_open--;
    }
    c->events_sent++;
    if (write_out(c, answer, n) && c->streaming) {
        put_on_wheel(c, settings.interval_ms > 0 ? settings.interval_ms : 1);
    }
}

static void set_option(const char *query, const char *name, long *value, long low, long high) {
    const char *found = strstr(query, name);
    if (found != NULL) {
        *value = number(name, found + strlen(name), low, high);
    }
}

static void answer_get(struct connection *c) {
    char body[512], answer[1024];
    const char *type = "application/json";
    if (strncmp(c->head, "GET /bench/set", 14) == 0) {
        char *end = strchr(c->head, '\r');
        *end = 0;
        long always_usage = settings.always_usage;
        set_option(c->head, "events=", &settings.events, 1, EVENTS_MAX);
        set_option(c->head, "interval_ms=", &settings.interval_ms, 0, WHEEL_SLOTS - 96);
        set_option(c->head, "first_ms=", &settings.first_ms, 1, WHEEL_SLOTS - 96);
        set_option(c->head, "always_usage=", &always_usage, 0, 1);
        settings.always_usage = always_usage != 0;
        snprintf(body, sizeof body,
            "{\"open\":%ld,\"accepted\":%ld,\"requests\":%ld,\"streams_open\":%ld,\"usage_events\":%ld}",
            counters.open, counters.accepted, counters.requests, counters.streams_open, counters.usage_events);
    } else if (strncmp(c->head, "GET /v1/models ", 15) == 0) {
        snprintf(body, sizeof body, "{\"object\":\"list\",\"data\":[{\"id\":\"meta-llama/Llama-3.1-8B-Instruct\",\"object\":\"model\"}]}");
    } else if (strncmp(c->head, "GET /metrics ", 13) == 0) {
        type = "text/plain; version=0.0.4; charset=utf-8";
        snprintf(body, sizeof body,
            "vllm:num_requests_running{engine=\"0\",model_name=\"meta-llama/Llama-3.1-8B-Instruct\"} %ld.0\n"
            "vllm:num_requests_waiting{engine=\"0\",model_name=\"meta-llama/Llama-3.1-8B-Instruct\"} 0.0\n"
            "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"meta-llama/Llama-3.1-8B-Instruct\"} 0.1\n", counters.streams_open);
    } else {
        body[0] = 0;
    }
    int n = snprintf(answer, sizeof answer,
        "HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-length: %zu\r\ncontent-type: %s\r\n\r\n%s", strlen(body), type, body);
    write_out(c, answer, (size_t)n);
}

static void answer_post(struct connection *c) {
    counters.requests++;
    if (!asks(c, "\"stream\":true", "\"stream\": true")) {
        write_out(c, json_answer, strlen(json_answer));
        return;
    }
    c->wants_usage = settings.always_usage || asks(c, "\"include_usage\":true", "\"include_usage\": true");
    counters.usage_events += c->wants_usage ? 1 : 0;
    if (settings.interval_ms == 0) {
        send_burst(c);
    } else if (!c->on_wheel) {
        c->streaming = true;
        counters.streams_open++;
        c->events_sent = 0;
        put_on_wheel(c, settings.first_ms);
    }
}

static void keep_body_ends(struct connection *c, const char *part, size_t length) {
    size_t room = WINDOW - c->first_bytes;
    size_t n = length < room ? length : room;
    memcpy(c->first + c->first_bytes, part, n);
    c->first_bytes += n;
    if (length >= WINDOW) {
        memcpy(c->last, part + length - WINDOW, WINDOW);
        c->last_bytes = WINDOW;
        return;
    }
    size_t keep = c->last_bytes + length > WINDOW ? WINDOW - length : c->last_bytes;
    memmove(c->last, c->last + c->last_bytes - keep, keep);
    memcpy(c->last + keep, part, length);
    c->last_bytes = keep + length;
}

/* Takes bytes of the head; returns how many were of it. */
static size_t read_head(struct connection *c, const char *bytes, size_t length) {
    size_t room = HEAD_MAX - c->head_bytes;
    size_t n = length < room ? length : room;
    memcpy(c->head + c->head_bytes, bytes, n);
    size_t had = c->head_bytes;
    c->head_bytes += n;
    char *end = memmem(c->head, c->head_bytes, "\r\n\r\n", 4);
    if (end == NULL) {
        if (c->head_bytes == HEAD_MAX) {
            fail("a request head is longer than %d bytes", HEAD_MAX);
        }
        return n;
    }
    size_t head_length = (size_t)(end + 4 - c->head);
    end[2] = 0;
    if (strcasestr(c->head, "\ntransfer-encoding:") != NULL) {
        fail("a request body is chunked: the proxies compared must send a length");
    }
    const char *body_length = strcasestr(c->head, "\ncontent-length:");
    c->body_left = body_length != NULL ? atol(body_length + 16) : 0;
    c->is_get = strncmp(c->head, "GET ", 4) == 0;
    c->head_bytes = c->first_bytes = c->last_bytes = 0;
    c->reading_body = true;
    return head_length - had;
}

static void read_requests(struct connection *c) {
    static char buffer[READ_BYTES];
    ssize_t received = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (received < 0 && errno == EAGAIN) {
        return;
    }
    if (received <= 0) {
        close_connection(c);
        return;
    }
    const char *at = buffer;
    size_t left = (size_t)received;
    while (left > 0) {
        size_t used;
        if (!c->reading_body) {
            used = read_head(c, at, left);
        } else {
            used = (size_t)c->body_left < left ? (size_t)c->body_left : left;
            keep_body_ends(c, at, used);
            c->body_left -= (long)used;
        }
        at += used;
        left -= used;
        if (c->reading_body && c->body_left == 0) {
            c->reading_body = false;
            c->is_get ? answer_get(c) : answer_post(c);
            return;
        }
    }
}

static void accept_all(const struct connection *listener) {
    int fd, on = 1;
    while ((fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        struct connection *c = calloc(1, sizeof *c);
        if (c == NULL) {
            fail("out of memory");
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        c->fd = fd;
        watch(c, EPOLLIN, EPOLL_CTL_ADD);
        counters.open++;
        counters.accepted++;
    }
    if (errno != EAGAIN && errno != ECONNABORTED) {
        fail("accept: %s", strerror(errno));
    }
}

static void listen_on(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct connection *c = calloc(1, sizeof *c);
    int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    c->listens = true;
    setsockopt(c->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(c->fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(c->fd, 4096) != 0) {
        fail("port %d: %s", port, strerror(errno));
    }
    watch(c, EPOLLIN, EPOLL_CTL_ADD);
}

static void turn_wheel(void) {
    int64_t now = now_millis();
    if (on_wheel == 0) {
        wheel_millis = now;
        return;
    }
    while (wheel_millis < now) {
        wheel_millis++;
        struct connection *c = wheel[wheel_millis % WHEEL_SLOTS];
        wheel[wheel_millis % WHEEL_SLOTS] = NULL;
        while (c != NULL) {
            struct connection *next = c->next;
            c->on_wheel = false;
            on_wheel--;
            if (c->closed) {
                free(c);
            } else {
                send_next_event(c);
            }
            c = next;
        }
    }
}

int main(int argc, char **argv) {
    static const struct option OPTIONS[] = {
        {"ports", required_argument, NULL, 'p'}, {"events", required_argument, NULL, 'e'},
        {"interval", required_argument, NULL, 'i'}, {"first", required_argument, NULL, 'f'},
        {"always-usage", no_argument, NULL, 'u'}, {NULL, 0, NULL, 0},
    };
    char *ports = NULL;
    for (int o; (o = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        switch (o) {
            case 'p': ports = optarg; break;
            case 'e': settings.events = number("--events", optarg, 1, EVENTS_MAX); break;
            case 'i': settings.interval_ms = number("--interval", optarg, 0, WHEEL_SLOTS - 96); break;
            case 'f': settings.first_ms = number("--first", optarg, 1, WHEEL_SLOTS - 96); break;
            case 'u': settings.always_usage = true; break;
            default: fail("%s", USAGE);
        }
    }
    if (ports == NULL) {
        fail("%s", USAGE);
    }
    make_answers();
    poll_fd = epoll_create1(0);
    for (char *port = strtok(ports, ","); port != NULL; port = strtok(NULL, ",")) {
        listen_on((int)number("--ports", port, 1, 65535));
    }
    puts("ready");
    fflush(stdout);
    wheel_millis = now_millis();
    struct epoll_event events[512];
    for (;;) {
        int ready = epoll_wait(poll_fd, events, 512, on_wheel > 0 ? 1 : -1);
        if (on_wheel == 0) {
            wheel_millis = now_millis();
        }
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            if (c->listens) {
                accept_all(c);
                continue;
            }
            if (events[i].events & EPOLLOUT) {
                write_pending(c);
            }
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
                read_requests(c);
            }
        }
        turn_wheel();
    }
}
