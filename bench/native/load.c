/*
 * Closed loop of N connections: each sends its request again as soon as the answer to the last is complete.
 *
 * Prints "begin" when every connection had one answer, "end" after the measured time, and last the answers' times:
 *   end requests=… events=… reads=… seconds=…
 *   times total_p50_us=… total_p99_us=… total_p999_us=… first_p50_us=… first_p99_us=…
 * With --once each connection asks once and the program ends with the last answer; "end" stands for all of them.
 * The harness reads the proxy's CPU time at "begin" and "end". Any error ends the program with status 1.
 */
#define _GNU_SOURCE
#include <getopt.h>

#include "client.h"
#include "samples.h"

enum { CONNECTIONS_MAX = 4096, WARM_MILLIS = 30000, DRAIN_MILLIS = 2000 };

static const char *USAGE =
    "load --port PORT (--body FILE | --get PATH) [options]\n"
    "  --port PORT          where the proxy listens on 127.0.0.1\n"
    "  --body FILE          the JSON body of each request\n"
    "  --get PATH           GET this instead, without a body\n"
    "  --key KEY            bearer key (default: sk-bench)\n"
    "  --connections N      connections, one request at a time on each, 1 to 4096 (default: 64)\n"
    "  --millis N           measured time in ms, 10 to 600000 (default: 2000)\n"
    "  --once               one request on each connection, all at once\n";

int main(int argc, char **argv) {
    static const struct option OPTIONS[] = {
        {"port", required_argument, NULL, 'p'},        {"body", required_argument, NULL, 'b'},
        {"key", required_argument, NULL, 'k'},         {"connections", required_argument, NULL, 'c'},
        {"millis", required_argument, NULL, 'm'},      {"get", required_argument, NULL, 'g'},
        {"once", no_argument, NULL, 'o'},              {NULL, 0, NULL, 0},
    };
    int port = 0, connections = 64;
    long millis = 2000;
    bool once = false;
    const char *body = NULL, *path = NULL, *key = "sk-bench";
    for (int o; (o = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        switch (o) {
            case 'p': port = (int)number("--port", optarg, 1, 65535); break;
            case 'b': body = optarg; break;
            case 'g': path = optarg; break;
            case 'o': once = true; break;
            case 'k': key = optarg; break;
            case 'c': connections = (int)number("--connections", optarg, 1, CONNECTIONS_MAX); break;
            case 'm': millis = number("--millis", optarg, 10, 600000); break;
            default: fail("%s", USAGE);
        }
    }
    if (port == 0 || (body == NULL) == (path == NULL)) {
        fail("%s", USAGE);
    }

    struct request request = path != NULL ? get_request(path) : read_request(body, key);
    struct connection *all = calloc((size_t)connections, sizeof *all);
    struct samples total = make_samples(), first = make_samples();
    if (all == NULL || total.nanos == NULL || first.nanos == NULL) {
        fail("out of memory");
    }
    int poll = epoll_create1(0);
    for (int i = 0; i < connections; i++) {
        open_connection(poll, &all[i], port);
        begin_request(poll, &all[i], &request);
    }

    static char buffer[READ_BYTES];
    struct epoll_event ready_events[256];
    enum { WARMING, MEASURING, DRAINING } phase = WARMING;
    int answered = 0, busy = connections;
    long requests = 0, events = 0, reads = 0;
    int64_t started = now_nanos(), begin = 0, deadline = started + WARM_MILLIS * 1000000LL;
    while (busy > 0) {
        int ready = epoll_wait(poll, ready_events, 256, 100);
        int64_t now = now_nanos();
        if (phase == WARMING && answered == connections && !once) {
            phase = MEASURING;
            begin = now;
            deadline = begin + millis * 1000000;
            requests = events = reads = 0;
            total.count = first.count = 0;
            puts("begin");
            fflush(stdout);
        } else if (phase == MEASURING && now >= deadline) {
            phase = DRAINING;
            deadline = now + DRAIN_MILLIS * 1000000LL;
            printf("end requests=%ld events=%ld reads=%ld seconds=%.6f\n", requests, events, reads, (double)(now - begin) / 1e9);
            fflush(stdout);
        } else if (now >= deadline) {
            fail(phase == WARMING ? "only %d of %d connections had an answer" : "answers missing at the end", answered, connections);
        }
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
                fail("connection closed by the proxy: %s", n < 0 ? strerror(errno) : "end of stream");
            }
            reads++;
            int64_t received = now_nanos();
            if (c->first_byte_nanos == 0) {
                c->first_byte_nanos = received;
            }
            answer_feed(&c->answer, buffer, (size_t)n);
            check_answer(c);
            if (c->answer.state != COMPLETE) {
                continue;
            }
            answered += c->answered ? 0 : 1;
            c->answered = true;
            requests++;
            events += c->answer.events;
            if (phase == DRAINING) {
                busy--;
                continue;
            }
            sample(&total, received - c->started_nanos);
            sample(&first, c->first_byte_nanos - c->started_nanos);
            if (once) {
                busy--;
                continue;
            }
            begin_request(poll, c, &request);
        }
    }
    if (once) {
        printf("end requests=%ld events=%ld reads=%ld seconds=%.6f\n", requests, events, reads, (double)(now_nanos() - started) / 1e9);
    }
    sort_samples(&total);
    sort_samples(&first);
    printf("times total_p50_us=%.1f total_p99_us=%.1f", quantile(&total, 0.50), quantile(&total, 0.99));
    printf(" total_p999_us=%.1f", quantile(&total, 0.999));
    printf(" first_p50_us=%.1f first_p99_us=%.1f\n", quantile(&first, 0.50), quantile(&first, 0.99));
    return 0;
}
