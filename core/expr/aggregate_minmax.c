#include "core/expr/aggregate_slots.h"
#include "core/expr/encode.h"
#include "core/expr/lane.h"

/* min, max. Fixed width: whether there is a value, and the value. Else one slot of BYTES. Texts: a
 * byte 1 and the text; other types: encoded (encode.h). An empty BYTES slot has no value yet. */
enum { SEEN, VALUE };

MR_RESOLVE(minmax)
{
    const struct mr_type *type = call->args[0]->type;

    if (!mr_type_is_orderable(type))
        return mr_mismatch(r, call, "INVALID_ORDERING_TYPE",
                           "The `%s` does not support ordering on type \"%s\".",
                           call->function->name, mr_type_sql(r->arena, type));
    call->type = type;
    call->nullable = true;
    return MR_OK;
}

static enum mr_slot_kind kind_of(const struct mr_type *type)
{
    switch (type->kind) {
    case MR_DECIMAL:
        return MR_SLOT_I128;
    case MR_FLOAT:
    case MR_DOUBLE:
        return MR_SLOT_F64;
    case MR_VOID:
    case MR_STRING:
    case MR_BINARY:
    case MR_ARRAY:
    case MR_STRUCT:
        return MR_SLOT_BYTES;
    default:
        return MR_SLOT_I64;
    }
}

static uint32_t minmax_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                             const struct mr_type **buffer_types, struct mr_arena *a)
{
    (void)a;
    if (kind_of(call->type) == MR_SLOT_BYTES) {
        kinds[0] = MR_SLOT_BYTES;
        buffer_types[0] = call->type;
        return 1;
    }
    kinds[VALUE] = kind_of(call->type);
    buffer_types[VALUE] = call->type;
    kinds[SEEN] = MR_SLOT_I64;
    buffer_types[SEEN] = &mr_type_boolean;
    return 2;
}

static bool is_text(const struct mr_type *type)
{
    return type->kind == MR_STRING || type->kind == MR_BINARY;
}

static void keep_bytes(const struct mr_aggregate_call *c, struct mr_slot_bytes *slot, bool text,
                       const void *data, uint32_t n)
{
    uint32_t bytes = n + text;

    if (slot->capacity < bytes)
        c->grow(c->owner, slot, bytes);
    if (text)
        slot->data[0] = 1;
    if (n)
        memcpy(slot->data + text, data, n);
    slot->n = bytes;
}

static void decode_one(const struct mr_aggregate_call *c, const struct mr_slot_bytes *slot,
                       struct mr_column *out)
{
    struct mr_builder b;
    const uint8_t *at = slot->data;

    mr_builder_init(&b, c->expr->type, 1, c->arena);
    mr_value_decode(&at, &b);
    mr_builder_finish(&b, out);
}

static void update_text(const struct mr_aggregate_call *c, int sign, struct mr_slot_bytes *slot,
                        struct mr_text t)
{
    struct mr_text old = {(const char *)slot->data + 1, slot->n - 1u};

    if (slot->n == 0 || sign * mr_text_compare(t, old) > 0)
        keep_bytes(c, slot, true, t.data, (uint32_t)t.n);
}

static void update_nested(const struct mr_aggregate_call *c, int sign, struct mr_slot_bytes *slot,
                          const struct mr_column *x, uint32_t row)
{
    struct mr_column old;
    struct mr_buffer b;

    if (slot->n) {
        decode_one(c, slot, &old);
        if (sign * mr_column_compare(x, row, &old, 0) <= 0)
            return;
    }
    mr_buffer_init(&b, c->arena);
    mr_value_encode(x, row, &b);
    keep_bytes(c, slot, false, b.data, (uint32_t)b.n);
}

/* NaN is above all. */
static inline bool above_f64(double x, double y)
{
    return x > y || (x != x && y == y);
}
static inline bool above_i64(int64_t x, int64_t y)
{
    return x > y;
}
static inline bool above_i128(__int128 x, __int128 y)
{
    return x > y;
}

#define I64(slot) (slot)[VALUE].i64
#define F64(slot) (slot)[VALUE].f64
#define I128(slot) *mr_wide_i128(&(slot)[VALUE])

#define UPDATE(value_of, above, value)                                                             \
    MR_EACH_UPDATE(n, sel, i, row)                                                                 \
    {                                                                                              \
        if (x->valid && !mr_bit_get(x->valid, row))                                                \
            continue;                                                                              \
        union mr_slot *slot = slots[i];                                                            \
        bool better = sign > 0 ? above((value), value_of(slot)) : above(value_of(slot), (value));  \
        if (better || slot[SEEN].i64 == 0)                                                         \
            value_of(slot) = (value);                                                              \
        slot[SEEN].i64 = 1;                                                                        \
    }                                                                                              \
    break

