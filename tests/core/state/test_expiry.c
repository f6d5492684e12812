/* Expiries that the key has: wherever it is in the key they are found there, also in rows of a
 * state that had none. */
#include "core/state/row.h"
#include "core/state/state.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { N = 3, END = 300 };

static const struct mr_field window_fields[] = {{"start", &mr_type_timestamp, false},
                                                {"end", &mr_type_timestamp, false}};
static const struct mr_type window = {.kind = MR_STRUCT, .fields_n = 2, .fields = window_fields};
static const enum mr_slot_kind slots[] = {MR_SLOT_I64};

/* Row i of a key: "row i" for texts; times end at (i + 1) * END, the last is null. */
struct keys {
    struct mr_arena arena;
    struct mr_column columns[3];
    struct mr_text rows[N];
    uint64_t hashes[N];
    int64_t expiry[N];
};

static void fill(struct mr_column *c, const struct mr_type *type, struct mr_arena *a)
{
    struct mr_builder b;

    mr_builder_init(&b, type, N, a);
    for (uint32_t i = 0; i < N; i++) {
        if (type->kind == MR_STRING) {
            mr_builder_append_text(&b, mr_text_of(mr_arena_format(a, "row %u", i)));
        } else if (i == N - 1) {
            mr_builder_append_null(&b);
        } else if (type->kind == MR_STRUCT) {
            mr_builder_append_i64(&b.children[0], i * END);
            mr_builder_append_i64(&b.children[1], (i + 1) * END);
            mr_builder_close_row(&b);
        } else {
            mr_builder_append_i64(&b, (i + 1) * END);
        }
    }
    mr_builder_finish(&b, c);
}

static void make_keys(struct keys *k, const struct mr_type *key)
{
    mr_arena_init(&k->arena, NULL, NULL);
    for (uint32_t f = 0; f < key->fields_n; f++)
        fill(&k->columns[f], key->fields[f].type, &k->arena);
    mr_row_encode(k->columns, key->fields_n, NULL, N, &k->arena, k->rows, k->hashes);
    for (uint32_t i = 0; i < N; i++)
        k->expiry[i] = i == N - 1 ? MR_STATE_NEVER : (i + 1) * END;
}

static struct mr_state *open_state(const struct mr_state_table *table)
{
    const struct mr_state_config config = {.table = table};
    struct mr_state *s;

    assert_int_equal(mr_state_open(&config, &s, NULL), MR_OK);
    return s;
}

static void expect_expiries(struct mr_state *s, const struct keys *k)
{
    struct mr_state_row *rows[N];

    mr_state_find(s, N, k->hashes, k->rows, k->expiry, rows);
    for (uint32_t i = 0; i < N; i++) {
        assert_non_null(rows[i]);
        assert_true(mr_text_equal(mr_state_key(rows[i]), k->rows[i]));
        assert_int_equal(mr_state_expiry(s, rows[i]), k->expiry[i]);
        assert_int_equal(mr_state_slots(rows[i])->i64, i + 1);
    }
}

static void insert(struct mr_state *s, const struct keys *k, const int64_t *expiry_us)
{
    struct mr_state_row *rows[N];
    uint64_t is_new;

    mr_state_upsert(s, 1, N, k->hashes, k->rows, expiry_us, rows, &is_new);
    for (uint32_t i = 0; i < N; i++)
        mr_state_slots(rows[i])->i64 = i + 1;
}

/* Inserted, logged and loaded; then loaded from a state whose rows never ended; each goes at its
 * time. */
static void try_key(const struct mr_type *key, uint32_t field)
{
    const struct mr_state_table timeless = {
        .name = "t", .key = key, .slots_n = 1, .slots = slots, .expiry = MR_EXPIRY_NEVER};
    struct mr_state_table table = timeless;
    const int64_t never[N] = {MR_STATE_NEVER, MR_STATE_NEVER, MR_STATE_NEVER};
    struct keys k;
    struct mr_buffer log;

    table.expiry = MR_EXPIRY_OF_KEY;
    table.expiry_field = field;
    table.bucket_us = END;
    make_keys(&k, key);
    for (uint32_t from_timeless = 0; from_timeless < 2; from_timeless++) {
        struct mr_state *s = open_state(from_timeless ? &timeless : &table),
                        *t = open_state(&table);
        insert(s, &k, from_timeless ? never : k.expiry);
        mr_buffer_init(&log, &k.arena);
        assert_false(mr_state_log(s, 1, UINT64_MAX, &log));
        assert_int_equal(mr_state_load(t, mr_buffer_text(&log), NULL), MR_OK);
        expect_expiries(t, &k);
        assert_int_equal(mr_state_evict(t, END - 1, NULL, NULL), 0);
        assert_int_equal(mr_state_evict(t, END, NULL, NULL), 1);
        assert_int_equal(mr_state_evict(t, INT64_MAX - 1, NULL, NULL), 1);
        assert_int_equal(mr_state_rows(t), 1); /* the null */
        mr_state_close(s);
        mr_state_close(t);
    }
    mr_arena_fini(&k.arena);
}

