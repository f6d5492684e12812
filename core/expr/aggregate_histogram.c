#include "core/expr/aggregate_slots.h"
#include "core/expr/decimal.h"
#include "core/expr/java_random.h"

/* histogram_numeric(a, n): at most n bins of {x, y}. A value not yet there opens a bin; with one
 * too many the two nearest bins become one at their weighted mean (Ben-Haim and Tom-Tov 2010). Of
 * several pairs equally near, Spark takes one by java.util.Random, started alike in every
 * histogram, so the same generator is part of the state. Results depend on the order of rows, as
 * there. */

enum { BINS_MIN = 2, RANDOM_START = 31183 };

struct histogram {
    uint32_t bins_max;
    const struct mr_type *type; /* of x in the result */
};

struct __attribute__((packed)) bin { /* slots are not aligned */
    double x, y;
};

/* The content of the slot. */
struct __attribute__((packed)) bins {
    uint64_t random;
    struct bin bins[];
};

MR_RESOLVE(histogram_numeric)
{
    struct histogram *h = MR_NEW(r->arena, struct histogram);
    const struct mr_type *type = call->args[0]->type;
    bool is_time =
        type->kind == MR_DATE || type->kind == MR_TIMESTAMP || type->kind == MR_TIMESTAMP_NTZ;
    enum mr_status status = mr_coerce_argument(r, call, 1, &mr_type_int, NULL);

    if (type->kind == MR_STRING)
        type = &mr_type_double;
    if (!mr_type_is_numeric(type) && !is_time)
        return mr_mismatch_argument(r, call, 0, "(\"NUMERIC\" or \"DATE\" or \"TIMESTAMP\")");
    if (status == MR_OK)
        status = mr_require_literal(r, call, 1, "nb");
    if (status != MR_OK)
        return status;
    if (mr_column_is_null(call->args[1]->value, 0))
        return mr_mismatch(r, call, "UNEXPECTED_NULL", "The `nb` must not be null.");
    int64_t bins = call->args[1]->value->i32[0];
    if (bins < BINS_MIN)
        return mr_mismatch(r, call, "VALUE_OUT_OF_RANGE",
                           "The `nb` must be between [2, 2147483647] (current value = %lld).",
                           (long long)bins);
    h->bins_max = (uint32_t)bins;
    h->type = type;
    call->data = h;
    if (!is_time)
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_double);
    struct mr_field *fields = MR_NEW_ARRAY(r->arena, struct mr_field, 2);
    fields[0] = (struct mr_field){"x", type, true};
    fields[1] = (struct mr_field){"y", &mr_type_double, true};
    call->type = mr_type_array(r->arena, mr_type_struct(r->arena, fields, 2), true);
    call->nullable = true;
    return MR_OK;
}

/* The content, with room for more bins. */
static struct bins *open_bins(const struct mr_aggregate_call *c, struct mr_slot_bytes *slot,
                              uint64_t more)
{
    mr_slot_reserve(c, slot, sizeof(struct bins) + more * sizeof(struct bin));
    struct bins *b = (struct bins *)(void *)slot->data;
    if (slot->n == 0) {
        b->random = mr_java_random_start(RANDOM_START);
        slot->n = sizeof *b;
    }
    return b;
}

static uint32_t count_of(const struct mr_slot_bytes *slot)
{
    return slot->n == 0 ? 0 : (uint32_t)((slot->n - sizeof(struct bins)) / sizeof(struct bin));
}

static void set_count(struct mr_slot_bytes *slot, uint32_t n)
{
    slot->n = (uint32_t)(sizeof(struct bins) + n * sizeof(struct bin));
}

/* Of n bins, the first of the two that are nearest. */
static uint32_t nearest(struct bins *b, uint32_t n)
{
    double smallest = b->bins[1].x - b->bins[0].x;
    uint32_t at = 0, same = 1;
    uint64_t random = b->random;

    for (uint32_t i = 1; i + 1 < n; i++) {
        double distance = b->bins[i + 1].x - b->bins[i].x;
        if (distance < smallest) {
            smallest = distance;
            at = i;
            same = 1;
        } else if (distance == smallest && mr_java_random_double(&random) <= 1.0 / ++same) {
            at = i;
        }
    }
    b->random = random;
    return at;
}

static uint32_t trim(struct bins *b, uint32_t n, uint32_t max)
{
    for (; n > max; n--) {
        uint32_t at = nearest(b, n);
        struct bin *x = &b->bins[at], *y = x + 1;
        double sum = x->y + y->y;
        x->x = x->x * (x->y / sum) + y->x / sum * y->y;
        x->y = sum;
        memmove(y, y + 1, (n - at - 2) * sizeof *y);
    }
    return n;
}

