#include "core/expr/coerce.h"
#include "core/expr/function_state.h"
#include "core/expr/writer.h"

#include <stdio.h>

/* typeof, raise_error, assert_true, rand, uuid and what else fits nowhere. */

/* A constant: the call becomes its literal. */
static enum mr_status become_text(struct mr_resolve *r, struct mr_expr *call, struct mr_text t)
{
    struct mr_expr *literal = mr_expr_literal_text(r->arena, t);
    const char *text = call->text;
    struct mr_place place = call->place;

    *call = *literal;
    call->text = text;
    call->place = place;
    return MR_OK;
}

MR_RESOLVE(typeof)
{
    struct mr_buffer b;

    mr_buffer_init(&b, r->arena);
    mr_type_print(call->args[0]->type, &b);
    return become_text(r, call, mr_buffer_text(&b));
}

MR_RESOLVE(version)
{
    return become_text(r, call, MR_TEXT("4.2.0"));
}
MR_RESOLVE(current_catalog)
{
    return become_text(r, call, MR_TEXT("spark_catalog"));
}
MR_RESOLVE(current_database)
{
    return become_text(r, call, MR_TEXT("default"));
}

/* Over grouping sets the analyzer puts columns of theirs in place of these calls. */
MR_RESOLVE(grouping)
{
    (void)call;
    return MR_FAIL_CONDITION(r->err, MR_USER, "UNSUPPORTED_GROUPING_EXPRESSION",
                             "grouping()/grouping_id() can only be used with "
                             "GroupingSets/Cube/Rollup.");
}

MR_BODY(raise_error)
{
    if (call->n > 0) {
        uint32_t row = call->sel ? call->sel[0] : 0;
        struct mr_text t = mr_column_text(&args[0], row);
        return MR_FAIL_CONDITION(call->err, MR_QUERY, "USER_RAISED_EXCEPTION", "%.*s", (int)t.n,
                                 t.data);
    }
    mr_column_alloc_null(out, call->expr->type, call->rows, call->arena);
    return MR_OK;
}

MR_RESOLVE(raise_error)
{
    call->type = &mr_type_void;
    call->nullable = true;
    return mr_coerce_argument(r, call, 0, &mr_type_string, NULL);
}

MR_RESOLVE(assert_true)
{
    enum mr_status status = mr_coerce_argument(r, call, 0, &mr_type_boolean, NULL);

    call->type = &mr_type_void;
    call->nullable = true;
    return status == MR_OK && call->args_n > 1
               ? mr_coerce_argument(r, call, 1, &mr_type_string, NULL)
               : status;
}

MR_BODY(assert_true)
{
    MR_EACH_ROW(call, i, row)
    {
        if (!mr_column_is_null(&args[0], row) && mr_bit_get(args[0].bits, row))
            continue;
        struct mr_text t = call->expr->args_n > 1 ? mr_column_text(&args[1], row)
                                                  : mr_text_of(call->expr->args[0]->text);
        return MR_FAIL_CONDITION(call->err, MR_QUERY, "USER_RAISED_EXCEPTION",
                                 call->expr->args_n > 1 ? "%.*s" : "'%.*s' is not true!", (int)t.n,
                                 t.data);
    }
    mr_column_alloc_null(out, call->expr->type, call->rows, call->arena);
    return MR_OK;
}

/* A stream of numbers per call site and worker: from the seed or, without one, from the epoch's
 * time. */
struct random_state {
    uint64_t state;
    bool seeded;
};
_Static_assert(sizeof(struct random_state) <= MR_RANDOM_STATE_BYTES, "the table says how much");

