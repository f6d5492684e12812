/* harness.h - runs operators on hand-made plans and batches, and collects rows as lines of text. */
#pragma once
#include "core/base/check.h"
#include "core/op/operators.h"
#include "kernels/kernels.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LINE_BYTES = 256 };

/* Rows that came out of the last operator, as "1|abc|[60,120]". */
struct lines {
    char (*text)[LINE_BYTES];
    uint32_t n, capacity;
};

struct op {
    const struct mr_operator_ops *ops;
    struct mr_ctx ctx;
    struct mr_node node;
    struct mr_epoch epoch;
    struct mr_eval_context eval;
    struct mr_error err;
    struct mr_arena arena, scratch;
    jmp_buf escape;
    struct mr_state *table;
    struct op *next; /* takes what this gives; NULL: lines */
    struct lines *lines;
    enum mr_step last;
};

static inline void append_value(char *to, const struct mr_column *c, uint32_t row)
{
    const size_t used = strlen(to);
    char *end = to + used;
    const size_t room = LINE_BYTES - used;

    if (mr_column_is_null(c, row)) {
        snprintf(end, room, "null");
        return;
    }
    switch (c->type->kind) {
    case MR_BOOLEAN:
        snprintf(end, room, "%s", mr_bit_get(c->bits, row) ? "true" : "false");
        return;
    case MR_INT:
    case MR_DATE:
        snprintf(end, room, "%d", c->i32[row]);
        return;
    case MR_BIGINT:
    case MR_TIMESTAMP:
        snprintf(end, room, "%" PRId64, c->i64[row]);
        return;
    case MR_DOUBLE:
        snprintf(end, room, "%.17g", c->f64[row]);
        return;
    case MR_DECIMAL:
        snprintf(end, room, "%" PRId64, (int64_t)c->i128[row]);
        return;
    case MR_STRING:
    case MR_BINARY: {
        const struct mr_text t = mr_column_text(c, row);
        snprintf(end, room, "%.*s", (int)t.n, t.data);
        return;
    }
    case MR_STRUCT:
        snprintf(end, room, "[");
        for (uint32_t i = 0; i < c->type->fields_n; i++) {
            append_value(to, &c->children[i], row);
            strncat(to, i + 1 < c->type->fields_n ? "," : "]", LINE_BYTES - strlen(to) - 1);
        }
        return;
    default:
        fail_msg("no text for kind %d", c->type->kind);
    }
}

static inline void add_line(struct lines *lines, const char *text)
{
    if (lines->n == lines->capacity) {
        lines->capacity = lines->capacity ? lines->capacity * 2 : 64;
        lines->text = realloc(lines->text, (size_t)lines->capacity * LINE_BYTES);
        assert_non_null(lines->text);
    }
    snprintf(lines->text[lines->n++], LINE_BYTES, "%s", text);
}

static inline int compare_lines(const void *a, const void *b)
{
    return strcmp(a, b);
}

static inline void sort_lines(struct lines *lines)
{
    if (lines->n > 0)
        qsort(lines->text, lines->n, LINE_BYTES, compare_lines);
}

static inline void clear_lines(struct lines *lines)
{
    free(lines->text);
    *lines = (struct lines){0};
}

/* Any order; the expected lines end with NULL. */
static inline void expect_lines(struct lines *lines, ...)
{
    struct lines wanted = {0};
    va_list args;

    va_start(args, lines);
    for (const char *s = va_arg(args, const char *); s; s = va_arg(args, const char *))
        add_line(&wanted, s);
    va_end(args);
    sort_lines(&wanted);
    sort_lines(lines);
    for (uint32_t i = 0; i < lines->n && i < wanted.n; i++)
        assert_string_equal(lines->text[i], wanted.text[i]);
    assert_int_equal(lines->n, wanted.n);
    clear_lines(&wanted);
    clear_lines(lines);
}

static inline void collect(struct lines *lines, const struct mr_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        char line[LINE_BYTES] = "";
        for (uint32_t c = 0; c < b->columns_n; c++) {
            if (c > 0)
                strncat(line, "|", LINE_BYTES - strlen(line) - 1);
            append_value(line, &b->columns[c], mr_batch_row(b, i));
        }
        add_line(lines, line);
    }
}

static inline void op_open(struct op *op, enum mr_node_kind kind, uint32_t batch_rows)
{
    op->node.kind = kind;
    op->ops = mr_operator_for(kind);
    assert_non_null(op->ops);
    mr_arena_init(&op->scratch, NULL, &op->escape);
    struct mr_ctx *ctx = &op->ctx;
    void *plan = mr_arena_zero(&op->arena, op->ops->plan_size + 1);
    if (op->ops->plan)
        assert_int_equal(op->ops->plan(plan, &op->node, &op->arena, &op->err), MR_OK);
    *ctx = (struct mr_ctx){.plan = plan,
                           .state = mr_arena_zero(&op->arena, op->ops->state_size + 1),
                           .node = &op->node,
                           .epoch = &op->epoch,
                           .eval = &op->eval,
                           .arena = &op->arena,
                           .scratch = &op->scratch,
                           .err = &op->err,
                           .workers = 1,
                           .batch_rows = batch_rows};
    op->epoch.late_us = op->epoch.evict_us = INT64_MIN;
    op->epoch.is_batch = op->node.batch;
    if (op->ops->tables && !op->node.batch) {
        uint32_t n;
        const struct mr_state_table *table = op->ops->tables(plan, &n);
        const struct mr_state_config config = {.table = table, .escape = &op->escape};
        assert_int_equal(n, 1);
        assert_int_equal(mr_state_open(&config, &op->table, &op->err), MR_OK);
        ctx->tables = &op->table;
    }
    if (op->ops->open(ctx) != MR_OK)
        fail_msg("open: %s", op->err.message);
}

