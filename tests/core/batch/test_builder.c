#include "core/batch/batch.h"
#include "core/batch/builder.h"

#include <math.h>
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

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void append_random(struct mr_builder *b, uint32_t *seed)
{
    uint32_t r = next_random(seed);
    char text[64];

    if (r % 5 == 0) {
        mr_builder_append_null(b);
        return;
    }
    switch (b->type->kind) {
    case MR_VOID:
        mr_builder_append_null(b);
        break;
    case MR_FLOAT:
    case MR_DOUBLE:
        mr_builder_append_f64(b, (double)r / 4);
        break;
    case MR_DECIMAL:
        mr_builder_append_i128(b, ((__int128)r << 70) - r);
        break;
    case MR_STRING:
    case MR_BINARY: {
        uint32_t n = r % 50;
        for (uint32_t i = 0; i < n; i++)
            text[i] = (char)('a' + (r + i) % 26);
        mr_builder_append_text(b, (struct mr_text){text, n});
        break;
    }
    case MR_INTERVAL_CALENDAR: {
        struct mr_calendar_interval v = {(int32_t)r, -(int32_t)r, (int64_t)r << 20};
        mr_builder_append_calendar(b, &v);
        break;
    }
    case MR_ARRAY:
    case MR_MAP:
        for (uint32_t i = r % 4; i > 0; i--)
            for (uint32_t f = 0; f < b->type->fields_n; f++)
                append_random(&b->children[f], seed);
        mr_builder_close_row(b);
        break;
    case MR_STRUCT:
        for (uint32_t f = 0; f < b->type->fields_n; f++)
            append_random(&b->children[f], seed);
        mr_builder_close_row(b);
        break;
    default:
        mr_builder_append_i64(b, (int64_t)r % 100);
    }
}

static const struct mr_type *type_of(uint32_t i)
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
    enum { SIMPLE = sizeof simple / sizeof simple[0] };

    if (i < SIMPLE)
        return simple[i];
    struct mr_field *fields = MR_NEW_ARRAY(&arena, struct mr_field, 3);
    fields[0] = (struct mr_field){"a", &mr_type_string, true};
    fields[1] = (struct mr_field){"b", mr_type_array(&arena, &mr_type_boolean, true), true};
    fields[2] = (struct mr_field){"c", &mr_type_double, true};
    const struct mr_type *record = mr_type_struct(&arena, fields, 3);
    switch (i - SIMPLE) {
    case 0:
        return mr_type_decimal(&arena, 38, 4);
    case 1:
        return mr_type_array(&arena, &mr_type_string, true);
    case 2:
        return mr_type_map(&arena, &mr_type_int, record, true);
    case 3:
        return record;
    case 4:
        return mr_type_array(&arena, mr_type_array(&arena, record, true), true);
    default:
        return NULL;
    }
}

static void assert_same(const struct mr_column *a, uint32_t row_a, const struct mr_column *b,
                        uint32_t row_b)
{
    assert_int_equal(mr_column_compare(a, row_a, b, row_b), 0);
    assert_int_equal(mr_column_is_null(a, row_a), mr_column_is_null(b, row_b));
}

