/* bench_aggregate.c - windows by type, from columns in memory: partial aggregate, then final, one
 * worker.
 *
 *   bench_aggregate [real [SHAPE]]
 *
 * Shapes   few: 5 types, all rows of a batch in one window. wide: times over many windows. many: as
 *          many keys as the name says, texts of 8 bytes. ns per row of step alone, min of the
 *          repeats.
 */
#include "core/base/check.h"
#include "core/op/operators.h"
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH_ROWS = 4096, BATCHES = 64, REPEATS = 1000, KEYS = 2, SLOTS = 3 };

struct bench {
    jmp_buf escape;
    struct mr_arena arena;
    struct mr_batch batches[BATCHES];
    struct mr_node partial, final;
    const struct mr_node *children[1];
    struct mr_epoch epoch;
    struct mr_eval_context eval;
    struct mr_error err;
};

/* Time of this thread: the machine may be busy with others. */
static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void check(enum mr_status status, const struct bench *b)
{
    if (status == MR_OK)
        return;
    fprintf(stderr, "bench_aggregate: %s\n", b->err.message);
    exit(1);
}

static const char *key_text(char *room, uint64_t i, uint64_t keys)
{
    static const char *const types[] = {"click", "view", "purchase", "search", "login"};

    if (keys <= 5)
        return types[i];
    snprintf(room, 16, "k%07u", (unsigned)i);
    return room;
}

static void make_batches(struct bench *b, uint64_t keys, int64_t spread_us)
{
    static const struct mr_type *const types[] = {&mr_type_string, &mr_type_timestamp,
                                                  &mr_type_double};
    uint64_t seed = 42;

    for (uint32_t k = 0; k < BATCHES; k++) {
        struct mr_builder builders[3];
        struct mr_batch *batch = &b->batches[k];
        for (uint32_t c = 0; c < 3; c++)
            mr_builder_init(&builders[c], types[c], BATCH_ROWS, &b->arena);
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {
            char room[16];
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const char *text = key_text(room, (seed >> 33) % keys, keys);
            mr_builder_append_text(&builders[0], mr_text_of(text));
            mr_builder_append_i64(&builders[1],
                                  INT64_C(1767268800000000) + (int64_t)(seed >> 20) % spread_us);
            mr_builder_append_f64(&builders[2], (double)(seed >> 50) * 0.25);
        }
        *batch = (struct mr_batch){.columns = MR_NEW_ARRAY(&b->arena, struct mr_column, 3),
                                   .columns_n = 3,
                                   .rows = BATCH_ROWS,
                                   .n = BATCH_ROWS};
        for (uint32_t c = 0; c < 3; c++) {
            mr_builder_finish(&builders[c], &batch->columns[c]);
            batch->columns[c].valid = NULL;
        }
    }
}

static struct mr_expr *call_of(struct bench *b, const char *name, struct mr_expr *arg,
                               const struct mr_type *type)
{
    struct mr_expr *call = MR_NEW(&b->arena, struct mr_expr);

    call->kind = MR_EXPR_CALL;
    call->type = type;
    call->function = mr_function_find(name);
    call->args_n = arg ? 1 : 0;
    call->args = MR_NEW_ARRAY(&b->arena, struct mr_expr *, 1);
    call->args[0] = arg;
    return call;
}