/* To be called before the node is filled, so that the node's parts can lie in the operator's arena.
 */
static inline void op_init(struct op *op, struct lines *lines)
{
    memset(op, 0, sizeof *op);
    op->lines = lines;
    op->node.window_key = UINT32_MAX;
    mr_arena_init(&op->arena, NULL, &op->escape);
    if (setjmp(op->escape))
        fail_msg("memory is exhausted");
}

static inline void op_close(struct op *op)
{
    op->ops->close(&op->ctx);
    if (op->table)
        mr_state_close(op->table);
    mr_arena_fini(&op->arena);
    mr_arena_fini(&op->scratch);
}

static inline void op_push(struct op *op, const struct mr_batch *in);

static inline void op_give(struct op *op, const struct mr_batch *out)
{
    if (out->n == 0)
        return;
    if (op->next)
        op_push(op->next, out);
    else
        collect(op->lines, out);
}

static inline void op_push(struct op *op, const struct mr_batch *in)
{
    do {
        struct mr_batch out = {0};
        mr_arena_reset(&op->scratch);
        op->last = op->ops->step(&op->ctx, in, &out);
        if (op->last == MR_FAILED)
            return;
        op_give(op, &out);
    } while (op->last == MR_MORE_OUTPUT);
}

/* The end of an epoch, for this operator and those after it. */
static inline void op_mark(struct op *op)
{
    for (enum mr_step step = MR_MORE_OUTPUT; op->ops->mark && step == MR_MORE_OUTPUT;) {
        struct mr_batch out = {0};
        step = op->ops->mark(&op->ctx, &out);
        assert_int_not_equal(step, MR_FAILED);
        op_give(op, &out);
    }
    if (op->next)
        op_mark(op->next);
}

/* The next epoch, for this operator and those after it. */
static inline void op_epoch(struct op *op, uint64_t id, int64_t late_us, int64_t evict_us)
{
    op->epoch.id = id;
    op->epoch.late_us = late_us;
    op->epoch.evict_us = evict_us;
    memset(&op->ctx.counts, 0, sizeof op->ctx.counts);
    if (op->next)
        op_epoch(op->next, id, late_us, evict_us);
}

static inline struct mr_expr *column_expr(struct mr_arena *a, uint32_t index,
                                          const struct mr_type *type)
{
    return mr_expr_column(a, index, type, true, "c");
}

static inline const struct mr_expr **column_exprs(struct mr_arena *a, const struct mr_type *row)
{
    const struct mr_expr **exprs = MR_NEW_ARRAY(a, const struct mr_expr *, row->fields_n + 1);

    for (uint32_t i = 0; i < row->fields_n; i++)
        exprs[i] = column_expr(a, i, row->fields[i].type);
    return exprs;
}

static inline const struct mr_type *row_type(struct mr_arena *a, uint32_t n, ...)
{
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, n);
    va_list args;

    va_start(args, n);
    for (uint32_t i = 0; i < n; i++)
        fields[i] = (struct mr_field){"f", va_arg(args, const struct mr_type *), true};
    va_end(args);
    return mr_type_struct(a, fields, n);
}

/* A batch under construction: one builder a column. */
struct maker {
    struct mr_arena *arena;
    struct mr_builder *builders;
    uint32_t columns_n, rows;
};

static inline struct maker make(struct mr_arena *a, const struct mr_type *row)
{
    struct maker m = {a, MR_NEW_ARRAY(a, struct mr_builder, row->fields_n), row->fields_n, 0};

    for (uint32_t i = 0; i < m.columns_n; i++)
        mr_builder_init(&m.builders[i], row->fields[i].type, 16, a);
    return m;
}

/* "12|abc|null": values by the kinds of the columns. */
static inline void make_row(struct maker *m, const char *line)
{
    for (uint32_t i = 0; i < m->columns_n; i++) {
        const char *end = strchrnul(line, '|');
        const struct mr_text t = {line, (uint64_t)(end - line)};
        struct mr_builder *b = &m->builders[i];
        if (mr_text_equal(t, MR_TEXT("null")))
            mr_builder_append_null(b);
        else if (b->type->kind == MR_STRING)
            mr_builder_append_text(b, t);
        else if (b->type->kind == MR_DECIMAL)
            mr_builder_append_i128(b, strtoll(line, NULL, 10));
        else if (b->type->kind == MR_DOUBLE)
            mr_builder_append_f64(b, strtod(line, NULL));
        else
            mr_builder_append_i64(b, strtoll(line, NULL, 10));
        line = *end ? end + 1 : end;
    }
    m->rows++;
}

static inline struct mr_batch made(struct maker *m)
{
    struct mr_batch b = {.columns = MR_NEW_ARRAY(m->arena, struct mr_column, m->columns_n),
                         .columns_n = m->columns_n,
                         .rows = m->rows,
                         .n = m->rows};

    for (uint32_t i = 0; i < m->columns_n; i++)
        mr_builder_finish(&m->builders[i], &b.columns[i]);
    return b;
}

/* Lines end with NULL. */
static inline struct mr_batch batch_of(struct mr_arena *a, const struct mr_type *row, ...)
{
    struct maker m = make(a, row);
    va_list args;

    va_start(args, row);
    for (const char *s = va_arg(args, const char *); s; s = va_arg(args, const char *))
        make_row(&m, s);
    va_end(args);
    return made(&m);
}
