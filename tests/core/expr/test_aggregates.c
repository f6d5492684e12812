#include "core/expr/aggregate.h"
#include "tests/core/expr/bench.h"

static struct bench b;
enum { SLOTS_MAX = 8 };

static int setup(void **state)
{
    (void)state;
    bench_init(&b);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    bench_fini(&b);
    return 0;
}

static void *grow(void *owner, struct mr_slot_bytes *slot, uint32_t bytes)
{
    uint8_t *data = mr_arena_alloc(owner, bytes);

    if (slot->n)
        memcpy(data, slot->data, slot->n);
    slot->data = data;
    slot->capacity = bytes;
    return data;
}

/* Rows from..to of the arguments, into one accumulator; in halves merged if by_halves. */
static const char *run(const char *name, uint32_t n, struct mr_expr **args, bool by_halves)
{
    struct mr_expr *x = bench_call(&b, name, n, args);
    union mr_slot memory[2][SLOTS_MAX] = {0}, *into = memory[0], *from = memory[1];
    union mr_slot *slots[BENCH_ROWS];
    struct mr_column columns[BENCH_COLUMNS], out;
    enum mr_slot_kind kinds[SLOTS_MAX];
    const struct mr_type *types[SLOTS_MAX];
    struct mr_buffer text;
    enum mr_status status = MR_OK;

    if (x == NULL)
        return b.err.condition;
    struct mr_aggregate_call c = {x, &b.err, grow, &b.arena, &b.arena, &b.context, false};
    const struct mr_aggregate *a = mr_aggregate_find(name);
    assert_in_range(a->slots(x, kinds, types, &b.arena), 1, SLOTS_MAX);
    for (uint32_t k = 0; k < x->args_n; k++) {
        const struct mr_expr *arg = x->args[k];
        struct mr_eval *e;
        assert_int_equal(mr_eval_open(&arg, 1, BENCH_ROWS, &b.arena, &e, &b.err), MR_OK);
        mr_eval_reset(e, &b.context);
        assert_int_equal(mr_eval(e, 0, &b.batch, &columns[k], &b.err), MR_OK);
        uint32_t order[BENCH_ROWS];
        struct mr_builder copy;
        for (uint32_t i = 0; i < b.batch.rows; i++)
            order[i] = i;
        mr_builder_init(&copy, arg->type, b.batch.rows, &b.arena);
        mr_builder_append_rows(&copy, &columns[k], order, b.batch.rows);
        mr_builder_finish(&copy, &columns[k]);
        mr_eval_close(e);
    }
    uint32_t half = by_halves ? b.batch.rows / 2 : b.batch.rows, sel[BENCH_ROWS];
    for (uint32_t i = 0; i < b.batch.rows; i++) {
        slots[i] = i < half ? into : from;
        sel[i] = i;
    }
    status = by_halves ? a->update(&c, b.batch.rows, sel, columns, slots)
                       : a->update(&c, b.batch.rows, NULL, columns, slots);
    if (status == MR_OK && by_halves)
        status = a->merge(&c, 1, &from, &into);
    if (status == MR_OK)
        status = a->result(&c, 1, &into, &out);
    if (status != MR_OK)
        return b.err.condition;
    mr_buffer_init(&text, &b.arena);
    mr_cast_print(&out, 0, &b.context, &text);
    return mr_arena_copy(&b.arena, text.data, text.n);
}

static void expect(const char *name, const char *wanted, uint32_t n, struct mr_expr **args)
{
    assert_string_equal(run(name, n, args, false), wanted);
    assert_string_equal(run(name, n, args, true), wanted);
}
#define EXPECT(name, wanted, ...)                                                                  \
    expect((name), (wanted), sizeof((struct mr_expr *[]){__VA_ARGS__}) / sizeof(struct mr_expr *), \
           (struct mr_expr *[]){__VA_ARGS__})

