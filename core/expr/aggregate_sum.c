#include "core/expr/aggregate_slots.h"
#include "core/expr/decimal.h"
#include "kernels/arith/arith.h"

/* sum, avg, try_sum. Slots: how many values were added, then the sum. */
enum { COUNT, SUM };

static enum mr_status resolve_argument(struct mr_resolve *r, struct mr_expr *call)
{
    struct mr_expr *x = call->args[0];

    if (x->type->kind == MR_STRING || x->type->kind == MR_VOID || x->type->kind == MR_TIMESTAMP)
        call->args[0] = mr_coerce(r, x, &mr_type_double);
    else if (!mr_type_is_numeric(x->type) && x->type->kind != MR_INTERVAL_DAY_TIME &&
             x->type->kind != MR_INTERVAL_YEAR_MONTH)
        return mr_mismatch_argument(r, call, 0, "\"NUMERIC\" or \"ANSI INTERVAL\"");
    call->nullable = true;
    return MR_OK;
}

static const struct mr_type *sum_type(struct mr_arena *a, const struct mr_type *type)
{
    uint32_t precision;

    if (mr_type_is_integer(type))
        return &mr_type_bigint;
    if (type->kind != MR_DECIMAL)
        return type->kind == MR_FLOAT ? &mr_type_double : type;
    precision = type->precision + 10u;
    return mr_type_decimal(a, precision > MR_DECIMAL_DIGITS ? MR_DECIMAL_DIGITS : precision,
                           type->scale);
}

MR_RESOLVE(sum)
{
    enum mr_status status = resolve_argument(r, call);

    if (status == MR_OK)
        call->type = sum_type(r->arena, call->args[0]->type);
    return status;
}

MR_RESOLVE(avg)
{
    enum mr_status status = resolve_argument(r, call);
    const struct mr_type *type = call->args[0]->type;

    if (status != MR_OK)
        return status;
    call->type = &mr_type_double;
    if (type->kind == MR_INTERVAL_DAY_TIME)
        call->type = &mr_type_interval_day_time; /* a mean has all units */
    if (type->kind == MR_INTERVAL_YEAR_MONTH)
        call->type = &mr_type_interval_year_month;
    if (type->kind == MR_DECIMAL) {
        uint32_t precision = type->precision + 4u, scale = type->scale + 4u;
        if (precision > MR_DECIMAL_DIGITS)
            precision = MR_DECIMAL_DIGITS;
        call->type = mr_type_decimal(r->arena, precision, scale > precision ? precision : scale);
    }
    return MR_OK;
}

static bool is_average(const struct mr_expr *call)
{
    return strcmp(call->function->name, "avg") == 0 || strcmp(call->function->name, "mean") == 0 ||
           strcmp(call->function->name, "try_avg") == 0;
}

/* avg adds integers as doubles, as Spark does. */
static const struct mr_type *buffer_type(const struct mr_expr *call, struct mr_arena *a)
{
    const struct mr_type *type = call->args[0]->type;

    if (is_average(call) && mr_type_is_integer(type))
        return &mr_type_double;
    return sum_type(a, type);
}

static uint32_t sum_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                          const struct mr_type **buffer_types, struct mr_arena *a)
{
    const struct mr_type *type = buffer_type(call, a);

    kinds[SUM] = type->kind == MR_DECIMAL  ? MR_SLOT_I128
                 : type->kind == MR_DOUBLE ? MR_SLOT_F64
                                           : MR_SLOT_I64;
    kinds[COUNT] = MR_SLOT_I64;
    buffer_types[SUM] = type;
    buffer_types[COUNT] = &mr_type_bigint;
    return 2;
}

static bool is_try(const struct mr_aggregate_call *c)
{
    return strncmp(c->expr->function->name, "try_", 4) == 0;
}

/* COUNT of an accumulator that overflowed under try_sum: null for ever. */
enum { OVERFLOWN = -1 };

static enum mr_status overflow(const struct mr_aggregate_call *c, union mr_slot *slot)
{
    if (is_try(c) || !c->context->ansi) {
        slot[COUNT].i64 = OVERFLOWN;
        return MR_OK;
    }
    if (c->expr->type->kind == MR_DECIMAL)
        return MR_FAIL_CONDITION(
            c->err, MR_QUERY, "ARITHMETIC_OVERFLOW",
            "Overflow in %s of decimals. Use 'try_%s' to tolerate overflow and "
            "return NULL instead. If necessary set \"spark.sql.ansi.enabled\" "
            "to \"false\" to bypass this error.",
            c->expr->function->name, c->expr->function->name);
    return MR_FAIL_CONDITION(
        c->err, MR_QUERY, "ARITHMETIC_OVERFLOW",
        "overflow. Use 'try_add' to tolerate overflow and return NULL instead. "
        "If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass "
        "this error.");
}

