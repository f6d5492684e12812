/* ysb.c - the query of the Yahoo Streaming Benchmark on records of fixed width in memory: the views
 * among the events, their campaign looked up by the ad, counted per campaign in windows of 10
 * seconds.
 *
 * What     Records are made and given to a memory source before the clock starts; the clock runs
 *          from the start of the query to its end, and the counts are compared with those taken
 *          while the records were made. Beside it: what this memory gives to as many threads, by
 *          reading and by STREAM's triad.
 * usage    bench_ysb WORKERS RECORDS     prints: records seconds cpu_seconds bytes_per_record
 *          read_gb/s triad_gb/s
 */
#include "core/batch/arrow.h"
#include "millrace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    CHUNK = 4096,
    ADS = 1000,
    ADS_PER_CAMPAIGN = 10,
    CAMPAIGNS = ADS / ADS_PER_CAMPAIGN,
    WINDOW_S = 10,
    SPAN_S = 60,
    COLUMNS = 7,
    STREAM_WORDS = 8 << 20, /* of each array of a thread: 64 MiB */
    STREAM_ROUNDS = 5,
    THREADS_MAX = 64,
};
#define START_US INT64_C(1767268800000000)

static struct chunk {
    int64_t user_id[CHUNK], page_id[CHUNK], event_time[CHUNK];
    int32_t ad_id[CHUNK], ad_type[CHUNK], event_type[CHUNK], ip[CHUNK];
} chunk;

static const struct column {
    const char *name, *format, *sql;
    const void *values;
    uint32_t bytes;
} columns[COLUMNS] = {
    {"user_id", "l", "BIGINT", chunk.user_id, 8},
    {"page_id", "l", "BIGINT", chunk.page_id, 8},
    {"ad_id", "i", "INT", chunk.ad_id, 4},
    {"ad_type", "i", "INT", chunk.ad_type, 4},
    {"event_type", "i", "INT", chunk.event_type, 4},
    {"event_time", "tsu:UTC", "TIMESTAMP", chunk.event_time, 8},
    {"ip", "i", "INT", chunk.ip, 4},
};

static uint64_t random_state = 1, views_n, views_sum; /* sum: of campaign + 1 */

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_ysb: %s: %s\n", what, why);
    exit(1);
}

static double now_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint32_t next_random(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 32) * n >> 32);
}

static void make_chunk(uint64_t first, uint64_t records, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        chunk.user_id[i] = next_random(1000000);
        chunk.page_id[i] = next_random(100000);
        chunk.ad_id[i] = (int32_t)next_random(ADS);
        chunk.ad_type[i] = (int32_t)next_random(5);
        chunk.event_type[i] = (int32_t)next_random(3); /* 0: view */
        chunk.ip[i] = (int32_t)next_random(1 << 30);
        chunk.event_time[i] =
            START_US + (int64_t)((double)(first + i) / (double)records * SPAN_S * 1e6);
        if (chunk.event_type[i] == 0) {
            views_n++;
            views_sum += (uint64_t)(chunk.ad_id[i] / ADS_PER_CAMPAIGN) + 1;
        }
    }
}

static void append_all(struct millrace *m, uint64_t records)
{
    struct ArrowSchema fields[COLUMNS], *field_at[COLUMNS], schema = {.format = "+s"};
    struct ArrowArray values[COLUMNS], *value_at[COLUMNS], array = {.n_buffers = 1};
    const void *none[1] = {NULL}, *buffers[COLUMNS][2];
    struct millrace_error e;

    schema.n_children = array.n_children = COLUMNS;
    schema.children = field_at;
    array.children = value_at;
    array.buffers = none;
    for (int c = 0; c < COLUMNS; c++) {
        buffers[c][0] = NULL;
        buffers[c][1] = columns[c].values;
        fields[c] = (struct ArrowSchema){.format = columns[c].format, .name = columns[c].name};
        values[c] = (struct ArrowArray){.n_buffers = 2, .buffers = buffers[c]};
        field_at[c] = &fields[c];
        value_at[c] = &values[c];
    }
    for (uint64_t at = 0; at < records; at += CHUNK) {
        const uint32_t n = records - at < CHUNK ? (uint32_t)(records - at) : CHUNK;
        make_chunk(at, records, n);
        array.length = n;
        for (int c = 0; c < COLUMNS; c++)
            values[c].length = n;
        if (millrace_append(m, "events", &schema, &array, &e) != MILLRACE_OK)
            fail("append", e.text);
    }
}

/* The campaign of an ad is static: an array, by the number of the ad. */
static void write_job(const char *path, int workers)
{
    FILE *f = fopen(path, "w");

    if (f == NULL)
        fail(path, "cannot be made");
    fprintf(f,
            "name: ysb\nengine: {workers: %d}\ntrigger: {available_now: true}\n"
            "sink: {format: memory, output_mode: complete}\n"
            "sources: {events: {format: memory, schema: \"",
            workers);
    for (int c = 0; c < COLUMNS; c++)
        fprintf(f, "%s%s %s", c ? ", " : "", columns[c].name, columns[c].sql);
    fprintf(f,
            "\"}}\nsteps:\n"
            "  - {as: views, sql: \"SELECT ad_id, event_time FROM events WHERE event_type = 0\"}\n"
            "  - {as: joined, sql: \"SELECT element_at(array(");
    for (int ad = 0; ad < ADS; ad++)
        fprintf(f, "%s%d", ad ? "," : "", ad / ADS_PER_CAMPAIGN);
    fprintf(
        f,
        "), ad_id + 1) AS campaign_id, event_time FROM views\"}\n"
        "  - {as: counts, sql: \"SELECT campaign_id, window.start AS s, count(*) AS n FROM joined "
        "GROUP BY campaign_id, window(event_time, '%d seconds')\"}\n",
        WINDOW_S);
    if (fclose(f) != 0)
        fail(path, "cannot be written");
}

