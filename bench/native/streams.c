/*
 * Holds N streamed answers open at once and counts the events that arrive.
 *
 * Opens the streams at an even rate, more slowly when the proxy is slow to answer. When each has its first byte and the
 * settling time is over it prints "open".
 * For each window it prints "begin" and, after the window's time,
 *   end events=… reads=… bytes=… seconds=… jitter_p50_us=… jitter_p99_us=…
 * where jitter is how far the time between two reads of a stream is from the --interval.
 * The harness reads the proxy's memory at "open" and its CPU time at "begin" and "end". A stream that ends is opened
 * again on its connection. Any error ends the program with status 1.
 */
#define _GNU_SOURCE
#include <getopt.h>

#include "client.h"
#include "samples.h"

enum {
    STREAMS_MAX = 30000,
    UNANSWERED_MAX = 64,        /* opened and without a first byte: a slow proxy is waited for, not flooded */
    SILENCE_MILLIS = 30000,
};

static const char *USAGE =
    "streams --port PORT --body FILE [options]\n"
    "  --port PORT          where the proxy listens on 127.0.0.1\n"
    "  --body FILE          the JSON body of each request\n"
    "  --key KEY            bearer key (default: sk-bench)\n"
    "  --streams N          streams open at once, 1 to 30000 (default: 1000)\n"
    "  --rate N             streams opened each second at most, 1 to 100000 (default: 1000)\n"
    "  --settle N           ms between the last stream's first byte and the first window, 0 to 60000 (default: 1000)\n"
    "  --interval N         ms between the events of a stream, 0 to 60000 (default: 0)\n"
    "  --windows N          measured windows, 1 to 100 (default: 1)\n"
    "  --millis N           length of a window in ms, 10 to 600000 (default: 3000)\n";

int main(int argc, char **argv) {
    static const struct option OPTIONS[] = {
        {"port", required_argument, NULL, 'p'},    {"body", required_argument, NULL, 'b'},
        {"key", required_argument, NULL, 'k'},     {"streams", required_argument, NULL, 's'},
        {"rate", required_argument, NULL, 'r'},    {"settle", required_argument, NULL, 'e'},
        {"interval", required_argument, NULL, 'i'},
        {"windows", required_argument, NULL, 'w'}, {"millis", required_argument, NULL, 'm'},
        {NULL, 0, NULL, 0},
    };
    int port = 0;
    long streams = 1000, rate = 1000, settle = 1000, windows = 1, millis = 3000, interval = 0;
    const char *body = NULL, *key = "sk-bench";
    for (int o; (o = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        switch (o) {
            case 'p': port = (int)number("--port", optarg, 1, 65535); break;
            case 'b': body = optarg; break;
            case 'k': key = optarg; break;
            case 's': streams = number("--streams", optarg, 1, STREAMS_MAX); break;
            case 'r': rate = number("--rate", optarg, 1, 100000); break;
            case 'e': settle = number("--settle", optarg, 0, 60000); break;
            case 'i': interval = number("--interval", optarg, 0, 60000); break;
            case 'w': windows = number("--windows", optarg, 1, 100); break;
            case 'm': millis = number("--millis", optarg, 10, 600000); break;
            default: fail("%s", USAGE);
        }
    }
    if (port == 0 || body == NULL) {
        fail("%s", USAGE);
    }

    struct request request = read_request(body, key);
    struct connection *all = calloc((size_t)streams, sizeof *all);
    struct samples jitter = make_samples();
    if (all == NULL || jitter.nanos == NULL) {
        fail("out of memory");
    }
    int poll = epoll_create1(0);
    static char buffer[READ_BYTES];
    struct epoll_event ready_events[1024];
    long opened = 0, answered = 0, events = 0, reads = 0, bytes = 0;
    int64_t started = now_millis(), all_answered = 0, window_begin = 0;
    int64_t last_answered = started;
    while (windows > 0) {
        int64_t now = now_millis();
        long due = (now - started) * rate / 1000 + 1;
        for (; opened < streams && opened < due && opened - answered < UNANSWERED_MAX; opened++) {
            open_connection(poll, &all[opened], port);
            begin_request(poll, &all[opened], &request);
        }
        if (all_answered == 0 && answered == streams) {
            all_answered = now;
        }
        if (all_answered == 0 && now - last_answered > SILENCE_MILLIS) {
            fail("only %ld of %ld streams had a first byte", answered, streams);
        }
        if (all_answered != 0 && window_begin == 0 && now - all_answered >= settle) {
            puts("open");
            puts("begin");
            fflush(stdout);
            window_begin = now;
            events = reads = bytes = 0;
            jitter.count = 0;
        }
        if (window_begin != 0 && now - window_begin >= millis) {
            sort_samples(&jitter);
            printf("end events=%ld reads=%ld bytes=%ld seconds=%.3f", events, reads, bytes, (double)(now - window_begin) / 1e3);
            printf(" jitter_p50_us=%.1f jitter_p99_us=%.1f\n", quantile(&jitter, 0.50), quantile(&jitter, 0.99));
            if (--windows > 0) {
                puts("begin");
            }
            fflush(stdout);
            window_begin = now;
            events = reads = bytes = 0;
            jitter.count = 0;
        }
        int ready = epoll_wait(poll, ready_events, 1024, opened < streams ? 1 : 10);
        for (int i = 0; i < ready; i++) {
            struct connection *c = ready_events[i].data.ptr;
            if (ready_events[i].events & EPOLLOUT) {
                send_request(poll, c, &request);
            }
            if (!(ready_events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
                continue;
            }
            ssize_t n = recv(c->fd, buffer, sizeof buffer, 0);
            if (n < 0 && errno == EAGAIN) {
                continue;
            }
            if (n <= 0) {
                fail("stream closed by the proxy: %s", n < 0 ? strerror(errno) : "end of stream");
            }
            reads++;
            bytes += n;
            int64_t received = now_nanos();
            if (c->first_byte_nanos != 0 && window_begin != 0) {
                sample(&jitter, llabs(received - c->last_byte_nanos - interval * 1000000));
            }
            c->last_byte_nanos = received;
            if (c->first_byte_nanos == 0) {
                c->first_byte_nanos = received;
                answered += c->answered ? 0 : 1;
                c->answered = true;
                last_answered = now;
            }
            long before = c->answer.events;
            answer_feed(&c->answer, buffer, (size_t)n);
            check_answer(c);
            events += c->answer.events - before;
            if (c->answer.state == COMPLETE) {
                begin_request(poll, c, &request);
            }
        }
    }
    return 0;
}