static inline enum mr_status add_i64(const struct mr_aggregate_call *c, union mr_slot *slot,
                                     int64_t v)
{
    if (MR_UNLIKELY(slot[COUNT].i64 == OVERFLOWN))
        return MR_OK;
    slot[COUNT].i64++;
    if (MR_UNLIKELY(__builtin_add_overflow(slot[SUM].i64, v, &slot[SUM].i64)))
        return overflow(c, slot);
    return MR_OK;
}

#define ADD_INTEGERS(member)                                                                       \
    MR_EACH_UPDATE(n, sel, i, row)                                                                 \
    {                                                                                              \
        if (x->valid && !mr_bit_get(x->valid, row))                                                \
            continue;                                                                              \
        enum mr_status status = add_i64(c, slots[i], x->member[row]);                              \
        if (MR_UNLIKELY(status != MR_OK))                                                          \
            return status;                                                                         \
    }                                                                                              \
    return MR_OK

static enum mr_status add_integers(const struct mr_aggregate_call *c, uint32_t n,
                                   const uint32_t *sel, const struct mr_column *x,
                                   union mr_slot **slots)
{
    switch (x->type->kind) {
    case MR_TINYINT:
        ADD_INTEGERS(i8);
    case MR_SMALLINT:
        ADD_INTEGERS(i16);
    case MR_INT:
    case MR_INTERVAL_YEAR_MONTH:
        ADD_INTEGERS(i32);
    default:
        ADD_INTEGERS(i64);
    }
}

/* All rows of a column go to one accumulator. */
static enum mr_status add_whole(const struct mr_aggregate_call *c, uint32_t n,
                                const struct mr_column *x, union mr_slot *slot)
{
    bool bad = x->type->kind == MR_INT ? mr_arith->sum_i32(x->i32, x->valid, n, &slot[SUM].i64)
                                       : mr_arith->sum_i64(x->i64, x->valid, n, &slot[SUM].i64);

    if (slot[COUNT].i64 == OVERFLOWN)
        return MR_OK;
    slot[COUNT].i64 += mr_bit_count(x->valid, n);
    return bad ? overflow(c, slot) : MR_OK;
}

#define ADD_DOUBLES(value)                                                                         \
    MR_EACH_UPDATE(n, sel, i, row)                                                                 \
    {                                                                                              \
        if (x->valid && !mr_bit_get(x->valid, row))                                                \
            continue;                                                                              \
        slots[i][SUM].f64 += (double)(value);                                                      \
        slots[i][COUNT].i64++;                                                                     \
    }                                                                                              \
    break

static void add_doubles(uint32_t n, const uint32_t *sel, const struct mr_column *x,
                        union mr_slot **slots)
{
    switch (x->type->kind) {
    case MR_TINYINT:
        ADD_DOUBLES(x->i8[row]);
    case MR_SMALLINT:
        ADD_DOUBLES(x->i16[row]);
    case MR_INT:
        ADD_DOUBLES(x->i32[row]);
    case MR_BIGINT:
        ADD_DOUBLES(x->i64[row]);
    case MR_FLOAT:
        ADD_DOUBLES(x->f32[row]);
    default:
        ADD_DOUBLES(x->f64[row]);
    }
}

/* Sums of 128 bits: a sum out of 38 digits is found here or, at the latest, by result. */
static enum mr_status add_decimals(const struct mr_aggregate_call *c, uint32_t n,
                                   const uint32_t *sel, const struct mr_column *x,
                                   union mr_slot **slots)
{
    MR_EACH_UPDATE(n, sel, i, row)
    {
        if ((x->valid && !mr_bit_get(x->valid, row)) || slots[i][COUNT].i64 == OVERFLOWN)
            continue;
        slots[i][COUNT].i64++;
        if (__builtin_add_overflow(*mr_wide_i128(&slots[i][SUM]), x->i128[row],
                                   mr_wide_i128(&slots[i][SUM])) ||
            !mr_decimal_fits(*mr_wide_i128(&slots[i][SUM]), MR_DECIMAL_DIGITS)) {
            enum mr_status status = overflow(c, slots[i]);
            if (status != MR_OK)
                return status;
        }
    }
    return MR_OK;
}

enum { PLAIN_DIGITS = 28 }; /* a batch of them has at most 38 */
_Static_assert(MR_BATCH_ROWS_MAX < 1000000000, "nine digits more");

/* All rows to one slot: the total is looked at once. */
static enum mr_status add_few_digits(const struct mr_aggregate_call *c, uint32_t n,
                                     const uint32_t *sel, const struct mr_column *x,
                                     union mr_slot *slot)
{
    __int128 sum = 0;
    int64_t count = 0;

