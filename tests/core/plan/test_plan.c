/* test_plan.c - names, errors and shapes of plans, over SQL texts. */
#include "core/mem/mem.h"
#include "tests/core/plan/case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const char sources[] =
    "{\"sources\": {\"t\": {\"schema\": \"id STRING, k STRING, v INT, ts TIMESTAMP, s STRUCT<x: "
    "INT, y: "
    "STRUCT<z: STRING>>, a ARRAY<INT>\"}, \"u\": {\"schema\": \"k STRING, w INT, window STRING\"}},"
    " \"tables\": {\"dim\": {\"schema\": \"k STRING, name STRING\"}}}";

struct fixture {
    struct mr_arena arena;
    jmp_buf escape;
    struct mr_session *session;
    struct mr_physical_plan *plan;
    struct mr_plan_texts texts;
    struct mr_error err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct json_reader r = {.at = sources, .end = sources + sizeof sources - 1, .arena = &f->arena};

    mr_arena_init(&f->arena, NULL, &f->escape);
    f->session = case_session(json_value(&r), &f->arena, &f->err);
    *state = f;
    return f->session == NULL;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    mr_arena_fini(&f->arena);
    free(f);
    return 0;
}

static enum mr_status plan(struct fixture *f, const char *sql, bool streaming,
                           enum mr_output_mode mode, uint32_t workers)
{
    struct mr_plan_request request = {.streaming = streaming, .mode = mode, .workers = workers};
    struct mr_relation *relation;

    f->err = (struct mr_error){0};
    f->plan = NULL;
    if (mr_sql_parse_query(mr_text_of(sql), &f->arena, &relation, &f->err) != MR_OK)
        return f->err.status;
    request.relation = relation;
    return mr_plan_query(f->session, &request, &f->plan, &f->texts, &f->err);
}

static const char *columns(struct fixture *f, const char *sql)
{
    struct mr_buffer b;

    if (plan(f, sql, true, MR_UPDATE, 1) != MR_OK)
        fail_msg("%s: %s %s", sql, f->err.condition, f->err.message);
    mr_buffer_init(&b, &f->arena);
    for (uint32_t i = 0; i < f->plan->root->output->fields_n; i++)
        mr_buffer_append_format(&b, "%s%s", i ? ", " : "", f->plan->root->output->fields[i].name);
    return mr_arena_copy(&f->arena, b.data, b.n);
}