static void add(const struct mr_aggregate_call *c, struct mr_slot_bytes *slot, double value)
{
    const struct histogram *h = c->expr->data;
    struct bins *b = open_bins(c, slot, 1);
    uint32_t n = count_of(slot), at = 0, end = n;

    while (at < end) {
        uint32_t middle = (at + end) / 2;
        if (b->bins[middle].x > value) {
            end = middle;
        } else if (b->bins[middle].x < value) {
            at = middle + 1;
        } else {
            b->bins[middle].y++;
            return;
        }
    }
    memmove(&b->bins[at + 1], &b->bins[at], (n - at) * sizeof b->bins[0]);
    b->bins[at] = (struct bin){value, 1};
    set_count(slot, trim(b, n + 1, h->bins_max));
}

static enum mr_status histogram_update(const struct mr_aggregate_call *c, uint32_t n,
                                       const uint32_t *sel, const struct mr_column *args,
                                       union mr_slot **slots)
{
    enum mr_kind kind = args->type->kind;

    MR_EACH_UPDATE(n, sel, i, row)
    {
        if (mr_column_is_null(args, row))
            continue;
        add(c, mr_wide_bytes(slots[i]),
            kind == MR_DOUBLE ? args->f64[row]
            : kind == MR_DATE ? args->i32[row]
                              : (double)args->i64[row]);
    }
    return MR_OK;
}

static enum mr_status histogram_merge(const struct mr_aggregate_call *c, uint32_t n,
                                      union mr_slot *const *from, union mr_slot **into)
{
    const struct histogram *h = c->expr->data;

    for (uint32_t i = 0; i < n; i++) {
        const struct mr_slot_bytes *x = mr_wide_bytes(from[i]);
        struct mr_slot_bytes *y = mr_wide_bytes(into[i]);
        uint32_t x_n = count_of(x), y_n = count_of(y);
        if (y_n == 0) {
            mr_slot_replace(c, y, x->data, x->n);
            continue;
        }
        const struct bin *more = ((const struct bins *)(const void *)x->data)->bins;
        struct bins *b = open_bins(c, y, x_n);
        uint32_t to = x_n + y_n;
        while (x_n > 0) /* from the end, as both are in order */
            b->bins[--to] =
                y_n > 0 && b->bins[y_n - 1].x > more[x_n - 1].x ? b->bins[--y_n] : more[--x_n];
        set_count(y, trim(b, count_of(x) + count_of(y), h->bins_max));
    }
    return MR_OK;
}

static void append_x(struct mr_builder *b, double x)
{
    __int128 decimal;

    switch (b->type->kind) {
    case MR_DOUBLE:
    case MR_FLOAT:
        mr_builder_append_f64(b, x);
        break;
    case MR_DECIMAL:
        if (mr_decimal_from_double(x, b->type->precision, b->type->scale, &decimal))
            mr_builder_append_i128(b, decimal);
        else
            mr_builder_append_null(b);
        break;
    default:
        mr_builder_append_i64(b, x >= 0x1p63 ? INT64_MAX : (int64_t)x);
    }
}

static enum mr_status histogram_result(const struct mr_aggregate_call *c, uint32_t n,
                                       union mr_slot *const *slots, struct mr_column *out)
{
    struct mr_builder b;

    mr_builder_init(&b, c->expr->type, n, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_slot_bytes *slot = mr_wide_bytes(slots[i]);
        const struct bins *x = (const struct bins *)(const void *)slot->data;
        uint32_t bins_n = count_of(slot);
        if (bins_n == 0) {
            mr_builder_append_null(&b);
            continue;
        }
        for (uint32_t k = 0; k < bins_n; k++) {
            append_x(&b.children[0].children[0], x->bins[k].x);
            mr_builder_append_f64(&b.children[0].children[1], x->bins[k].y);
            mr_builder_close_row(&b.children[0]);
        }
        mr_builder_close_row(&b);
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

static void histogram_describe(const struct mr_expr *call, struct mr_buffer *out)
{
    const struct histogram *h = call->data;

    mr_buffer_append_format(out, " in %u bins", h->bins_max);
}

const struct mr_aggregate mr_aggregate_histogram_numeric = {.name = "histogram_numeric",
                                                            .slots = mr_binary_slots,
                                                            .update = histogram_update,
                                                            .merge = histogram_merge,
                                                            .result = histogram_result,
                                                            .describe = histogram_describe,
                                                            .is_ordered = true};
