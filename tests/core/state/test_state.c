/* State against a naive model: random upserts, inserts, evictions, logs, and restarts on other
 * numbers of workers. The seed is printed when something differs. */
#include "core/state/row.h"
#include "core/state/state.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { KEYS = 3000, WORKERS_MAX = 8, BATCH = 300 };

struct model_row {
    bool is_there, changed;
    int64_t expiry_us, sum;
    __int128 big;
    uint32_t text_n;
    char text[200];
};

struct world {
    uint64_t random;
    const struct mr_state_table *table;
    struct mr_budget budget;
    struct mr_arena arena;
    struct mr_state *parts[WORKERS_MAX];
    uint32_t workers;
    struct model_row model[KEYS];
    uint64_t epoch;
};

static uint64_t next_random(struct world *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

static const enum mr_slot_kind slots[] = {MR_SLOT_I64, MR_SLOT_I128, MR_SLOT_BYTES};
static const struct mr_field fields[] = {{"k", &mr_type_string, true}};
static const struct mr_type key_type = {.kind = MR_STRUCT, .fields_n = 1, .fields = fields};

static void open_parts(struct world *w)
{
    struct mr_state_config config = {.table = w->table, .budget = &w->budget};

    for (uint32_t i = 0; i < w->workers; i++)
        assert_int_equal(mr_state_open(&config, &w->parts[i], NULL), MR_OK);
}

static void close_parts(struct world *w)
{
    for (uint32_t i = 0; i < w->workers; i++)
        mr_state_close(w->parts[i]);
    assert_int_equal(w->budget.used_bytes, w->arena.used_bytes);
}

static struct mr_text key_of(struct world *w, uint32_t k)
{
    char *text = mr_arena_format(&w->arena, "key %u%s", k, k % 7 ? "" : " and a longer one");
    return mr_text_of(text);
}

static int64_t expiry_of(struct world *w, uint32_t k)
{
    if (w->table->any_expiry)
        return (int64_t)(next_random(w) % 2000) - 100;
    return k % 11 == 0 ? MR_STATE_NEVER : (int64_t)(k * 37 % 2000) - 100;
}

static uint32_t owner(const struct world *w, uint64_t hash)
{
    return (uint32_t)(hash >> 56) % w->workers;
}

static void update_row(struct world *w, struct mr_state *s, struct mr_state_row *row,
                       struct model_row *m, uint64_t value)
{
    union mr_slot *slot = mr_state_slots(row);

    assert_int_equal(slot[0].i64, m->sum);
    assert_true(*mr_wide_i128(&slot[1]) == m->big);
    assert_int_equal(mr_wide_bytes(&slot[3])->n, m->text_n);
    assert_memory_equal(mr_wide_bytes(&slot[3])->data ? mr_wide_bytes(&slot[3])->data
                                                      : (uint8_t *)"",
                        m->text, m->text_n);
    slot[0].i64 = m->sum += (int64_t)(value & 0xffff) - 0x8000;
    *mr_wide_i128(&slot[1]) = m->big += (__int128)(int64_t)value * 0x7fffffffffff;
    m->text_n = (uint32_t)(value >> 20) % sizeof m->text;
    memset(m->text, (int)(value & 0x7f), m->text_n);
    mr_state_grow(s, mr_wide_bytes(&slot[3]), m->text_n);
    if (m->text_n)
        memcpy(mr_wide_bytes(&slot[3])->data, m->text, m->text_n);
    mr_wide_bytes(&slot[3])->n = m->text_n;
    (void)w;
}

static void upsert_some(struct world *w, bool insert)
{
    for (uint32_t part = 0; part < w->workers; part++) {
        uint32_t n = 0, ids[BATCH];
        uint64_t hashes[BATCH], is_new[(BATCH + 63) / 64];
        struct mr_text keys[BATCH];
        int64_t expiry[BATCH];
        struct mr_state_row *rows[BATCH];
        for (uint32_t i = 0; i < BATCH; i++) {
            uint32_t k = (uint32_t)(next_random(w) % KEYS);
            struct mr_text key = key_of(w, k);
            uint64_t hash = mr_row_hash(key);
            if (owner(w, hash) != part)
                continue;
            ids[n] = k;
            keys[n] = key;
            hashes[n] = hash;
            expiry[n++] = expiry_of(w, k);
        }
        if (insert)
            mr_state_insert(w->parts[part], w->epoch, n, hashes, keys, expiry, rows, is_new);
        else
            mr_state_upsert(w->parts[part], w->epoch, n, hashes, keys, expiry, rows, is_new);
        for (uint32_t i = 0; i < n; i++) {
            struct model_row *m = &w->model[ids[i]];
            assert_int_equal(mr_bit_get(is_new, i), !m->is_there);
            if (!m->is_there)
                *m = (struct model_row){.is_there = true, .expiry_us = expiry[i], .changed = true};
            m->changed |= !insert;
            assert_int_equal(mr_state_expiry(w->parts[part], rows[i]), m->expiry_us);
            assert_true(mr_text_equal(mr_state_key(rows[i]), keys[i]));
            if (m->changed)
                update_row(w, w->parts[part], rows[i], m, next_random(w));
        }
    }
}

static uint64_t count_changed(struct world *w)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < w->workers; i++) {
        struct mr_state_cursor at = {0};
        struct mr_state_row *row;
        while (mr_state_next_changed(w->parts[i], w->epoch, &at, &row))
            n++;
    }
    return n;
}

