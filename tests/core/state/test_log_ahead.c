/* The log of an epoch, taken piece by piece while it runs, gives the same rows. */
#include "core/state/row.h"
#include "core/state/state.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { N = 400000, STEP = 1000, PIECE = 50000, EPOCH = 7 };

struct run {
    bool is_final;
    uint64_t epoch;
    struct mr_state *state, *copy;
    struct mr_arena arena, keys;
    struct mr_buffer piece;
    uint64_t changed, ahead_bytes, rest_bytes;
    int64_t sums[N];
    bool is_listed[N];
};

/* Keys come in the order of time: every second is new, every 500th is late by half of all. */
static void change_some(struct run *r, int64_t from)
{
    static int64_t ids[STEP], expiry[STEP];
    static uint64_t hashes[STEP], is_new[STEP / 64 + 1];
    static struct mr_text keys[STEP];
    static struct mr_state_row *rows[STEP];
    struct mr_column column = {.type = &mr_type_bigint, .i64 = ids};

    for (int64_t i = 0; i < STEP; i++) {
        ids[i] = i % 500 == 499 ? (from + i) / 2 : (from + i) / 2 * 2;
        expiry[i] = ids[i];
        r->changed += !r->is_listed[ids[i]];
        r->is_listed[ids[i]] = true;
    }
    mr_arena_reset(&r->keys);
    mr_row_encode(&column, 1, NULL, STEP, &r->keys, keys, hashes);
    if (r->is_final) {
        mr_state_insert(r->state, r->epoch, STEP, hashes, keys, expiry, rows, is_new);
        return;
    }
    mr_state_upsert(r->state, r->epoch, STEP, hashes, keys, expiry, rows, is_new);
    for (int64_t i = 0; i < STEP; i++)
        mr_state_slots(rows[i])->i64 = r->sums[ids[i]] += from + i - N / 2;
}

static void log_some(struct run *r)
{
    r->piece.n = 0;
    mr_state_log_ahead(r->state, r->epoch, PIECE, &r->piece);
    assert_true(r->piece.n < PIECE + 100);
    r->ahead_bytes += r->piece.n;
    assert_int_equal(mr_state_load(r->copy, mr_buffer_text(&r->piece), NULL), MR_OK);
}

static void log_rest(struct run *r)
{
    for (bool more = true; more;) {
        r->piece.n = 0;
        more = mr_state_log(r->state, r->epoch, PIECE, &r->piece);
        assert_true(r->piece.n < PIECE + 100);
        r->rest_bytes += r->piece.n;
        assert_int_equal(mr_state_load(r->copy, mr_buffer_text(&r->piece), NULL), MR_OK);
    }
}

static void compare(struct run *r)
{
    struct mr_state_cursor at = {0};
    struct mr_state_row *row, *other;
    uint64_t rows = 0;

    for (; mr_state_next(r->state, &at, &row); rows++) {
        struct mr_text key = mr_state_key(row);
        uint64_t hash = mr_row_hash(key);
        int64_t expiry_us = mr_state_expiry(r->state, row);
        mr_state_find(r->copy, 1, &hash, &key, &expiry_us, &other);
        assert_non_null(other);
        assert_int_equal(mr_state_slots(other)->i64, mr_state_slots(row)->i64);
    }
    assert_int_equal(rows, r->changed);
    assert_int_equal(mr_state_rows(r->copy), rows);
}

/* What was logged ahead counts as changed again in the next epoch, and nothing else does. */
static void run_next_epoch(struct run *r)
{
    uint64_t rows = mr_state_rows(r->state);

    r->epoch++;
    r->changed = 0;
    memset(r->is_listed, 0, sizeof r->is_listed);
    change_some(r, 0);
    assert_int_equal(mr_state_changed(r->state, r->epoch), r->changed);
    r->piece.n = 0;
    assert_false(mr_state_log(r->state, r->epoch, UINT64_MAX, &r->piece));
    assert_true(r->piece.n < r->changed * 25);
    assert_int_equal(mr_state_load(r->copy, mr_buffer_text(&r->piece), NULL), MR_OK);
    r->changed = rows; /* no new ones */
    compare(r);
}

static void run(bool is_final)
{
    static const enum mr_slot_kind slots[] = {MR_SLOT_I64};
    const struct mr_state_table table = {
        .name = "t", .slots_n = 1, .slots = slots, .bucket_us = 20000, .rows_are_final = is_final};
    struct mr_state_config config = {.table = &table};
    static struct run r;

    memset(&r, 0, sizeof r);
    r.epoch = EPOCH;
    r.is_final = is_final;
    mr_arena_init(&r.arena, NULL, NULL);
    mr_arena_init(&r.keys, NULL, NULL);
    mr_buffer_init(&r.piece, &r.arena);
    assert_int_equal(mr_state_open(&config, &r.state, NULL), MR_OK);
    assert_int_equal(mr_state_open(&config, &r.copy, NULL), MR_OK);
    for (int64_t from = 0; from < N; from += STEP) {
        change_some(&r, from);
        log_some(&r);
    }
    assert_int_equal(mr_state_changed(r.state, r.epoch), r.changed);
    log_rest(&r);
    print_message("%llu bytes ahead, %llu at the end\n", (unsigned long long)r.ahead_bytes,
                  (unsigned long long)r.rest_bytes);
    assert_true(r.ahead_bytes * (is_final ? 1 : 2) > r.rest_bytes);
    assert_true(r.ahead_bytes + r.rest_bytes < r.changed * 25); /* hardly any row twice */
    compare(&r);
    if (!is_final)
        run_next_epoch(&r);
    mr_state_close(r.state);
    mr_state_close(r.copy);
    mr_arena_fini(&r.arena);
    mr_arena_fini(&r.keys);
}

static void test_changing(void **state)
{
    (void)state;
    run(false);
}

static void test_final(void **state)
{
    (void)state;
    run(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_changing),
                                       cmocka_unit_test(test_final)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