/* window(ts, 5 minutes), type, count(*), sum(amount) */
static void make_plan(struct bench *b)
{
    struct mr_arena *a = &b->arena;
    struct mr_field *window = MR_NEW_ARRAY(a, struct mr_field, 2);
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, KEYS + SLOTS);
    struct mr_aggregate_item *items = MR_NEW_ARRAY(a, struct mr_aggregate_item, 2);
    const struct mr_expr **keys = MR_NEW_ARRAY(a, const struct mr_expr *, KEYS);
    const struct mr_expr **exprs = MR_NEW_ARRAY(a, const struct mr_expr *, KEYS + 2);

    window[0] = (struct mr_field){"start", &mr_type_timestamp, false};
    window[1] = (struct mr_field){"end", &mr_type_timestamp, false};
    fields[0] = (struct mr_field){"window", mr_type_struct(a, window, 2), false};
    fields[1] = (struct mr_field){"type", &mr_type_string, true};
    fields[2] = (struct mr_field){"n", &mr_type_bigint, false};
    fields[3] = (struct mr_field){"sum", &mr_type_double, false};
    fields[4] = (struct mr_field){"sum_n", &mr_type_bigint, false};
    keys[0] = mr_expr_column(a, 1, &mr_type_timestamp, true, "ts");
    keys[1] = mr_expr_column(a, 0, &mr_type_string, true, "type");
    items[0].aggregate = mr_aggregate_find("count");
    items[0].call = call_of(b, "count", NULL, &mr_type_bigint);
    items[1].aggregate = mr_aggregate_find("sum");
    items[1].call =
        call_of(b, "sum", mr_expr_column(a, 2, &mr_type_double, true, "amount"), &mr_type_double);
    for (uint32_t i = 0; i < KEYS + 2; i++)
        exprs[i] = mr_expr_column(a, i, fields[i].type, true, "c");
    b->partial = (struct mr_node){.kind = MR_NODE_PARTIAL_AGGREGATE,
                                  .output = mr_type_struct(a, fields, KEYS + SLOTS),
                                  .keys = keys,
                                  .keys_n = KEYS,
                                  .aggregates = items,
                                  .aggregates_n = 2,
                                  .mode = MR_APPEND,
                                  .time_rule = MR_TIME_WINDOW_END,
                                  .window_us = INT64_C(300000000),
                                  .slide_us = INT64_C(300000000)};
    b->children[0] = &b->partial;
    b->final = b->partial;
    b->final.kind = MR_NODE_AGGREGATE;
    b->final.output = mr_type_struct(a, fields, KEYS + 2);
    b->final.children = b->children;
    b->final.children_n = 1;
    b->final.window_key = UINT32_MAX;
    b->final.exprs = exprs;
    b->final.exprs_n = KEYS + 2;
}

static struct mr_ctx open_op(struct bench *b, const struct mr_node *node, struct mr_arena *a,
                             struct mr_state **table)
{
    const struct mr_operator_ops *ops = mr_operator_for(node->kind);
    void *plan = mr_arena_zero(a, ops->plan_size + 1);
    struct mr_ctx ctx = {.plan = plan,
                         .node = node,
                         .epoch = &b->epoch,
                         .eval = &b->eval,
                         .arena = a,
                         .scratch = a,
                         .err = &b->err,
                         .workers = 1,
                         .batch_rows = BATCH_ROWS};

    ctx.state = mr_arena_zero(a, ops->state_size + 1);
    check(ops->plan(plan, node, a, &b->err), b);
    if (ops->tables) {
        uint32_t n;
        const struct mr_state_config config = {.table = ops->tables(plan, &n),
                                               .escape = &b->escape};
        check(mr_state_open(&config, table, &b->err), b);
        ctx.tables = table;
    }
    check(ops->open(&ctx), b);
    return ctx;
}

static void merge(struct mr_ctx *final, const struct mr_batch *out, double *ns)
{
    struct mr_batch none = {0};
    const double begin = now_ns();

    if (out->n > 0)
        mr_aggregate_ops.step(final, out, &none);
    *ns += now_ns() - begin;
}

/* All batches and the mark, once; the time of both operators apart. */
static void run_epoch(struct bench *b, struct mr_ctx *partial, struct mr_ctx *final,
                      double *partial_ns, double *final_ns)
{
    const double begin = now_ns();
    enum mr_step step;

    *final_ns = 0;
    for (uint32_t k = 0; k < BATCHES; k++)
        do {
            struct mr_batch out = {0};
            step = mr_partial_aggregate_ops.step(partial, &b->batches[k], &out);
            MR_ASSERT(step != MR_FAILED);
            merge(final, &out, final_ns);
        } while (step == MR_MORE_OUTPUT);
    do {
        struct mr_batch out = {0};
        step = mr_partial_aggregate_ops.mark(partial, &out);
        merge(final, &out, final_ns);
    } while (step == MR_MORE_OUTPUT);
    *partial_ns = now_ns() - begin - *final_ns;
}