static void check_all(struct world *w)
{
    uint64_t rows = 0, changed = 0, seen = 0;

    for (uint32_t k = 0; k < KEYS; k++) {
        struct model_row *m = &w->model[k];
        struct mr_text key = key_of(w, k);
        uint64_t hash = mr_row_hash(key);
        struct mr_state_row *row;
        int64_t expiry = m->is_there ? m->expiry_us : expiry_of(w, k);
        mr_state_find(w->parts[owner(w, hash)], 1, &hash, &key, &expiry, &row);
        assert_int_equal(row != NULL, m->is_there);
        if (row) {
            assert_int_equal(mr_state_expiry(w->parts[owner(w, hash)], row), m->expiry_us);
            assert_int_equal(mr_state_slots(row)[0].i64, m->sum);
            assert_true(*mr_wide_i128(&mr_state_slots(row)[1]) == m->big);
            assert_int_equal(mr_wide_bytes(&mr_state_slots(row)[3])->n, m->text_n);
            if (m->text_n)
                assert_memory_equal(mr_wide_bytes(&mr_state_slots(row)[3])->data, m->text,
                                    m->text_n);
            rows++;
            changed += m->changed;
        }
    }
    for (uint32_t i = 0; i < w->workers; i++) {
        struct mr_state_cursor at = {0};
        struct mr_state_row *row;
        while (mr_state_next(w->parts[i], &at, &row))
            seen++;
        rows -= mr_state_rows(w->parts[i]);
    }
    assert_int_equal(rows, 0);
    assert_int_equal(count_changed(w), changed);
    for (uint32_t i = 0; i < w->workers; i++)
        seen -= mr_state_rows(w->parts[i]);
    assert_int_equal(seen, 0);
}

struct visited {
    const struct mr_state *state;
    int64_t watermark_us, n;
};

static void visit(void *arg, struct mr_state_row *row)
{
    struct visited *v = arg;

    assert_true(mr_state_expiry(v->state, row) <= v->watermark_us);
    v->n++;
}

static void evict_some(struct world *w, int64_t watermark_us)
{
    struct visited seen = {.watermark_us = watermark_us};
    int64_t removed = 0, expected = 0;
    bool visited = next_random(w) & 1;

    for (uint32_t i = 0; i < w->workers; i++) {
        seen.state = w->parts[i];
        removed +=
            (int64_t)mr_state_evict(w->parts[i], watermark_us, visited ? visit : NULL, &seen);
    }
    for (uint32_t k = 0; k < KEYS; k++) {
        struct model_row *m = &w->model[k];
        if (m->is_there && m->expiry_us <= watermark_us) {
            *m = (struct model_row){0};
            expected++;
        }
    }
    assert_int_equal(removed, expected);
    assert_int_equal(seen.n, visited ? expected : 0);
}

static bool owns_here(void *arg, uint32_t partition)
{
    const uint32_t *part_and_workers = arg;
    return partition % part_and_workers[1] == part_and_workers[0];
}

/* What was logged, and a snapshot of each partition taken at some epoch, rebuild the state
 * elsewhere. */
static void restart(struct world *w, struct mr_buffer *snapshots, const uint64_t *tags,
                    struct mr_buffer *logs, const uint64_t *log_epochs, uint32_t logs_n)
{
    close_parts(w);
    w->workers = 1 + (uint32_t)(next_random(w) % WORKERS_MAX);
    open_parts(w);
    for (uint32_t p = 0; p < MR_PARTITIONS; p++) {
        struct mr_state *s = w->parts[p % w->workers];
        assert_int_equal(mr_state_load(s, mr_buffer_text(&snapshots[p]), NULL), MR_OK);
    }
    for (uint32_t l = 0; l < logs_n; l++) {
        if (log_epochs[l] <= tags[0])
            continue;
        for (uint32_t i = 0; i < w->workers; i++) {
            uint32_t arg[2] = {i, w->workers};
            assert_int_equal(
                mr_state_apply(w->parts[i], mr_buffer_text(&logs[l]), owns_here, arg, NULL), MR_OK);
        }
    }
}