static void test_places(void **state)
{
    const struct mr_field text = {"k", &mr_type_string, true},
                          time = {"t", &mr_type_timestamp, true},
                          bounds = {"window", &window, true}, n = {"n", &mr_type_timestamp, true};
    const struct {
        struct mr_field fields[3];
        uint32_t n, field;
    } keys[] = {
        {{time}, 1, 0},       {{bounds}, 1, 0},          {{bounds, text}, 2, 0},
        {{text, time}, 2, 1}, {{text, bounds}, 2, 1},    {{n, bounds, text}, 3, 1},
        {{n, time}, 2, 1},    {{text, bounds, n}, 3, 1}, {{n, time, text}, 3, 1},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct mr_type key = {
            .kind = MR_STRUCT, .fields_n = keys[i].n, .fields = keys[i].fields};
        try_key(&key, keys[i].field);
    }
}

/* A row without a place of its own in the key keeps its expiry. */
static void test_between_texts(void **state)
{
    const struct mr_field fields[] = {{"a", &mr_type_string, true},
                                      {"t", &mr_type_timestamp, true},
                                      {"b", &mr_type_string, true}};
    const struct mr_type key = {.kind = MR_STRUCT, .fields_n = 3, .fields = fields};
    const struct mr_state_table table = {.name = "t",
                                         .key = &key,
                                         .slots_n = 1,
                                         .slots = slots,
                                         .expiry = MR_EXPIRY_OF_KEY,
                                         .expiry_field = 1,
                                         .bucket_us = END};
    struct keys k;

    (void)state;
    make_keys(&k, &key);
    struct mr_state *s = open_state(&table);
    insert(s, &k, k.expiry);
    expect_expiries(s, &k);
    assert_int_equal(mr_state_evict(s, 2 * END, NULL, NULL), 2);
    mr_state_close(s);
    mr_arena_fini(&k.arena);
}

/* A record whose key has no room for a time is malformed. */
static void test_short_key(void **state)
{
    const struct mr_field fields[] = {{"k", &mr_type_string, true},
                                      {"t", &mr_type_timestamp, true}};
    const struct mr_type key = {.kind = MR_STRUCT, .fields_n = 2, .fields = fields};
    const struct mr_state_table given = {.name = "t", .slots_n = 1, .slots = slots};
    const struct mr_state_table table = {.name = "t",
                                         .key = &key,
                                         .slots_n = 1,
                                         .slots = slots,
                                         .expiry = MR_EXPIRY_OF_KEY,
                                         .expiry_field = 1,
                                         .bucket_us = END};
    const char bytes[16 + MR_PAD_BYTES] = {0};
    struct mr_state *s = open_state(&given), *t = open_state(&table);
    struct mr_arena arena;
    struct mr_buffer log;

    (void)state;
    mr_arena_init(&arena, NULL, NULL);
    for (uint32_t n = 0; n <= 9; n++) {
        const struct mr_text short_key = {bytes, n};
        const uint64_t hash = mr_row_hash(short_key);
        const int64_t expiry = END;
        struct mr_state_row *row;
        uint64_t is_new;
        mr_state_upsert(s, n, 1, &hash, &short_key, &expiry, &row, &is_new);
        mr_buffer_init(&log, &arena);
        assert_false(mr_state_log(s, n, UINT64_MAX, &log));
        assert_int_equal(mr_state_load(t, mr_buffer_text(&log), NULL), n == 9 ? MR_OK : MR_CORRUPT);
    }
    mr_state_close(s);
    mr_state_close(t);
    mr_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_between_texts),
                                       cmocka_unit_test(test_short_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
