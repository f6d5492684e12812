/* Which changes of a query its checkpoint takes, and what it says about the others. */
#include "core/checkpoint/metadata.h"
#include "tests/core/checkpoint/world.h"

static const struct mr_field k_string[] = {{"k", &mr_type_string, true}};
static const struct mr_field k_string_renamed[] = {{"other", &mr_type_string, true}};
static const struct mr_field k_string_not_null[] = {{"k", &mr_type_string, false}};
static const struct mr_field k_bigint[] = {{"k", &mr_type_bigint, true}};
static const struct mr_field k_interval[] = {{"k", &mr_type_interval_year_month, true}};
static const struct mr_field k_two[] = {{"k", &mr_type_string, true},
                                        {"id", &mr_type_string, true}};
static const struct mr_field v_count[] = {{"count", &mr_type_bigint, false}};
static const struct mr_field v_count_sum[] = {{"count", &mr_type_bigint, false},
                                              {"sum", &mr_type_bigint, true}};
static const struct mr_field v_sum_count[] = {{"sum", &mr_type_bigint, true},
                                              {"count", &mr_type_bigint, false}};

struct query {
    const char *source, *source2, *operator, * operator2, *detail, *mode;
    const struct mr_field *keys, *values;
    uint32_t keys_n, values_n;
    const enum mr_slot_kind *slots;
};

static const enum mr_slot_kind integers[] = {MR_SLOT_I64, MR_SLOT_I64};
static const enum mr_slot_kind doubles[] = {MR_SLOT_F64, MR_SLOT_F64};

static const struct query plain = {"FileSource[/in]", NULL,     "stateStoreSave", NULL, "window 5",
                                   "update",          k_string, v_count_sum,      1,    2,
                                   integers};

static const char *sink = "json";

static enum mr_status open_query(struct world *w, const struct query *q)
{
    struct mr_type key = {.kind = MR_STRUCT, .fields_n = q->keys_n, .fields = q->keys};
    struct mr_type value = {.kind = MR_STRUCT, .fields_n = q->values_n, .fields = q->values};
    struct mr_state_table table = {
        .name = "groups", .key = &key, .value = &value, .slots_n = 2, .slots = q->slots};
    const char *source_list[] = {q->source, q->source2};
    struct mr_fingerprint_operator list[] = {{q->operator, & table, 1, q->detail},
                                             {q->operator2, &table, 1, ""}};
    struct mr_fingerprint f = {q->source2 ? 2 : 1,
                               source_list,
                               q->operator2 ? 2 : q->operator? 1 : 0,
                               list,
                               q->mode,
                               sink};
    struct mr_replay to = receivers;

    to.arg = w;
    w->config.path = w->path;
    w->config.env = w->env;
    w->err = (struct mr_error){0};
    enum mr_status status = mr_checkpoint_open(&w->config, &f, &w->checkpoint, &w->err);
    if (status == MR_OK)
        status = mr_checkpoint_replay(w->checkpoint, &to, &w->recovered, &w->err);
    return status;
}

static void run_one_epoch(struct world *w)
{
    w->next = 0;
    assert_int_equal(world_plan(w), MR_OK);
    assert_int_equal(world_commit(w), MR_OK);
}

static const struct change {
    const char *condition; /* NULL: accepted; "-": refused without Spark's condition */
    const char *text;      /* in the message */
    struct query query;
} changes[] = {
    {NULL,
     "",
     {"FileSource[/in]", NULL, "stateStoreSave", NULL, "window 5", "update", k_string_renamed,
      v_count_sum, 1, 2, integers}},
    {NULL,
     "",
     {"FileSource[/in]", NULL, "stateStoreSave", NULL, "window 5", "update", k_string_not_null,
      v_count_sum, 1, 2, integers}},
    {NULL,
     "",
     {"FileSource[/in]", NULL, "stateStoreSave", NULL, "window 5", "complete", k_string,
      v_count_sum, 1, 2, integers}},
    {"STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",
     "key column 1 was k STRING and is k BIGINT",
     {"FileSource[/in]", NULL, "stateStoreSave", NULL, "window 5", "update", k_bigint, v_count_sum,
      1, 2, integers}},
    {"STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",
     "is k INTERVAL YEAR TO MONTH",
     {"FileSource[/in]", NULL, "stateStoreSave", NULL, "window 5", "update", k_interval,
      v_count_sum, 1, 2, integers}},
    {"STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",
     "key column 2 was not there and is id STRING",
     {"FileSource[/in]", NULL, "stateStoreSave", NULL, "window 5", "update", k_two, v_count_sum, 2,
      2, integers}},
    {"STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",
     "value column 1 was count BIGINT NOT NULL and is sum BIGINT",
     {"FileSource[/in]", NULL, "stateStoreSave", NULL, "window 5", "update", k_string, v_sum_count,
      1, 2, integers}},
    {"STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",
     "value column 2 was sum BIGINT and is not there",
     {"FileSource[/in]", NULL, "stateStoreSave", NULL, "window 5", "update", k_string, v_count, 1,
      1, integers}},
    {"STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",
     "slots were [i64 i64] and are [f64 f64]",
     {"FileSource[/in]", NULL, "stateStoreSave", NULL, "window 5", "update", k_string, v_count_sum,
      1, 2, doubles}},
    {"STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
     "were stateStoreSave and are dedupe",
     {"FileSource[/in]", NULL, "dedupe", NULL, "window 5", "update", k_string, v_count_sum, 1, 2,
      integers}},
    {"STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
     "were stateStoreSave and are stateStoreSave, dedupe",
     {"FileSource[/in]", NULL, "stateStoreSave", "dedupe", "window 5", "update", k_string,
      v_count_sum, 1, 2, integers}},
    {"STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
     "were stateStoreSave and are none",
     {"FileSource[/in]", NULL, NULL, NULL, "", "update", k_string, v_count_sum, 1, 2, integers}},
    {"IllegalArgumentException",
     "source 1 was FileSource[/in] and is FileSource[/out]",
     {"FileSource[/out]", NULL, "stateStoreSave", NULL, "window 5", "update", k_string, v_count_sum,
      1, 2, integers}},
    {"UnknownException",
     "written with 1 sources, the query has 2",
     {"FileSource[/in]", "FileSource[/u]", "stateStoreSave", NULL, "window 5", "update", k_string,
      v_count_sum, 1, 2, integers}},
    {"-",
     "was \"window 5\" and is \"window 10\"",
     {"FileSource[/in]", NULL, "stateStoreSave", NULL, "window 10", "update", k_string, v_count_sum,
      1, 2, integers}},
};