static void run_seed(const struct mr_state_table *table, uint64_t seed)
{
    enum { LOGS = 2000 };
    struct world *w = calloc(1, sizeof *w);
    static struct mr_buffer snapshots[MR_PARTITIONS], logs[LOGS];
    uint64_t log_epochs[LOGS], tags[1] = {0};
    uint32_t logs_n = 0;
    int64_t watermark_us = -100;

    w->random = seed * 0x9e3779b97f4a7c15 + 1;
    w->table = table;
    w->workers = 1 + (uint32_t)(seed % WORKERS_MAX);
    mr_budget_init(&w->budget, "test", NULL, 0);
    mr_arena_init(&w->arena, &w->budget, NULL);
    for (uint32_t p = 0; p < MR_PARTITIONS; p++)
        mr_buffer_init(&snapshots[p], &w->arena);
    open_parts(w);
    for (w->epoch = 1; w->epoch <= 25; w->epoch++) {
        for (uint64_t i = next_random(w) % 8; i > 0; i--)
            upsert_some(w, next_random(w) % 3 == 0);
        if (next_random(w) % 3 == 0)
            evict_some(w, watermark_us += (int64_t)(next_random(w) % 200));
        check_all(w);
        const uint64_t piece = 1 + next_random(w) % 100000;
        for (uint32_t i = 0; i < w->workers; i++) {
            bool more = true;
            while (more) {
                assert_true(logs_n < LOGS);
                mr_buffer_init(&logs[logs_n], &w->arena);
                log_epochs[logs_n] = w->epoch;
                more = mr_state_log(w->parts[i], w->epoch, logs_n + 200 < LOGS ? piece : UINT64_MAX,
                                    &logs[logs_n]);
                assert_true(!more || logs[logs_n].n >= piece);
                logs_n++;
            }
        }
        for (uint32_t k = 0; k < KEYS; k++)
            w->model[k].changed = false;
        assert_int_equal(count_changed(w), 0);
        if (next_random(w) % 5 == 0) {
            tags[0] = w->epoch;
            for (uint32_t p = 0; p < MR_PARTITIONS; p++) {
                mr_buffer_init(&snapshots[p], &w->arena);
                mr_state_snapshot(w->parts[p % w->workers], p, &snapshots[p]);
            }
        }
        if (next_random(w) % 5 == 0)
            restart(w, snapshots, tags, logs, log_epochs, logs_n);
        check_all(w);
    }
    close_parts(w);
    mr_arena_fini(&w->arena);
    assert_int_equal(w->budget.used_bytes, 0);
    free(w);
}

static void test_model(void **state)
{
    const struct mr_state_table tables[] = {
        {.name = "buckets", .key = &key_type, .slots_n = 3, .slots = slots, .bucket_us = 100},
        {.name = "one bucket", .key = &key_type, .slots_n = 3, .slots = slots},
        {.name = "any",
         .key = &key_type,
         .slots_n = 3,
         .slots = slots,
         .bucket_us = 250,
         .any_expiry = true},
    };

    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        run_seed(&tables[seed % 3], seed);
    }
}

