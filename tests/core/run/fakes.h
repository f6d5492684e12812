/* fakes.h - a world for tests of core/run: an env, a source of numbers, operators, a sink that
 * sums. */
#pragma once
#include "core/run/progress.h"
#include "core/run/query.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
/* cmocka needs those above */
#include <cmocka.h>

/* ---- env ---- */
static int64_t clock_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
static int64_t fake_now_us(struct mr_env *env)
{
    (void)env;
    return clock_us(CLOCK_REALTIME);
}
static int64_t fake_monotonic_us(struct mr_env *env)
{
    (void)env;
    return clock_us(CLOCK_MONOTONIC);
}
static int fake_wait(struct mr_env *env, const int *fds, uint32_t n, int64_t us)
{
    struct pollfd p[MR_SOURCES_MAX + 1];
    (void)env;
    for (uint32_t i = 0; i < n; i++)
        p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    struct timespec limit = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    return ppoll(p, n, &limit, NULL) > 0;
}
static uint64_t fake_random(struct mr_env *env)
{
    (void)env;
    return UINT64_C(0x123456789abcdef);
}
static void fake_fini(struct mr_env *env)
{
    (void)env;
}
static const struct mr_env_ops fake_env_ops = {
    .name = "fake",
    .now_us = fake_now_us,
    .monotonic_us = fake_monotonic_us,
    .wait = fake_wait,
    .random = fake_random,
    .fini = fake_fini,
};
static struct mr_env fake_env = {.ops = &fake_env_ops};
enum mr_status mr_env_open(const char *back_end, struct mr_env **out, struct mr_error *err)
{
    (void)back_end;
    (void)err;
    *out = &fake_env;
    return MR_OK;
}

/* ---- source: numbers 0, 1, 2, .. in splits; k = v mod 10, ts = v seconds ---- */
static struct {
    uint64_t total, per_epoch, splits, pulls_blocked;
    _Atomic uint64_t grown; /* rows that appear later */
    int64_t times[16];      /* if not 0: ts of the rows of epoch i, in us */
    bool begins;            /* says where it begins, as a topic read from its end */
} numbers;

static const struct mr_field number_fields[] = {
    {"v", &mr_type_bigint, false}, {"k", &mr_type_bigint, false}, {"ts", &mr_type_bigint, false}};
static const struct mr_type number_type = {
    .kind = MR_STRUCT, .fields_n = 3, .fields = number_fields};

struct numbers_planner {
    uint64_t from, to, frozen;
    bool is_frozen;
    char json[32], bytes[64], split[64];
};
static enum mr_status numbers_open(void *planner, const struct mr_source_config *config,
                                   struct mr_error *err)
{
    (void)planner;
    (void)config;
    (void)err;
    return MR_OK;
}
static void numbers_close(void *planner)
{
    (void)planner;
}
static enum mr_status numbers_plan(void *planner, uint64_t epoch, enum mr_source_limit limit,
                                   struct mr_offsets *to, bool *has_new, struct mr_error *err)
{
    struct numbers_planner *p = planner;
    uint64_t end = p->is_frozen ? p->frozen : numbers.total + atomic_load(&numbers.grown);
    (void)epoch;
    (void)err;
    if (limit == MR_LIMIT_AS_CONFIGURED && numbers.per_epoch && end - p->to > numbers.per_epoch)
        end = p->to + numbers.per_epoch;
    *has_new = end > p->to;
    to->keep = numbers.begins;
    if (*has_new) {
        p->from = p->to;
        p->to = end;
    }
    to->json =
        (struct mr_text){p->json, (uint64_t)sprintf(p->json, "%llu", (unsigned long long)p->to)};
    to->bytes = (struct mr_text){p->bytes, (uint64_t)sprintf(p->bytes, "%llu %llu",
                                                             (unsigned long long)p->from,
                                                             (unsigned long long)p->to)};
    return MR_OK;
}
static enum mr_status numbers_freeze(void *planner, struct mr_error *err)
{
    struct numbers_planner *p = planner;
    (void)err;
    p->frozen = numbers.total + atomic_load(&numbers.grown);
    p->is_frozen = true;
    return MR_OK;
}
static enum mr_status numbers_adopt(void *planner, uint64_t epoch, struct mr_text bytes,
                                    struct mr_error *err)
{
    struct numbers_planner *p = planner;
    unsigned long long from, to;
    char text[64];
    (void)epoch;
    (void)err;
    memcpy(text, bytes.data, bytes.n);
    text[bytes.n] = '\0';
    assert_int_equal(sscanf(text, "%llu %llu", &from, &to), 2);
    p->from = from;
    p->to = to;
    return MR_OK;
}
static enum mr_status numbers_splits(void *planner, uint32_t *n, struct mr_error *err)
{
    (void)planner;
    (void)err;
    *n = (uint32_t)(numbers.splits ? numbers.splits : 1);
    return MR_OK;
}
static struct mr_text numbers_split(void *planner, uint32_t i)
{
    struct numbers_planner *p = planner;
    uint64_t n = numbers.splits ? numbers.splits : 1, rows = p->to - p->from;
    int bytes = sprintf(p->split, "%llu %llu", (unsigned long long)(p->from + rows * i / n),
                        (unsigned long long)(p->from + rows * (i + 1) / n));
    return (struct mr_text){p->split, (uint64_t)bytes};
}

