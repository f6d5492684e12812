#include "core/batch/arrow.h"
#include "core/batch/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct mr_arena arena;
static jmp_buf escape;

static int set_up(void **state)
{
    (void)state;
    mr_arena_init(&arena, NULL, &escape);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mr_arena_fini(&arena);
    return 0;
}

static void append_value(struct mr_builder *b, uint32_t i)
{
    char text[40];

    if (i % 4 == 3) {
        mr_builder_append_null(b);
        return;
    }
    switch (b->type->kind) {
    case MR_VOID:
        mr_builder_append_null(b);
        break;
    case MR_FLOAT:
    case MR_DOUBLE:
        mr_builder_append_f64(b, i * 0.25);
        break;
    case MR_DECIMAL:
        mr_builder_append_i128(b, -((__int128)i << 80));
        break;
    case MR_STRING:
    case MR_BINARY: {
        int n = snprintf(text, sizeof text, "%0*u", (int)(i % 30), i);
        mr_builder_append_text(b, (struct mr_text){text, (uint64_t)n});
        break;
    }
    case MR_INTERVAL_CALENDAR:
        mr_builder_append_calendar(b, &(struct mr_calendar_interval){1, -2, (int64_t)i * 1000});
        break;
    case MR_ARRAY:
    case MR_MAP:
    case MR_STRUCT:
        for (uint32_t k = 0; k < (b->type->kind == MR_STRUCT ? 1 : i % 3); k++)
            for (uint32_t f = 0; f < b->type->fields_n; f++)
                append_value(&b->children[f], i + k);
        mr_builder_close_row(b);
        break;
    default:
        mr_builder_append_i64(b, i % 100);
    }
}

static const struct mr_type *all_types(void)
{
    static const struct mr_type *const simple[] = {&mr_type_void,
                                                   &mr_type_boolean,
                                                   &mr_type_tinyint,
                                                   &mr_type_smallint,
                                                   &mr_type_int,
                                                   &mr_type_bigint,
                                                   &mr_type_float,
                                                   &mr_type_double,
                                                   &mr_type_string,
                                                   &mr_type_binary,
                                                   &mr_type_date,
                                                   &mr_type_timestamp,
                                                   &mr_type_timestamp_ntz,
                                                   &mr_type_interval_year_month,
                                                   &mr_type_interval_day_time,
                                                   &mr_type_interval_calendar};
    enum { SIMPLE = sizeof simple / sizeof simple[0], ALL = SIMPLE + 5 };
    struct mr_field *fields = MR_NEW_ARRAY(&arena, struct mr_field, ALL);
    struct mr_field *inner = MR_NEW_ARRAY(&arena, struct mr_field, 2);

    inner[0] = (struct mr_field){"x", &mr_type_string, true};
    inner[1] = (struct mr_field){"y", mr_type_array(&arena, &mr_type_int, true), true};
    const struct mr_type *record = mr_type_struct(&arena, inner, 2);
    for (uint32_t i = 0; i < SIMPLE; i++)
        fields[i].type = simple[i];
    fields[SIMPLE].type = mr_type_decimal(&arena, 38, 10);
    fields[SIMPLE + 1].type = mr_type_array(&arena, record, true);
    fields[SIMPLE + 2].type = mr_type_map(&arena, &mr_type_int, record, true);
    fields[SIMPLE + 3].type = record;
    fields[SIMPLE + 4].type =
        mr_type_array(&arena, mr_type_array(&arena, &mr_type_boolean, true), false);
    for (uint32_t i = 0; i < ALL; i++) {
        fields[i].name = mr_arena_format(&arena, "c%u", i);
        fields[i].nullable = i % 3 != 0;
    }
    return mr_type_struct(&arena, fields, ALL);
}

static void all_types_round_trip(void **state)
{
    enum { ROWS = 300 };
    const struct mr_type *type = all_types(), *back_type;
    struct mr_batch batch = {.columns_n = type->fields_n, .rows = ROWS}, back;
    uint32_t sel[ROWS];
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct mr_error err;

    (void)state;
    batch.columns = MR_NEW_ARRAY(&arena, struct mr_column, type->fields_n);
    for (uint32_t f = 0; f < type->fields_n; f++) {
        struct mr_builder b;
        mr_builder_init(&b, type->fields[f].type, 0, &arena);
        for (uint32_t i = 0; i < ROWS; i++)
            append_value(&b, i);
        mr_builder_finish(&b, &batch.columns[f]);
    }
    for (uint32_t i = 0; i < ROWS; i++)
        if (i % 5 != 1)
            sel[batch.n++] = i;
    batch.sel = sel;

    assert_int_equal(mr_arrow_export(&batch, type, &schema, &array, &err), MR_OK);
    assert_int_equal(array.length, batch.n);
    assert_int_equal(mr_arrow_import_type(&schema, &arena, &back_type, &err), MR_OK);
    assert_true(mr_type_equal_with_nullability(type, back_type));
    assert_int_equal(mr_arrow_import(&array, &schema, back_type, &arena, &back, &err), MR_OK);
    array.release(&array);
    schema.release(&schema);
    assert_null(array.release);
    assert_true(mr_batch_is_valid(&back));
    for (uint32_t f = 0; f < type->fields_n; f++)
        for (uint32_t i = 0; i < batch.n; i++)
            assert_int_equal(mr_column_compare(&batch.columns[f], sel[i], &back.columns[f], i), 0);
}

