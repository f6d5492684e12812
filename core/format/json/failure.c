#include "core/format/json/failure.h"

#include "core/format/corrupt.h"
#include "core/format/json/json.h"
#include "core/format/json/out.h"

/* The row as Spark prints it: [1,null,x]. */
static void print_row(const struct json_exact *x, struct mr_text raw, bool with_corrupt_column,
                      struct mr_buffer *out)
{
    const struct mr_type *type = x->plan->root.type;
    const struct mr_cell *row = x->rows_n && type->kind == MR_STRUCT ? x->rows->items : NULL;
    struct mr_json_writer writer = {.zone = x->plan->options.temporal.zone, .keep_nulls = true};
    struct mr_heaps heaps;

    mr_heaps_begin(&heaps, NULL, 0, x->scratch);
    mr_buffer_append(out, "[", 1);
    for (uint32_t i = 0; i < type->fields_n && type->kind == MR_STRUCT; i++) {
        struct json_out o;
        struct mr_column c;
        if (i)
            mr_buffer_append(out, ",", 1);
        if (row == NULL || row[i].is_null) {
            mr_buffer_append_text(out, MR_TEXT("null"));
            continue;
        }
        if (type->fields[i].type->kind == MR_STRING) {
            mr_buffer_append_text(out, row[i].text);
            continue;
        }
        json_out_init(&o, &c, type->fields[i].type, 1, &heaps, x->scratch);
        json_out_put(&o, 0, &row[i]);
        json_out_end(&o, 1);
        mr_json_write_value(&writer, &c, 0, out);
    }
    if (with_corrupt_column) {
        mr_buffer_append_text(out, type->fields_n ? MR_TEXT(",") : MR_TEXT(""));
        mr_buffer_append_text(out, raw);
    }
    mr_buffer_append(out, "]", 1);
}

enum mr_status json_failfast(const struct json_exact *x, struct mr_text raw,
                             bool with_corrupt_column, struct mr_error *err)
{
    struct mr_buffer row;

    mr_buffer_init(&row, x->scratch);
    print_row(x, raw, with_corrupt_column, &row);
    return mr_corrupt_failfast(x->condition, mr_buffer_text(&row), x->reason, err);
}
