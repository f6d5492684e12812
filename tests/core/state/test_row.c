/* Encoded rows: equal iff Spark groups the keys together, and decoded they are what was encoded. */
#include "core/state/row.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS = 257 };

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static int64_t small_integer(void)
{
    return (int64_t)(next_random() % 3) - 1;
}

static double odd_double(void)
{
    static const double odd[] = {0.0, -0.0, 1.5, -1.5};
    uint64_t bits = next_random();
    double nan;

    if (bits % 5 != 4)
        return odd[bits % 5];
    bits = UINT64_C(0x7ff0000000000001) | (bits << 11 & UINT64_C(0x800fffffffffffff));
    memcpy(&nan, &bits, sizeof nan);
    return nan;
}

/* Few different values, so that many rows are equal. */
static void append_random(struct mr_builder *b, uint32_t depth)
{
    static const char *const texts[] = {"", "a", "twelve bytes", "and more than twelve bytes"};
    const struct mr_type *t = b->type;

    if (t->kind == MR_VOID || next_random() % 5 == 0) {
        mr_builder_append_null(b);
        return;
    }
    switch (t->kind) {
    case MR_FLOAT:
    case MR_DOUBLE:
        mr_builder_append_f64(b, odd_double());
        return;
    case MR_DECIMAL:
        mr_builder_append_i128(b, (__int128)small_integer() * 1000000007);
        return;
    case MR_STRING:
    case MR_BINARY:
        mr_builder_append_text(b, mr_text_of(texts[next_random() % 4]));
        return;
    case MR_STRUCT:
        for (uint32_t i = 0; i < t->fields_n; i++)
            append_random(&b->children[i], depth + 1);
        mr_builder_close_row(b);
        return;
    case MR_ARRAY:
    case MR_MAP:
        for (uint64_t n = next_random() % 3; n > 0; n--)
            for (uint32_t i = 0; i < t->fields_n; i++)
                append_random(&b->children[i], depth + 1);
        mr_builder_close_row(b);
        return;
    case MR_INTERVAL_CALENDAR: {
        struct mr_calendar_interval value = {(int32_t)small_integer(), 1, 2};
        struct mr_column one = {.type = t, .calendar = &value};
        mr_builder_append(b, &one, 0);
        return;
    }
    case MR_BOOLEAN:
        mr_builder_append_i64(b, next_random() & 1);
        return;
    default:
        mr_builder_append_i64(b, small_integer());
    }
}

static bool rows_equal(const struct mr_column *columns, uint32_t n, uint32_t a, uint32_t b)
{
    for (uint32_t c = 0; c < n; c++) {
        if (mr_column_compare(&columns[c], a, &columns[c], b) != 0)
            return false;
    }
    return true;
}