struct numbers_reader {
    uint32_t batch_rows;
    uint64_t at, to, pulls;
    struct mr_column columns[3];
    int64_t v[MR_BATCH_ROWS_MAX + 8], k[MR_BATCH_ROWS_MAX + 8], ts[MR_BATCH_ROWS_MAX + 8];
};
static enum mr_status numbers_reader_open(void *reader, const struct mr_source_config *config,
                                          struct mr_error *err)
{
    struct numbers_reader *r = reader;
    (void)err;
    r->batch_rows = config->batch_rows;
    return MR_OK;
}
static enum mr_status numbers_open_split(void *reader, struct mr_text split, struct mr_error *err)
{
    struct numbers_reader *r = reader;
    unsigned long long from, to;
    char text[64];
    (void)err;
    memcpy(text, split.data, split.n);
    text[split.n] = '\0';
    assert_int_equal(sscanf(text, "%llu %llu", &from, &to), 2);
    r->at = from;
    r->to = to;
    return MR_OK;
}
static enum mr_step numbers_pull(void *reader, struct mr_batch *out,
                                 struct mr_source_counts *counts, struct mr_error *err)
{
    struct numbers_reader *r = reader;
    uint32_t n = 0;
    (void)err;
    if (r->pulls++ < numbers.pulls_blocked)
        return MR_BLOCKED;
    for (; n < r->batch_rows && r->at < r->to; n++, r->at++) {
        r->v[n] = (int64_t)r->at;
        r->k[n] = (int64_t)(r->at % 10);
        uint64_t epoch = numbers.per_epoch ? r->at / numbers.per_epoch : 0;
        r->ts[n] =
            epoch < 16 && numbers.times[epoch] ? numbers.times[epoch] : (int64_t)r->at * 1000000;
    }
    int64_t *const data[] = {r->v, r->k, r->ts};
    for (int c = 0; c < 3; c++)
        r->columns[c] = (struct mr_column){.type = &mr_type_bigint, .i64 = data[c]};
    *out = (struct mr_batch){.columns = r->columns, .columns_n = 3, .rows = n, .n = n};
    counts->rows += n;
    return r->at == r->to ? MR_DONE : MR_MORE_OUTPUT;
}
static const struct mr_source_ops numbers_ops = {
    .name = "numbers",
    .planner_size = sizeof(struct numbers_planner),
    .reader_size = sizeof(struct numbers_reader),
    .planner_open = numbers_open,
    .planner_close = numbers_close,
    .plan = numbers_plan,
    .freeze = numbers_freeze,
    .adopt = numbers_adopt,
    .splits = numbers_splits,
    .split = numbers_split,
    .reader_open = numbers_reader_open,
    .reader_close = numbers_close,
    .open_split = numbers_open_split,
    .pull = numbers_pull,
};
const struct mr_source_ops *mr_source_find(const char *format)
{
    return strcmp(format, "numbers") == 0 ? &numbers_ops : NULL;
}
const char *const *mr_source_names(void)
{
    static const char *const names[] = {"numbers", NULL};
    return names;
}