/* Each change; then the old query goes on unharmed. */
static void test_changes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct world w;
        world_init(&w, "fingerprint");
        assert_int_equal(open_query(&w, &plain), MR_OK);
        run_one_epoch(&w);
        char *id = mr_arena_format(&w.arena, "%s", w.recovered.query_id);
        world_close(&w);
        w.source = 0;
        enum mr_status status = open_query(&w, &changes[i].query);
        if (changes[i].condition == NULL) {
            assert_int_equal(status, MR_OK);
            assert_string_equal(w.recovered.query_id, id);
            world_close(&w);
        } else {
            assert_int_equal(status, MR_USER);
            assert_string_equal(w.err.condition,
                                changes[i].condition[0] == '-' ? "" : changes[i].condition);
            if (strstr(w.err.message, changes[i].text) == NULL)
                fail_msg("%s\nhas no: %s", w.err.message, changes[i].text);
        }
        w.source = 0;
        assert_int_equal(open_query(&w, &plain), MR_OK);
        assert_string_equal(w.recovered.query_id, id);
        assert_true(w.recovered.has_commit);
        world_close(&w);
        world_fini(&w);
    }
}

static void test_stateless_to_stateful(void **state)
{
    struct query stateless = plain;
    struct world w;

    (void)state;
    stateless.operator= NULL;
    world_init(&w, "stateless");
    assert_int_equal(open_query(&w, &stateless), MR_OK);
    run_one_epoch(&w);
    world_close(&w);
    assert_int_equal(open_query(&w, &plain), MR_USER);
    assert_string_equal(w.err.condition, "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY");
    world_fini(&w);
}

/* What was never run may become anything; it keeps its id. */
static void test_unused(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, "unused");
    assert_int_equal(open_query(&w, &plain), MR_OK);
    char *id = mr_arena_format(&w.arena, "%s", w.recovered.query_id);
    assert_int_equal(strlen(id), 36);
    world_close(&w);
    assert_int_equal(open_query(&w, &changes[3].query), MR_OK);
    assert_string_equal(w.recovered.query_id, id);
    assert_true(w.recovered.is_new);
    world_close(&w);
    world_fini(&w);
}

/* Append evicts what complete would have to give; the other way round nothing is missing. */
static void test_modes(void **state)
{
    struct query append = plain, complete = plain;
    struct world w;

    (void)state;
    append.mode = "append";
    complete.mode = "complete";
    world_init(&w, "modes");
    assert_int_equal(open_query(&w, &append), MR_OK);
    run_one_epoch(&w);
    world_close(&w);
    assert_int_equal(open_query(&w, &complete), MR_USER);
    assert_non_null(strstr(w.err.message, "append"));
    w.source = 0;
    assert_int_equal(open_query(&w, &plain), MR_OK);
    world_close(&w);
    w.source = 0;
    assert_int_equal(open_query(&w, &complete), MR_OK); /* the mode is now update */
    world_close(&w);
    world_fini(&w);
}

/* What one sink prepared, another can't publish; a checkpoint that does not say takes any, and so
 * does a query that has none of its own. */
static void test_sinks(void **state)
{
    static const struct {
        const char *sink, *mode;
        bool is_refused;
    } opens[] = {
        {NULL, "append", false},   {NULL, "append", false},   {NULL, "update", false},
        {"json", "update", false}, {"kafka", "update", true}, {NULL, "append", false},
        {"kafka", "append", true}, {"json", "append", false},
    };
    struct query q = plain;
    struct world w;

    (void)state;
    world_init(&w, "sinks");
    for (uint32_t i = 0; i < sizeof opens / sizeof *opens; i++) {
        sink = opens[i].sink;
        q.mode = opens[i].mode;
        w.source = 0;
        assert_int_equal(open_query(&w, &q), opens[i].is_refused ? MR_USER : MR_OK);
        if (opens[i].is_refused)
            assert_non_null(strstr(w.err.message, "its sink was json and is kafka"));
        if (i == 0)
            run_one_epoch(&w);
        if (!opens[i].is_refused)
            world_close(&w);
    }
    world_fini(&w);
}