    if (slot[COUNT].i64 == OVERFLOWN)
        return MR_OK;
    if (sel == NULL) {
        sum = mr_arith->sum_i128(x->i128, x->valid, n);
        count = mr_bit_count(x->valid, n);
        n = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = sel ? sel[i] : i;
        bool valid = x->valid == NULL || mr_bit_get(x->valid, row);
        sum += valid ? x->i128[row] : 0;
        count += valid;
    }
    slot[COUNT].i64 += count;
    sum += *mr_wide_i128(&slot[SUM]);
    if (!mr_decimal_fits(sum, MR_DECIMAL_DIGITS))
        return overflow(c, slot);
    *mr_wide_i128(&slot[SUM]) = sum;
    return MR_OK;
}

static enum mr_slot_kind kind_of(const struct mr_aggregate_call *c)
{
    const struct mr_type *type = c->expr->args[0]->type;

    if (type->kind == MR_DECIMAL)
        return MR_SLOT_I128;
    if (type->kind == MR_FLOAT || type->kind == MR_DOUBLE)
        return MR_SLOT_F64;
    return is_average(c->expr) && mr_type_is_integer(type) ? MR_SLOT_F64 : MR_SLOT_I64;
}

static enum mr_status sum_update(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                                 const struct mr_column *args, union mr_slot **slots)
{
    enum mr_kind k = args->type->kind;

    if (k == MR_VOID)
        return MR_OK;
    switch (kind_of(c)) {
    case MR_SLOT_I128:
        if (args->type->precision <= PLAIN_DIGITS && mr_slots_are_one(c, slots, n))
            return add_few_digits(c, n, sel, args, slots[0]);
        return add_decimals(c, n, sel, args, slots);
    case MR_SLOT_F64:
        add_doubles(n, sel, args, slots);
        return MR_OK;
    default:
        if (sel == NULL && (k == MR_INT || k == MR_BIGINT) && mr_slots_are_one(c, slots, n))
            return add_whole(c, n, args, slots[0]);
        return add_integers(c, n, sel, args, slots);
    }
}

static enum mr_status sum_merge(const struct mr_aggregate_call *c, uint32_t n,
                                union mr_slot *const *from, union mr_slot **into)
{
    enum mr_slot_kind kind = kind_of(c);

    for (uint32_t i = 0; i < n; i++) {
        bool bad = false;
        if (into[i][COUNT].i64 == OVERFLOWN || from[i][COUNT].i64 == OVERFLOWN) {
            into[i][COUNT].i64 = OVERFLOWN;
            continue;
        }
        into[i][COUNT].i64 += from[i][COUNT].i64;
        if (kind == MR_SLOT_F64)
            into[i][SUM].f64 += from[i][SUM].f64;
        else if (kind == MR_SLOT_I64)
            bad = __builtin_add_overflow(into[i][SUM].i64, from[i][SUM].i64, &into[i][SUM].i64);
        else
            bad = __builtin_add_overflow(*mr_wide_i128(&into[i][SUM]), *mr_wide_i128(&from[i][SUM]),
                                         mr_wide_i128(&into[i][SUM]));
        enum mr_status status = bad ? overflow(c, into[i]) : MR_OK;
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static enum mr_status decimal_result(const struct mr_aggregate_call *c, union mr_slot *slot,
                                     uint32_t i, struct mr_column *out)
{
    const struct mr_type *type = out->type;
    uint32_t scale = c->expr->args[0]->type->scale;
    bool fits = is_average(c->expr)
                    ? mr_decimal_divide(*mr_wide_i128(&slot[SUM]), scale, slot[COUNT].i64, 0,
                                        type->precision, type->scale, &out->i128[i])
                    : mr_decimal_fits(*mr_wide_i128(&slot[SUM]), type->precision);

    if (!is_average(c->expr))
        out->i128[i] = *mr_wide_i128(&slot[SUM]);
    if (fits)
        return MR_OK;
    mr_bit_clear(out->valid, i);
    return overflow(c, slot);
}

static enum mr_status sum_result(const struct mr_aggregate_call *c, uint32_t n,
                                 union mr_slot *const *slots, struct mr_column *out)
{
    bool average = is_average(c->expr);

    mr_column_alloc(out, c->expr->type, n, true, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        union mr_slot *slot = slots[i];
        enum mr_status status = MR_OK;
        int64_t count = slot[COUNT].i64;
        if (count <= 0) {
            mr_bit_clear(out->valid, i);
            continue;
        }
        switch (out->type->kind) {
        case MR_DECIMAL:
            status = decimal_result(c, slot, i, out);
            break;
        case MR_DOUBLE:
            out->f64[i] = average ? slot[SUM].f64 / (double)count : slot[SUM].f64;
            break;
        case MR_INTERVAL_YEAR_MONTH:
            out->i32[i] = (int32_t)(average ? slot[SUM].i64 / count : slot[SUM].i64);
            break;
        default:
            out->i64[i] = average ? slot[SUM].i64 / count : slot[SUM].i64;
        }
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_sum = {.name = "sum",
                                              .slots = sum_slots,
                                              .update = sum_update,
                                              .merge = sum_merge,
                                              .result = sum_result};
