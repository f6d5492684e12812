#include "core/expr/aggregate_slots.h"
#include "core/expr/hash.h"
#include "core/expr/java_random.h"

#include <endian.h>
#include <math.h>

/* count_min_sketch(a, eps, confidence, seed): the bytes of Spark's sketch (Cormode and
 * Muthukrishnan 2005): version, total, depth, width, a multiplier per row, the counts, all
 * big-endian. */

enum { VERSION = 1, HEAD_BYTES = 20 };
static const uint64_t prime = (UINT64_C(1) << 31) - 1; /* of the hash family, and its mask */

struct count_min {
    uint32_t depth, width;
    uint64_t multipliers[];
};

/* The content of the slot. */
struct __attribute__((packed)) counts { /* slots are not aligned */
    int64_t total;
    int64_t counts[];
};

static enum mr_status bad_argument(struct mr_resolve *r, const struct mr_expr *call,
                                   const char *what)
{
    return mr_mismatch(r, call, "VALUE_OUT_OF_RANGE", "%s", what);
}

static enum mr_status constant(struct mr_resolve *r, struct mr_expr *call, uint32_t i,
                               const struct mr_type *type, const char *name)
{
    enum mr_status status;

    if (type->kind == MR_DOUBLE &&
        call->args[i]->type->kind != MR_DOUBLE) /* Spark casts nothing here */
        return mr_mismatch_argument(r, call, i, "\"DOUBLE\"");
    status = mr_coerce_argument(r, call, i, type, NULL);
    if (status == MR_OK)
        status = mr_fold_cast(r, &call->args[i]);
    if (status == MR_OK)
        status = mr_require_literal(r, call, i, name);
    if (status == MR_OK && mr_column_is_null(call->args[i]->value, 0))
        return mr_mismatch(r, call, "UNEXPECTED_NULL", "The `%s` must not be null.", name);
    return status;
}

MR_RESOLVE(count_min_sketch)
{
    const struct mr_type *type = call->args[0]->type;
    enum mr_status status;

    if (!mr_type_is_integer(type) && type->kind != MR_STRING && type->kind != MR_BINARY)
        return mr_mismatch_argument(r, call, 0, "(\"INTEGRAL\" or \"STRING\" or \"BINARY\")");
    if (mr_type_is_integer(type))
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_bigint);
    if ((status = constant(r, call, 1, &mr_type_double, "eps")) != MR_OK ||
        (status = constant(r, call, 2, &mr_type_double, "confidence")) != MR_OK ||
        (status = constant(r, call, 3, &mr_type_int, "seed")) != MR_OK)
        return status;
    double eps = call->args[1]->value->f64[0], confidence = call->args[2]->value->f64[0];
    if (!(eps > 0))
        return bad_argument(r, call, "The `eps` must be above 0.");
    if (!(confidence > 0 && confidence < 1))
        return bad_argument(r, call, "The `confidence` must be between 0 and 1, both excluded.");
    double width = ceil(2 / eps), depth = ceil(-log1p(-confidence) / log(2));
    if (width * depth * sizeof(int64_t) > INT32_MAX / 2)
        return bad_argument(r, call, "The sketch for such an `eps` would take more than 1 GiB.");
    struct count_min *m =
        mr_arena_alloc(r->arena, sizeof *m + (size_t)depth * sizeof m->multipliers[0]);
    m->depth = (uint32_t)depth;
    m->width = (uint32_t)width;
    uint64_t random = mr_java_random_start((uint64_t)(int64_t)call->args[3]->value->i32[0]);
    for (uint32_t i = 0; i < m->depth; i++)
        m->multipliers[i] = mr_java_random_below(&random, INT32_MAX);
    call->data = m;
    call->type = &mr_type_binary;
    call->nullable = false;
    return MR_OK;
}

static struct counts *open_counts(const struct mr_aggregate_call *c, struct mr_slot_bytes *slot)
{
    const struct count_min *m = c->expr->data;
    uint32_t bytes = (uint32_t)(sizeof(struct counts) + sizeof(int64_t) * m->depth * m->width);

    if (slot->n == 0) {
        memset(mr_slot_reserve(c, slot, bytes), 0, bytes);
        slot->n = bytes;
    }
    return (struct counts *)(void *)slot->data;
}