/* Rows come back in all ways of appending, for every type, over several growths. */
static void rows_of_all_types(void **state)
{
    enum { ROWS = 700 };
    static uint32_t picked[ROWS];
    const struct mr_type *type;

    (void)state;
    for (uint32_t t = 0; (type = type_of(t)) != NULL; t++) {
        struct mr_builder b;
        struct mr_column from, to;
        uint32_t seed = t + 1, n = 0;
        mr_builder_init(&b, type, 4, &arena);
        for (uint32_t i = 0; i < ROWS; i++)
            append_random(&b, &seed);
        mr_builder_finish(&b, &from);
        struct mr_batch batch = {.columns = &from, .columns_n = 1, .rows = ROWS, .n = ROWS};
        assert_true(mr_batch_is_valid(&batch));

        for (uint32_t i = 0; i < ROWS; i++)
            if (next_random(&seed) % 3)
                picked[n++] = i;
        mr_builder_init(&b, type, 0, &arena);
        mr_builder_append_rows(&b, &from, NULL, 77);
        mr_builder_append_rows(&b, &from, picked, n);
        mr_builder_append_rows(&b, &from, NULL, 0);
        mr_builder_append(&b, &from, 5);
        mr_builder_append_null(&b);
        mr_builder_append_rows(&b, &from, NULL, ROWS);
        mr_builder_finish(&b, &to);
        assert_int_equal(b.rows, 77 + n + 2 + ROWS);
        batch = (struct mr_batch){.columns = &to, .columns_n = 1, .rows = b.rows, .n = b.rows};
        assert_true(mr_batch_is_valid(&batch));
        for (uint32_t i = 0; i < 77; i++)
            assert_same(&to, i, &from, i);
        for (uint32_t i = 0; i < n; i++)
            assert_same(&to, 77 + i, &from, picked[i]);
        assert_same(&to, 77 + n, &from, 5);
        assert_true(mr_column_is_null(&to, 77 + n + 1));
        for (uint32_t i = 0; i < ROWS; i++)
            assert_same(&to, 77 + n + 2 + i, &from, i);

        batch = (struct mr_batch){
            .columns = &from, .columns_n = 1, .rows = ROWS, .n = n, .sel = picked, .port = 3};
        struct mr_batch copy;
        mr_batch_copy(&copy, &batch, &arena);
        assert_true(mr_batch_is_valid(&copy));
        assert_int_equal(copy.n, n);
        assert_int_equal(copy.port, 3);
        for (uint32_t i = 0; i < n; i++)
            assert_same(&copy.columns[0], i, &from, picked[i]);
    }
}

/* Validity comes only with the first null, and a run without nulls brings none. */
static void no_nulls_no_validity(void **state)
{
    struct mr_builder b, c;
    struct mr_column from, to;
    uint32_t odd[50];

    (void)state;
    mr_builder_init(&b, &mr_type_int, 0, &arena);
    for (int64_t i = 0; i < 100; i++) {
        if (i % 2)
            mr_builder_append_i64(&b, i);
        else
            mr_builder_append_null(&b);
        odd[i / 2] = (uint32_t)i | 1;
    }
    mr_builder_finish(&b, &from);
    assert_non_null(from.valid);
    mr_builder_init(&c, &mr_type_int, 0, &arena);
    mr_builder_append_rows(&c, &from, odd, 50);
    mr_builder_finish(&c, &to);
    assert_null(to.valid);
    assert_int_equal(to.i32[49], 99);
}

static void views_short_and_long(void **state)
{
    struct mr_builder b;
    struct mr_column c;
    uint32_t lengths[] = {0, 1, 11, 12, 13, 16, 17, 32, 33, 4096, 1 << 20, (1 << 20) + 1, 3, 64};
    enum { N = sizeof lengths / sizeof lengths[0] };
    char *text = malloc((1 << 20) + 1);

    (void)state;
    for (uint32_t i = 0; i <= 1 << 20; i++)
        text[i] = (char)(i * 7);
    mr_builder_init(&b, &mr_type_string, 0, &arena);
    for (uint32_t i = 0; i < N; i++)
        mr_builder_append_text(&b,
                               (struct mr_text){text + i, lengths[i] - (lengths[i] > i ? i : 0)});
    mr_builder_finish(&b, &c);
    for (uint32_t i = 0; i < N; i++) {
        struct mr_text want = {text + i, lengths[i] - (lengths[i] > i ? i : 0)};
        assert_true(mr_text_equal(mr_column_text(&c, i), want));
    }
    struct mr_column by_row;
    mr_column_alloc(&by_row, &mr_type_string, N, false, &arena);
    for (uint32_t i = 0; i < N; i++)
        mr_column_set_text(&by_row, i, mr_column_text(&c, i), &arena);
    for (uint32_t i = 0; i < N; i++)
        assert_same(&by_row, i, &c, i);
    struct mr_batch batch = {.columns = &by_row, .columns_n = 1, .rows = N, .n = N};
    assert_true(mr_batch_is_valid(&batch));
    by_row.views[9].far.prefix[0]++;
    assert_false(mr_batch_is_valid(&batch));
    free(text);
}