/* All rows to one accumulator: the extreme of the batch first. */
#define EXTREME(name, type)                                                                        \
    static void name(const type *x, const uint64_t *valid, uint32_t n, int sign,                   \
                     union mr_slot *slot)                                                          \
    {                                                                                              \
        bool seen = slot[SEEN].i64 != 0;                                                           \
        int64_t most = seen ? I64(slot) : sign > 0 ? INT64_MIN : INT64_MAX;                        \
        for (uint32_t i = 0; i < n && valid == NULL; i++)                                          \
            most = (sign > 0 ? x[i] > most : x[i] < most) ? x[i] : most;                           \
        for (uint32_t i = 0; i < n && valid; i++)                                                  \
            if ((sign > 0 ? x[i] > most : x[i] < most) && mr_bit_get(valid, i))                    \
                most = x[i];                                                                       \
        seen = seen || mr_bit_count(valid, n) > 0;                                                 \
        I64(slot) = seen ? most : 0;                                                               \
        slot[SEEN].i64 = seen;                                                                     \
    }
EXTREME(extreme_i32, int32_t)
EXTREME(extreme_i64, int64_t)

/* The first twelve bytes of a text, zeros behind its end, as numbers that are ordered as they
 * are. */
struct prefix {
    uint32_t high;
    uint64_t low;
};

static struct prefix prefix_of(struct mr_text t)
{
    uint8_t bytes[12] = {0};
    struct prefix p;

    if (t.n > 0)
        memcpy(bytes, t.data, t.n < sizeof bytes ? t.n : sizeof bytes);
    memcpy(&p.high, bytes, 4);
    memcpy(&p.low, bytes + 4, 8);
    return (struct prefix){__builtin_bswap32(p.high), __builtin_bswap64(p.low)};
}

/* Is it behind p in the order that sign gives? Then so is its text; else both may be equal. */
static inline bool is_behind(const struct mr_column *x, uint32_t row, struct prefix p, int sign)
{
    const struct mr_view *v = &x->views[row];
    struct prefix own;

    memcpy(&own.high, v->inlined, 4);
    own.high = __builtin_bswap32(own.high);
    if (own.high != p.high)
        return sign > 0 ? own.high < p.high : own.high > p.high;
    memcpy(&own.low, mr_column_text(x, row).data + 4, 8);
    own.low = __builtin_bswap64(own.low);
    return sign > 0 ? own.low < p.low : own.low > p.low;
}

static void extreme_text(const struct mr_aggregate_call *c, const struct mr_column *x, uint32_t n,
                         int sign, struct mr_slot_bytes *slot)
{
    bool seen = slot->n > 0, better = false;
    struct mr_text most = {0};
    struct prefix prefix;

    if (seen)
        most = (struct mr_text){(const char *)slot->data + 1, slot->n - 1u};
    prefix = prefix_of(most);
    for (uint32_t i = 0; i < n; i++) {
        if ((seen && is_behind(x, i, prefix, sign)) || mr_column_is_null(x, i))
            continue;
        const struct mr_text t = mr_column_text(x, i);
        if (seen && sign * mr_text_compare(t, most) <= 0)
            continue;
        seen = better = true;
        most = t;
        prefix = prefix_of(t);
    }
    if (better)
        keep_bytes(c, slot, true, most.data, (uint32_t)most.n);
}

static bool update_one(const struct mr_aggregate_call *c, uint32_t n, const struct mr_column *x,
                       union mr_slot **slots, int sign)
{
    const enum mr_lane lane = mr_lane_of(x->type);

    if ((lane != MR_LANE_I32 && lane != MR_LANE_I64 && !is_text(x->type)) ||
        !mr_slots_are_one(c, slots, n))
        return false;
    if (is_text(x->type))
        extreme_text(c, x, n, sign, mr_wide_bytes(slots[0]));
    else if (lane == MR_LANE_I32)
        extreme_i32(x->i32, x->valid, n, sign, slots[0]);
    else
        extreme_i64(x->i64, x->valid, n, sign, slots[0]);
    return true;
}

static enum mr_status update(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                             const struct mr_column *x, union mr_slot **slots, int sign)
{
    if (sel == NULL && update_one(c, n, x, slots, sign))
        return MR_OK;
    switch (x->type->kind) {
    case MR_VOID:
        break;
    case MR_BOOLEAN:
        UPDATE(I64, above_i64, (int64_t)mr_bit_get(x->bits, row));
    case MR_TINYINT:
        UPDATE(I64, above_i64, x->i8[row]);
    case MR_SMALLINT:
        UPDATE(I64, above_i64, x->i16[row]);
    case MR_INT:
    case MR_DATE:
    case MR_INTERVAL_YEAR_MONTH:
        UPDATE(I64, above_i64, x->i32[row]);
    case MR_FLOAT:
        UPDATE(F64, above_f64, (double)x->f32[row]);
    case MR_DOUBLE:
        UPDATE(F64, above_f64, x->f64[row]);
    case MR_DECIMAL:
        UPDATE(I128, above_i128, x->i128[row]);
    case MR_STRING:
    case MR_BINARY:
    case MR_ARRAY:
    case MR_STRUCT:
        MR_EACH_UPDATE(n, sel, i, row)
        {
            if (mr_column_is_null(x, row))
                continue;
            if (is_text(x->type))
                update_text(c, sign, mr_wide_bytes(slots[i]), mr_column_text(x, row));
            else
                update_nested(c, sign, mr_wide_bytes(slots[i]), x, row);
        }
        break;
    default:
        UPDATE(I64, above_i64, x->i64[row]);
    }
    return MR_OK;
}