static void test_counts_and_sums(void **state)
{
    struct mr_expr *i = COLUMN(&b, "INT", "1", NULL, "3", "4", "2147483647", NULL);
    struct mr_expr *d = COLUMN(&b, "DOUBLE", "0.25", "1.5", NULL, "-0.75", "3", "4");
    struct mr_expr *c = COLUMN(&b, "DECIMAL(10,2)", "1.10", "2.20", NULL, "3.33", "0.01", "-1");
    struct mr_expr *whole = COLUMN(&b, "BIGINT", "1", "2", "3", "4", "5", "6");

    (void)state;
    EXPECT("count", "6", bench_int(&b, 1));
    EXPECT("count", "4", i);
    EXPECT("count", "3", i, d);
    EXPECT("sum", "2147483655", i);
    EXPECT("sum", "21", whole);
    EXPECT("sum", "8.0", d);
    EXPECT("sum", "5.64", c);
    EXPECT("avg", "5.3687091375E8", i);
    EXPECT("avg", "1.128000", c);
    EXPECT("count_if", "2", CALL(&b, ">", d, bench_int(&b, 2)));
    assert_string_equal(mr_type_sql(&b.arena, CALL(&b, "sum", c)->type), "DECIMAL(20,2)");
    assert_string_equal(mr_type_sql(&b.arena, CALL(&b, "avg", c)->type), "DECIMAL(14,6)");
}

static void test_overflow(void **state)
{
    struct mr_expr *l = COLUMN(&b, "BIGINT", "9223372036854775807", "1");
    struct mr_expr *c = COLUMN(&b, "DECIMAL(38,0)", "99999999999999999999999999999999999999", "1");

    (void)state;
    EXPECT("sum", "ARITHMETIC_OVERFLOW", l);
    EXPECT("try_sum", "NULL", l);
    EXPECT("sum", "ARITHMETIC_OVERFLOW", c);
    assert_string_equal(
        b.err.message, "Overflow in sum of decimals. Use 'try_sum' to tolerate overflow and return "
                       "NULL instead. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to "
                       "bypass this error.");
}

static void test_extremes(void **state)
{
    struct mr_expr *s = COLUMN(&b, "STRING", "b", NULL, "a longer text than twelve", "", "c");
    struct mr_expr *d = COLUMN(&b, "DOUBLE", "1", "NaN", NULL, "-Infinity", "2");
    struct mr_expr *t =
        COLUMN(&b, "DATE", "2026-01-02", NULL, "1969-12-31", "2026-01-01", "1970-01-01");
    struct mr_expr *none = COLUMN(&b, "INT", NULL, NULL, NULL, NULL, NULL);
    struct mr_expr *x = CALL(&b, "struct", d, s);

    (void)state;
    EXPECT("min", "", s);
    EXPECT("max", "c", s);
    EXPECT("min", "-Infinity", d);
    EXPECT("max", "NaN", d);
    EXPECT("min", "1969-12-31", t);
    EXPECT("max", "2026-01-02", t);
    EXPECT("max", "NULL", none);
    EXPECT("max", "{NaN, null}", x);
    EXPECT("min", "{null, a longer text than twelve}", x);
    EXPECT("max_by", "c", s, COLUMN(&b, "INT", "1", "2", NULL, "0", "9"));
    EXPECT("first", "b", s);
    EXPECT("last", "c", s);
    EXPECT("bool_and", "false", CALL(&b, ">", d, bench_int(&b, 0)));
    EXPECT("sum", "NULL", none);
    EXPECT("count", "0", none);
}

static void test_collections(void **state)
{
    struct mr_expr *i = COLUMN(&b, "INT", "3", NULL, "1", "3", "2", "1");
    struct mr_expr *s = COLUMN(&b, "STRING", "x", "y", "z", NULL, "w", "a text that is long");

    (void)state;
    EXPECT("collect_list", "[3, 1, 3, 2, 1]", i);
    EXPECT("collect_set", "[1, 2, 3]", i);
    EXPECT("listagg", "x-y-z-w-a text that is long", s, bench_text(&b, "-"));
    EXPECT("approx_count_distinct", "3", i);
    EXPECT("median", "2.0", i);
    EXPECT("mode", "1", i);
}

static void test_percentages(void **state)
{
    struct mr_expr *i = COLUMN(&b, "INT", "3", NULL, "1", "3", "2", "1");
    struct mr_expr *null = mr_expr_literal_null(&b.arena, &mr_type_double);

    (void)state;
    EXPECT("percentile_approx", "3", i, bench_int(&b, 1));
    EXPECT("percentile_approx", "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", i, bench_int(&b, 2));
    EXPECT("percentile_approx", "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", i, bench_int(&b, -1));
    EXPECT("percentile", "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", i, bench_int(&b, 2));
    EXPECT("percentile_approx", "DATATYPE_MISMATCH.UNEXPECTED_NULL", i, null);
}

