#include "core/format/cell.h"

#include "core/base/check.h"
#include "core/base/time.h"
#include "core/format/value.h"

void mr_cell_store(struct mr_column *c, uint32_t row, const struct mr_cell *v,
                   struct mr_heaps *heaps)
{
    if (c->valid)
        mr_bit_set(c->valid, row);
    switch (c->type->kind) {
    case MR_BOOLEAN:
        mr_bit_put(c->bits, row, v->i64 != 0);
        break;
    case MR_TINYINT:
        c->i8[row] = (int8_t)v->i64;
        break;
    case MR_SMALLINT:
        c->i16[row] = (int16_t)v->i64;
        break;
    case MR_INT:
    case MR_DATE:
    case MR_INTERVAL_YEAR_MONTH:
        c->i32[row] = (int32_t)v->i64;
        break;
    case MR_BIGINT:
    case MR_TIMESTAMP:
    case MR_TIMESTAMP_NTZ:
    case MR_INTERVAL_DAY_TIME:
        c->i64[row] = v->i64;
        break;
    case MR_FLOAT:
        c->f32[row] = v->f32;
        break;
    case MR_DOUBLE:
        c->f64[row] = v->f64;
        break;
    case MR_DECIMAL:
        c->i128[row] = v->i128;
        break;
    case MR_INTERVAL_CALENDAR:
        c->calendar[row] = v->calendar;
        break;
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        mr_heaps_put(heaps, &c->views[row], v->text);
        break;
    default:
        MR_UNREACHABLE();
    }
}

bool mr_cell_parse_decimal(const struct mr_type *type, struct mr_text t, struct mr_arena *scratch,
                           __int128 *out)
{
    char *copy = mr_arena_alloc(scratch, t.n + 1);
    uint64_t n = 0;

    for (uint64_t i = 0; i < t.n; i++) {
        if (t.data[i] <= ' ')
            return false;
        if (t.data[i] != ',')
            copy[n++] = t.data[i];
    }
    return mr_value_parse_decimal((struct mr_text){copy, n}, type->precision, type->scale, out);
}

bool mr_cell_parse_interval(const struct mr_type *type, struct mr_text t, struct mr_cell *out)
{
    if (type->kind != MR_INTERVAL_CALENDAR)
        return mr_value_parse_interval_units(t, type, &out->i64) == MR_UNITS_PARSED;
    return mr_value_parse_interval(t, &out->calendar);
}

static bool all_set(const uint64_t *bits, uint32_t n)
{
    for (uint32_t w = 0; w < n / 64; w++)
        if (bits[w] != ~UINT64_C(0))
            return false;
    uint64_t mask = (UINT64_C(1) << (n & 63)) - 1;
    return (n & 63) == 0 || (bits[n / 64] & mask) == mask;
}

void mr_cell_end_column(struct mr_column *c, uint32_t rows, const struct mr_heaps *heaps)
{
    if (c->type->kind != MR_VOID && c->valid && all_set(c->valid, rows))
        c->valid = NULL;
    if (mr_type_is_views(c->type)) {
        c->heaps = heaps->heaps;
        c->heaps_n = heaps->n;
    }
}
