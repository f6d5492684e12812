#include "core/expr/aggregate_slots.h"

#include <math.h>

/* stddev, variance, skewness, kurtosis: count, mean and central moments, added by Welford's steps
 * and merged by Chan's (as Spark's CentralMomentAgg). */
enum { COUNT, MEAN, M2, M3, M4, MOMENTS_N };

static uint32_t moment_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                             const struct mr_type **buffer_types, struct mr_arena *a)
{
    const char *name = call->function->name;
    uint32_t n = strcmp(name, "skewness") == 0   ? M3 + 1
                 : strcmp(name, "kurtosis") == 0 ? M4 + 1
                                                 : M2 + 1;

    (void)a;
    for (uint32_t i = 0; i < n; i++) {
        kinds[i] = MR_SLOT_F64;
        buffer_types[i] = &mr_type_double;
    }
    return n;
}

static uint32_t order_of(const struct mr_aggregate_call *c)
{
    const char *name = c->expr->function->name;

    return strcmp(name, "skewness") == 0 ? 3 : strcmp(name, "kurtosis") == 0 ? 4 : 2;
}

static enum mr_status moment_update(const struct mr_aggregate_call *c, uint32_t n,
                                    const uint32_t *sel, const struct mr_column *args,
                                    union mr_slot **slots)
{
    uint32_t order = order_of(c);

    MR_EACH_UPDATE(n, sel, i, row)
    {
        union mr_slot *s = slots[i];
        if (mr_column_is_null(args, row))
            continue;
        double count = s[COUNT].f64 + 1, delta = args->f64[row] - s[MEAN].f64, step = delta / count;
        double m2 = s[M2].f64 + delta * (delta - step);
        if (order >= 3) {
            double m3 = s[M3].f64 - 3 * step * m2 + delta * (delta * delta - step * step);
            if (order == 4)
                s[M4].f64 += -4 * step * m3 - 6 * step * step * m2 +
                             delta * (delta * delta * delta - step * step * step);
            s[M3].f64 = m3;
        }
        s[COUNT].f64 = count;
        s[MEAN].f64 += step;
        s[M2].f64 = m2;
    }
    return MR_OK;
}

static enum mr_status moment_merge(const struct mr_aggregate_call *c, uint32_t n,
                                   union mr_slot *const *from, union mr_slot **into)
{
    uint32_t order = order_of(c);

    for (uint32_t i = 0; i < n; i++) {
        union mr_slot *x = into[i];
        const union mr_slot *y = from[i];
        double n1 = x[COUNT].f64, n2 = y[COUNT].f64, count = n1 + n2;
        double delta = y[MEAN].f64 - x[MEAN].f64, step = count == 0 ? 0 : delta / count;
        double x2 = x[M2].f64, x3 = order >= 3 ? x[M3].f64 : 0;
        if (n2 == 0)
            continue;
        x[COUNT].f64 = count;
        x[MEAN].f64 += step * n2;
        x[M2].f64 = x2 + y[M2].f64 + delta * step * n1 * n2;
        if (order >= 3)
            x[M3].f64 = x3 + y[M3].f64 + step * step * delta * n1 * n2 * (n1 - n2) +
                        3 * step * (n1 * y[M2].f64 - n2 * x2);
        if (order >= 4)
            x[M4].f64 += y[M4].f64 +
                         step * step * step * delta * n1 * n2 * (n1 * n1 - n1 * n2 + n2 * n2) +
                         6 * step * step * (n1 * n1 * y[M2].f64 + n2 * n2 * x2) +
                         4 * step * (n1 * y[M3].f64 - n2 * x3);
    }
    return MR_OK;
}

/* False: null. */
static bool moment_value(const char *name, const union mr_slot *s, double *out)
{
    double n = s[COUNT].f64, m2 = s[M2].f64;
    bool population = strstr(name, "_pop") != NULL, root = strncmp(name, "std", 3) == 0;

    if (n == 0)
        return false;
    if (strcmp(name, "skewness") == 0) {
        *out = m2 == 0 ? NAN : sqrt(n) * s[M3].f64 / sqrt(m2 * m2 * m2);
        return m2 != 0;
    }
    if (strcmp(name, "kurtosis") == 0) {
        *out = m2 == 0 ? NAN : n * s[M4].f64 / (m2 * m2) - 3.0;
        return m2 != 0;
    }
    if (!population && n == 1)
        return false;
    *out = m2 / (population ? n : n - 1);
    *out = root ? sqrt(*out) : *out;
    return true;
}