/* All pairs: bytes and hashes are equal iff the values are; then back again. */
static void check_columns(const struct mr_type *type)
{
    struct mr_arena arena;
    struct mr_builder *builders;
    struct mr_column columns[8], decoded[8];
    static struct mr_text keys[ROWS];
    static uint64_t hashes[ROWS];
    uint32_t n = type->fields_n, sel[ROWS];

    mr_arena_init(&arena, NULL, NULL);
    builders = MR_NEW_ARRAY(&arena, struct mr_builder, n);
    for (uint32_t c = 0; c < n; c++) {
        mr_builder_init(&builders[c], type->fields[c].type, 4, &arena);
        for (uint32_t i = 0; i < ROWS; i++)
            append_random(&builders[c], 0);
        mr_builder_finish(&builders[c], &columns[c]);
    }
    mr_row_encode(columns, n, NULL, ROWS, &arena, keys, hashes);
    for (uint32_t a = 0; a < ROWS; a++) {
        for (uint32_t b = 0; b < ROWS; b++) {
            bool equal = rows_equal(columns, n, a, b);
            assert_int_equal(mr_text_equal(keys[a], keys[b]), equal);
            assert_int_equal(hashes[a] == hashes[b], equal);
        }
        assert_int_equal(hashes[a], mr_row_hash(keys[a]));
    }
    assert_int_equal(mr_row_decode(type, keys, ROWS, decoded, &arena, NULL), MR_OK);
    for (uint32_t c = 0; c < n; c++) {
        for (uint32_t i = 0; i < ROWS; i++) {
            assert_int_equal(mr_column_compare(&columns[c], i, &decoded[c], i), 0);
            assert_int_equal(mr_column_is_null(&columns[c], i), mr_column_is_null(&decoded[c], i));
        }
    }
    /* A selection gives the same rows. */
    for (uint32_t i = 0; i < ROWS / 2; i++)
        sel[i] = i * 2 + 1;
    struct mr_text *some = MR_NEW_ARRAY(&arena, struct mr_text, ROWS);
    mr_row_encode(columns, n, sel, ROWS / 2, &arena, some, NULL);
    for (uint32_t i = 0; i < ROWS / 2; i++)
        assert_true(mr_text_equal(some[i], keys[sel[i]]));
    /* Whatever is cut off is noticed. */
    for (uint32_t i = 0; i < ROWS; i += 50) {
        for (uint64_t cut = 0; cut < keys[i].n; cut++) {
            struct mr_text rest = {keys[i].data, cut};
            assert_int_equal(mr_row_decode(type, &rest, 1, decoded, &arena, NULL), MR_CORRUPT);
        }
    }
    mr_arena_fini(&arena);
}

static void check_types(const struct mr_type *const *types, uint32_t n)
{
    struct mr_field fields[8];
    struct mr_type row = {.kind = MR_STRUCT, .fields_n = n, .fields = fields};

    for (uint32_t i = 0; i < n; i++)
        fields[i] = (struct mr_field){"f", types[i], true};
    check_columns(&row);
}

static void test_simple_types(void **state)
{
    static const struct mr_type *const types[] = {&mr_type_boolean,
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
                                                  &mr_type_interval_calendar,
                                                  &mr_type_void};
    const uint32_t n = sizeof types / sizeof *types;

    (void)state;
    for (uint32_t i = 0; i < n; i++)
        check_types(&types[i], 1);
    for (uint32_t i = 0; i + 3 <= n; i++)
        check_types(&types[i], 3);
}

static void test_nested_types(void **state)
{
    struct mr_arena a;
    const struct mr_field window[] = {{"start", &mr_type_timestamp, true},
                                      {"end", &mr_type_timestamp, true}};
    const struct mr_field mixed[] = {{"s", &mr_type_string, true}, {"d", &mr_type_double, true}};

    (void)state;
    mr_arena_init(&a, NULL, NULL);
    const struct mr_type *fixed = mr_type_struct(&a, window, 2);
    const struct mr_type *variable = mr_type_struct(&a, mixed, 2);
    const struct mr_type *types[] = {
        fixed,
        &mr_type_string,
        variable,
        mr_type_array(&a, &mr_type_double, true),
        mr_type_array(&a, variable, true),
        mr_type_map(&a, &mr_type_int, &mr_type_string, true),
        mr_type_decimal(&a, 10, 2),
        mr_type_decimal(&a, 38, 2),
    };
    for (uint32_t i = 0; i < 8; i++)
        check_types(&types[i], 1);
    for (uint32_t i = 0; i + 2 <= 8; i++)
        check_types(&types[i], 2);
    check_types(types, 8);
    mr_arena_fini(&a);
}

/* No columns: the key of an aggregate without keys. */
static void test_no_columns(void **state)
{
    struct mr_arena a;
    struct mr_text keys[3];
    uint64_t hashes[3];

    (void)state;
    mr_arena_init(&a, NULL, NULL);
    mr_row_encode(NULL, 0, NULL, 3, &a, keys, hashes);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(keys[i].n, 0);
        assert_int_equal(hashes[i], hashes[0]);
    }
    mr_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simple_types),
        cmocka_unit_test(test_nested_types),
        cmocka_unit_test(test_no_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