static uint64_t next_random(struct mr_call *call) /* SplitMix64 (Steele, Lea, Flood 2014) */
{
    struct random_state *s = call->state;
    uint64_t x;

    if (!s->seeded) {
        s->state = (uint64_t)call->context->now_us * 0x9e3779b97f4a7c15u +
                   ((uint64_t)call->context->worker << 48) + (uint64_t)(uintptr_t)call->node;
        if (call->expr->args_n > 0)
            s->state = (uint64_t)call->expr->args[0]->value->i64[0] + call->context->worker;
        s->seeded = true;
    }
    x = s->state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

MR_RESOLVE(rand)
{
    enum mr_status status = MR_OK;

    call->type = &mr_type_double;
    if (call->args_n == 0)
        return MR_OK;
    if (call->args[0]->kind != MR_EXPR_LITERAL)
        return MR_FAIL_CONDITION(r->err, MR_USER, "SEED_EXPRESSION_IS_UNFOLDABLE",
                                 "The seed expression \"%s\" of the expression \"%s\" must be "
                                 "foldable.",
                                 call->args[0]->text, call->text);
    if (status == MR_OK && call->args[0]->type->kind != MR_BIGINT) {
        const struct mr_expr *seed = call->args[0];
        call->args[0] = mr_expr_literal_i64(r->arena, &mr_type_bigint,
                                            seed->type->kind == MR_INT ? seed->value->i32[0] : 0);
    }
    return status;
}

MR_BODY(rand)
{
    (void)args;
    mr_column_alloc(out, &mr_type_double, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->f64[row] = (double)(next_random(call) >> 11) * 0x1p-53;
    return MR_OK;
}

/* Of version 4, xxxxxxxx-xxxx-4xxx-[89ab]xxx-xxxxxxxxxxxx. */
static void put_uuid(uint8_t bytes[16], char *out)
{
    static const char digits[] = "0123456789abcdef";

    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    for (uint32_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
}

MR_BODY(uuid)
{
    enum { UUID_BYTES = 36 };
    struct mr_text_writer w;

    (void)args;
    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint64_t bits[2] = {next_random(call), next_random(call)};
        put_uuid((uint8_t *)bits, mr_text_writer_room(&w, UUID_BYTES));
        mr_text_writer_put(&w, row, UUID_BYTES);
    }
    return MR_OK;
}

MR_BODY(spark_partition_id)
{
    (void)args;
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i32[row] = (int32_t)call->context->worker;
    return MR_OK;
}

/* The worker in the upper bits, as Spark has the partition there; streams refuse it. */
MR_BODY(monotonically_increasing_id)
{
    uint64_t *next = call->state;

    (void)args;
    mr_column_alloc(out, &mr_type_bigint, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i64[row] = (int64_t)(((uint64_t)call->context->worker << 33) + (*next)++);
    return MR_OK;
}

MR_BODY(input_file_name)
{
    const char *name = call->context->input.file ? call->context->input.file : "";
    struct mr_text_writer w;

    (void)args;
    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    mr_text_writer_copy(&w, row, mr_text_of(name));
    return MR_OK;
}

static enum mr_status put_number(struct mr_call *call, int64_t value, struct mr_column *out)
{
    mr_column_alloc(out, &mr_type_bigint, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i64[row] = value;
    return MR_OK;
}

MR_BODY(input_file_block_start)
{
    const struct mr_input_block *input = &call->context->input;

    (void)args;
    return put_number(call, input->file ? input->start : -1, out);
}

MR_BODY(input_file_block_length)
{
    const struct mr_input_block *input = &call->context->input;

    (void)args;
    return put_number(call, input->file ? input->length : -1, out);
}

/* zeroifnull(a) is coalesce(a, 0), nullifzero(a) is nullif(a, 0). */
const struct mr_type *mr_cast_alias(const char *name, struct mr_arena *a)
{
    const struct {
        const char *name;
        const struct mr_type *type;
    } types[] = {
        {"bigint", &mr_type_bigint},
        {"binary", &mr_type_binary},
        {"boolean", &mr_type_boolean},
        {"date", &mr_type_date},
        {"double", &mr_type_double},
        {"float", &mr_type_float},
        {"int", &mr_type_int},
        {"string", &mr_type_string},
        {"smallint", &mr_type_smallint},
        {"tinyint", &mr_type_tinyint},
        {"timestamp", &mr_type_timestamp},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcasecmp(name, types[i].name) == 0)
            return types[i].type;
    return strcasecmp(name, "decimal") == 0 ? mr_type_decimal(a, 10, 0) : NULL;
}

MR_RESOLVE(cast_alias)
{
    const struct mr_type *type = mr_cast_alias(call->function->name, r->arena);
    const char *text = call->text;
    struct mr_expr *cast;
    enum mr_status status = mr_cast_make(r, call->args[0], type, false, call->place, &cast);

    if (status == MR_OK) {
        *call = *cast;
        call->text = text;
    }
    return status;
}

MR_RESOLVE(zeroifnull)
{
    bool to_null = strcmp(call->function->name, "nullifzero") == 0;
    struct mr_expr **args = MR_NEW_ARRAY(r->arena, struct mr_expr *, 2);

    args[0] = call->args[0];
    args[1] = mr_expr_literal_i64(r->arena, &mr_type_int, 0);
    call->args = args;
    call->args_n = 2;
    call->function = mr_function_find(to_null ? "nullif" : "coalesce");
    return call->function->resolve(r, call);
}
