/* Records of all kinds of slots, cut anywhere, taken or passed over: malformed, or what the rows
 * before the cut say. */
#include "core/state/row.h"
#include "core/state/state.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const enum mr_slot_kind slots[] = {MR_SLOT_I64, MR_SLOT_F64, MR_SLOT_I128, MR_SLOT_BYTES};
static const struct mr_state_table table = {.name = "t", .slots_n = 4, .slots = slots};
static const struct mr_state_config config = {.table = &table};
static const char key_bytes[8 + MR_PAD_BYTES] = "a key";
static const struct mr_text a_key = {key_bytes, 5};
static struct mr_error err;

static bool owns_none(void *arg, uint32_t partition)
{
    (void)arg, (void)partition;
    return false;
}

static enum mr_status take(struct mr_text record, bool passes_over, uint64_t *rows)
{
    /* What is readable behind it is no part of it. */
    char *copy = malloc(record.n + MR_PAD_BYTES);
    struct mr_state *s;

    assert_non_null(copy);
    memcpy(copy, record.data, record.n);
    memset(copy + record.n, 0xff, MR_PAD_BYTES);
    assert_int_equal(mr_state_open(&config, &s, NULL), MR_OK);
    enum mr_status status = mr_state_apply(s, (struct mr_text){copy, record.n},
                                           passes_over ? owns_none : NULL, NULL, &err);
    *rows = mr_state_rows(s);
    mr_state_close(s);
    free(copy);
    return status;
}

static void test_cut(void **state)
{
    struct mr_state *s;
    struct mr_arena arena;
    struct mr_buffer out;
    struct mr_text key = a_key;
    uint64_t hash = mr_row_hash(key), is_new, rows;
    int64_t expiry = 1000;
    struct mr_state_row *row;

    (void)state;
    mr_arena_init(&arena, NULL, NULL);
    mr_buffer_init(&out, &arena);
    assert_int_equal(mr_state_open(&config, &s, NULL), MR_OK);
    mr_state_upsert(s, 1, 1, &hash, &key, &expiry, &row, &is_new);
    mr_state_slots(row)->i64 = -123456789;
    assert_false(mr_state_log(s, 1, UINT64_MAX, &out));
    const struct mr_text whole = mr_buffer_text(&out);
    for (int passes_over = 0; passes_over < 2; passes_over++) {
        for (uint64_t n = 0; n <= whole.n; n++) {
            enum mr_status status = take((struct mr_text){whole.data, n}, passes_over, &rows);
            assert_int_equal(status, n <= 1 || n == whole.n ? MR_OK : MR_CORRUPT);
            if (n == whole.n)
                assert_int_equal(rows, !passes_over);
        }
    }
    mr_state_close(s);
    mr_arena_fini(&arena);
}

/* Items that no version has, numbers of too many bytes, keys that no row has. */
static void test_foreign(void **state)
{
    static const struct {
        const char *bytes;
        uint64_t n;
        enum mr_status status;
    } rows[] = {
        {"\2\3", 2, MR_CORRUPT},
        {"\2\2\0\0\0\0\0\0\0", 9, MR_CORRUPT},
        {"\2\2\0\0\0\0\0\0\0\0", 10, MR_OK},
        {"\2\1\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 14, MR_CORRUPT},
        {"\2\1\0\xff\xff\xff\xff\xff\x01", 9, MR_CORRUPT},
        {"\3", 1, MR_CORRUPT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t n;
        assert_int_equal(take((struct mr_text){rows[i].bytes, rows[i].n}, false, &n),
                         rows[i].status);
        assert_int_equal(n, 0);
    }
}

/* Rows of keys and values: whole, longer, cut. */
static void test_rows(void **state)
{
    static const struct mr_field fields[] = {{"v", &mr_type_void, true},
                                             {"b", &mr_type_boolean, true}};
    static const struct mr_type type = {.kind = MR_STRUCT, .fields_n = 2, .fields = fields};
    static const struct {
        const char *bytes;
        uint64_t n;
        enum mr_status status;
    } rows[] = {{"\1\1", 2, MR_OK}, {"\1\1\0", 3, MR_CORRUPT}, {"\1", 1, MR_CORRUPT}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct mr_text row = {rows[i].bytes, rows[i].n};
        struct mr_column columns[2];
        struct mr_arena arena;
        mr_arena_init(&arena, NULL, NULL);
        assert_int_equal(mr_row_decode(&type, &row, 1, columns, &arena, &err), rows[i].status);
        mr_arena_fini(&arena);
    }
}

static void test_never_opened(void **state)
{
    (void)state;
    mr_state_close(NULL); /* of a part that could not be opened */
}

static void test_no_room(void **state)
{
    struct mr_budget budget;
    struct mr_state *s;

    (void)state;
    mr_budget_init(&budget, "small", NULL, 1);
    const struct mr_state_config small = {.table = &table, .budget = &budget};
    assert_int_equal(mr_state_open(&small, &s, &err), MR_MEMORY);
    assert_int_equal(budget.used_bytes, 0);
}

/* The later of two evictions that nothing was logged between has the lower watermark: the record
 * tells the higher. */
static void test_evicted_twice(void **state)
{
    struct mr_state *s, *copy;
    struct mr_arena arena;
    struct mr_buffer out;
    struct mr_text key = a_key;
    uint64_t hash = mr_row_hash(key), is_new;
    int64_t expiry = 10;
    struct mr_state_row *row;

    (void)state;
    mr_arena_init(&arena, NULL, NULL);
    mr_buffer_init(&out, &arena);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mr_state_open(&config, i ? &copy : &s, NULL), MR_OK);
        mr_state_upsert(i ? copy : s, 1, 1, &hash, &key, &expiry, &row, &is_new);
    }
    mr_state_evict(s, 15, NULL, NULL);
    mr_state_evict(s, 5, NULL, NULL);
    assert_int_equal(mr_state_rows(s), 0);
    assert_false(mr_state_log(s, 2, UINT64_MAX, &out));
    assert_int_equal(mr_state_apply(copy, mr_buffer_text(&out), NULL, NULL, &err), MR_OK);
    assert_int_equal(mr_state_rows(copy), 0);
    mr_state_close(s);
    mr_state_close(copy);
    mr_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_never_opened),
        cmocka_unit_test(test_no_room), cmocka_unit_test(test_evicted_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
