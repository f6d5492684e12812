/* plain_loop.cc - the yardstick: how fast can this machine read events with simdjson and do nothing
 * else?
 *
 * What     Each thread takes files in turn, reads them with read() into one reused buffer, cuts it
 *          at the last newline, walks the documents with On-Demand's iterate_many (no helper
 *          thread: built without -pthread) and takes three of five fields: event_type, amount,
 *          event_ts. Built for this CPU. Threads share nothing but the number of the next file.
 * usage    bench_plain_loop THREADS FILE..       prints: events seconds amount_sum
 */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <thread>
#undef _REENTRANT /* so that simdjson takes no helper thread */
#include <simdjson.h>
#include <unistd.h>
#include <vector>

namespace
{

constexpr size_t buffer_bytes = 1 << 20;

struct alignas(128) result {
    uint64_t events = 0, text_bytes = 0;
    double amount = 0;
};

void take(simdjson::ondemand::document_stream &stream, result &r)
{
    for (auto it = stream.begin(); it != stream.end(); ++it) {
        auto doc = *it;
        std::string_view type, ts;
        double amount;
        if (doc["event_type"].get_string().get(type) || doc["amount"].get_double().get(amount) ||
            doc["event_ts"].get_string().get(ts))
            continue;
        r.events++;
        r.text_bytes += type.size() + ts.size();
        r.amount += amount;
    }
}

void read_file(const char *path, simdjson::ondemand::parser &parser, uint8_t *buffer, result &r)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    size_t left = 0;
    for (;;) {
        ssize_t got = read(fd, buffer + left, buffer_bytes - left);
        if (got <= 0)
            break;
        size_t n = left + static_cast<size_t>(got);
        const void *newline = memrchr(buffer, '\n', n);
        size_t whole =
            newline ? static_cast<size_t>(static_cast<const uint8_t *>(newline) - buffer) + 1 : 0;
        simdjson::ondemand::document_stream stream;
        if (whole && !parser.iterate_many(buffer, whole, buffer_bytes).get(stream))
            take(stream, r);
        left = n - whole;
        memmove(buffer, buffer + whole, left);
    }
    close(fd);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s THREADS FILE..\n", argv[0]);
        return 2;
    }
    int threads = atoi(argv[1]);
    std::atomic<int> next{2};
    std::vector<result> results(static_cast<size_t>(threads));
    std::vector<std::thread> running;
    auto start = std::chrono::steady_clock::now();
    for (int t = 0; t < threads; t++)
        running.emplace_back([&, t] {
            simdjson::ondemand::parser parser;
            std::vector<uint8_t> buffer(buffer_bytes + simdjson::SIMDJSON_PADDING);
            result own;
            for (int i; (i = next.fetch_add(1)) < argc;)
                read_file(argv[i], parser, buffer.data(), own);
            results[static_cast<size_t>(t)] = own;
        });
    for (auto &t : running)
        t.join();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    result all;
    for (auto &r : results) {
        all.events += r.events;
        all.amount += r.amount;
    }
    printf("%llu %.6f %.2f\n", static_cast<unsigned long long>(all.events), seconds.count(),
           all.amount);
    return 0;
}