/* What a checkpoint is compared by. */
static struct mr_text state_of(const char *name, uint32_t n, struct mr_expr **args)
{
    const struct mr_expr *call = bench_call(&b, name, n, args);
    const struct mr_aggregate *a = mr_aggregate_find(name);
    enum mr_slot_kind kinds[SLOTS_MAX];
    const struct mr_type *types[SLOTS_MAX];
    struct mr_buffer text;

    assert_non_null(call);
    mr_buffer_init(&text, &b.arena);
    mr_buffer_append_text(&text, mr_text_of(a->name));
    uint32_t slots_n = a->slots(call, kinds, types, &b.arena);
    for (uint32_t i = 0; i < slots_n; i++)
        mr_type_print(types[i], &text);
    if (a->describe)
        a->describe(call, &text);
    return mr_buffer_text(&text);
}
#define STATE_OF(name, ...)                                                                        \
    state_of((name), sizeof((struct mr_expr *[]){__VA_ARGS__}) / sizeof(struct mr_expr *),         \
             (struct mr_expr *[]){__VA_ARGS__})

static void test_state_is_told_apart(void **state)
{
    struct mr_expr *i = COLUMN(&b, "INT", "3"), *l = COLUMN(&b, "BIGINT", "3");
    struct mr_expr *s = COLUMN(&b, "STRING", "x"), *dash = bench_text(&b, "-");
    struct mr_expr *one = bench_int(&b, 1);
    const struct mr_text pairs[][2] = {
        {STATE_OF("mode", i), STATE_OF("mode", s)},
        {STATE_OF("collect_list", i), STATE_OF("collect_list", s)},
        {STATE_OF("collect_set", i), STATE_OF("collect_set", s)},
        {STATE_OF("first", i), STATE_OF("first", s)},
        {STATE_OF("max_by", s, i), STATE_OF("max_by", s, s)},
        {STATE_OF("max_by", s, i), STATE_OF("min_by", s, i)},
        {STATE_OF("bit_and", i), STATE_OF("bit_or", i)},
        {STATE_OF("listagg", s, dash, i), STATE_OF("listagg", s, dash, s)},
        {STATE_OF("listagg", s, dash), STATE_OF("listagg", s, dash, s)},
        {STATE_OF("percentile_approx", i, one), STATE_OF("percentile_approx", l, one)},
        {STATE_OF("approx_count_distinct", i, bench_text(&b, "0.05")),
         STATE_OF("approx_count_distinct", i, bench_text(&b, "0.1"))},
    };

    (void)state;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        assert_false(mr_text_equal(pairs[k][0], pairs[k][1]));
    assert_true(mr_text_equal(STATE_OF("variance", l), STATE_OF("stddev", l)));
}

static void test_moments(void **state)
{
    struct mr_expr *x = COLUMN(&b, "DOUBLE", "1", "2", NULL, "3", "4");
    struct mr_expr *y = COLUMN(&b, "DOUBLE", "2", "4", "1", "6", "8");

    (void)state;
    EXPECT("var_pop", "1.25", x);
    EXPECT("variance", "1.6666666666666667", x);
    EXPECT("corr", "1.0", x, y);
    EXPECT("regr_slope", "2.0", y, x);
    EXPECT("regr_count", "4", y, x);
    EXPECT("covar_pop", "2.5", x, y);
}

