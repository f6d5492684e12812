#include "core/expr/aggregate_slots.h"

#include <math.h>
#include <stdlib.h>

/* percentile, median, percentile_approx, mode. All values are kept, so results are exact, also
 * those of percentile_approx: its state grows with the group, where Spark's has a bound. */

/* The doubles of the literal. */
static const double *shares(const struct mr_expr *call, uint32_t *n)
{
    const struct mr_column *p = call->args[1]->value;

    *n = 1;
    if (call->args[1]->type->kind != MR_ARRAY)
        return p->f64;
    *n = (uint32_t)(p->offsets[1] - p->offsets[0]);
    return p->children[0].f64 + p->offsets[0];
}

static enum mr_status check_shares(struct mr_resolve *r, const struct mr_expr *call)
{
    const struct mr_expr *p = call->args[1];
    uint32_t n;

    if (mr_column_is_null(p->value, 0))
        return mr_mismatch(r, call, "UNEXPECTED_NULL", "The `percentage` must not be null.");
    const double *v = shares(call, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (p->type->kind == MR_ARRAY &&
            mr_column_is_null(&p->value->children[0], (uint32_t)p->value->offsets[0] + i))
            return mr_mismatch_argument(r, call, 1, "\"ARRAY<DOUBLE>\"");
        if (!(v[i] >= 0 && v[i] <= 1))
            return mr_mismatch(r, call, "VALUE_OUT_OF_RANGE",
                               "The `percentage` must be between [0.0, 1.0] (current value = %g).",
                               v[i]);
    }
    return MR_OK;
}

/* The share or shares asked for: a literal DOUBLE or ARRAY<DOUBLE> in [0, 1]. */
static enum mr_status resolve_shares(struct mr_resolve *r, struct mr_expr *call, bool *array)
{
    struct mr_expr *p = call->args[1];
    const struct mr_type *type = p->type;
    enum mr_status status;

    *array = type->kind == MR_ARRAY;
    if (!mr_type_is_numeric(*array ? type->fields[0].type : type))
        return mr_mismatch_argument(r, call, 1, "\"DOUBLE\"");
    p = mr_coerce(r, p, *array ? mr_type_array(r->arena, &mr_type_double, false) : &mr_type_double);
    if ((status = mr_fold_cast(r, &p)) != MR_OK)
        return status;
    call->args[1] = p;
    status = mr_require_literal(r, call, 1, "percentage");
    return status == MR_OK ? check_shares(r, call) : status;
}

MR_RESOLVE(percentile)
{
    bool array = false, median = call->args_n == 1;
    enum mr_status status = MR_OK;

    if (!mr_type_is_numeric(call->args[0]->type) && call->args[0]->type->kind != MR_STRING)
        return mr_mismatch_argument(r, call, 0, "\"NUMERIC\"");
    call->args[0] = mr_coerce(r, call->args[0], &mr_type_double);
    if (!median)
        status = resolve_shares(r, call, &array);
    if (status != MR_OK)
        return status;
    call->type = array ? mr_type_array(r->arena, &mr_type_double, false) : &mr_type_double;
    call->nullable = true;
    return MR_OK;
}

/* Doubles lie as they are, without heads. */
static enum mr_status double_update(const struct mr_aggregate_call *c, uint32_t n,
                                    const uint32_t *sel, const struct mr_column *args,
                                    union mr_slot **slots)
{
    MR_EACH_UPDATE(n, sel, i, row)
    {
        if (!mr_column_is_null(args, row))
            mr_slot_append(c, mr_wide_bytes(slots[i]), &args->f64[row], sizeof(double));
    }
    return MR_OK;
}

static int compare_f64(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    if (x != x || y != y)
        return (x != x) - (y != y);
    return (x > y) - (x < y);
}

/* Between the two neighbours of the place, by distance. */
static double interpolate(const double *v, uint32_t n, double share)
{
    double place = share * (n - 1);
    uint32_t low = (uint32_t)floor(place), high = (uint32_t)ceil(place);

    if (low == high || v[low] == v[high])
        return v[low];
    return (high - place) * v[low] + (place - low) * v[high];
}

/* The first value, from the lower or the upper end, that so large a share of all does not pass. */
static double discrete(const double *v, uint32_t n, double share, bool descending)
{
    uint32_t rank = (uint32_t)ceil(share * n);

    rank = rank ? rank : 1;
    return v[descending ? n - rank : rank - 1];
}

static double *sorted(const struct mr_aggregate_call *c, const struct mr_slot_bytes *slot,
                      uint32_t *n)
{
    double *v = mr_arena_alloc(c->arena, slot->n + sizeof *v);

    *n = slot->n / (uint32_t)sizeof *v;
    if (slot->n)
        memcpy(v, slot->data, slot->n);
    qsort(v, *n, sizeof *v, compare_f64);
    return v;
}