/* A child moved out lives on after its parent. */
static void children_move(void **state)
{
    struct mr_field field = {"a", &mr_type_string, true};
    const struct mr_type *type = mr_type_struct(&arena, &field, 1);
    struct mr_builder b;
    struct mr_column c;
    struct ArrowSchema schema;
    struct ArrowArray array, child;
    struct mr_error err;

    (void)state;
    mr_builder_init(&b, &mr_type_string, 0, &arena);
    mr_builder_append_text(&b, MR_TEXT("a text that is longer than a view"));
    mr_builder_finish(&b, &c);
    struct mr_batch batch = {.columns = &c, .columns_n = 1, .rows = 1, .n = 1};
    assert_int_equal(mr_arrow_export(&batch, type, &schema, &array, &err), MR_OK);
    child = *array.children[0];
    array.children[0]->release = NULL;
    array.release(&array);
    schema.release(&schema);
    assert_int_equal(child.n_buffers, 4);
    assert_memory_equal(child.buffers[2], "a text that is longer than a view", 33);
    assert_int_equal(((const int64_t *)child.buffers[3])[0], 33);
    child.release(&child);
}

/* What other producers make: 32 and 64-bit offsets, an offset into the array, nulls. */
static void foreign_layouts(void **state)
{
    const int32_t narrow[] = {0, 1, 3, 3, 30};
    const int64_t wide[] = {0, 1, 3, 3, 30};
    const char data[] = "abbcdddddddddddddddddddddddddd";
    const uint8_t valid = 0x0b; /* the third is null */
    const uint8_t bits = 0x0a;
    const void *narrow_buffers[] = {&valid, narrow, data}, *wide_buffers[] = {&valid, wide, data};
    const void *bit_buffers[] = {NULL, &bits};
    struct ArrowArray arrays[] = {
        {.length = 2, .null_count = -1, .offset = 1, .n_buffers = 3, .buffers = narrow_buffers},
        {.length = 3, .null_count = 1, .offset = 1, .n_buffers = 3, .buffers = wide_buffers},
        {.length = 3, .offset = 1, .n_buffers = 2, .buffers = bit_buffers}};
    struct ArrowArray *array_children[] = {&arrays[0], &arrays[1], &arrays[2]};
    struct ArrowSchema schemas[] = {{.format = "u", .name = "s"},
                                    {.format = "Z", .flags = ARROW_FLAG_NULLABLE},
                                    {.format = "b", .name = "b"}};
    struct ArrowSchema *schema_children[] = {&schemas[0], &schemas[1], &schemas[2]};
    const void *none[] = {NULL};
    struct ArrowArray array = {
        .length = 2, .n_buffers = 1, .buffers = none, .n_children = 3, .children = array_children};
    struct ArrowSchema schema = {.format = "+s", .n_children = 3, .children = schema_children};
    const struct mr_type *type;
    struct mr_batch batch;
    struct mr_error err;

    (void)state;
    assert_int_equal(mr_arrow_import_type(&schema, &arena, &type, &err), MR_OK);
    assert_int_equal(type->fields[1].type->kind, MR_BINARY);
    assert_int_equal(mr_arrow_import(&array, &schema, type, &arena, &batch, &err), MR_OK);
    assert_true(mr_text_equal(mr_column_text(&batch.columns[0], 0), MR_TEXT("bb")));
    assert_true(mr_column_is_null(&batch.columns[0], 1));
    assert_true(mr_text_equal(mr_column_text(&batch.columns[1], 0), MR_TEXT("bb")));
    assert_true(mr_bit_get(batch.columns[2].bits, 0));
    assert_false(mr_bit_get(batch.columns[2].bits, 1));

    bit_buffers[1] = NULL;
    assert_int_equal(mr_arrow_import(&array, &schema, type, &arena, &batch, &err), MR_CORRUPT);
    array.length = 4; /* more rows than the children have */
    assert_int_equal(mr_arrow_import(&array, &schema, type, &arena, &batch, &err), MR_CORRUPT);
    schemas[0].format = "tsn:UTC";
    assert_int_equal(mr_arrow_import_type(&schema, &arena, &type, &err), MR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_types_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(children_move, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_layouts, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
