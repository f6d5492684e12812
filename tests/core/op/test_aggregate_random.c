/* The partial and the final aggregate together against a list of groups that is searched from its
 * start. */
#include "tests/core/op/grouping.h"

enum { GROUPS_MAX = 512, ROWS = 600 };

struct model_group {
    char key[128];
    int64_t rows, values, last_n;
    double sum;
    char last[32];
};

struct model {
    struct model_group groups[GROUPS_MAX];
    uint32_t n;
};

static uint64_t seed_next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static struct model_group *model_find(struct model *m, const char *key)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (strcmp(m->groups[i].key, key) == 0)
            return &m->groups[i];
    assert_true(m->n < GROUPS_MAX);
    struct model_group *g = &m->groups[m->n++];
    snprintf(g->key, sizeof g->key, "%s", key);
    return g;
}

struct input_row {
    char key[32], time[32], value[32], name[32];
    bool flag;
    int64_t time_us;
};

static void random_row(struct input_row *r, uint64_t *seed, const struct grouping_config *c,
                       int64_t first_us)
{
    static const char *const texts[] = {
        "a", "bb", "null", "twelve bytes", "thirteen byte", "far longer than a view holds",
        "",  "ccc"};
    const uint64_t pick = seed_next(seed);

    if (c->key_type)
        snprintf(r->key, sizeof r->key, pick % 7 == 0 ? "null" : "%d", (int)(pick % 13) - 6);
    else
        snprintf(r->key, sizeof r->key, "%s",
                 texts[c->is_one_window && first_us ? pick % 2 : pick % 8]);
    r->time_us = c->is_one_window ? first_us + (int64_t)(seed_next(seed) % 60)
                                  : (int64_t)(seed_next(seed) % 500) - 100;
    snprintf(r->time, sizeof r->time, seed_next(seed) % 50 == 0 ? "null" : "%d", (int)r->time_us);
    snprintf(r->value, sizeof r->value, seed_next(seed) % 5 == 0 ? "null" : "%g",
             (double)(seed_next(seed) % 64) / 4);
    snprintf(r->name, sizeof r->name, "name %d", (int)(seed_next(seed) % 100000));
    r->flag = seed_next(seed) % 2;
}

static void model_add(struct model *m, const struct grouping_config *c, const struct input_row *r)
{
    char key[128] = "", window[64];
    const bool has_time = strcmp(r->time, "null") != 0;
    const int64_t start = (r->time_us + 600) / 60 * 60 - 600;

    snprintf(window, sizeof window, "[%d,%d]", (int)start, (int)start + 60);
    if ((c->shape == BY_WINDOW || c->shape == BY_WINDOW_AND_KEY) && !has_time)
        return;
    if (c->shape == BY_WINDOW)
        snprintf(key, sizeof key, "%s|", window);
    else if (c->shape == BY_WINDOW_AND_KEY)
        snprintf(key, sizeof key, "%s|%s|", window, r->key);
    else if (c->shape == BY_KEY)
        snprintf(key, sizeof key, "%s|", r->key);
    else if (c->shape == BY_TIME)
        snprintf(key, sizeof key, "%s|", r->time);
    struct model_group *g = model_find(m, key);
    g->rows++;
    if (strcmp(r->value, "null") != 0 && (!c->has_filter || r->flag)) {
        g->values++;
        g->sum += strtod(r->value, NULL);
    }
    if (g->rows == 1 || strcmp(r->name, g->last) > 0)
        snprintf(g->last, sizeof g->last, "%s", r->name);
}

static void expect_model(struct lines *lines, const struct model *m)
{
    struct lines wanted = {0};

    for (uint32_t i = 0; i < m->n; i++) {
        const struct model_group *g = &m->groups[i];
        char line[LINE_BYTES], sum[32];
        snprintf(sum, sizeof sum, g->values ? "%.17g" : "null", g->sum);
        snprintf(line, sizeof line, "%s%d|%s|%s", g->key, (int)g->rows, sum, g->last);
        add_line(&wanted, line);
    }
    sort_lines(&wanted);
    sort_lines(lines);
    for (uint32_t i = 0; i < wanted.n && i < lines->n; i++)
        assert_string_equal(lines->text[i], wanted.text[i]);
    assert_int_equal(lines->n, wanted.n);
    clear_lines(&wanted);
    clear_lines(lines);
}