static enum mr_status percentile_result(const struct mr_aggregate_call *c, uint32_t n,
                                        union mr_slot *const *slots, struct mr_column *out)
{
    static const double half = 0.5;
    const double *p = &half;
    const char *name = c->expr->function->name;
    bool is_discrete = strncmp(name, "percentile_disc", 15) == 0;
    bool descending = strcmp(name, "percentile_disc_desc") == 0;
    bool array = c->expr->type->kind == MR_ARRAY;
    uint32_t shares_n = 1;
    struct mr_builder b;

    if (c->expr->args_n > 1)
        p = shares(c->expr, &shares_n);
    mr_builder_init(&b, c->expr->type, n, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t values_n;
        double *v = sorted(c, mr_wide_bytes(slots[i]), &values_n);
        if (values_n == 0) {
            mr_builder_append_null(&b);
            continue;
        }
        for (uint32_t k = 0; k < shares_n; k++)
            mr_builder_append_f64(array ? &b.children[0] : &b,
                                  is_discrete ? discrete(v, values_n, p[k], descending)
                                              : interpolate(v, values_n, p[k]));
        if (array)
            mr_builder_close_row(&b);
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_percentile = {.name = "percentile",
                                                     .slots = mr_values_slots,
                                                     .update = double_update,
                                                     .merge = mr_values_merge,
                                                     .result = percentile_result};

/* percentile_approx(v, p[, accuracy]): a value of the group, of v's type. */
MR_RESOLVE(percentile_approx)
{
    bool array;
    enum mr_status status = resolve_shares(r, call, &array);
    const struct mr_type *type = call->args[0]->type;

    if (status != MR_OK)
        return status;
    if (!mr_type_is_numeric(type) && type->kind != MR_DATE && type->kind != MR_TIMESTAMP &&
        type->kind != MR_TIMESTAMP_NTZ)
        return mr_mismatch_argument(r, call, 0, "\"NUMERIC\"");
    call->type = array ? mr_type_array(r->arena, type, false) : type;
    call->nullable = true;
    return call->args_n > 2 ? mr_require_literal(r, call, 2, "accuracy") : MR_OK;
}

/* The values of a slot, and their numbers in ascending order. */
static uint32_t *sorted_values(const struct mr_aggregate_call *c, const struct mr_slot_bytes *slot,
                               struct mr_column *x, uint32_t *n)
{
    struct mr_builder b;

    mr_builder_init(&b, c->expr->args[0]->type, 64, c->arena);
    mr_values_decode(slot, &b);
    mr_builder_finish(&b, x);
    *n = b.rows;
    return mr_values_order(x, *n, c->arena);
}

static enum mr_status approx_result(const struct mr_aggregate_call *c, uint32_t n,
                                    union mr_slot *const *slots, struct mr_column *out)
{
    bool array = c->expr->type->kind == MR_ARRAY;
    uint32_t shares_n;
    const double *p = shares(c->expr, &shares_n);
    struct mr_builder b;

    mr_builder_init(&b, c->expr->type, n, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        struct mr_column x;
        uint32_t values_n, *order = sorted_values(c, mr_wide_bytes(slots[i]), &x, &values_n);
        if (values_n == 0) {
            mr_builder_append_null(&b);
            continue;
        }
        for (uint32_t k = 0; k < shares_n; k++) {
            uint32_t rank = (uint32_t)ceil(p[k] * values_n);
            mr_builder_append(array ? &b.children[0] : &b, &x, order[rank ? rank - 1 : 0]);
        }
        if (array)
            mr_builder_close_row(&b);
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_percentile_approx = {.name = "percentile_approx",
                                                            .slots = mr_values_slots,
                                                            .update = mr_values_update,
                                                            .merge = mr_values_merge,
                                                            .result = approx_result,
                                                            .is_ordered = true};

/* mode(v): the most frequent value; of several the smallest (Spark leaves it open, unless an order
 * is given), mode_desc(v): the largest. */
static enum mr_status mode_result(const struct mr_aggregate_call *c, uint32_t n,
                                  union mr_slot *const *slots, struct mr_column *out)
{
    bool largest = strcmp(c->expr->function->name, "mode_desc") == 0;
    struct mr_builder b;

    mr_builder_init(&b, c->expr->type, n, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        struct mr_column x;
        uint32_t values_n, *order = sorted_values(c, mr_wide_bytes(slots[i]), &x, &values_n);
        uint32_t best = 0, best_n = 0;
        for (uint32_t from = 0, to; from < values_n; from = to) {
            for (to = from + 1;
                 to < values_n && mr_column_compare(&x, order[from], &x, order[to]) == 0;)
                to++;
            if (to - from > best_n || (largest && to - from == best_n)) {
                best = from;
                best_n = to - from;
            }
        }
        if (best_n == 0)
            mr_builder_append_null(&b);
        else
            mr_builder_append(&b, &x, order[best]);
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_mode = {.name = "mode",
                                               .slots = mr_values_slots,
                                               .update = mr_values_update,
                                               .merge = mr_values_merge,
                                               .result = mode_result};