/* An operator of the same name that keeps other tables. */
static void test_tables(void **state)
{
    static const struct mr_fingerprint_operator one[] = {{"join", state_tables, 1, ""}},
                                                two[] = {{"join", state_tables, 2, ""}};
    const struct mr_fingerprint before = {.operators_n = 1, .operators = one, .mode = "append"},
                                after = {.operators_n = 1, .operators = two, .mode = "append"};
    struct world w;
    struct mr_metadata stored, now;

    (void)state;
    world_init(&w, "tables");
    mr_metadata_of(&before, "id", &w.arena, &stored);
    mr_metadata_of(&after, "id", &w.arena, &now);
    assert_int_equal(mr_metadata_compare(&stored, &stored, w.path, &w.arena, &w.err), MR_OK);
    assert_int_equal(mr_metadata_compare(&stored, &now, w.path, &w.arena, &w.err), MR_USER);
    assert_string_equal(w.err.condition, "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA");
    world_fini(&w);
}

/* A stored column that is not as ours are written is another one, and is shown as it is. */
static void test_odd_columns(void **state)
{
    static const struct mr_fingerprint_operator op = {"dedupe", state_tables, 1, ""};
    const struct mr_fingerprint f = {.operators_n = 1, .operators = &op, .mode = "append"};
    static const char *const columns[] = {"",        " k", "string", "string k", "a very odd one",
                                          "date2? k"};
    static const char *const shown[] = {"was  and",
                                        "was k  and",
                                        "was STRING and",
                                        "was STRING K and",
                                        "was A VERY ODD ONE and",
                                        "was k DATE2 and"};
    struct world w;
    struct mr_metadata stored, now;

    (void)state;
    world_init(&w, "odd-columns");
    mr_metadata_of(&f, "id", &w.arena, &now);
    for (uint32_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        struct mr_text column = mr_text_of(columns[i]);
        struct mr_metadata_table table = now.operators[0].tables[0];
        struct mr_metadata_operator operator= now.operators[0];
        table.keys = &column;
        operator.tables = & table;
        stored = now;
        stored.operators = &operator;
        assert_int_equal(mr_metadata_compare(&stored, &now, w.path, &w.arena, &w.err), MR_USER);
        assert_string_equal(w.err.condition, "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE");
        if (strstr(w.err.message, shown[i]) == NULL)
            fail_msg("%s", w.err.message);
    }
    world_fini(&w);
}

/* Names and texts may have any bytes. */
static void test_odd_texts(void **state)
{
    struct query odd = plain;
    struct world w;

    (void)state;
    odd.source = "FileSource[/a\nb\\n c\\]";
    odd.detail = "\\\n";
    world_init(&w, "odd");
    for (uint32_t i = 0; i < 2; i++) {
        w.source = 0;
        assert_int_equal(open_query(&w, &odd), MR_OK);
        if (i == 0)
            run_one_epoch(&w);
        world_close(&w);
    }
    world_fini(&w);
}

/* A source is what its text says; a folder that an earlier version wrote down as the job had it is
 * the one below the current directory. */
static void test_sources(void **state)
{
    static const struct {
        const char *stored, *now;
        bool is_same;
    } cases[] = {
        {"FileSource[in/deep]", "FileSource[/in/deep]", true},
        {"FileSource[./in//deep/../deep]", "FileSource[/in/deep]", true},
        {"FileSource[in]", "FileSource[/other/in]", false},
        {"FileSource[/in]", "KafkaV2[Subscribe[in]]", false},
        {"KafkaV2[Subscribe[in]]", "FileSource[/in]", false},
        {"FileSource[", "FileSource[/in]", false},
        {"FileSource[/in]", "Rate", false},
    };

    (void)state;
    assert_int_equal(chdir("/"), 0);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query q = plain;
        struct world w;
        world_init(&w, "sources");
        q.source = cases[i].stored;
        assert_int_equal(open_query(&w, &q), MR_OK);
        run_one_epoch(&w);
        world_close(&w);
        w.source = 0;
        q.source = cases[i].now;
        enum mr_status status = open_query(&w, &q);
        assert_int_equal(status, cases[i].is_same ? MR_OK : MR_USER);
        if (status == MR_OK)
            world_close(&w);
        else if (strstr(w.err.message, "source 1 was ") == NULL)
            fail_msg("%s", w.err.message);
        world_fini(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),     cmocka_unit_test(test_stateless_to_stateful),
        cmocka_unit_test(test_unused),      cmocka_unit_test(test_modes),
        cmocka_unit_test(test_odd_texts),   cmocka_unit_test(test_sinks),
        cmocka_unit_test(test_sources),     cmocka_unit_test(test_tables),
        cmocka_unit_test(test_odd_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