/* A batch of up to batch_rows rows; some are there but not selected. */
static struct mr_batch random_batch(struct grouping *g, const struct grouping_config *c,
                                    struct model *m, uint64_t *seed, uint32_t *rows)
{
    struct maker maker = make(&g->partial.arena, g->input);
    const uint32_t n = 1 + (uint32_t)(seed_next(seed) % c->batch_rows);
    const int64_t first_us = (int64_t)(seed_next(seed) % 8) * 60 - 120;
    const bool selects = seed_next(seed) % 3 == 0;
    uint32_t *sel = MR_NEW_ARRAY(&g->partial.arena, uint32_t, n);
    uint32_t sel_n = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct input_row r;
        char line[LINE_BYTES];
        random_row(&r, seed, c, first_us);
        snprintf(line, sizeof line, "%s|%s|%s|%s|%d", r.key, r.time, r.value, r.name, r.flag);
        make_row(&maker, line);
        if (selects && seed_next(seed) % 4 == 0)
            continue;
        sel[sel_n++] = i;
        model_add(m, c, &r);
    }
    struct mr_batch b = made(&maker);
    if (selects) {
        b.sel = sel;
        b.n = sel_n;
    }
    *rows += n;
    return b;
}

static void compare(const struct grouping_config *c, uint64_t seed)
{
    struct grouping g;
    struct model *m = calloc(1, sizeof *m);

    grouping_open(&g, c);
    for (uint64_t epoch = 0; epoch < 2; epoch++) {
        op_epoch(&g.partial, epoch, INT64_MIN, INT64_MIN);
        for (uint32_t rows = 0; rows < ROWS;) {
            const struct mr_batch b = random_batch(&g, c, m, &seed, &rows);
            op_push(&g.partial, &b);
            assert_int_not_equal(g.partial.last, MR_FAILED);
        }
        op_mark(&g.partial);
        expect_model(&g.lines, m);
        assert_int_equal(grouping_counts(&g)->rows_total, m->n);
    }
    grouping_close(&g);
    free(m);
}

static void compare_all(const struct mr_type *key_type, bool is_real, bool is_one_window)
{
    static const uint32_t batch_rows[] = {2, 7, 100}, groups_max[] = {0, 1, 3, 20};

    for (enum shape shape = BY_WINDOW_AND_KEY; shape <= BY_NOTHING; shape++)
        for (uint32_t b = 0; b < 3; b++)
            for (uint32_t m = 0; m < 4; m++) {
                const uint64_t seed = 1000 + shape * 100 + b * 10 + m;
                compare(&(struct grouping_config){.shape = shape,
                                                  .mode = MR_COMPLETE,
                                                  .batch_rows = batch_rows[b],
                                                  .groups_max = groups_max[m],
                                                  .has_filter = m % 2,
                                                  .is_real = is_real,
                                                  .is_one_window = is_one_window,
                                                  .key_type = key_type},
                        seed);
            }
}

static void test_text_keys(void **state)
{
    (void)state;
    compare_all(NULL, false, false);
    compare_all(NULL, false, true);
}

static void test_real_functions(void **state)
{
    (void)state;
    compare_all(NULL, true, false);
    compare_all(NULL, true, true);
}

static void test_int_keys(void **state)
{
    (void)state;
    compare_all(&mr_type_int, false, false);
    compare_all(&mr_type_int, true, true);
}

static void test_bigint_keys(void **state)
{
    (void)state;
    compare_all(&mr_type_bigint, false, false);
    compare_all(&mr_type_bigint, true, true);
}

static void test_double_keys(void **state)
{
    (void)state;
    compare_all(&mr_type_double, false, false);
    compare_all(&mr_type_double, true, true);
}

static void test_decimal_keys(void **state)
{
    (void)state;
    static const struct mr_type decimal = {.kind = MR_DECIMAL, .precision = 20};
    compare_all(&decimal, false, false);
    compare_all(&decimal, true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_keys),   cmocka_unit_test(test_real_functions),
        cmocka_unit_test(test_int_keys),    cmocka_unit_test(test_bigint_keys),
        cmocka_unit_test(test_double_keys), cmocka_unit_test(test_decimal_keys),
    };

    return mr_kernels_init(getenv("MR_KERNELS"), NULL) ? 1
                                                       : cmocka_run_group_tests(tests, NULL, NULL);
}
