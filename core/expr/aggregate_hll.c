#include "core/expr/hll.h"
#include "core/expr/hll_library.h"
#include "core/expr/writer.h"

/* hll_sketch_agg and hll_union_agg, and the functions hll_sketch_estimate and hll_union. */

struct hll_settings {
    uint32_t lg_k; /* hll_sketch_agg */
    bool any_lg_k; /* hll_union_agg */
};

/* Spark casts nothing here. */
static enum mr_status require(struct mr_resolve *r, struct mr_expr *call, uint32_t i,
                              const struct mr_type *type)
{
    if (call->args[i]->type->kind == type->kind)
        return MR_OK;
    if (mr_expr_is_null_literal(call->args[i])) {
        call->args[i] = mr_coerce(r, call->args[i], type);
        return MR_OK;
    }
    return mr_mismatch_argument(r, call, i,
                                mr_arena_format(r->arena, "\"%s\"", mr_type_sql(r->arena, type)));
}

/* The value of a constant argument; *value stays if it is not given. */
static enum mr_status constant(struct mr_resolve *r, struct mr_expr *call, uint32_t i,
                               const struct mr_type *type, const char *condition, int64_t *value)
{
    enum mr_status status;

    if (i >= call->args_n)
        return MR_OK;
    status = require(r, call, i, type);
    if (status == MR_OK)
        status = mr_fold_cast(r, &call->args[i]);
    if (status != MR_OK)
        return status;
    if (call->args[i]->kind != MR_EXPR_LITERAL)
        return MR_FAIL_CONDITION(r->err, MR_USER, condition,
                                 "%s: argument %u must be a constant value.", call->function->name,
                                 i + 1);
    const struct mr_column *x = call->args[i]->value;
    *value = mr_column_is_null(x, 0) ? 0
             : type->kind == MR_INT  ? x->i32[0]
                                     : mr_bit_get(x->bits, 0);
    return MR_OK;
}

MR_RESOLVE(hll_sketch_agg)
{
    const struct mr_type *type = call->args[0]->type;
    struct hll_settings *s = MR_NEW(r->arena, struct hll_settings);
    int64_t lg_k = MR_HLL_LG_K_DEFAULT;
    enum mr_status status;

    if (mr_expr_is_null_literal(call->args[0]))
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_bigint);
    else if (type->kind == MR_INT)
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_bigint);
    else if (type->kind != MR_BIGINT && type->kind != MR_STRING && type->kind != MR_BINARY)
        return mr_mismatch_argument(r, call, 0,
                                    "(\"INT\" or \"BIGINT\" or \"STRING\" or \"BINARY\")");
    status = constant(r, call, 1, &mr_type_int, "HLL_K_MUST_BE_CONSTANT", &lg_k);
    if (status != MR_OK)
        return status;
    if (lg_k < MR_HLL_LG_K_MIN || lg_k > MR_HLL_LG_K_MAX)
        return MR_FAIL_CONDITION(r->err, MR_USER, "HLL_INVALID_LG_K",
                                 "Invalid call to `hll_sketch_agg`; the `lgConfigK` value must be "
                                 "between %d and %d, inclusive: %lld.",
                                 MR_HLL_LG_K_MIN, MR_HLL_LG_K_MAX, (long long)lg_k);
    s->lg_k = (uint32_t)lg_k;
    call->data = s;
    call->type = &mr_type_binary;
    call->nullable = false;
    return MR_OK;
}

static enum mr_status sketch_update(const struct mr_aggregate_call *c, uint32_t n,
                                    const uint32_t *sel, const struct mr_column *args,
                                    union mr_slot **slots)
{
    const struct hll_settings *s = c->expr->data;
    bool numbers = args->type->kind == MR_BIGINT;

    MR_EACH_UPDATE(n, sel, i, row)
    {
        struct mr_text t;
        if (mr_column_is_null(args, row))
            continue;
        t = numbers ? (struct mr_text){(const char *)&args->i64[row], sizeof args->i64[row]}
                    : mr_column_text(args, row);
        if (t.n > 0) /* empty ones don't count */
            mr_hll_add(c, mr_wide_bytes(slots[i]), s->lg_k, mr_hll_coupon(t.data, t.n));
    }
    return MR_OK;
}

static enum mr_status sketch_merge(const struct mr_aggregate_call *c, uint32_t n,
                                   union mr_slot *const *from, union mr_slot **into)
{
    const struct hll_settings *s = c->expr->data;