/* ---- sink: sums columns 0 and 1 ---- */
static struct {
    _Atomic int64_t sum, rows, published, blocked_writes;
} summed;
static enum mr_status sum_open(void *writer, const struct mr_sink_config *config, void *committer,
                               uint32_t worker, struct mr_error *err)
{
    (void)writer;
    (void)config;
    (void)committer;
    (void)worker;
    (void)err;
    return MR_OK;
}
static enum mr_step sum_write(void *writer, uint64_t epoch, const struct mr_batch *batch,
                              struct mr_error *err)
{
    int64_t sum = 0;
    (void)writer;
    (void)epoch;
    (void)err;
    if (atomic_fetch_sub(&summed.blocked_writes, 1) > 0)
        return MR_BLOCKED;
    for (uint32_t i = 0; i < batch->n; i++)
        sum += batch->columns[0].i64[mr_batch_row(batch, i)];
    atomic_fetch_add(&summed.sum, sum);
    atomic_fetch_add(&summed.rows, batch->n);
    return MR_NEED_INPUT;
}
static enum mr_step sum_prepare(void *writer, uint64_t epoch, struct mr_buffer *out,
                                struct mr_error *err)
{
    (void)writer;
    (void)epoch;
    (void)err;
    mr_buffer_append_format(out, "ready");
    return MR_NEED_INPUT;
}
static enum mr_status sum_publish(void *committer, uint64_t epoch, const struct mr_text *prepared,
                                  uint32_t n, struct mr_error *err)
{
    (void)committer;
    (void)epoch;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        assert_true(mr_text_equal(prepared[i], MR_TEXT("ready")));
    atomic_fetch_add(&summed.published, 1);
    return MR_OK;
}
static const struct mr_sink_ops sum_ops = {
    .name = "sum",
    .modes = 7,
    .writer_open = sum_open,
    .writer_close = numbers_close,
    .write = sum_write,
    .prepare = sum_prepare,
    .publish = sum_publish,
};

#include "tests/core/run/fake_checkpoint.h"

/* ---- operators ---- */
enum fake_failure { FAIL_NOT, FAIL_QUERY, FAIL_MEMORY };
static struct {
    enum fake_failure fails;
    int64_t blocked; /* so many calls of the even operator are blocked */
} operators;

/* FILTER: even v. Blocks now and then. */
static enum mr_step even_step(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out)
{
    int64_t *blocked = ctx->state;
    if (*blocked < operators.blocked) {
        ++*blocked;
        return MR_BLOCKED;
    }
    if (operators.fails == FAIL_QUERY)
        return mr_error_set(ctx->err, MR_QUERY, 0, "CAST_INVALID_INPUT", __FILE__, __LINE__, "bad")
                   ? MR_FAILED
                   : MR_NEED_INPUT;
    if (operators.fails == FAIL_MEMORY)
        for (;;)
            mr_arena_alloc(ctx->arena, 1 << 20);
    uint32_t *sel = mr_arena_alloc(ctx->scratch, in->rows * sizeof *sel + 64);
    mr_batch_view(out, in);
    out->n = 0;
    for (uint32_t i = 0; i < in->n; i++)
        if (in->columns[0].i64[mr_batch_row(in, i)] % 2 == 0)
            sel[out->n++] = mr_batch_row(in, i);
    out->sel = sel;
    return MR_NEED_INPUT;
}
/* PROJECT: every row twice, by MR_MORE_OUTPUT. */
static enum mr_step twice_step(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out)
{
    uint64_t *calls = ctx->state;
    mr_batch_view(out, in);
    return ++*calls % 2 ? MR_MORE_OUTPUT : MR_NEED_INPUT;
}
/* AGGREGATE: sums v by k, all out at mark, one row a call. */
struct sums {
    int64_t sum[10], seen[10], next;
    struct mr_column columns[2];
    int64_t v[16], k[16];
};
static enum mr_step sums_step(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out)
{
    struct sums *s = ctx->state;
    (void)out;
    for (uint32_t i = 0; i < in->n; i++) {
        int64_t k = in->columns[1].i64[mr_batch_row(in, i)];
        s->sum[k] += in->columns[0].i64[mr_batch_row(in, i)];
        s->seen[k] = 1;
    }
    return MR_NEED_INPUT;
}
static enum mr_step sums_mark(struct mr_ctx *ctx, struct mr_batch *out)
{
    struct sums *s = ctx->state;
    while (s->next < 10 && !s->seen[s->next])
        s->next++;
    if (s->next == 10) {
        memset(s, 0, sizeof *s);
        return MR_NEED_INPUT;
    }
    s->v[0] = s->sum[s->next];
    s->k[0] = s->next++;
    s->columns[0] = (struct mr_column){.type = &mr_type_bigint, .i64 = s->v};
    s->columns[1] = (struct mr_column){.type = &mr_type_bigint, .i64 = s->k};
    *out = (struct mr_batch){.columns = s->columns, .columns_n = 2, .rows = 1, .n = 1};
    return MR_MORE_OUTPUT;
}
/* WATERMARK: of column 2. */
static enum mr_step times_step(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out)
{
    for (uint32_t i = 0; i < in->n; i++) {
        int64_t t = in->columns[2].i64[mr_batch_row(in, i)];
        ctx->max_time_us = t > ctx->max_time_us ? t : ctx->max_time_us;
        ctx->min_time_us = t < ctx->min_time_us ? t : ctx->min_time_us;
        ctx->time_sum_us += t;
        ctx->times_n++;
    }
    mr_batch_view(out, in);
    return MR_NEED_INPUT;
}
static enum mr_step pass_step(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out)
{
    (void)ctx;
    mr_batch_view(out, in);
    return MR_NEED_INPUT;
}
/* LIMIT: after 5 rows it needs no more. */
static enum mr_step limit_step(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out)
{
    uint32_t *seen = ctx->state;
    mr_batch_view(out, in);
    if (out->n > 5 - *seen) {
        out->n = 5 - *seen;
        out->rows = out->n;
    }
    *seen += out->n;
    return *seen == 5 ? MR_DONE : MR_NEED_INPUT;
}
static const struct mr_operator_ops even_ops = {.name = "even", .state_size = 8, .step = even_step};
static const struct mr_operator_ops twice_ops = {
    .name = "twice", .state_size = 8, .step = twice_step};