static enum mr_status moment_result(const struct mr_aggregate_call *c, uint32_t n,
                                    union mr_slot *const *slots, struct mr_column *out)
{
    mr_column_alloc(out, &mr_type_double, n, true, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        out->f64[i] = 0;
        if (!moment_value(c->expr->function->name, slots[i], &out->f64[i]))
            mr_bit_clear(out->valid, i);
    }
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_moments = {.name = "stddev",
                                                  .slots = moment_slots,
                                                  .update = moment_update,
                                                  .merge = moment_merge,
                                                  .result = moment_result};

/* corr, covar_*, regr_*: two columns of which neither is null. regr_*(y, x) has them the other
 * way. */
enum { PAIRS, MEAN_X, MEAN_Y, CO, XX, YY, PAIR_SLOTS_N };

static uint32_t pair_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                           const struct mr_type **buffer_types, struct mr_arena *a)
{
    (void)call;
    (void)a;
    for (uint32_t i = 0; i < PAIR_SLOTS_N; i++) {
        kinds[i] = MR_SLOT_F64;
        buffer_types[i] = &mr_type_double;
    }
    return PAIR_SLOTS_N;
}

static enum mr_status pair_update(const struct mr_aggregate_call *c, uint32_t n,
                                  const uint32_t *sel, const struct mr_column *args,
                                  union mr_slot **slots)
{
    bool regression = strncmp(c->expr->function->name, "regr_", 5) == 0;
    const struct mr_column *x = &args[regression], *y = &args[!regression];

    MR_EACH_UPDATE(n, sel, i, row)
    {
        union mr_slot *s = slots[i];
        if (mr_column_is_null(x, row) || mr_column_is_null(y, row))
            continue;
        double count = s[PAIRS].f64 + 1;
        double dx = x->f64[row] - s[MEAN_X].f64, dy = y->f64[row] - s[MEAN_Y].f64;
        s[PAIRS].f64 = count;
        s[MEAN_X].f64 += dx / count;
        s[MEAN_Y].f64 += dy / count;
        s[CO].f64 += dx * (y->f64[row] - s[MEAN_Y].f64);
        s[XX].f64 += dx * (x->f64[row] - s[MEAN_X].f64);
        s[YY].f64 += dy * (y->f64[row] - s[MEAN_Y].f64);
    }
    return MR_OK;
}

static enum mr_status pair_merge(const struct mr_aggregate_call *c, uint32_t n,
                                 union mr_slot *const *from, union mr_slot **into)
{
    (void)c;
    for (uint32_t i = 0; i < n; i++) {
        union mr_slot *a = into[i];
        const union mr_slot *b = from[i];
        double n1 = a[PAIRS].f64, n2 = b[PAIRS].f64, count = n1 + n2;
        double dx = b[MEAN_X].f64 - a[MEAN_X].f64, dy = b[MEAN_Y].f64 - a[MEAN_Y].f64;
        if (n2 == 0)
            continue;
        a[PAIRS].f64 = count;
        a[MEAN_X].f64 += dx * n2 / count;
        a[MEAN_Y].f64 += dy * n2 / count;
        a[CO].f64 += b[CO].f64 + dx * dy * n1 * n2 / count;
        a[XX].f64 += b[XX].f64 + dx * dx * n1 * n2 / count;
        a[YY].f64 += b[YY].f64 + dy * dy * n1 * n2 / count;
    }
    return MR_OK;
}

static bool pair_value(const char *name, const union mr_slot *s, double *out)
{
    static const struct {
        const char *name;
        int what;
    } plain[] = {{"regr_avgx", MEAN_X},
                 {"regr_avgy", MEAN_Y},
                 {"regr_sxx", XX},
                 {"regr_syy", YY},
                 {"regr_sxy", CO}};
    double n = s[PAIRS].f64;

    if (n == 0)
        return false;
    for (uint32_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(name, plain[i].name) == 0) {
            *out = s[plain[i].what].f64;
            return true;
        }
    if (strcmp(name, "covar_pop") == 0) {
        *out = s[CO].f64 / n;
        return true;
    }
    if (strcmp(name, "covar_samp") == 0) {
        *out = n == 1 ? 0 : s[CO].f64 / (n - 1);
        return n != 1;
    }
    if (strcmp(name, "corr") == 0) {
        *out = n == 1 ? 0 : s[CO].f64 / sqrt(s[XX].f64 * s[YY].f64);
        return n != 1;
    }
    if (s[XX].f64 == 0)
        return false;
    double slope = s[CO].f64 / s[XX].f64;
    *out = strcmp(name, "regr_slope") == 0       ? slope
           : strcmp(name, "regr_intercept") == 0 ? s[MEAN_Y].f64 - slope * s[MEAN_X].f64
           : s[YY].f64 == 0                      ? 1.0
                                                 : s[CO].f64 * s[CO].f64 / (s[XX].f64 * s[YY].f64);
    return true;
}

static enum mr_status pair_result(const struct mr_aggregate_call *c, uint32_t n,
                                  union mr_slot *const *slots, struct mr_column *out)
{
    mr_column_alloc(out, c->expr->type, n, true, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        if (out->type->kind == MR_BIGINT) { /* regr_count */
            out->i64[i] = (int64_t)slots[i][PAIRS].f64;
            continue;
        }
        out->f64[i] = 0;
        if (!pair_value(c->expr->function->name, slots[i], &out->f64[i]))
            mr_bit_clear(out->valid, i);
    }
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_pairs = {.name = "corr",
                                                .slots = pair_slots,
                                                .update = pair_update,
                                                .merge = pair_merge,
                                                .result = pair_result};
