/* bench.h - what tests of expressions start from: an arena, columns of texts cast to types,
 * calls. */
#pragma once
#include "core/expr/cast.h"
#include "core/expr/coerce.h"
#include "core/format/ddl.h"
#include "core/mem/arena.h"
#include "kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BENCH_COLUMNS = 8, BENCH_ROWS = 64 };

struct bench {
    struct mr_arena arena;
    jmp_buf escape;
    struct mr_error err;
    struct mr_resolve resolve;
    struct mr_eval_context context;
    struct mr_column columns[BENCH_COLUMNS];
    struct mr_batch batch;
};

static inline void bench_init(struct bench *b)
{
    memset(b, 0, sizeof *b);
    mr_arena_init(&b->arena, NULL, &b->escape);
    assert_int_equal(mr_kernels_init(NULL, &b->err), MR_OK);
    b->context = (struct mr_eval_context){
        .zone = mr_zone_utc(), .ansi = true, .now_us = INT64_C(1767323045000000)};
    b->resolve = (struct mr_resolve){&b->arena, true, mr_zone_utc(), &b->err};
    b->batch = (struct mr_batch){.columns = b->columns};
}

static inline void bench_fini(struct bench *b)
{
    mr_arena_fini(&b->arena);
}

static inline const struct mr_type *bench_type(struct bench *b, const char *ddl)
{
    const struct mr_type *type;
    uint64_t used;

    assert_int_equal(mr_ddl_parse_type(mr_text_of(ddl), &b->arena, &type, &used, &b->err), MR_OK);
    return type;
}

static inline struct mr_expr *bench_call(struct bench *b, const char *name, uint32_t n,
                                         struct mr_expr **args)
{
    const struct mr_function *f = mr_function_find(name);
    struct mr_expr *out = NULL;

    assert_non_null(f);
    if (mr_call_make(&b->resolve, f, args, n, (struct mr_place){0}, name, &out) != MR_OK)
        return NULL;
    return out;
}
#define CALL(b, name, ...)                                                                         \
    bench_call((b), (name), sizeof((struct mr_expr *[]){__VA_ARGS__}) / sizeof(struct mr_expr *),  \
               (struct mr_expr *[]){__VA_ARGS__})

static inline struct mr_expr *bench_int(struct bench *b, int64_t v)
{
    return mr_expr_literal_i64(&b->arena, &mr_type_int, v);
}
static inline struct mr_expr *bench_text(struct bench *b, const char *t)
{
    return mr_expr_literal_text(&b->arena, mr_text_of(t));
}

/* A column of the batch from texts, NULL for null. */
static inline struct mr_expr *bench_column(struct bench *b, const char *ddl, uint32_t rows,
                                           const char *const *texts)
{
    const struct mr_type *type = bench_type(b, ddl);
    uint32_t index = b->batch.columns_n++;
    struct mr_builder builder;
    struct mr_column text;
    struct mr_expr *cast;
    struct mr_eval *e;

    mr_builder_init(&builder, &mr_type_string, rows, &b->arena);
    for (uint32_t i = 0; i < rows; i++) {
        if (texts[i])
            mr_builder_append_text(&builder, mr_text_of(texts[i]));
        else
            mr_builder_append_null(&builder);
    }
    mr_builder_finish(&builder, &text);
    struct mr_batch in = {.columns = &text, .columns_n = 1, .rows = rows, .n = rows};
    struct mr_expr *x = mr_expr_column(&b->arena, 0, &mr_type_string, true, "text");
    assert_int_equal(mr_cast_make(&b->resolve, x, type, false, (struct mr_place){0}, &cast), MR_OK);
    assert_int_equal(
        mr_eval_open((const struct mr_expr *const[]){cast}, 1, rows, &b->arena, &e, &b->err),
        MR_OK);
    mr_eval_reset(e, &b->context);
    struct mr_column out;
    uint32_t order[BENCH_ROWS];
    assert_true(rows <= BENCH_ROWS);
    assert_int_equal(mr_eval(e, 0, &in, &out, &b->err), MR_OK);
    for (uint32_t i = 0; i < rows; i++)
        order[i] = i;
    mr_builder_init(&builder, type, rows, &b->arena);
    mr_builder_append_rows(&builder, &out, order, rows);
    mr_builder_finish(&builder, &b->columns[index]);
    mr_eval_close(e);
    b->batch.rows = b->batch.n = rows;
    return mr_expr_column(&b->arena, index, type, true, mr_arena_format(&b->arena, "c%u", index));
}
#define COLUMN(b, ddl, ...)                                                                        \
    bench_column((b), (ddl), sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),               \
                 (const char *const[]){__VA_ARGS__})

/* Evaluates x over the batch in pieces of step rows; "a|b|NULL", or the error's condition. */
static inline const char *bench_run_by(struct bench *b, const struct mr_expr *x, uint32_t step)
{
    struct mr_buffer text;
    struct mr_eval *e;
    const char *out = NULL;

    if (x == NULL)
        return b->err.condition;
    mr_buffer_init(&text, &b->arena);
    assert_int_equal(mr_eval_open(&x, 1, step, &b->arena, &e, &b->err), MR_OK);
    for (uint32_t from = 0; from < b->batch.rows && out == NULL; from += step) {
        struct mr_batch in = b->batch;
        uint32_t sel[BENCH_ROWS];
        struct mr_column c;
        in.n = in.rows - from < step ? in.rows - from : step;
        for (uint32_t i = 0; i < in.n; i++)
            sel[i] = from + i;
        in.sel = in.n == in.rows ? NULL : sel;
        mr_eval_reset(e, &b->context);
        if (mr_eval(e, 0, &in, &c, &b->err) != MR_OK) {
            out = b->err.condition;
            break;
        }
        for (uint32_t i = 0; i < in.n; i++) {
            if (text.n)
                mr_buffer_append_text(&text, MR_TEXT("|"));
            mr_cast_print(&c, from + i, &b->context, &text);
        }
    }
    mr_eval_close(e);
    return out ? out : mr_arena_copy(&b->arena, text.data, text.n);
}

/* All rows at once, in twos under selections, and one by one: the same. */
static inline void bench_expect(struct bench *b, const struct mr_expr *x, const char *wanted)
{
    static const uint32_t steps[] = {BENCH_ROWS, 2, 1};

    for (uint32_t i = 0; i < 3; i++)
        assert_string_equal(bench_run_by(b, x, steps[i]), wanted);
}