static void check_counts(struct millrace *m)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct millrace_error e;
    uint64_t epoch, n = 0, sum = 0, groups = 0;
    int has;

    for (;;) {
        if (millrace_next(m, "ysb", &schema, &array, &epoch, &has, &e) != MILLRACE_OK)
            fail("next", e.text);
        if (!has)
            break;
        const int32_t *campaign = array.children[0]->buffers[1];
        const int64_t *count = array.children[2]->buffers[1];
        for (int64_t i = 0; i < array.length; i++) {
            n += (uint64_t)count[i];
            sum += (uint64_t)count[i] * (uint64_t)(campaign[i] + 1);
        }
        groups += (uint64_t)array.length;
        array.release(&array);
        schema.release(&schema);
    }
    if (n != views_n || sum != views_sum || groups != CAMPAIGNS * (SPAN_S / WINDOW_S))
        fail("checksum", "the counts differ from those of the records made");
}

static double run_query(int workers, uint64_t records, double *cpu_s)
{
    char folder[] = "/tmp/mr-ysb-XXXXXX", path[64];
    struct millrace *m;
    struct millrace_error e;

    if (mkdtemp(folder) == NULL)
        fail(folder, "cannot be made");
    snprintf(path, sizeof path, "%s/job.yaml", folder);
    write_job(path, workers);
    enum millrace_status opened = millrace_open(path, &m, &e);
    unlink(path);
    rmdir(folder);
    if (opened != MILLRACE_OK)
        fail("open", e.text);
    append_all(m, records);
    double start = now_s(CLOCK_MONOTONIC);
    *cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
    if (millrace_start(m, &e) != MILLRACE_OK || millrace_wait(m, &e) != MILLRACE_OK)
        fail("run", e.text);
    double seconds = now_s(CLOCK_MONOTONIC) - start;
    *cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID) - *cpu_s;
    check_counts(m);
    millrace_close(m);
    return seconds;
}

static pthread_barrier_t together;

struct stream {
    double *a, *b, *c;
    double read_gbs, triad_gbs, sum;
};

static void read_once(struct stream *s)
{
    double sums[16] = {0};

    for (size_t i = 0; i < STREAM_WORDS; i += 16)
        for (size_t k = 0; k < 16; k++)
            sums[k] += s->b[i + k];
    for (size_t k = 0; k < 16; k++)
        s->sum += sums[k];
}

static void triad_once(struct stream *s)
{
    for (size_t i = 0; i < STREAM_WORDS; i++)
        s->a[i] = s->b[i] + 3 * s->c[i];
    s->sum += s->a[STREAM_WORDS / 2];
}

static double best_gbs(struct stream *s, void (*once)(struct stream *), double arrays)
{
    double best = 0;

    for (int r = 0; r < STREAM_ROUNDS; r++) {
        pthread_barrier_wait(&together);
        double start = now_s(CLOCK_MONOTONIC);
        once(s);
        double gbs =
            arrays * STREAM_WORDS * sizeof(double) / (now_s(CLOCK_MONOTONIC) - start) / 1e9;
        best = gbs > best ? gbs : best;
    }
    return best;
}

static void *stream_thread(void *arg)
{
    struct stream *s = arg;
    double **arrays[3] = {&s->a, &s->b, &s->c};

    for (int i = 0; i < 3; i++) {
        *arrays[i] = malloc(STREAM_WORDS * sizeof(double));
        if (*arrays[i] == NULL)
            fail("stream", "no memory");
        for (size_t k = 0; k < STREAM_WORDS; k++)
            (*arrays[i])[k] = (double)(k % 8);
    }
    s->read_gbs = best_gbs(s, read_once, 1);
    s->triad_gbs = best_gbs(s, triad_once, 3);
    for (int i = 0; i < 3; i++)
        free(*arrays[i]);
    return NULL;
}

static void measure_memory(int threads_n, double *read_gbs, double *triad_gbs)
{
    pthread_t threads[THREADS_MAX];
    struct stream streams[THREADS_MAX] = {0};

    pthread_barrier_init(&together, NULL, (unsigned)threads_n);
    for (int t = 0; t < threads_n; t++)
        if (pthread_create(&threads[t], NULL, stream_thread, &streams[t]) != 0)
            fail("stream", "no thread");
    for (int t = 0; t < threads_n; t++) {
        pthread_join(threads[t], NULL);
        *read_gbs += streams[t].read_gbs;
        *triad_gbs += streams[t].triad_gbs;
    }
    pthread_barrier_destroy(&together);
}

int main(int argc, char **argv)
{
    double cpu_s, read_gbs = 0, triad_gbs = 0;
    uint32_t bytes = 0;

    if (argc != 3 || atoi(argv[1]) < 1 || atoi(argv[1]) > THREADS_MAX || atoll(argv[2]) < CHUNK)
        fail("usage", "bench_ysb WORKERS RECORDS");
    const int workers = atoi(argv[1]);
    const uint64_t records = (uint64_t)atoll(argv[2]);
    for (int c = 0; c < COLUMNS; c++)
        bytes += columns[c].bytes;
    double seconds = run_query(workers, records, &cpu_s);
    measure_memory(workers, &read_gbs, &triad_gbs);
    printf("%llu %.6f %.6f %u %.2f %.2f\n", (unsigned long long)records, seconds, cpu_s, bytes,
           read_gbs, triad_gbs);
    return 0;
}