static void names_are_spark_s(void **state)
{
    static const struct {
        const char *sql, *names;
    } cases[] = {
        {"SELECT v + 1, -v, v IS NULL, NOT (v = 1), CAST(v AS STRING) FROM t",
         "(v + 1), (- v), (v IS NULL), (NOT (v = 1)), v"},
        {"SELECT count(*), count(v), sum(v) FROM t", "count(1), count(v), sum(v)"},
        {"SELECT V, t.K, s.x, s.y.z FROM t", "V, K, x, z"},
        {"SELECT * EXCEPT (a, s) FROM t", "id, k, v, ts"},
        {"SELECT s.* FROM t", "x, y"},
        {"SELECT window(ts, '5 minutes') FROM t", "window"},
        {"SELECT window, count(*) FROM t GROUP BY window(ts, '5 minutes')", "window, count(1)"},
        {"SELECT sum(v) FILTER (WHERE v > 2) FROM t", "sum(v) FILTER (WHERE (v > 2))"},
        {"SELECT CASE WHEN v > 1 THEN 'x' ELSE 'y' END, v IN (1, 2) FROM t",
         "CASE WHEN (v > 1) THEN x ELSE y END, (v IN (1, 2))"},
        {"SELECT x.id FROM (SELECT * FROM t) AS x", "id"},
        {"SELECT p, q FROM (SELECT id, v FROM t) AS x(p, q)", "p, q"},
        {"SELECT v * 2 AS d, d + 1 AS e FROM t", "d, e"}, /* lateral column alias */
        {"WITH c AS (SELECT v AS n FROM t) SELECT c.n FROM c", "n"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(columns(f, cases[i].sql), cases[i].names);
}

static void errors_are_spark_s(void **state)
{
    static const struct {
        const char *sql, *condition, *part;
    } cases[] = {
        {"SELECT idd FROM t", "UNRESOLVED_COLUMN.WITH_SUGGESTION",
         "`idd` cannot be resolved. Did you mean one of the following? [`id`"},
        {"SELECT v", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "`v`"},
        {"SELECT 1 FROM tt", "TABLE_OR_VIEW_NOT_FOUND", "Did you mean `t`?"},
        {"SELECT cuont(v) FROM t", "UNRESOLVED_ROUTINE", "Did you mean `count`?"},
        {"SELECT get_field(s, 9) FROM t", "UNRESOLVED_ROUTINE", "`get_field`"},
        {"SELECT array_sort_by(a, (x, y) -> 1) FROM t", "UNRESOLVED_ROUTINE", "`array_sort_by`"},
        {"SELECT zip_with(a, a, x -> x) FROM t", "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH",
         "expects 2 parameters, but got 1"},
        {"SELECT aggregate(a, 0, x -> x) FROM t", "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH",
         "expects 2 parameters, but got 1"},
        {"SELECT exists(a, (x, i) -> true) FROM t",
         "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH", "expects 1 parameters, but got 2"},
        {"SELECT array_contains(a, x -> x) FROM t",
         "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION", "array_contains takes none"},
        {"SELECT session_window(ts, '5 minutes').start FROM t", "", "session window"},
        {"SELECT k FROM t WHERE session_window(ts, '5 minutes').start > ts", "", "session window"},
        {"SELECT x.id FROM t", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "`x`.`id`"},
        {"SELECT s.q FROM t", "FIELD_NOT_FOUND", "No such struct field `q` in `x`, `y`."},
        {"SELECT v.q FROM t", "INVALID_EXTRACT_BASE_FIELD_TYPE", "INT"},
        {"SELECT k FROM t JOIN u ON t.k = u.k", "AMBIGUOUS_REFERENCE", "[`t`.`k`, `u`.`k`]"},
        {"SELECT v, count(*) FROM t", "MISSING_GROUP_BY", "v"},
        {"SELECT v, count(*) FROM t GROUP BY k", "MISSING_AGGREGATION", "\"v\""},
        {"SELECT sum(count(*)) FROM t", "NESTED_AGGREGATE_FUNCTION", ""},
        {"SELECT k FROM t WHERE count(*) > 1 GROUP BY k", "INVALID_WHERE_CONDITION", "count"},
        {"SELECT k FROM t GROUP BY 2", "GROUP_BY_POS_OUT_OF_RANGE", "[1, 1]"},
        {"SELECT count(*) FROM t GROUP BY 1", "GROUP_BY_POS_AGGREGATE", ""},
        {"SELECT k FROM t GROUP BY k, sum(v)", "GROUP_BY_AGGREGATE", "sum"},
        {"SELECT id FROM t UNION ALL SELECT id, k FROM t", "NUM_COLUMNS_MISMATCH",
         "has 1 columns and the second input has 2"},
        {"SELECT * FROM t WHERE v", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
         "\"INT\" is not a boolean"},
        {"SELECT id FROM t WATERMARK id DELAY OF INTERVAL 1 MINUTE",
         "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE", "\"STRING\""},
        {"SELECT grouping(k) FROM t GROUP BY k", "UNSUPPORTED_GROUPING_EXPRESSION", ""},
        {"SELECT grouping(k, v) FROM t GROUP BY CUBE(k, v)", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
         "`grouping` requires 1 parameters but the actual number is 2"},
        {"SELECT grouping() FROM t GROUP BY CUBE(k, v)", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
         "number is 0"},
        {"SELECT id FROM t LIMIT -1", "INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE", "-1"},
        {"SELECT id FROM t ORDER BY 3", "ORDER_BY_POS_OUT_OF_RANGE", "[1, 1]"},
        {"SELECT * EXCEPT (nope) FROM t", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "nope"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_not_equal(plan(f, cases[i].sql, true, MR_UPDATE, 1), MR_OK);
        if (strcmp(f->err.condition, cases[i].condition) != 0 ||
            strstr(f->err.message, cases[i].part) == NULL)
            fail_msg("%s: %s %s", cases[i].sql, f->err.condition, f->err.message);
        assert_true(f->err.line > 0 || strstr(cases[i].sql, "GROUP BY k, sum") != NULL);
    }
}

/* Kinds from the sink down the first children. */
static const char *shape(struct fixture *f)
{
    static const char *const names[] = {
#define X(kind, name) name,
        MR_NODES(X)
#undef X
    };
    struct mr_buffer b;

    mr_buffer_init(&b, &f->arena);
    for (const struct mr_node *n = f->plan->root; n != NULL;
         n = n->children_n ? n->children[0] : NULL)
        mr_buffer_append_format(&b, "%s%s", n == f->plan->root ? "" : " ", names[n->kind]);
    return mr_arena_copy(&f->arena, b.data, b.n);
}

static const struct mr_node *find(struct fixture *f, enum mr_node_kind kind)
{
    for (uint32_t i = 0; i < f->plan->nodes_n; i++)
        if (f->plan->nodes[i]->kind == kind)
            return f->plan->nodes[i];
    fail_msg("no such node in %s", shape(f));
    return NULL;
}

static void tumbling_window_is_computed_by_the_aggregate(void **state)
{
    struct fixture *f = *state;
    const struct mr_node *partial, *final;

    assert_int_equal(
        plan(f,
             "SELECT window.start AS s, k, count(*) AS n FROM t WATERMARK ts DELAY OF INTERVAL 1 "
             "MINUTE GROUP BY window(ts, '5 minutes', '5 minutes', '1 minute'), k",
             true, MR_APPEND, 2),
        MR_OK);
    assert_string_equal(shape(f),
                        "sink stateStoreSave exchange partial_aggregate watermark source");
    partial = find(f, MR_NODE_PARTIAL_AGGREGATE);
    final = find(f, MR_NODE_AGGREGATE);
    assert_int_equal(partial->window_key, 0);
    assert_int_equal(partial->window_us, 300000000);
    assert_int_equal(partial->offset_us, 60000000);
    assert_int_equal(partial->keys[0]->kind, MR_EXPR_COLUMN);
    assert_int_equal(partial->keys[0]->type->kind, MR_TIMESTAMP);
    assert_int_equal(partial->output->fields[0].type->kind, MR_STRUCT);
    assert_int_equal(partial->time_rule, MR_TIME_WINDOW_END);
    assert_int_equal(final->time_rule, MR_TIME_WINDOW_END);
    assert_int_equal(final->time_key, 0);
    assert_int_equal(final->window_key, 0);
    assert_ptr_equal(partial->aggregates, final->aggregates);
    assert_true(f->plan->needs_no_data_batches);
    assert_int_equal(f->plan->watermarks_n, 1);
    assert_int_equal(f->plan->stateful_n, 1);
    assert_int_equal(find(f, MR_NODE_SOURCE)->output->fields_n, 2);
    assert_int_equal(find(f, MR_NODE_WATERMARK)->delay_us, 60000000);
}

static void sliding_windows_expand(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        plan(f, "SELECT count(*) AS n FROM t GROUP BY window(ts, '10 minutes', '5 minutes')", true,
             MR_UPDATE, 1),
        MR_OK);
    assert_string_equal(shape(f), "sink stateStoreSave expand partial_aggregate source");
    assert_int_equal(find(f, MR_NODE_EXPAND)->rows_n, 2);
    assert_int_equal(find(f, MR_NODE_PARTIAL_AGGREGATE)->slide_us, 300000000);
    /* no pane: another key is made of the window, or the slide does not divide the size */
    assert_int_equal(plan(f,
                          "SELECT count(*) AS n FROM t GROUP BY window.end, "
                          "window(ts, '10 minutes', '5 minutes')",
                          true, MR_UPDATE, 1),
                     MR_OK);
    assert_string_equal(shape(f), "sink stateStoreSave partial_aggregate expand filter source");
    /* nor where the order of rows shows: they would come pane by pane */
    assert_int_equal(
        plan(f, "SELECT collect_list(k) AS n FROM t GROUP BY window(ts, '10 minutes', '5 minutes')",
             true, MR_UPDATE, 1),
        MR_OK);
    assert_string_equal(shape(f), "sink stateStoreSave partial_aggregate expand filter source");
    assert_int_equal(
        plan(f, "SELECT count(*) AS n FROM t GROUP BY window(ts, '10 minutes', '4 minutes')", true,
             MR_UPDATE, 1),
        MR_OK);
    assert_string_equal(shape(f),
                        "sink stateStoreSave partial_aggregate filter expand filter source");
    assert_int_equal(find(f, MR_NODE_EXPAND)->rows_n, 3);
}

static void filters_sink_below_the_watermark_unless_they_touch_the_time(void **state)
{
    struct fixture *f = *state;
    static const char from[] =
        "SELECT id, ts FROM t WATERMARK ts DELAY OF INTERVAL 1 MINUTE WHERE ";

    assert_int_equal(plan(f, mr_arena_format(&f->arena, "%sk = 'x'", from), true, MR_APPEND, 1),
                     MR_OK);
    assert_string_equal(shape(f), "sink project watermark filter source");
    assert_int_equal(plan(f,
                          mr_arena_format(&f->arena, "%sts > TIMESTAMP'2026-01-01 00:00:00'", from),
                          true, MR_APPEND, 1),
                     MR_OK);
    assert_string_equal(shape(f), "sink filter watermark source");
    /* HAVING on a key is a filter on rows */
    assert_int_equal(
        plan(f,
             "SELECT k, ts, count(*) AS n FROM t WATERMARK ts DELAY OF INTERVAL 1 MINUTE GROUP BY "
             "ts, k HAVING k = 'x' AND count(*) > 1",
             true, MR_APPEND, 1),
        MR_OK);
    assert_string_equal(shape(f),
                        "sink filter stateStoreSave partial_aggregate watermark filter source");
}

static void window_start_is_the_child_s_column_first(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(plan(f, "SELECT window.start FROM u", true, MR_APPEND, 1), MR_USER);
    assert_string_equal(f->err.condition, "INVALID_EXTRACT_BASE_FIELD_TYPE");
}

static void two_aggregations_pass_through_with_only(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(plan(f, "SELECT max(n) AS m FROM (SELECT k, count(*) AS n FROM t GROUP BY k)",
                          true, MR_UPDATE, 1),
                     MR_USER);
    assert_string_equal(f->err.condition, "_LEGACY_ERROR_TEMP_3102");
    assert_int_equal(
        plan(f, "WITH c AS (SELECT k, count(*) AS n FROM t GROUP BY k) SELECT max(n) AS m FROM c",
             true, MR_UPDATE, 1),
        MR_OK);
    assert_int_equal(f->plan->stateful_n, 2);
    assert_int_equal(f->plan->root->children[0]->stateful_index, 0);
}

static void exchanges_are_put_where_rows_have_to_move(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(plan(f, "SELECT k, count(*) AS n FROM t GROUP BY k", true, MR_UPDATE, 1),
                     MR_OK);
    assert_string_equal(shape(f), "sink stateStoreSave partial_aggregate source");
    assert_int_equal(plan(f, "SELECT count(*) AS n FROM t", true, MR_UPDATE, 4), MR_OK);
    assert_string_equal(shape(f), "sink stateStoreSave exchange partial_aggregate source");
    assert_int_equal(find(f, MR_NODE_EXCHANGE)->keys_n, 0);
    /* the rows are at the owners of k already */
    assert_int_equal(
        plan(f, "SELECT DISTINCT k FROM (SELECT k, v FROM t GROUP BY k, v)", false, MR_APPEND, 4),
        MR_USER);
    assert_int_equal(
        plan(f, "SELECT k, v FROM t GROUP BY k, v ORDER BY v LIMIT 2", true, MR_COMPLETE, 4),
        MR_OK);
    assert_string_equal(
        shape(f), "sink limit sort exchange stateStoreSave exchange partial_aggregate source");
    assert_int_equal(find(f, MR_NODE_SORT)->limit, 2);
    assert_int_equal(plan(f, "SELECT id FROM t LIMIT 2", true, MR_APPEND, 4), MR_OK);
    assert_string_equal(shape(f), "sink globalLimit exchange source");
}

static void order_by_sees_columns_that_are_not_selected(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(plan(f, "SELECT name FROM dim ORDER BY k DESC", false, MR_APPEND, 1), MR_OK);
    assert_string_equal(shape(f), "sink project sort project source");
    assert_int_equal(f->plan->root->output->fields_n, 1);
    assert_true(f->plan->root->batch);
    assert_int_equal(plan(f, "SELECT k, count(*) AS n FROM dim GROUP BY k ORDER BY max(name), n",
                          false, MR_APPEND, 1),
                     MR_OK);
    assert_string_equal(shape(f), "sink project sort stateStoreSave partial_aggregate source");
    assert_int_equal(plan(f, "VALUES (1, 'a'), (2, NULL)", false, MR_APPEND, 1), MR_OK);
    assert_string_equal(shape(f), "sink values");
    assert_int_equal(find(f, MR_NODE_VALUES)->rows_n, 2);
    assert_string_equal(f->plan->root->output->fields[1].name, "col2");
}

static void deduplication_loses_the_time_that_nobody_reads(void **state)
{
    struct fixture *f = *state;
    struct mr_relation dedup = {
        .kind = MR_REL_DEDUPLICATE, .columns = (const char *[]){"id"}, .columns_n = 1};
    struct mr_plan_request request = {
        .streaming = true, .mode = MR_APPEND, .workers = 1, .relation = &dedup};
    struct mr_relation *select;

    assert_int_equal(
        mr_sql_parse_query(MR_TEXT("SELECT * FROM t WATERMARK ts DELAY OF INTERVAL 1 MINUTE"),
                           &f->arena, &dedup.input, &f->err),
        MR_OK);
    assert_int_equal(mr_plan_query(f->session, &request, &f->plan, NULL, &f->err), MR_OK);
    assert_int_equal(find(f, MR_NODE_DEDUPLICATE)->time_rule, MR_TIME_COLUMN);
    assert_int_equal(find(f, MR_NODE_DEDUPLICATE)->time_key, 3);
    assert_int_equal(mr_sql_parse_query(MR_TEXT("SELECT id FROM d"), &f->arena, &select, &f->err),
                     MR_OK);
    f->session->views = &(struct mr_view_definition){"d", &dedup};
    f->session->views_n = 1;
    request.relation = select;
    assert_int_equal(mr_plan_query(f->session, &request, &f->plan, NULL, &f->err), MR_OK);
    assert_string_equal(shape(f), "sink dedupe project watermark source");
    assert_int_equal(find(f, MR_NODE_DEDUPLICATE)->time_rule, MR_TIME_NONE);
    dedup.within_watermark = true;
    assert_int_equal(mr_plan_query(f->session, &request, &f->plan, NULL, &f->err), MR_OK);
    assert_int_equal(find(f, MR_NODE_DEDUPLICATE_WITHIN)->time_rule, MR_TIME_COLUMN);
    assert_int_equal(find(f, MR_NODE_DEDUPLICATE_WITHIN)->delay_us, 60000000);
}

static void settings_are_known_or_named_nearly(void **state)
{
    struct mr_conf conf;
    struct mr_error err = {0};

    (void)state;
    mr_conf_init(&conf);
    assert_true(conf.ansi && conf.no_data_batches && conf.check_correctness &&
                !conf.watermark_policy_max);
    assert_int_equal(conf.min_batches_to_retain, 100);
    assert_int_equal(mr_conf_set(&conf, "spark.sql.streaming.multipleWatermarkPolicy", "max", &err),
                     MR_OK);
    assert_true(conf.watermark_policy_max);
    assert_int_equal(mr_conf_set(&conf, "spark.sql.shuffle.partitions", "4", &err), MR_OK);
    assert_int_equal(mr_conf_set(&conf, "spark.sql.session.timezone", "UTC", &err), MR_USER);
    assert_non_null(strstr(err.message, "spark.sql.session.timeZone"));
    assert_int_equal(mr_conf_set(&conf, "spark.sql.ansi.enabled", "yes", &err), MR_USER);
    assert_int_equal(mr_conf_set(&conf, "spark.sql.session.timeZone", "Mars/Olympus", &err),
                     MR_USER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_spark_s, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_are_spark_s, setup, teardown),
        cmocka_unit_test_setup_teardown(tumbling_window_is_computed_by_the_aggregate, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(sliding_windows_expand, setup, teardown),
        cmocka_unit_test_setup_teardown(filters_sink_below_the_watermark_unless_they_touch_the_time,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(window_start_is_the_child_s_column_first, setup, teardown),
        cmocka_unit_test_setup_teardown(two_aggregations_pass_through_with_only, setup, teardown),
        cmocka_unit_test_setup_teardown(exchanges_are_put_where_rows_have_to_move, setup, teardown),
        cmocka_unit_test_setup_teardown(order_by_sees_columns_that_are_not_selected, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(deduplication_loses_the_time_that_nobody_reads, setup,
                                        teardown),
        cmocka_unit_test(settings_are_known_or_named_nearly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