static void run_shape(struct bench *b, const char *name, uint64_t keys, int64_t spread_us,
                      uint32_t repeats)
{
    struct mr_arena ops;
    struct mr_state *table = NULL;
    double partial_min = 1e18, final_min = 1e18;
    uint64_t rows = 0;

    mr_arena_init(&ops, NULL, &b->escape);
    make_batches(b, keys, spread_us);
    make_plan(b);
    b->epoch.late_us = b->epoch.evict_us = INT64_MIN;
    struct mr_ctx partial = open_op(b, &b->partial, &ops, NULL);
    struct mr_ctx final = open_op(b, &b->final, &ops, &table);
    const double end = now_ns() + 1e9; /* a second of repeats */
    for (uint32_t i = 0; i < repeats && (i == 0 || now_ns() < end); i++) {
        double partial_ns, final_ns;
        b->epoch.id = i;
        run_epoch(b, &partial, &final, &partial_ns, &final_ns);
        partial_min = partial_ns < partial_min ? partial_ns : partial_min;
        final_min = final_ns < final_min ? final_ns : final_min;
        rows += (uint64_t)BATCHES * BATCH_ROWS;
    }
    struct mr_state_cursor at = {0};
    struct mr_state_row *row;
    int64_t counted = 0;
    for (uint64_t i = mr_state_rows(table); i > 0 && mr_state_next(table, &at, &row); i--)
        counted += mr_state_slots(row)[0].i64;
    const double n = (double)BATCHES * BATCH_ROWS;
    printf("%-14s keys %7llu groups %7llu partial %6.2f ns/row final %6.2f ns/row rows %lld %s\n",
           name, (unsigned long long)keys, (unsigned long long)mr_state_rows(table),
           partial_min / n, final_min / n, (long long)counted,
           counted == (int64_t)rows ? "ok" : "WRONG");
    mr_partial_aggregate_ops.close(&partial);
    mr_aggregate_ops.close(&final);
    mr_state_close(table);
    mr_arena_fini(&ops);
}

static void run(const char *name, uint64_t keys, int64_t spread_us, uint32_t repeats)
{
    struct bench b;

    memset(&b, 0, sizeof b);
    mr_arena_init(&b.arena, NULL, &b.escape);
    if (setjmp(b.escape) == 0)
        run_shape(&b, name, keys, spread_us, repeats);
    else
        fprintf(stderr, "bench_aggregate: memory is exhausted\n");
    mr_arena_fini(&b.arena);
}

struct shape {
    const char *name;
    uint64_t keys;
    int64_t spread_us;
};

static const struct shape shapes[] = {
    {"few", 5, INT64_C(60000000)},
    {"few-wide", 5, INT64_C(36000000000)},
    {"many-100", 100, INT64_C(60000000)},
    {"many-1000", 1000, INT64_C(60000000)},
    {"many-10000", 10000, INT64_C(60000000)},
    {"many-300000", 300000, INT64_C(60000000)},
    {"many-1M-wide", 1000000, INT64_C(36000000000)},
};

int main(int argc, char **argv)
{
    const bool is_real = argc > 1 && strcmp(argv[1], "real") == 0;
    const char *only = argc > 2 ? argv[2] : NULL;

    if (mr_kernels_init(getenv("MR_KERNELS"), NULL))
        return 1;
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (only == NULL || strcmp(only, shapes[i].name) == 0)
            run(shapes[i].name, shapes[i].keys, shapes[i].spread_us, is_real ? REPEATS : 1);
    return 0;
}