    for (uint32_t i = 0; i < n; i++)
        mr_hll_merge(c, mr_wide_bytes(into[i]), s->lg_k, mr_wide_bytes(from[i]));
    return MR_OK;
}

static enum mr_status sketch_result(const struct mr_aggregate_call *c, uint32_t n,
                                    union mr_slot *const *slots, struct mr_column *out)
{
    const struct hll_settings *s = c->expr->data;
    struct mr_builder b;
    struct mr_buffer bytes;

    mr_builder_init(&b, &mr_type_binary, n, c->arena);
    mr_buffer_init(&bytes, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        bytes.n = 0;
        mr_hll_print(mr_wide_bytes(slots[i]), s->lg_k, &bytes);
        mr_builder_append_text(&b, mr_buffer_text(&bytes));
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

static void sketch_describe(const struct mr_expr *call, struct mr_buffer *out)
{
    const struct hll_settings *s = call->data;

    mr_buffer_append_format(out, " by 2^%u registers", s->lg_k);
}

const struct mr_aggregate mr_aggregate_hll_sketch = {.name = "hll_sketch_agg",
                                                     .slots = mr_binary_slots,
                                                     .update = sketch_update,
                                                     .merge = sketch_merge,
                                                     .result = sketch_result,
                                                     .describe = sketch_describe};

/* Before the first row comes, rather than by it. */
static enum mr_status require_library(struct mr_resolve *r, const struct mr_expr *call)
{
    if (mr_hll_is_there())
        return MR_OK;
    return MR_FAIL_CONDITION(r->err, MR_USER, "UNSUPPORTED_FEATURE",
                             "`%s`: this program was built without Apache DataSketches; "
                             "tools/datasketches gets it, then build again.",
                             call->function->name);
}

static enum mr_status no_sketch(const char *function, struct mr_error *err)
{
    return MR_FAIL_CONDITION(err, MR_QUERY, "HLL_INVALID_INPUT_SKETCH_BUFFER",
                             "Invalid call to `%s`; only valid HLL sketch buffers are supported as "
                             "inputs (such as those produced by the `hll_sketch_agg` function).",
                             function);
}

/* By their heads; the rest is checked when they are united. */
static enum mr_status check_lg_k(struct mr_text a, struct mr_text b, bool any, const char *function,
                                 struct mr_error *err)
{
    uint32_t x = mr_hll_lg_k(a.data, a.n), y = mr_hll_lg_k(b.data, b.n);

    if (x == 0 || y == 0)
        return no_sketch(function, err);
    if (x == y || any)
        return MR_OK;
    if (!mr_hll_is_sketch(a.data, a.n) || !mr_hll_is_sketch(b.data, b.n))
        return no_sketch(function, err);
    return MR_FAIL_CONDITION(err, MR_QUERY, "HLL_UNION_DIFFERENT_LG_K",
                             "Sketches have different `lgConfigK` values: %u and %u. Set the last "
                             "argument of `%s` to true to call it with different ones.",
                             x, y, function);
}

MR_RESOLVE(hll_union_agg)
{
    struct hll_settings *s = MR_NEW(r->arena, struct hll_settings);
    int64_t any = false;
    enum mr_status status = require(r, call, 0, &mr_type_binary);

    if (status == MR_OK)
        status = constant(r, call, 1, &mr_type_boolean, "HLL_K_MUST_BE_CONSTANT", &any);
    if (status == MR_OK)
        status = require_library(r, call);
    s->any_lg_k = any;
    call->data = s;
    call->type = &mr_type_binary;
    call->nullable = false;
    return status;
}

/* Where unions of one call are made. */
struct room {
    uint8_t *data;
    uint32_t lg_k; /* the largest for which it is enough */
};

/* The slot's sketch and another become one. */
static enum mr_status unite(const struct mr_aggregate_call *c, struct mr_slot_bytes *slot,
                            struct mr_text more, struct room *room)
{
    const struct hll_settings *s = c->expr->data;
    const char *name = c->expr->function->name;
    struct mr_text old = slot->n ? (struct mr_text){(const char *)slot->data, slot->n} : more;
    enum mr_status status = check_lg_k(old, more, s->any_lg_k, name, c->err);
    uint32_t lg_k, n;

    if (status != MR_OK)
        return status;
    lg_k = mr_hll_lg_k(old.data, old.n);
    if (room->lg_k < lg_k)
        *room = (struct room){mr_arena_alloc(c->arena, MR_HLL_HEAD_BYTES + (1u << lg_k)), lg_k};
    if (!mr_hll_unite(lg_k, old.data, old.n, slot->n ? more.data : NULL, more.n, room->data, &n))
        return no_sketch(name, c->err);
    mr_hll_sum(room->data);
    if (slot->n > 0)
        mr_slot_replace(c, slot, room->data, n);
    else /* one coupon after the other, as Spark does: the places of a set depend on it */
        mr_hll_merge(c, slot, lg_k, &(struct mr_slot_bytes){.data = room->data, .n = n});
    return MR_OK;
}

static enum mr_status union_update(const struct mr_aggregate_call *c, uint32_t n,
                                   const uint32_t *sel, const struct mr_column *args,
                                   union mr_slot **slots)
{
    enum mr_status status = MR_OK;
    struct room room = {0};

    MR_EACH_UPDATE(n, sel, i, row)
    {
        if (status == MR_OK && !mr_column_is_null(args, row))
            status = unite(c, mr_wide_bytes(slots[i]), mr_column_text(args, row), &room);
    }
    return status;
}

static enum mr_status union_merge(const struct mr_aggregate_call *c, uint32_t n,
                                  union mr_slot *const *from, union mr_slot **into)
{
    enum mr_status status = MR_OK;
    struct room room = {0};

    for (uint32_t i = 0; status == MR_OK && i < n; i++) {
        const struct mr_slot_bytes *x = mr_wide_bytes(from[i]);
        const struct mr_text more = {(const char *)x->data, x->n};
        if (x->n > 0)
            status = unite(c, mr_wide_bytes(into[i]), more, &room);
    }
    return status;
}

static enum mr_status union_result(const struct mr_aggregate_call *c, uint32_t n,
                                   union mr_slot *const *slots, struct mr_column *out)
{
    static const struct mr_slot_bytes none;
    struct mr_builder b;
    struct mr_buffer empty;

    mr_builder_init(&b, &mr_type_binary, n, c->arena);
    mr_buffer_init(&empty, c->arena);
    mr_hll_print(&none, MR_HLL_LG_K_DEFAULT, &empty);
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_slot_bytes *x = mr_wide_bytes(slots[i]);
        mr_builder_append_text(&b, x->n ? (struct mr_text){(const char *)x->data, x->n}
                                        : mr_buffer_text(&empty));
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_hll_union = {.name = "hll_union_agg",
                                                    .slots = mr_binary_slots,
                                                    .update = union_update,
                                                    .merge = union_merge,
                                                    .result = union_result};

MR_RESOLVE(hll_sketch_estimate)
{
    enum mr_status status = require(r, call, 0, &mr_type_binary);

    call->type = &mr_type_bigint;
    call->nullable = call->args[0]->nullable;
    return status == MR_OK ? require_library(r, call) : status;
}

MR_BODY(hll_sketch_estimate)
{
    mr_column_alloc(out, &mr_type_bigint, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        double estimate = 0;
        if (!mr_hll_estimate(t.data, t.n, &estimate) || !(estimate >= 0 && estimate < 0x1p62))
            return no_sketch(call->expr->function->name, call->err);
        out->i64[row] = (int64_t)(estimate + 0.5);
    }
    return MR_OK;
}

MR_RESOLVE(hll_union)
{
    enum mr_status status = require(r, call, 0, &mr_type_binary);

    if (status == MR_OK)
        status = require(r, call, 1, &mr_type_binary);
    if (status == MR_OK && call->args_n > 2)
        status = require(r, call, 2, &mr_type_boolean);
    if (status == MR_OK)
        status = require_library(r, call);
    call->type = &mr_type_binary;
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

MR_BODY(hll_union)
{
    const char *name = call->expr->function->name;
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_binary, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text a = mr_column_text(&args[0], row), b = mr_column_text(&args[1], row);
        bool any = call->expr->args_n > 2 && mr_bit_get(args[2].bits, row);
        enum mr_status status = check_lg_k(a, b, any, name, call->err);
        uint32_t lg_k_a, lg_k_b, n;
        if (status != MR_OK)
            return status;
        lg_k_a = mr_hll_lg_k(a.data, a.n);
        lg_k_b = mr_hll_lg_k(b.data, b.n);
        uint32_t lg_k = lg_k_a < lg_k_b ? lg_k_a : lg_k_b;
        char *room = mr_text_writer_room(&w, MR_HLL_HEAD_BYTES + (1u << lg_k));
        if (!mr_hll_unite(lg_k, a.data, a.n, b.data, b.n, (uint8_t *)room, &n))
            return no_sketch(name, call->err);
        mr_hll_sum((uint8_t *)room);
        mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}
