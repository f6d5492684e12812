/* Progress as Spark's JSON, and as one line for people. */
#include "core/run/progress.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka needs those above */
#include <cmocka.h>

static struct mr_progress sample(void)
{
    return (struct mr_progress){
        .id = "01234567-89ab-4def-8123-456789abcdef",
        .run_id = "11234567-89ab-4def-8123-456789abcdef",
        .name = "events \"5m\"",
        .timestamp_us = INT64_C(1767268800123456), /* 2026-01-01T12:00:00.123456Z */
        .batch_id = 7,
        .has_data = true,
        .input_rows = 1500,
        .input_rows_per_second = 1234.56,
        .processed_rows_per_second = NAN,
        .latest_offset_us = 1999,
        .query_planning_us = 3000,
        .wal_commit_us = 400,
        .add_batch_us = 5000,
        .commit_offsets_us = 6000,
        .trigger_execution_us = 16400,
        .has_watermark = true,
        .watermark_us = INT64_C(1767268200000000),
        .event_min_us = INT64_C(1767268700000000),
        .event_max_us = INT64_C(1767268799000000),
        .committed_us = INT64_C(1767268799000000) + 1125500,
        .event_avg_us = INT64_C(1767268750000000),
        .has_event_times = true,
        .operators_n = 1,
        .operators[0] = {.name = "stateStoreSave",
                         .counts = {.rows_total = 12,
                                    .rows_updated = 3,
                                    .rows_removed = 2,
                                    .rows_dropped = 1,
                                    .memory_bytes = 2500000}},
        .sources_n = 1,
        .sources[0] = {.description = "FileStreamSource[in]",
                       .end_offset = MR_TEXT("{\"logOffset\":3}"),
                       .latest_offset = MR_TEXT("{\"logOffset\":3}"),
                       .input_rows = 1500,
                       .metrics = MR_TEXT("\"files\":\"1\"")},
        .sink_description = "noop",
        .sink_rows = 9,
    };
}

static const char *print(void (*how)(const struct mr_progress *, struct mr_buffer *),
                         const struct mr_progress *p, struct mr_arena *a)
{
    struct mr_buffer out;

    mr_buffer_init(&out, a);
    how(p, &out);
    mr_buffer_append(&out, "", 1);
    return (const char *)out.data;
}

static void json_has_sparks_names_in_sparks_order(void **unused)
{
    struct mr_progress p = sample();
    jmp_buf escape;
    struct mr_arena a;

    (void)unused;
    mr_arena_init(&a, NULL, &escape);
    assert_string_equal(
        print(mr_progress_print_json, &p, &a),
        "{\"id\":\"01234567-89ab-4def-8123-456789abcdef\","
        "\"runId\":\"11234567-89ab-4def-8123-456789abcdef\",\"name\":\"events \\\"5m\\\"\","
        "\"timestamp\":\"2026-01-01T12:00:00.123Z\",\"batchId\":7,\"batchDuration\":16,"
        "\"numInputRows\":1500,\"inputRowsPerSecond\":1234.6,"
        "\"durationMs\":{\"latestOffset\":1,\"queryPlanning\":3,\"walCommit\":0,\"addBatch\":5,"
        "\"commitOffsets\":6,\"triggerExecution\":16},"
        "\"eventTime\":{\"avg\":\"2026-01-01T11:59:10.000Z\",\"max\":\"2026-01-01T11:59:59.000Z\","
        "\"min\":\"2026-01-01T11:58:20.000Z\",\"watermark\":\"2026-01-01T11:50:00.000Z\"},"
        "\"commitLatencyMs\":{\"min\":1125.500,\"max\":100125.500},"
        "\"stateOperators\":[{\"operatorName\":\"stateStoreSave\",\"numRowsTotal\":12,"
        "\"numRowsUpdated\":3,\"allUpdatesTimeMs\":0,\"numRowsRemoved\":2,\"allRemovalsTimeMs\":0,"
        "\"commitTimeMs\":6,\"memoryUsedBytes\":2500000,\"numRowsDroppedByWatermark\":1,"
        "\"numShufflePartitions\":256,\"numStateStoreInstances\":256}],"
        "\"sources\":[{\"description\":\"FileStreamSource[in]\",\"startOffset\":null,"
        "\"endOffset\":{\"logOffset\":3},\"latestOffset\":{\"logOffset\":3},\"numInputRows\":1500,"
        "\"inputRowsPerSecond\":1234.6,\"metrics\":{\"files\":\"1\"}}],"
        "\"sink\":{\"description\":\"noop\",\"numOutputRows\":9}}");
    mr_arena_fini(&a);
}

static void what_is_not_there_is_left_out(void **unused)
{
    struct mr_progress p = {
        .id = "a", .run_id = "b", .batch_id = 0, .sink_description = "noop", .sink_rows = -1};
    jmp_buf escape;
    struct mr_arena a;

    (void)unused;
    mr_arena_init(&a, NULL, &escape);
    const char *text = print(mr_progress_print_json, &p, &a);
    assert_non_null(strstr(text, "\"name\":null"));
    assert_null(strstr(text, "eventTime"));
    assert_null(strstr(text, "metrics"));
    assert_null(strstr(text, "badRecords"));
    assert_null(strstr(text, "durability"));
    assert_non_null(strstr(text, "\"stateOperators\":[],\"sources\":[]"));
    mr_arena_fini(&a);
}

static void a_line_for_people(void **unused)
{
    struct mr_progress p = sample();
    jmp_buf escape;
    struct mr_arena a;

    (void)unused;
    p.processed_rows_per_second = 2345678;
    mr_arena_init(&a, NULL, &escape);
    assert_string_equal(
        print(mr_progress_print_line, &p, &a),
        "events \"5m\"  batch 7  1.50 k rows  2.35 M rows/s  lag 1.1 s  "
        "watermark 2026-01-01 11:50:00  state 12 rows, 2.5 MB  epoch 16.4 ms  1 late");
    p.durability = "interval";
    assert_non_null(strstr(print(mr_progress_print_line, &p, &a), "durability interval"));
    assert_non_null(strstr(print(mr_progress_print_json, &p, &a),
                           "100125.500},\"durability\":\"interval\",\"stateOperators\""));
    p.durability = "epoch";
    p.is_idle = true;
    p.bad_records = 3;
    assert_string_equal(print(mr_progress_print_line, &p, &a),
                        "events \"5m\"  waiting for data, next batch 7  "
                        "watermark 2026-01-01 11:50:00  3 bad records");
    mr_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_sparks_names_in_sparks_order),
        cmocka_unit_test(what_is_not_there_is_left_out),
        cmocka_unit_test(a_line_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