/* However many sketches a batch has, their unions are made in one place. */
static void test_unions_need_one_buffer(void **state)
{
    enum { ROWS = 64 };
    struct mr_expr *i = COLUMN(&b, "INT", "1", "2"), *x;
    union mr_slot memory[SLOTS_MAX] = {0}, *slot = memory, *slots[ROWS];
    enum mr_slot_kind kinds[SLOTS_MAX];
    const struct mr_type *types[SLOTS_MAX];
    struct mr_column sketch, args;
    struct mr_builder rows;
    struct mr_arena batch;

    (void)state;
    x = CALL(&b, "hll_sketch_agg", i, bench_int(&b, 16));
    struct mr_aggregate_call c = {x, &b.err, grow, &b.arena, &b.arena, &b.context, false};
    const struct mr_aggregate *a = mr_aggregate_find("hll_sketch_agg");
    assert_in_range(a->slots(x, kinds, types, &b.arena), 1, SLOTS_MAX);
    slots[0] = slots[1] = slot;
    struct mr_column longs = {.type = &mr_type_bigint, .i64 = (int64_t[]){1, 2}};
    assert_int_equal(a->update(&c, 2, NULL, &longs, slots), MR_OK);
    assert_int_equal(a->result(&c, 1, &slot, &sketch), MR_OK);

    mr_builder_init(&rows, &mr_type_binary, ROWS, &b.arena);
    for (uint32_t k = 0; k < ROWS; k++) {
        mr_builder_append_text(&rows, mr_column_text(&sketch, 0));
        slots[k] = slot;
    }
    mr_builder_finish(&rows, &args);
    memset(memory, 0, sizeof memory);
    x = CALL(&b, "hll_union_agg", mr_expr_column(&b.arena, 0, &mr_type_binary, true, "sketch"));
    if (x == NULL) { /* built without the library */
        assert_string_equal(b.err.condition, "UNSUPPORTED_FEATURE");
        return;
    }
    mr_arena_init(&batch, NULL, &b.escape);
    c = (struct mr_aggregate_call){x, &b.err, grow, &b.arena, &batch, &b.context, false};
    a = mr_aggregate_find("hll_union_agg");
    assert_int_equal(a->update(&c, ROWS, NULL, &args, slots), MR_OK);
    assert_true(batch.used_bytes < 4 << 16);
    mr_arena_fini(&batch);
}

/* A forged set that says to have more room than registers would take: its union with nothing would
 * be as long. */
static void test_a_set_of_too_much_room_is_no_sketch(void **state)
{
    enum { LG_K = 8, LG_SET = 10, HEAD = 12 };
    static const uint8_t head[HEAD] = {3, 1, 7, LG_K, LG_SET, 0, 0, 2 << 2 | 1, 1};
    uint8_t forged[HEAD + (4 << LG_SET)] = {0};
    union mr_slot memory[SLOTS_MAX] = {0}, *slot = memory;
    struct mr_column sketch;
    struct mr_builder rows;
    struct mr_expr *x =
        CALL(&b, "hll_union_agg", mr_expr_column(&b.arena, 0, &mr_type_binary, true, "sketch"));

    (void)state;
    if (x == NULL) /* built without the library */
        return;
    memcpy(forged, head, sizeof head);
    forged[HEAD] = 1;
    forged[HEAD + 3] = 1 << 2; /* a coupon: rank 1 */
    mr_builder_init(&rows, &mr_type_binary, 1, &b.arena);
    mr_builder_append_text(&rows, (struct mr_text){(const char *)forged, sizeof forged});
    mr_builder_finish(&rows, &sketch);
    struct mr_aggregate_call c = {x, &b.err, grow, &b.arena, &b.arena, &b.context, false};
    const struct mr_aggregate *a = mr_aggregate_find("hll_union_agg");
    assert_int_equal(a->update(&c, 1, NULL, &sketch, &slot), MR_QUERY);
    assert_string_equal(b.err.condition, "HLL_INVALID_INPUT_SKETCH_BUFFER");
}

/* More members than a table may have columns. */
static void test_schema_of_many_members(void **state)
{
    enum { MEMBERS = 2500, ROWS = 2 };
    const char *texts[ROWS];

    (void)state;
    for (uint32_t row = 0; row < ROWS; row++) {
        struct mr_buffer text;
        mr_buffer_init(&text, &b.arena);
        for (uint32_t k = 0; k < MEMBERS; k++)
            mr_buffer_append_format(&text, "%c\"m%u\":%u", k ? ',' : '{', row * MEMBERS + k, k);
        mr_buffer_append_text(&text, MR_TEXT("}"));
        texts[row] = mr_arena_copy(&b.arena, text.data, text.n);
    }
    struct mr_expr *args[] = {CALL(&b, "parse_json", bench_column(&b, "STRING", ROWS, texts))};
    for (int by_halves = 0; by_halves < 2; by_halves++) {
        const char *schema = run("schema_of_variant_agg", 1, args, by_halves);
        assert_memory_equal(schema, "OBJECT<m0: BIGINT, ", 19);
        assert_non_null(strstr(schema, "m4999: BIGINT"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_counts_and_sums, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overflow, setup, teardown),
        cmocka_unit_test_setup_teardown(test_extremes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_collections, setup, teardown),
        cmocka_unit_test_setup_teardown(test_percentages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_state_is_told_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(test_moments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unions_need_one_buffer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_set_of_too_much_room_is_no_sketch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_schema_of_many_members, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