static void add_number(const struct count_min *m, struct counts *x, uint64_t value)
{
    for (uint32_t i = 0; i < m->depth; i++) {
        uint64_t hash = m->multipliers[i] * value;
        hash += (uint64_t)((int64_t)hash >> 32);
        x->counts[i * m->width + (uint32_t)(hash & prime) % m->width]++;
    }
}

static void add_text(const struct count_min *m, struct counts *x, struct mr_text value)
{
    uint32_t first = mr_hash_murmur(value.data, value.n, 0);
    uint32_t second = mr_hash_murmur(value.data, value.n, first);

    for (uint32_t i = 0; i < m->depth; i++) {
        int64_t at = (int32_t)(first + i * second) % (int64_t)m->width;
        x->counts[i * m->width + (uint32_t)(at < 0 ? -at : at)]++;
    }
}

static enum mr_status count_min_update(const struct mr_aggregate_call *c, uint32_t n,
                                       const uint32_t *sel, const struct mr_column *args,
                                       union mr_slot **slots)
{
    const struct count_min *m = c->expr->data;

    MR_EACH_UPDATE(n, sel, i, row)
    {
        if (mr_column_is_null(args, row))
            continue;
        struct counts *x = open_counts(c, mr_wide_bytes(slots[i]));
        x->total++;
        if (args->type->kind == MR_BIGINT)
            add_number(m, x, (uint64_t)args->i64[row]);
        else
            add_text(m, x, mr_column_text(args, row));
    }
    return MR_OK;
}

static enum mr_status count_min_merge(const struct mr_aggregate_call *c, uint32_t n,
                                      union mr_slot *const *from, union mr_slot **into)
{
    const struct count_min *m = c->expr->data;

    for (uint32_t i = 0; i < n; i++) {
        const struct mr_slot_bytes *slot = mr_wide_bytes(from[i]);
        if (slot->n == 0)
            continue;
        const struct counts *x = (const struct counts *)(const void *)slot->data;
        struct counts *y = open_counts(c, mr_wide_bytes(into[i]));
        y->total += x->total;
        for (uint32_t k = 0; k < m->depth * m->width; k++)
            y->counts[k] += x->counts[k];
    }
    return MR_OK;
}

static void append_u32(struct mr_buffer *b, uint32_t v)
{
    v = htobe32(v);
    mr_buffer_append(b, &v, sizeof v);
}
static void append_u64(struct mr_buffer *b, uint64_t v)
{
    v = htobe64(v);
    mr_buffer_append(b, &v, sizeof v);
}

static enum mr_status count_min_result(const struct mr_aggregate_call *c, uint32_t n,
                                       union mr_slot *const *slots, struct mr_column *out)
{
    const struct count_min *m = c->expr->data;
    struct mr_builder b;
    struct mr_buffer bytes;

    mr_builder_init(&b, c->expr->type, n, c->arena);
    mr_buffer_init(&bytes, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_slot_bytes *slot = mr_wide_bytes(slots[i]);
        const struct counts *x = slot->n ? (const struct counts *)(const void *)slot->data : NULL;
        bytes.n = 0;
        append_u32(&bytes, VERSION);
        append_u64(&bytes, x ? (uint64_t)x->total : 0);
        append_u32(&bytes, m->depth);
        append_u32(&bytes, m->width);
        MR_ASSERT(bytes.n == HEAD_BYTES);
        for (uint32_t k = 0; k < m->depth; k++)
            append_u64(&bytes, m->multipliers[k]);
        for (uint32_t k = 0; k < m->depth * m->width; k++)
            append_u64(&bytes, x ? (uint64_t)x->counts[k] : 0);
        mr_builder_append_text(&b, (struct mr_text){(const char *)bytes.data, bytes.n});
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

static void count_min_describe(const struct mr_expr *call, struct mr_buffer *out)
{
    const struct count_min *m = call->data;

    mr_buffer_append_format(out, " %u x %u by %llu", m->depth, m->width,
                            (unsigned long long)m->multipliers[0]);
}

const struct mr_aggregate mr_aggregate_count_min_sketch = {.name = "count_min_sketch",
                                                           .slots = mr_binary_slots,
                                                           .update = count_min_update,
                                                           .merge = count_min_merge,
                                                           .result = count_min_result,
                                                           .describe = count_min_describe};