/* More time buckets than there may be segments: rows are found, and go when their time has come. */
static void test_times_all_over(void **state)
{
    enum { N = 20000, STEP = 2000 };
    const enum mr_slot_kind kinds[] = {MR_SLOT_I64};
    static uint64_t hashes[STEP], is_new[STEP / 64 + 1];
    static struct mr_text keys[STEP];
    static int64_t expiry[N], ids[STEP + 8];
    static struct mr_state_row *rows[STEP];
    uint64_t seed = 7;

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1;
        expiry[i] = (int64_t)(seed >> 20) - (INT64_C(1) << 43);
    }
    for (uint32_t any = 0; any < 2; any++) {
        const struct mr_state_table table = {
            .name = "t", .slots_n = 1, .slots = kinds, .bucket_us = 1000, .any_expiry = any};
        struct mr_state_config config = {.table = &table};
        struct mr_arena arena;
        struct mr_state *s;
        mr_arena_init(&arena, NULL, NULL);
        assert_int_equal(mr_state_open(&config, &s, NULL), MR_OK);
        uint64_t left = N, removed = 0;
        for (uint32_t round = 0; round < 4; round++) { /* insert, find, evict half, find */
            for (uint32_t from = 0; from < N && round != 2; from += STEP) {
                struct mr_column column = {.type = &mr_type_bigint, .i64 = ids};
                for (uint32_t i = 0; i < STEP; i++)
                    ids[i] = from + i;
                mr_arena_reset(&arena);
                mr_row_encode(&column, 1, NULL, STEP, &arena, keys, hashes);
                if (round == 0)
                    mr_state_upsert(s, 0, STEP, hashes, keys, expiry + from, rows, is_new);
                else
                    mr_state_find(s, STEP, hashes, keys, expiry + from, rows);
                for (uint32_t i = 0; i < STEP; i++) {
                    bool is_there = round < 3 || expiry[from + i] > 0;
                    assert_int_equal(rows[i] != NULL, is_there);
                    assert_true(rows[i] == NULL || mr_state_expiry(s, rows[i]) == expiry[from + i]);
                }
            }
            if (round == 2)
                removed = mr_state_evict(s, 0, NULL, NULL);
        }
        for (uint32_t i = 0; i < N; i++)
            left -= expiry[i] <= 0;
        assert_true(removed > N / 3 && left > N / 3);
        assert_int_equal(removed, N - left);
        assert_int_equal(mr_state_rows(s), left);
        mr_state_close(s);
        mr_arena_fini(&arena);
    }
}

/* A million groups of three slots stay below 100 bytes each, and none is lost. */
static void test_million_groups(void **state)
{
    enum { N = 1000000, STEP = 4096 };
    const enum mr_slot_kind kinds[] = {MR_SLOT_I64, MR_SLOT_F64, MR_SLOT_I64};
    const struct mr_state_table table = {.name = "groups", .slots_n = 3, .slots = kinds};
    struct mr_budget budget;
    struct mr_arena arena;
    struct mr_state *s;
    static uint64_t hashes[STEP], is_new[STEP / 64];
    static struct mr_text keys[STEP];
    static int64_t expiry[STEP], ids[STEP + 8];
    static struct mr_state_row *rows[STEP];

    (void)state;
    mr_budget_init(&budget, "test", NULL, 0);
    mr_arena_init(&arena, NULL, NULL);
    struct mr_state_config config = {.table = &table, .budget = &budget};
    assert_int_equal(mr_state_open(&config, &s, NULL), MR_OK);
    for (uint32_t i = 0; i < STEP; i++)
        expiry[i] = MR_STATE_NEVER;
    for (uint32_t round = 0; round < 2; round++) {
        for (int64_t from = 0; from < N; from += STEP) {
            uint32_t n = (uint32_t)(N - from < STEP ? N - from : STEP);
            struct mr_column column = {.type = &mr_type_bigint, .i64 = ids};
            for (uint32_t i = 0; i < n; i++)
                ids[i] = (from + i) * 1000003;
            mr_arena_reset(&arena);
            mr_row_encode(&column, 1, NULL, n, &arena, keys, hashes);
            mr_state_upsert(s, round, n, hashes, keys, expiry, rows, is_new);
            for (uint32_t i = 0; i < n; i++) {
                assert_int_equal(mr_bit_get(is_new, i), round == 0);
                assert_int_equal(mr_state_slots(rows[i])->i64, round == 0 ? 0 : from + i);
                mr_state_slots(rows[i])->i64 = from + i;
            }
        }
        assert_int_equal(mr_state_rows(s), N);
        assert_int_equal(mr_state_changed(s, round), N);
        print_message("%.1f bytes per group\n", (double)mr_state_bytes(s) / N);
        assert_true(mr_state_bytes(s) <= (uint64_t)N * 100);
    }
    mr_state_close(s);
    mr_arena_fini(&arena);
    assert_int_equal(budget.used_bytes, 0);
}

/* The memory limit ends in the escape, and what is there can be closed. */
static void test_memory_limit(void **state)
{
    const struct mr_state_table table = {.name = "t", .slots_n = 3, .slots = slots};
    struct mr_budget budget;

    (void)state;
    for (volatile uint64_t limit = 10000; limit < 400000; limit += 9973) {
        struct mr_state *volatile s = NULL;
        struct mr_state *opened;
        volatile uint64_t done = 0;
        jmp_buf escape;
        mr_budget_init(&budget, "test", NULL, limit);
        struct mr_state_config config = {.table = &table, .budget = &budget, .escape = &escape};
        assert_int_equal(mr_state_open(&config, &opened, NULL), MR_OK);
        s = opened;
        if (setjmp(escape) == 0) {
            for (uint64_t i = 0;; i++) {
                char padded[80] = {0};
                memcpy(padded, &i, 8);
                struct mr_text key = {padded, 8};
                uint64_t hash = mr_row_hash(key), is_new;
                int64_t expiry = MR_STATE_NEVER;
                struct mr_state_row *row;
                mr_state_upsert(s, 1, 1, &hash, &key, &expiry, &row, &is_new);
                mr_state_grow(s, mr_wide_bytes(&mr_state_slots(row)[3]),
                              (uint32_t)(i * 37 % 30000));
                done++;
            }
        }
        assert_true(done > 0);
        assert_true(mr_state_bytes(s) <= limit);
        mr_state_close(s);
        assert_int_equal(budget.used_bytes, 0);
    }
}

