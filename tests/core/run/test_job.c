/* Job files: what good ones mean, and what is said about bad ones, where. */
#include "core/base/bounds.h"
#include "tests/core/run/fake_registry.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static jmp_buf escape;
static char path[64];

static void write_file(const char *to, const char *text)
{
    FILE *f = fopen(to, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static enum mr_status load(const char *yaml, struct mr_arena *a, struct mr_job **job,
                           struct mr_error *err)
{
    write_file(path, yaml);
    *err = (struct mr_error){0};
    return mr_job_load(path, NULL, a, job, err);
}

static struct mr_job *load_good(const char *yaml, struct mr_arena *a)
{
    struct mr_job *job;
    struct mr_error err;

    mr_arena_init(a, NULL, &escape);
    if (load(yaml, a, &job, &err)) {
        char text[2048];
        mr_error_format(&err, text, sizeof text);
        fail_msg("%s", text);
    }
    return job;
}

#define SINK "sink: {format: noop}\n"
#define SOURCE "sources: {t: {format: text, path: /.}}\n"

static const char full_job[] =

    "name: full\n"
    "sources:\n"
    "  t: {format: json, path: in/t, schema: \"id STRING, ts TIMESTAMP\",\n"
    "      options: {maxFilesPerTrigger: 1, multiLine: true}, bad_records: {path: bad}}\n"
    "  u: {format: text, path: in/u}\n"
    "tables:\n"
    "  dim: {schema: \"k STRING, w INT, d DECIMAL(5,2), b BOOLEAN, a ARRAY<INT>,"
    " s STRUCT<x: INT, y: STRING>, m MAP<STRING, DOUBLE>, at TIMESTAMP\",\n"
    "        rows: [[x, 1, 1.5, true, [1, null], {y: q}, {p: 0.5}, \"2026-01-01 12:00:00\"],\n"
    "               [null, ~, null, null, null, null, null, null], [\"null\", -3, 2, false, [],"
    " [7, z], {}, 2026-01-01]]}\n"
    "  users: {format: json, path: users.json, schema: \"id STRING\"}\n"
    "steps:\n"
    "  - {as: w, watermark: {input: t, column: ts, delay: 10 minutes}}\n"
    "  - {as: d, dedup: {input: W, keys: [id, ts], within_watermark: true}}\n"
    "  - {as: d2, dedup: {input: d, keys: id}}\n"
    "  - as: q\n"
    "    sql: SELECT id\n"
    "         FROM d2\n"
    "sink: {format: noop, path: out, options: {a.b: 3}, output_mode: update,"
    " partition_by: [x, y]}\n"
    "checkpoint: chk\n"
    "trigger: {processing_time: 30 seconds}\n"
    "conf: {spark.sql.session.timeZone: America/New_York,"
    " spark.sql.streaming.multipleWatermarkPolicy: max}\n"
    "engine: {workers: 2, cpus: 0-3, pin: false, batch_rows: 512, ring_slots: 8,"
    " memory_limit: 2g, kernels: scalar, io: syscalls, durability: none, stall_seconds: 3}\n";

static void test_query(void **state)
{
    struct mr_arena a;
    const struct mr_job *job = load_good(full_job, &a);
    const struct mr_job_query *q = &job->queries[0];
    const struct mr_session *s = &q->session;

    (void)state;
    assert_int_equal(job->queries_n, 1);
    assert_string_equal(q->name, "full");
    assert_string_equal(q->checkpoint, "chk");
    assert_int_equal(q->trigger, MR_TRIGGER_PROCESSING_TIME);
    assert_int_equal(q->trigger_us, 30000000);
    assert_string_equal(mr_zone_name(s->conf.zone), "America/New_York");
    assert_true(s->conf.watermark_policy_max);

    assert_string_equal(q->sink.format, "noop");
    assert_int_equal(q->sink.mode, MR_UPDATE);
    assert_int_equal(q->sink.partition_by_n, 2);
    assert_string_equal(mr_option_get(q->sink.options, q->sink.options_n, "a.b"), "3");
    assert_int_equal(job->engine.workers, 2);
    assert_string_equal(job->engine.cpus, "0-3");
    assert_false(job->engine.pin);
    assert_int_equal(job->engine.batch_rows, 512);
    assert_int_equal(job->engine.memory_limit_bytes, 2147483648);
    assert_string_equal(job->engine.io, "syscalls");
    assert_int_equal(job->engine.durability, MR_DURABLE_NONE);
    assert_int_equal(job->engine.stall_s, 3);
    mr_arena_fini(&a);
}

static void test_tables(void **state)
{
    struct mr_arena a;
    const struct mr_job *job = load_good(full_job, &a);
    const struct mr_session *s = &job->queries[0].session;

    (void)state;
    assert_int_equal(s->tables_n, 4);
    assert_true(s->tables[0].streaming && s->tables[1].streaming);
    assert_false(s->tables[2].streaming || s->tables[3].streaming);
    assert_int_equal(s->tables[1].index, 1);
    assert_string_equal(s->tables[0].bad_records, "bad");
    assert_string_equal(mr_option_get(s->tables[0].options, s->tables[0].options_n, "path"),
                        "in/t");
    assert_string_equal(mr_option_get(s->tables[0].options, s->tables[0].options_n, "multiLine"),
                        "true");
    assert_int_equal(s->tables[0].schema->fields_n, 2);
    assert_ptr_equal(s->tables[1].schema, &text_schema);
    mr_arena_fini(&a);
}

static void test_rows(void **state)
{
    struct mr_arena a;
    const struct mr_job *job = load_good(full_job, &a);
    const struct mr_batch *rows = job->queries[0].session.tables[2].rows;

    (void)state;
    assert_int_equal(rows->rows, 3);
    assert_true(mr_batch_is_valid(rows));
    assert_true(mr_text_equal(mr_column_text(&rows->columns[0], 2), MR_TEXT("null")));
    assert_true(mr_column_is_null(&rows->columns[0], 1) && mr_column_is_null(&rows->columns[1], 1));
    assert_int_equal(rows->columns[1].i32[2], -3);
    assert_true(rows->columns[2].i128[0] == 150);
    assert_int_equal(rows->columns[4].offsets[1], 2);
    assert_true(mr_column_is_null(&rows->columns[4].children[0], 1));
    assert_true(mr_column_is_null(&rows->columns[5].children[0], 0));
    assert_int_equal(rows->columns[5].children[0].i32[2], 7);
    assert_int_equal(rows->columns[7].i64[0], 1767286800000000); /* 17:00 UTC */
    mr_arena_fini(&a);
}

static void test_steps(void **state)
{
    struct mr_arena a;
    const struct mr_job *job = load_good(full_job, &a);
    const struct mr_session *s = &job->queries[0].session;

    (void)state;
    assert_int_equal(s->views_n, 4);
    assert_int_equal(s->views[0].relation->kind, MR_REL_WITH_WATERMARK);
    assert_string_equal(s->views[0].relation->delay, "10 minutes");
    assert_int_equal(s->views[1].relation->kind, MR_REL_DEDUPLICATE);
    assert_true(s->views[1].relation->within_watermark);
    assert_string_equal(s->views[1].relation->input->name[0], "w");
    assert_int_equal(s->views[2].relation->columns_n, 1);
    assert_string_equal(s->views[3].name, "q");
    assert_int_equal(s->views[3].relation->input->place.line, 17);
    assert_int_equal(s->views[3].relation->input->place.column, 15);
    mr_arena_fini(&a);
}

static void test_defaults(void **state)
{
    struct mr_arena a;
    const struct mr_job *job = load_good(SOURCE SINK, &a);

    (void)state;
    assert_string_equal(job->queries[0].name, strrchr(path, '/') + 1);
    assert_null(job->queries[0].checkpoint);
    assert_int_equal(job->queries[0].trigger, MR_TRIGGER_ASAP);
    assert_int_equal(job->queries[0].sink.mode, MR_APPEND);
    assert_int_equal(job->queries[0].session.views_n, 0);
    assert_int_equal(job->engine.batch_rows, MR_BATCH_ROWS_DEFAULT);
    assert_true(job->engine.pin);
    mr_arena_fini(&a);
}

static void test_json_in_one_line(void **state)
{
    struct mr_arena a;
    const struct mr_job *job = load_good(
        "{\"sources\":{\"t\":{\"format\":\"text\",\"path\":\"\\u00e9\\ud83d\\ude00\\/x\"}},"
        "\"steps\": [{\"as\": \"q\", \"sql\": \"SELECT \\\"a\\\\\\\\b\\\", value FROM t\"}],"
        "\"trigger\": {\"available_now\": true}, \"sink\": {\"format\": \"noop\"}}",
        &a);
    const struct mr_session *s = &job->queries[0].session;

    (void)state;
    assert_string_equal(mr_option_get(s->tables[0].options, 1, "path"),
                        "\xC3\xA9\xF0\x9F\x98\x80/x");
    assert_int_equal(job->queries[0].trigger, MR_TRIGGER_AVAILABLE_NOW);
    const struct mr_ast *text = s->views[0].relation->exprs[0];
    assert_true(mr_text_equal(mr_column_text(text->literal, 0), MR_TEXT("a\\b")));
    /* Escapes count as they stand in the file; the pair of surrogates became shorter by two. */
    assert_int_equal(s->views[0].relation->exprs[1]->place.column, 114);
    mr_arena_fini(&a);
}

static void test_several_queries(void **state)
{
    struct mr_arena a;
    const struct mr_job *job =
        load_good("queries:\n"
                  "  - {name: a, sources: {t: {format: text}}, sink: {format: noop}}\n"
                  "  - {sources: {t: {format: text}}, sink: {format: noop}}\n"
                  "engine: {workers: 1}\n",
                  &a);

    (void)state;
    assert_int_equal(job->queries_n, 2);
    assert_string_equal(job->queries[0].name, "a");
    assert_int_equal(job->engine.workers, 1);
    mr_arena_fini(&a);
}

static void test_config_file_wins(void **state)
{
    struct mr_arena a;
    struct mr_job *job;
    struct mr_error err = {0};
    char config[80];

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    snprintf(config, sizeof config, "%s.config", path);
    write_file(config, "workers: 3\nmemory_limit: 512m\n");
    write_file(path, SOURCE SINK "engine: {workers: 2, batch_rows: 7}\n");
    assert_int_equal(mr_job_load(path, config, &a, &job, &err), MR_OK);
    assert_int_equal(job->engine.workers, 3);
    assert_int_equal(job->engine.batch_rows, 7);
    assert_int_equal(job->engine.memory_limit_bytes, 512 << 20);
    write_file(config, "worker: 3\n");
    assert_int_equal(mr_job_load(path, config, &a, &job, &err), MR_USER);
    assert_string_equal(err.file, config);
    assert_string_equal(err.message, "unknown key \"worker\"; allowed here: workers, cpus, pin, "
                                     "batch_rows, ring_slots, memory_limit, kernels, io, "
                                     "durability, stall_seconds; did you mean \"workers\"?");
    unlink(config);
    mr_arena_fini(&a);
}

static void test_secrets(void **state)
{
    struct mr_arena a;
    struct mr_job *job;
    struct mr_error err = {0};
    char secret[80], yaml[512];

    (void)state;
    setenv("MR_TEST_SECRET", "hunter2", 1);
    setenv("MR_TEST_NUMBER", "1", 1);
    setenv("MR_TEST_LONGER", "hunter2 and more", 1);
    snprintf(secret, sizeof secret, "%s.secret", path);
    write_file(secret, "open sesame\n");
    snprintf(yaml, sizeof yaml,
             "sources: {t: {format: text, options: {a: \"x${env:MR_TEST_SECRET}y\", b: "
             "\"${file:%s}\", c: \"$${env:X}\", d: \"${env:MR_TEST_NUMBER}\", e: "
             "\"${env:MR_TEST_LONGER}\"}}}\n" SINK,
             secret);
    job = load_good(yaml, &a);
    const struct mr_table *t = &job->queries[0].session.tables[0];
    assert_string_equal(mr_option_get(t->options, t->options_n, "a"), "xhunter2y");
    assert_string_equal(mr_option_get(t->options, t->options_n, "b"), "open sesame");
    assert_string_equal(mr_option_get(t->options, t->options_n, "c"), "${env:X}");
    snprintf(err.message, sizeof err.message, "no login with hunter2 / open sesame / hunter2");
    mr_job_hide_secrets(job, &err);
    assert_string_equal(err.message, "no login with *** / *** / ***");
    snprintf(err.message, sizeof err.message, "hunter2 and more, hunter2 and no more");
    mr_job_hide_secrets(job, &err);
    assert_string_equal(err.message, "***, *** and no more"); /* the longest that is there */
    for (size_t cut = 1; cut < 7; cut++) {                    /* the message ends within it */
        size_t at = sizeof err.message - 1 - cut;
        memset(err.message, ' ', at);
        memcpy(err.message + at, "hunter2", cut);
        err.message[at + cut] = '\0';
        mr_job_hide_secrets(job, &err);
        assert_null(strstr(err.message, "h"));
        assert_non_null(strstr(err.message, " *"));
    }
    snprintf(err.file, sizeof err.file, "in/hunter2/x");
    mr_job_hide_secrets(job, &err);
    assert_string_equal(err.file, "in/***/x");
    /* in plans also cut ones, but no single digits */
    struct mr_text shown = mr_job_hide_in_text(
        job, MR_TEXT("window 1 us, key concat(k, 'hunter2'), 'hunt' and 'hun'"), &a);
    assert_true(
        mr_text_equal(shown, MR_TEXT("window 1 us, key concat(k, '***'), '***' and 'hun'")));
    mr_arena_fini(&a);

    mr_arena_init(&a, NULL, &escape);
    assert_int_equal(load(SOURCE "sink: {format: \"${env:MR_TEST_SECRET}\"}\n", &a, &job, &err),
                     MR_USER);
    assert_null(strstr(err.message, "hunter2"));
    assert_int_equal(load(SOURCE SINK
                          "conf: {spark.sql.session.timeZone: \"${env:MR_TEST_SECRET}\"}\n",
                          &a, &job, &err),
                     MR_USER);
    assert_null(strstr(err.message, "hunter2"));
    mr_arena_fini(&a);
    unlink(secret);
}

#define STEPS(steps) SOURCE SINK "steps:\n" steps

static const struct {
    const char *yaml;
    uint32_t line, column;
    const char *condition, *message;
} errors[] = {
    {"", 1, 1, "", "the file is empty"},
    {"# nothing\n", 2, 1, "", "the file is empty"},
    {"just text", 1, 1, "", "expected keys with values, got a value"},
    {"[1, 2]", 1, 1, "", "expected keys with values, got a list"},
    {"a: [1\n", 2, 1, "",
     "not YAML: did not find expected ',' or ']', while parsing a flow sequence"},
    {"a: \"x\n", 2, 1, "",
     "not YAML: found unexpected end of stream, while scanning a quoted scalar"},
    {"a: 1\n---\nb: 2\n", 2, 1, "", "a second document: one is allowed in a file"},
    {"a: &x 1\n", 1, 1, "",
     "unknown key \"a\"; allowed here: queries, engine, name, sources, tables, steps, sink, "
     "checkpoint, trigger, conf"},
    {"a: *x\n", 1, 4, "",
     "anchors and aliases (& and *) are not supported: quote the text if it is one"},
    {"? [a]\n: 1\n", 1, 3, "", "a key must be a plain text"},
    {"sources: {}\n" SINK, 1, 10, "", "sources: at least one is needed"},
    {SINK, 1, 1, "", "the key \"sources\" is missing: the streams that it reads"},
    {SOURCE, 1, 1, "", "the key \"sink\" is missing: where the rows go"},
    {SOURCE SINK "souces: {}\n", 3, 1, "",
     "unknown key \"souces\"; allowed here: queries, engine, name, sources, tables, steps, sink, "
     "checkpoint, trigger, conf; did you mean \"sources\"?"},
    {SOURCE SINK "name: [a]\n", 3, 7, "", "name: expected a value, got a list"},
    {SOURCE SINK "name:\n", 3, 6, "", "name: it must not be empty"},
    {SOURCE SINK "name: \"\"\n", 3, 7, "", "name: it must not be empty"},
    {SOURCE SOURCE SINK, 2, 1, "", "the key \"sources\" is there twice"},
    {"sources: [t]\n" SINK, 1, 10, "", "sources: expected a map from names, got a list"},
    {"sources: {t: text}\n" SINK, 1, 14, "", "t: expected a map, got a value"},
    {"sources: {t: {path: x}}\n" SINK, 1, 14, "",
     "the key \"format\" is missing: kind of source: json, csv, text, kafka, rate, "
     "rate-micro-batch, socket"},
    {"sources: {t: {format: jsn, path: x}}\n" SINK, 1, 23, "DATA_SOURCE_NOT_FOUND",
     "there is no source format \"jsn\"; known: json, text; did you mean \"json\"?"},
    {"sources: {t: {format: json, path: x}}\n" SINK, 1, 11, "_LEGACY_ERROR_TEMP_2048",
     "Schema must be specified when creating a streaming source DataFrame: format json has none of "
     "its own. Add schema: \"column TYPE, ..\""},
    {"sources:\n  t: {format: json, path: x, schema: \"id STRING, v NOTYPE\"}\n" SINK, 2, 52,
     "UNSUPPORTED_DATATYPE", "schema: Unsupported data type \"NOTYPE\"."},
    {"sources: {t: {format: text, path: x, options: {path: y}}}\n" SINK, 1, 48, "",
     "the option path is there twice"},
    {"sources: {t: {format: text, options: {a: [1]}}}\n" SINK, 1, 42, "",
     "a: expected a value, got a list"},
    {"sources: {t: {format: text, option: {a: 1}}}\n" SINK, 1, 29, "",
     "unknown key \"option\"; allowed here: format, path, schema, options, bad_records; did you "
     "mean \"options\"?"},
    {"sources: {t: {format: text, bad_records: {}}}\n" SINK, 1, 42, "",
     "the key \"path\" is missing: a folder: each bad record goes there with reason, place and raw "
     "text"},
    {"sources: {\"\": {format: text}}\n" SINK, 1, 11, "", "a name has 1 to 255 bytes"},
    {SOURCE SINK "tables: {T: {schema: \"a INT\", rows: []}}\n", 3, 10, "",
     "the name \"T\" is there twice"},
    {SOURCE SINK "tables: {d: {schema: \"a INT\"}}\n", 3, 10, "",
     "the table d needs rows, or format and path"},
    {SOURCE SINK "tables: {d: {rows: [[1]]}}\n", 3, 10, "UNABLE_TO_INFER_SCHEMA",
     "Schema must be specified when creating a table DataFrame: format rows has none of its own. "
     "Add schema: \"column TYPE, ..\""},
    {SOURCE SINK "tables: {d: {schema: \"a INT\", rows: [[1], [x]]}}\n", 3, 44, "",
     "column a: \"x\" is no INT"},
    {SOURCE SINK "tables: {d: {schema: \"a INT\", rows: [[1, 2]]}}\n", 3, 38, "",
     "the row has 2 values, the schema 1 columns"},
    {SOURCE SINK "tables: {d: {schema: \"a INT NOT NULL\", rows: [[null]]}}\n", 3, 48, "",
     "column a: it is NOT NULL"},
    {SOURCE SINK "tables: {d: {schema: \"a TINYINT\", rows: [[300]]}}\n", 3, 43, "",
     "column a: \"300\" is no TINYINT"},
    {SOURCE SINK "tables: {d: {schema: \"a INT\", rows: [1]}}\n", 3, 38, "",
     "rows: expected a row as a list of values, got a value"},
    {SOURCE SINK "tables: {d: {schema: \"a ARRAY<INT>\", rows: [[x]]}}\n", 3, 46, "",
     "column a: \"x\" is no ARRAY<INT>"},
    {SOURCE SINK "tables: {d: {schema: \"a INT\", rows: [[1]], format: text}}\n", 3, 37, "",
     "rows: a table has either rows or format and path"},
    {STEPS("  - {sql: SELECT 1}\n"), 4, 5, "", "the key \"as\" is missing: the view's name"},
    {STEPS("  - {as: q}\n"), 4, 5, "",
     "a step has exactly one of sql, watermark and dedup besides as"},
    {STEPS("  - {as: q, sql: SELECT 1, dedup: {input: t}}\n"), 4, 5, "",
     "a step has exactly one of sql, watermark and dedup besides as"},
    {STEPS("  - {as: t, sql: SELECT 1}\n"), 4, 10, "", "the name \"t\" is there twice"},
    {STEPS("  - {as: q, sql: SELECT 1}\n  - {as: Q, sql: SELECT 1}\n"), 5, 10, "",
     "the name \"Q\" is there twice"},
    {STEPS("  - {as: q, sql: SELECT a FROM t WHERE}\n  - {as: r, sql: SELECT a b c}\n"), 5, 29,
     "PARSE_SYNTAX_ERROR", "Syntax error at or near 'c': expected the end of the statement."},
    {STEPS("  - as: q\n    sql: |\n      SELECT a,\n        b\n      FROM t x y\n"), 8, 16,
     "PARSE_SYNTAX_ERROR", "Syntax error at or near 'y': expected the end of the statement."},
    {STEPS("  - as: q\n    sql: >\n      SELECT a,\n      b FROM t x y\n"), 7, 18,
     "PARSE_SYNTAX_ERROR", "Syntax error at or near 'y': expected the end of the statement."},
    {STEPS("  - {as: q, sql: 'SELECT ''a'' b c'}\n"), 4, 34, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near 'c': expected the end of the statement."},
    {STEPS("  - {as: q, sql: \"SELECT 'a\\x41' b c\"}\n"), 4, 36, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near 'c': expected the end of the statement."},
    {STEPS("  - as: q\n    sql: SELECT a\n         FROM t\n\n         WHERE )\n"), 8, 16,
     "PARSE_SYNTAX_ERROR", "Syntax error at or near ')': expected an expression."},
    {STEPS("  - {as: q, watermark: {input: x, column: ts, delay: 1 minute}}\n"), 4, 32,
     "TABLE_OR_VIEW_NOT_FOUND",
     "there is no source, table or step before this one \"x\"; known: t"},
    {STEPS("  - {as: q, watermark: {input: tt, column: ts, delay: 1 minute}}\n"), 4, 32,
     "TABLE_OR_VIEW_NOT_FOUND",
     "there is no source, table or step before this one \"tt\"; known: t; did you mean \"t\"?"},
    {STEPS("  - {as: q, watermark: {input: t, column: ts}}\n"), 4, 24, "",
     "the key \"delay\" is missing: how far the watermark stays behind the latest event time"},
    {STEPS("  - {as: q, watermark: {input: t, column: ts, delay: soon}}\n"), 4, 54,
     "CANNOT_PARSE_INTERVAL", "delay: \"soon\" is no interval; write it as \"10 minutes\""},
    {STEPS("  - {as: q, watermark: {input: t, column: a b, delay: 1 minute}}\n"), 4, 43, "",
     "column: \"a b\" is no column's name; a name with blanks or signs stands in backquotes"},
    {STEPS("  - {as: q, dedup: {input: t, keys: {a: 1}}}\n"), 4, 37, "",
     "keys: expected a list of texts, got a map"},
    {STEPS("  - {as: q, dedup: {input: t, within_watermark: maybe}}\n"), 4, 49, "",
     "within_watermark: \"maybe\" is neither true nor false"},
    {STEPS("  - q\n"), 4, 5, "", "steps: expected a map, got a value"},
    {SOURCE SINK "steps: {as: q}\n", 3, 8, "", "steps: expected a list, got a map"},
    {SOURCE "sink: {format: nop}\n", 2, 16, "DATA_SOURCE_NOT_FOUND",
     "there is no sink format \"nop\"; known: console, noop; did you mean \"noop\"?"},
    {SOURCE "sink: {format: noop, output_mode: upsert}\n", 2, 35, "",
     "output_mode: \"upsert\" is none of append, update, complete"},
    {SOURCE "sink: noop\n", 2, 7, "", "sink: expected a map, got a value"},
    {SOURCE SINK "trigger: {continuous: 1 second}\n", 3, 11, "",
     "unknown key \"continuous\"; allowed here: processing_time, available_now, once"},
    {SOURCE SINK "trigger: {once: true, available_now: true}\n", 3, 10, "",
     "trigger: only one of processing_time, available_now and once"},
    {SOURCE SINK "trigger: {processing_time: 1 month}\n", 3, 28, "",
     "processing_time: months have no fixed length"},
    {SOURCE SINK "trigger: {processing_time: -1 seconds}\n", 3, 28, "",
     "processing_time: it must not be negative, nor too long to count in microseconds"},
    {SOURCE SINK "trigger: {processing_time: often}\n", 3, 28, "CANNOT_PARSE_INTERVAL",
     "processing_time: \"often\" is no interval; write it as \"10 minutes\""},
    {SOURCE SINK "conf: {spark.sql.session.timezone: UTC}\n", 3, 8, "SQL_CONF_NOT_FOUND",
     "The config \"spark.sql.session.timezone\" is not known. Did you mean "
     "\"spark.sql.session.timeZone\"?"},
    {SOURCE SINK "conf: {spark.sql.session.timeZone: Mars}\n", 3, 36,
     "INVALID_CONF_VALUE.TIME_ZONE",
     "Cannot resolve the given timezone \"Mars\": a name as Europe/Berlin or an offset as +02:00 "
     "is needed."},
    {SOURCE SINK "conf: {spark.sql.ansi.enabled: maybe}\n", 3, 32,
     "INVALID_CONF_VALUE.TYPE_MISMATCH",
     "The value 'maybe' in the config \"spark.sql.ansi.enabled\" is invalid: true or false."},
    {SOURCE SINK "engine: {workers: 65}\n", 3, 19, "",
     "workers: \"65\" is no whole number from 0 to 64"},
    {SOURCE SINK "engine: {workers: two}\n", 3, 19, "",
     "workers: \"two\" is no whole number from 0 to 64"},
    {SOURCE SINK "engine: {kernels: sse}\n", 3, 19, "",
     "kernels: \"sse\" is none of scalar, avx2, avx512"},
    {SOURCE SINK "engine: {memory_limit: lots}\n", 3, 24, "",
     "memory_limit: \"lots\" is no number of bytes, as 512m or 4g"},
    {SOURCE SINK "engine: {pin: 2}\n", 3, 15, "", "pin: \"2\" is neither true nor false"},
    {SOURCE SINK "checkpoint: \"${env:MR_NOT_THERE}\"\n", 3, 13, "",
     "${env:MR_NOT_THERE}: the environment has no MR_NOT_THERE"},
    {SOURCE SINK "checkpoint: \"${evn:HOME}\"\n", 3, 13, "",
     "${evn:HOME}: allowed are ${env:NAME} and ${file:path}; write $${ for a plain ${"},
    {SOURCE SINK "checkpoint: \"${file:/nowhere/x}\"\n", 3, 13, "",
     "${file:/nowhere/x}: /nowhere/x can't be opened"},
    {SOURCE SINK "checkpoint: \"${env:X\"\n", 3, 13, "", "\"${\" without \"}\""},
    {STEPS("  - {as: q, sql: SELECT a, b FROM t}\n"), 4, 28, "",
     "unknown key \"b FROM t\"; allowed here: as, sql, watermark, dedup; within {..} a text with a "
     "comma needs quotes"},
    {"queries: []\n", 1, 10, "", "queries: 1 to 64 are allowed"},
    {"queries: [{sink: {format: noop}}]\n", 1, 11, "",
     "the key \"sources\" is missing: the streams that it reads"},
    {SOURCE "queries: [{sources: {t: {format: text}}, sink: {format: noop}}]\n", 1, 1, "",
     "sources: beside queries only engine is allowed; move it into a query"},
    {"queries:\n- {name: a, sources: {t: {format: text}}, sink: {format: noop}}\n- {name: a, "
     "sources: {t: {format: text}}, sink: {format: noop}}\n",
     3, 3, "", "two queries have the name \"a\""},
    {"queries:\n- {name: a, checkpoint: c, sources: {t: {format: text}}, sink: {format: noop}}\n- "
     "{name: b, checkpoint: c, sources: {t: {format: text}}, sink: {format: noop}}\n",
     3, 3, "", "the queries a and b share the checkpoint c"},
};

static void test_errors(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        struct mr_arena a;
        struct mr_job *job;
        struct mr_error err;
        mr_arena_init(&a, NULL, &escape);
        assert_int_equal(load(errors[i].yaml, &a, &job, &err), MR_USER);
        assert_string_equal(err.message, errors[i].message);
        assert_string_equal(err.condition, errors[i].condition);
        assert_string_equal(err.file, path);
        assert_int_equal(err.line, errors[i].line);
        assert_int_equal(err.column, errors[i].column);
        mr_arena_fini(&a);
    }
}

static const struct {
    const char *yaml;
    uint32_t line, column;
    const char *condition, *message;
} plan_errors[] = {
    {"sources: {t: {format: text, options: {good: 1, bad: 2}}}\n" SINK, 1, 48, "",
     "source \"t\": option bad: no"},
    {"sources: {t: {format: text, path: /no/where}}\n" SINK, 1, 11, "PATH_NOT_FOUND",
     "Path does not exist: /no/where."},
    {SOURCE "sink: {format: noop, options: {bad: 2}}\n", 2, 32, "", "option bad: no"},
    {SOURCE "sink: {format: noop, output_mode: update}\n", 2, 7,
     "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE",
     "Invalid streaming output mode: update. This output mode is not supported in Data Source "
     "noop."},
    {SOURCE "sink: {format: console}\n", 1, 1, "_LEGACY_ERROR_TEMP_1298",
     "the sink console needs a checkpoint: add checkpoint: FOLDER to the query"},
    {STEPS("  - {as: q, sql: 'SELECT value, nope FROM t'}\n"), 4, 33,
     "UNRESOLVED_COLUMN.WITH_SUGGESTION", NULL},
};

static void test_plan(void **state)
{
    struct mr_physical_plan *plan;
    struct mr_plan_texts texts;
    struct mr_error err;
    struct mr_job *job;
    struct mr_arena a;

    (void)state;
    job = load_good(STEPS("  - {as: q, sql: SELECT value FROM t}\n"), &a);
    assert_int_equal(mr_job_plan(job, job->queries, 1, &plan, &texts, &err), MR_OK);
    assert_int_equal(plan->root->kind, MR_NODE_SINK);
    mr_arena_fini(&a);
    for (uint32_t i = 0; i < sizeof plan_errors / sizeof plan_errors[0]; i++) {
        job = load_good(plan_errors[i].yaml, &a);
        err = (struct mr_error){0};
        assert_int_equal(mr_job_plan(job, job->queries, 1, &plan, &texts, &err), MR_USER);
        if (plan_errors[i].message)
            assert_string_equal(err.message, plan_errors[i].message);
        assert_string_equal(err.condition, plan_errors[i].condition);
        assert_string_equal(err.file, path);
        assert_int_equal(err.line, plan_errors[i].line);
        assert_int_equal(err.column, plan_errors[i].column);
        mr_arena_fini(&a);
    }
}

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/mr-job-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_json_in_one_line),
        cmocka_unit_test(test_several_queries),
        cmocka_unit_test(test_config_file_wins),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_plan),
    };

    if (setjmp(escape))
        return 1;
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
