#include "core/expr/aggregate_slots.h"
#include "core/expr/hash.h"

#include <math.h>

/* approx_count_distinct: HyperLogLog with Spark's hash, registers and linear counting (Heule,
 * Nunkesser, Hall 2013), one byte a register. Without their table of empirical biases: between the
 * threshold of linear counting and five times the registers, estimates differ from Spark's by some
 * per cent. */

enum { PRECISION_MIN = 4, PRECISION_MAX = 18, HASH_SEED = 42 };
static const double rsd_default = 0.05;

struct hll {
    uint32_t precision;
};

MR_RESOLVE(approx_count_distinct)
{
    struct hll *h = MR_NEW(r->arena, struct hll);
    double rsd = rsd_default;
    enum mr_status status;

    if (call->args_n > 1) {
        status = mr_coerce_argument(r, call, 1, &mr_type_double, NULL);
        if (status == MR_OK)
            status = mr_fold_cast(r, &call->args[1]);
        if (status == MR_OK)
            status = mr_require_literal(r, call, 1, "relativeSD");
        if (status != MR_OK)
            return status;
        rsd = call->args[1]->value->f64[0];
    }
    if (!(rsd > 0 && rsd <= 0.39))
        return MR_FAIL_CONDITION(r->err, MR_USER, "FAILED_FUNCTION_CALL",
                                 "approx_count_distinct: the relative standard deviation must be "
                                 "above 0 and at most 0.39, not %g.",
                                 rsd);
    h->precision = (uint32_t)ceil(2 * log(1.106 / rsd) / log(2));
    if (h->precision < PRECISION_MIN)
        h->precision = PRECISION_MIN;
    if (h->precision > PRECISION_MAX)
        return MR_FAIL(r->err, MR_USER, 0,
                       "approx_count_distinct: a relative standard deviation of %g needs more than "
                       "2^%d registers",
                       rsd, PRECISION_MAX);
    call->data = h;
    call->type = &mr_type_bigint;
    call->nullable = false;
    return MR_OK;
}

static uint8_t *registers(const struct mr_aggregate_call *c, struct mr_slot_bytes *slot)
{
    const struct hll *h = c->expr->data;
    uint32_t n = 1u << h->precision;

    if (slot->n == 0) {
        memset(mr_slot_reserve(c, slot, n), 0, n);
        slot->n = n;
    }
    return slot->data;
}

static enum mr_status hll_update(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                                 const struct mr_column *args, union mr_slot **slots)
{
    const struct hll *h = c->expr->data;

    MR_EACH_UPDATE(n, sel, i, row)
    {
        uint64_t hash, rest;
        uint8_t *at, rank;
        if (mr_column_is_null(args, row))
            continue;
        hash = mr_hash_xxh64(args, row, HASH_SEED);
        at = registers(c, mr_wide_bytes(slots[i])) + (hash >> (64 - h->precision));
        rest = hash << h->precision | (uint64_t)1 << (h->precision - 1);
        rank = (uint8_t)(__builtin_clzll(rest) + 1);
        *at = rank > *at ? rank : *at;
    }
    return MR_OK;
}

static enum mr_status hll_merge(const struct mr_aggregate_call *c, uint32_t n,
                                union mr_slot *const *from, union mr_slot **into)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_slot_bytes *x = mr_wide_bytes(from[i]);
        uint8_t *to;
        if (x->n == 0)
            continue;
        to = registers(c, mr_wide_bytes(into[i]));
        for (uint32_t k = 0; k < x->n; k++)
            to[k] = x->data[k] > to[k] ? x->data[k] : to[k];
    }
    return MR_OK;
}

static int64_t estimate(uint32_t precision, const uint8_t *registers_)
{
    static const double thresholds[] = {10,   20,   40,    80,    220,   400,    900,   1800,
                                        3100, 6500, 11500, 20000, 50000, 120000, 350000};
    double m = (double)(1u << precision), sum = 0, zeros = 0, linear;
    double alpha = precision == 4   ? 0.673
                   : precision == 5 ? 0.697
                   : precision == 6 ? 0.709
                                    : 0.7213 / (1.0 + 1.079 / m);

    for (uint32_t k = 0; k < 1u << precision; k++) {
        sum += ldexp(1, -registers_[k]);
        zeros += registers_[k] == 0;
    }
    linear = zeros > 0 ? m * log(m / zeros) : INFINITY;
    if (linear <= thresholds[precision - PRECISION_MIN])
        return (int64_t)llround(linear);
    return (int64_t)llround(alpha * m * m / sum);
}

static enum mr_status hll_result(const struct mr_aggregate_call *c, uint32_t n,
                                 union mr_slot *const *slots, struct mr_column *out)
{
    const struct hll *h = c->expr->data;

    mr_column_alloc(out, &mr_type_bigint, n, false, c->arena);
    for (uint32_t i = 0; i < n; i++)
        out->i64[i] = mr_wide_bytes(slots[i])->n == 0
                          ? 0
                          : estimate(h->precision, mr_wide_bytes(slots[i])->data);
    return MR_OK;
}

static void hll_describe(const struct mr_expr *call, struct mr_buffer *out)
{
    const struct hll *h = call->data;

    mr_buffer_append_format(out, " by %u registers", 1u << h->precision);
}

const struct mr_aggregate mr_aggregate_hll = {.name = "approx_count_distinct",
                                              .slots = mr_binary_slots,
                                              .update = hll_update,
                                              .merge = hll_merge,
                                              .result = hll_result,
                                              .describe = hll_describe};