struct jumper {
    uint32_t rows_left;
    jmp_buf escape;
};

static void visit_and_jump(void *arg, struct mr_state_row *row)
{
    struct jumper *j = arg;

    (void)row;
    if (j->rows_left-- == 0)
        longjmp(j->escape, 1);
}

/* Who looks at rows that leave may run out of memory at any of them: the state can still be
 * closed. */
static void test_jump_out_of_eviction(void **state)
{
    const struct mr_state_table table = {
        .name = "t", .slots_n = 3, .slots = slots, .bucket_us = 1000};
    struct mr_budget budget;
    static struct jumper j;

    (void)state;
    for (volatile uint32_t rows = 0; rows < 20; rows++) {
        struct mr_state *s;
        mr_budget_init(&budget, "test", NULL, 0);
        struct mr_state_config config = {.table = &table, .budget = &budget};
        assert_int_equal(mr_state_open(&config, &s, NULL), MR_OK);
        struct mr_state *volatile opened = s;
        for (uint64_t i = 0; i < 20; i++) {
            char padded[80] = {0};
            memcpy(padded, &i, 8);
            struct mr_text key = {padded, 8};
            uint64_t hash = mr_row_hash(key), is_new;
            int64_t expiry = (int64_t)i / 2 * 1000 + 500; /* ten buckets */
            struct mr_state_row *row;
            mr_state_upsert(s, 1, 1, &hash, &key, &expiry, &row, &is_new);
            mr_state_grow(s, mr_wide_bytes(&mr_state_slots(row)[3]), 20000);
        }
        j.rows_left = rows;
        if (setjmp(j.escape) == 0) {
            mr_state_evict(s, 8600, visit_and_jump, &j);
            assert_true(rows >= 18);
        }
        mr_state_close(opened);
        assert_int_equal(budget.used_bytes, 0);
    }
}

static void test_malformed_records(void **state)
{
    const struct mr_state_table table = {.name = "t", .slots_n = 3, .slots = slots};
    struct mr_state_config config = {.table = &table};
    struct mr_state *s, *copy;
    struct mr_arena arena;
    struct mr_buffer out;
    struct mr_error err;

    (void)state;
    mr_arena_init(&arena, NULL, NULL);
    mr_buffer_init(&out, &arena);
    assert_int_equal(mr_state_open(&config, &s, NULL), MR_OK);
    for (uint64_t i = 0; i < 5; i++) {
        char padded[80] = "a key";
        padded[0] = (char)('a' + i);
        struct mr_text key = {padded, 5};
        uint64_t hash = mr_row_hash(key), is_new;
        int64_t expiry = MR_STATE_NEVER;
        struct mr_state_row *row;
        mr_state_upsert(s, 1, 1, &hash, &key, &expiry, &row, &is_new);
    }
    assert_false(mr_state_log(s, 1, UINT64_MAX, &out));
    enum { FIRST = 9 }; /* the first expiry takes so many bytes more than those that are the same */
    uint64_t rows_whole = 0;
    for (uint64_t n = 1; n <= out.n; n++) {
        assert_int_equal(mr_state_open(&config, &copy, NULL), MR_OK);
        enum mr_status status = mr_state_load(copy, (struct mr_text){(char *)out.data, n}, &err);
        if (n == 1 || (n > 1 + FIRST && (n - 1 - FIRST) % ((out.n - 1 - FIRST) / 5) == 0)) {
            assert_int_equal(status, MR_OK);
            assert_int_equal(mr_state_rows(copy), rows_whole++);
        } else {
            assert_int_equal(status, MR_CORRUPT);
        }
        mr_state_close(copy);
    }
    out.data[0] = 77;
    assert_int_equal(mr_state_load(s, mr_buffer_text(&out), &err), MR_CORRUPT);
    mr_state_close(s);
    mr_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_times_all_over),
        cmocka_unit_test(test_million_groups),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_jump_out_of_eviction),
        cmocka_unit_test(test_malformed_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