static void merge_bytes(const struct mr_aggregate_call *c, int sign,
                        const struct mr_slot_bytes *from, struct mr_slot_bytes *into)
{
    struct mr_column one;

    if (from->n == 0)
        return;
    if (is_text(c->expr->type)) {
        update_text(c, sign, into, (struct mr_text){(const char *)from->data + 1, from->n - 1u});
        return;
    }
    decode_one(c, from, &one);
    update_nested(c, sign, into, &one, 0);
}

#define MERGE(value_of, above)                                                                     \
    if ((sign > 0 ? above(value_of(from[i]), value_of(into[i]))                                    \
                  : above(value_of(into[i]), value_of(from[i]))) ||                                \
        into[i][SEEN].i64 == 0)                                                                    \
        value_of(into[i]) = value_of(from[i]);                                                     \
    into[i][SEEN].i64 = 1;                                                                         \
    break

static enum mr_status merge(const struct mr_aggregate_call *c, uint32_t n,
                            union mr_slot *const *from, union mr_slot **into, int sign)
{
    enum mr_slot_kind kind = kind_of(c->expr->type);

    for (uint32_t i = 0; i < n; i++) {
        if (kind != MR_SLOT_BYTES && from[i][SEEN].i64 == 0)
            continue;
        switch (kind) {
        case MR_SLOT_BYTES:
            merge_bytes(c, sign, mr_wide_bytes(from[i]), mr_wide_bytes(into[i]));
            break;
        case MR_SLOT_F64:
            MERGE(F64, above_f64);
        case MR_SLOT_I128:
            MERGE(I128, above_i128);
        default:
            MERGE(I64, above_i64);
        }
    }
    return MR_OK;
}

static void append_value(struct mr_builder *b, union mr_slot *slot, enum mr_slot_kind kind)
{
    if (kind == MR_SLOT_BYTES) {
        const uint8_t *at = mr_wide_bytes(slot)->data;
        if (mr_wide_bytes(slot)->n == 0)
            mr_builder_append_null(b);
        else if (is_text(b->type))
            mr_builder_append_text(
                b, (struct mr_text){(const char *)at + 1, mr_wide_bytes(slot)->n - 1u});
        else
            mr_value_decode(&at, b);
        return;
    }
    if (slot[SEEN].i64 == 0)
        mr_builder_append_null(b);
    else if (kind == MR_SLOT_F64)
        mr_builder_append_f64(b, F64(slot));
    else if (kind == MR_SLOT_I128)
        mr_builder_append_i128(b, I128(slot));
    else
        mr_builder_append_i64(b, I64(slot));
}

static enum mr_status minmax_result(const struct mr_aggregate_call *c, uint32_t n,
                                    union mr_slot *const *slots, struct mr_column *out)
{
    enum mr_slot_kind kind = kind_of(c->expr->type);
    struct mr_builder b;

    mr_builder_init(&b, c->expr->type, n, c->arena);
    for (uint32_t i = 0; i < n; i++)
        append_value(&b, slots[i], kind);
    mr_builder_finish(&b, out);
    return MR_OK;
}

static enum mr_status min_update(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                                 const struct mr_column *args, union mr_slot **slots)
{
    return update(c, n, sel, args, slots, -1);
}
static enum mr_status max_update(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                                 const struct mr_column *args, union mr_slot **slots)
{
    return update(c, n, sel, args, slots, 1);
}
static enum mr_status min_merge(const struct mr_aggregate_call *c, uint32_t n,
                                union mr_slot *const *from, union mr_slot **into)
{
    return merge(c, n, from, into, -1);
}
static enum mr_status max_merge(const struct mr_aggregate_call *c, uint32_t n,
                                union mr_slot *const *from, union mr_slot **into)
{
    return merge(c, n, from, into, 1);
}

const struct mr_aggregate mr_aggregate_min = {.name = "min",
                                              .slots = minmax_slots,
                                              .update = min_update,
                                              .merge = min_merge,
                                              .result = minmax_result};
const struct mr_aggregate mr_aggregate_max = {.name = "max",
                                              .slots = minmax_slots,
                                              .update = max_update,
                                              .merge = max_merge,
                                              .result = minmax_result};
