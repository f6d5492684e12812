/* Lines of the usual event through the JSON decoder: three of five fields, and all.
 *
 * usage    bench_json [real]     prints ns a row: minimum, median, maximum over the passes, in CPU
 *          time, so that a busy machine disturbs less
 */
#include "core/base/bounds.h"
#include "core/format/ddl.h"
#include "core/format/format.h"
#include "kernels/kernels.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOW_BYTES = 512 * 1024, PASSES_MAX = 31 };

struct events {
    char *text;
    size_t n;
    uint32_t rows;
};

static void make_events(struct events *e, uint32_t rows)
{
    static const char *const types[] = {"click", "view", "purchase", "signup"};

    e->rows = rows;
    e->text = malloc((size_t)rows * 160 + MR_PAD_BYTES);
    e->n = 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t r = i * 2654435761u;
        e->n += (size_t)sprintf(e->text + e->n,
                                "{\"event_id\":\"%08x-%04x-%08x\",\"user_id\":\"u%06u\","
                                "\"event_type\":\"%s\",\"amount\":%u.%02u,\"event_ts\":"
                                "\"2026-01-01T%02u:%02u:%02u.%03uZ\"}\n",
                                r, r >> 16, i, r % 300000, types[r >> 30], (r >> 7) % 1000,
                                (r >> 3) % 4 * 25, i / 360000 % 24, i / 6000 % 60, i / 100 % 60,
                                i % 1000);
    }
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct result {
    uint64_t rows;
    double amount;
};

/* As a reader does it: the windows are copied into one buffer. */
static struct result pass(struct mr_decoder *d, const struct events *e, uint8_t *window,
                          struct mr_arena *scratch)
{
    struct result r = {0};
    struct mr_error err;
    size_t at = 0, have = 0;

    mr_format_json.decoder_begin(d);
    while (at < e->n || have > 0) {
        size_t more = e->n - at < WINDOW_BYTES - have ? e->n - at : WINDOW_BYTES - have, used = 0;
        memcpy(window + have, e->text + at, more);
        at += more;
        have += more;
        for (;;) {
            struct mr_batch batch;
            uint64_t taken;
            mr_arena_reset(scratch);
            if (mr_format_json.decode(d, window + used, have - used, at == e->n, scratch, &batch,
                                      &taken, &err) != MR_OK)
                exit(1);
            if (taken == 0 && batch.rows == 0)
                break;
            used += taken;
            r.rows += batch.rows;
            for (uint32_t i = 0; i < batch.rows; i++)
                r.amount += batch.columns[1].f64[i];
        }
        memmove(window, window + used, have - used);
        have -= used;
    }
    return r;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(const struct events *e, const char *isa, const char *columns, uint32_t passes)
{
    jmp_buf escape;
    struct mr_arena keep, scratch;
    struct mr_error err;
    const struct mr_type *schema;
    struct mr_decoder *d;
    double ns[PASSES_MAX];
    struct result r = {0};
    uint8_t *window = calloc(1, WINDOW_BYTES + MR_PAD_BYTES);

    mr_arena_init(&keep, NULL, &escape);
    mr_arena_init(&scratch, NULL, &escape);
    if (mr_kernels_init(isa, &err) != MR_OK ||
        mr_ddl_parse_columns(mr_text_of(columns), &keep, &schema, &err) != MR_OK)
        exit(1);
    const struct mr_decoder_config config = {.schema = schema,
                                             .full_schema = schema,
                                             .zone = mr_zone_utc(),
                                             .batch_rows = MR_BATCH_ROWS_DEFAULT};
    if (mr_format_json.decoder_open(&config, &keep, &d, &err) != MR_OK)
        exit(1);
    for (uint32_t i = 0; i < passes; i++) {
        double start = seconds();
        r = pass(d, e, window, &scratch);
        ns[i] = (seconds() - start) * 1e9 / (double)r.rows;
    }
    qsort(ns, passes, sizeof *ns, by_value);
    printf("%-7s %u columns: %llu rows of %.1f bytes, amount %.2f: %.1f %.1f %.1f ns a row\n", isa,
           schema->fields_n, (unsigned long long)r.rows, (double)e->n / (double)e->rows, r.amount,
           ns[0], ns[passes / 2], ns[passes - 1]);
    mr_format_json.decoder_close(d);
    mr_arena_fini(&scratch);
    mr_arena_fini(&keep);
    free(window);
}

int main(int argc, char **argv)
{
    bool real = argc > 1 && strcmp(argv[1], "real") == 0;
    uint32_t passes = real ? PASSES_MAX : 3;
    struct events e;

    make_events(&e, real ? 400000 : 20000);
    for (int isa = MR_ISA_SCALAR; isa <= (int)mr_kernels_best(); isa++) {
        run(&e, mr_isa_name((enum mr_isa)isa),
            "event_type STRING, amount DOUBLE, event_ts TIMESTAMP", passes);
        run(&e, mr_isa_name((enum mr_isa)isa),
            "event_type STRING, amount DOUBLE, event_ts TIMESTAMP, event_id STRING, user_id STRING",
            passes);
    }
    free(e.text);
    return 0;
}
