#include "core/base/check.h"
#include "core/format/value.h"
#include "core/format/variant/variant.h"
#include "io/console/console.h"

static void put_binary(struct mr_text t, struct mr_buffer *out)
{
    mr_buffer_append(out, "[", 1);
    for (uint64_t i = 0; i < t.n; i++)
        mr_buffer_append_format(out, "%s%02X", i ? " " : "", (unsigned char)t.data[i]);
    mr_buffer_append(out, "]", 1);
}

/* The depth of types is bounded by MR_DEPTH_MAX. */
static void put_nested(const struct mr_column *c, uint32_t row, const struct mr_zone *zone,
                       struct mr_buffer *out)
{
    bool is_struct = c->type->kind == MR_STRUCT, is_map = c->type->kind == MR_MAP;
    uint32_t from = is_struct ? 0 : (uint32_t)c->offsets[row];
    uint32_t to = is_struct ? c->type->fields_n : (uint32_t)c->offsets[row + 1];
    const char *brackets = c->type->kind == MR_ARRAY ? "[]" : "{}";

    mr_buffer_append(out, brackets, 1);
    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            mr_buffer_append(out, ", ", 2);
        mr_console_cell(&c->children[is_struct ? i : 0], is_struct ? row : i, zone, out);
        if (is_map) {
            mr_buffer_append(out, " -> ", 4);
            mr_console_cell(&c->children[1], i, zone, out);
        }
    }
    mr_buffer_append(out, brackets + 1, 1);
}

void mr_console_cell(const struct mr_column *c, uint32_t row, const struct mr_zone *zone,
                     struct mr_buffer *out)
{
    if (mr_column_is_null(c, row)) {
        mr_buffer_append(out, "NULL", 4);
        return;
    }
    switch (c->type->kind) {
    case MR_BOOLEAN:
        mr_buffer_append_text(out, mr_bit_get(c->bits, row) ? MR_TEXT("true") : MR_TEXT("false"));
        break;
    case MR_STRING:
        mr_buffer_append_text(out, mr_column_text(c, row));
        break;
    case MR_BINARY:
        put_binary(mr_column_text(c, row), out);
        break;
    case MR_VARIANT:
        mr_variant_print(mr_variant_of(mr_column_text(c, row)), zone, out);
        break;
    case MR_ARRAY:
    case MR_MAP:
    case MR_STRUCT:
        put_nested(c, row, zone, out);
        break;
    default:
        out->n += mr_value_print(c, row, zone, (char *)mr_buffer_reserve(out, MR_VALUE_TEXT));
    }
}