/* A null list may span elements: they must not come along. */
static void null_lists_lose_their_elements(void **state)
{
    struct mr_column list, to;
    struct mr_builder b;
    const struct mr_type *type = mr_type_array(&arena, &mr_type_int, true);

    (void)state;
    mr_column_alloc(&list, type, 3, true, &arena);
    mr_column_alloc(&list.children[0], &mr_type_int, 6, false, &arena);
    for (int32_t i = 0; i < 6; i++)
        list.children[0].i32[i] = i;
    for (int32_t i = 0; i <= 3; i++)
        list.offsets[i] = 2 * i;
    mr_bit_clear(list.valid, 1);
    mr_builder_init(&b, type, 0, &arena);
    mr_builder_append_rows(&b, &list, NULL, 3);
    mr_builder_finish(&b, &to);
    assert_int_equal(b.children[0].rows, 4);
    assert_int_equal(to.offsets[3], 4);
    assert_int_equal(to.children[0].i32[2], 4);
    assert_true(mr_column_is_null(&to, 1));
}

static void order(void **state)
{
    struct mr_builder b;
    struct mr_column c;

    (void)state;
    mr_builder_init(&b, &mr_type_double, 0, &arena);
    mr_builder_append_null(&b);
    mr_builder_append_f64(&b, -(double)INFINITY);
    mr_builder_append_f64(&b, -1);
    mr_builder_append_f64(&b, -0.0);
    mr_builder_append_f64(&b, 1);
    mr_builder_append_f64(&b, (double)INFINITY);
    mr_builder_append_f64(&b, (double)NAN);
    mr_builder_append_f64(&b, 0.0);
    mr_builder_append_f64(&b, -(double)NAN);
    mr_builder_finish(&b, &c);
    for (uint32_t i = 0; i < 7; i++)
        for (uint32_t j = 0; j < 7; j++)
            assert_int_equal(mr_column_compare(&c, i, &c, j), (i > j) - (i < j));
    assert_int_equal(mr_column_compare(&c, 3, &c, 7), 0);
    assert_int_equal(mr_column_compare(&c, 6, &c, 8), 0);

    mr_builder_init(&b, &mr_type_string, 0, &arena);
    mr_builder_append_text(&b, MR_TEXT(""));
    mr_builder_append_text(&b, MR_TEXT("a"));
    mr_builder_append_text(&b, MR_TEXT("a bit longer than a view"));
    mr_builder_append_text(&b, MR_TEXT("b"));
    mr_builder_append_text(&b, MR_TEXT("\xc3\xa4"));
    mr_builder_finish(&b, &c);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t j = 0; j < 5; j++)
            assert_int_equal(mr_column_compare(&c, i, &c, j), (i > j) - (i < j));

    const struct mr_type *type = mr_type_array(&arena, &mr_type_int, true);
    mr_builder_init(&b, type, 0, &arena); /* [], [null], [1], [1, null], [1, 2], [2] */
    mr_builder_close_row(&b);
    mr_builder_append_null(&b.children[0]);
    mr_builder_close_row(&b);
    mr_builder_append_i64(&b.children[0], 1);
    mr_builder_close_row(&b);
    mr_builder_append_i64(&b.children[0], 1);
    mr_builder_append_null(&b.children[0]);
    mr_builder_close_row(&b);
    mr_builder_append_i64(&b.children[0], 1);
    mr_builder_append_i64(&b.children[0], 2);
    mr_builder_close_row(&b);
    mr_builder_append_i64(&b.children[0], 2);
    mr_builder_close_row(&b);
    mr_builder_finish(&b, &c);
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t j = 0; j < 6; j++)
            assert_int_equal(mr_column_compare(&c, i, &c, j), (i > j) - (i < j));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_of_all_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_nulls_no_validity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(views_short_and_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(null_lists_lose_their_elements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(order, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