static const struct mr_operator_ops sums_ops = {
    .name = "sums", .state_size = sizeof(struct sums), .step = sums_step, .mark = sums_mark};
static const struct mr_operator_ops times_ops = {.name = "times", .step = times_step};
static const struct mr_operator_ops pass_ops = {.name = "pass", .step = pass_step};
static const struct mr_operator_ops limit_ops = {
    .name = "limit", .state_size = 8, .step = limit_step};
const struct mr_operator_ops *mr_operator_for(enum mr_node_kind kind)
{
    switch (kind) {
    case MR_NODE_FILTER:
        return &even_ops;
    case MR_NODE_PROJECT:
        return &twice_ops;
    case MR_NODE_AGGREGATE:
        return &sums_ops;
    case MR_NODE_WATERMARK:
        return &times_ops;
    case MR_NODE_UNION:
        return &pass_ops;
    case MR_NODE_LIMIT:
        return &limit_ops;
    default:
        return NULL;
    }
}

/* ---- plans ---- */
static const struct mr_table number_table = {
    .name = "t", .streaming = true, .format = "numbers", .schema = &number_type};
static const struct mr_field sum_fields[] = {{"v", &mr_type_bigint, false},
                                             {"k", &mr_type_bigint, false}};
static const struct mr_type sum_type = {.kind = MR_STRUCT, .fields_n = 2, .fields = sum_fields};

struct fake_plan {
    struct mr_node nodes[12];
    const struct mr_node *children[12], *list[12];
    struct mr_expr key;
    const struct mr_expr *keys[1];
    struct mr_physical_plan plan;
};

/* A chain of kinds from the source to the sink. */
static void make_chain(struct fake_plan *f, const enum mr_node_kind *kinds, uint32_t n)
{
    memset(f, 0, sizeof *f);
    f->key = (struct mr_expr){.kind = MR_EXPR_COLUMN, .type = &mr_type_bigint, .index = 1};
    f->keys[0] = &f->key;
    const struct mr_type *type = &number_type;
    for (uint32_t i = 0; i < n; i++) {
        struct mr_node *node = &f->nodes[i];
        f->list[i] = node;
        node->kind = kinds[i];
        node->id = i;
        if (kinds[i] == MR_NODE_AGGREGATE)
            type = &sum_type;
        node->output = type;
        if (kinds[i] == MR_NODE_SOURCE)
            node->table = &number_table;
        if (kinds[i] == MR_NODE_EXCHANGE && type == &number_type) {
            node->keys = f->keys;
            node->keys_n = 1;
        }
        if (i > 0) {
            f->children[i] = &f->nodes[i - 1];
            node->children = &f->children[i];
            node->children_n = 1;
        }
    }
    f->plan = (struct mr_physical_plan){.root = &f->nodes[n - 1], .nodes = f->list, .nodes_n = n};
}

static void reset_fakes(void)
{
    memset(&numbers, 0, sizeof numbers);
    memset(&operators, 0, sizeof operators);
    memset(&stored, 0, sizeof stored);
    atomic_store(&summed.sum, 0);
    atomic_store(&summed.rows, 0);
    atomic_store(&summed.published, 0);
    atomic_store(&summed.blocked_writes, 0);
}
