/* test_mode_matrix.c - query shapes in the three output modes: Spark's verdict for each. */
#include "core/mem/mem.h"
#include "tests/core/plan/case.h"

#define T "t WATERMARK ts DELAY OF INTERVAL 10 MINUTES"
#define U "u WATERMARK ut DELAY OF INTERVAL 10 MINUTES"
#define RANGE " a.k = b.k AND b.ut >= a.ts AND b.ut <= a.ts + INTERVAL 1 HOUR"
#define RANGE_RIGHT " a.k = b.k AND b.ut >= a.ts AND b.ut <= a.ts + INTERVAL 1 HOUR"
#define WIN "window(ts, '5 minutes')"
#define AGG(call) "q: SELECT " WIN ", " call " AS x FROM " T " GROUP BY " WIN

/* Steps: "name: SQL", "name: WATERMARK input column delay", "name: DEDUP input key..", "name:
 * WITHIN ..". */
static const struct {
    const char *q;
    const char *steps[4];
} shapes[] = {
    {"map/filter/project", {"q: SELECT id, v + 1 AS w FROM t WHERE v > 1"}},
    {"explode", {"q: SELECT id, explode(a) AS x FROM t"}},
    {"agg no wm", {"q: SELECT k, count(*) AS n FROM t GROUP BY k"}},
    {"global agg no wm", {"q: SELECT count(*) AS n FROM t"}},
    {"windowed agg no wm", {"q: SELECT count(*) AS n FROM t GROUP BY " WIN}},
    {"windowed agg wm", {AGG("count(*)")}},
    {"agg by key only, wm col not in group", {"q: SELECT k, count(*) AS n FROM " T " GROUP BY k"}},
    {"agg grouped by wm ts itself", {"q: SELECT ts, count(*) AS n FROM " T " GROUP BY ts"}},
    {"session_window wm",
     {"q: SELECT k, count(*) AS n FROM " T " GROUP BY session_window(ts, '5 minutes'), k"}},
    {"session_window wm, no key",
     {"q: SELECT count(*) AS n FROM " T " GROUP BY session_window(ts, '5 minutes')"}},
    {"session_window no wm",
     {"q: SELECT k, count(*) AS n FROM t GROUP BY session_window(ts, '5 minutes'), k"}},
    {"distinct()", {"q: DEDUP t"}},
    {"distinct() incl wm col", {"w: WATERMARK t ts 10m", "q: DEDUP w"}},
    {"dropDuplicates key no wm", {"q: DEDUP t id"}},
    {"dropDuplicates key+ts wm", {"w: WATERMARK t ts 10m", "q: DEDUP w id ts"}},
    {"dropDuplicatesWithinWatermark wm", {"w: WATERMARK t ts 10m", "q: WITHIN w id"}},
    {"dropDuplicatesWithinWatermark no wm", {"q: WITHIN t id"}},
    {"dropDuplicates then windowed agg",
     {"w: WATERMARK t ts 10m", "d: DEDUP w id ts", "q: SELECT count(*) AS n FROM d GROUP BY " WIN}},
    {"windowed agg then windowed agg (chained)",
     {"a: SELECT window_time(w) AS wt, n FROM (SELECT window AS w, count(*) AS n FROM " T
      " GROUP BY " WIN ")",
      "q: SELECT sum(n) AS s FROM a GROUP BY window(wt, '10 minutes')"}},
    {"windowed agg then window(window,..)",
     {"q: SELECT sum(n) AS s FROM (SELECT window AS w, count(*) AS n FROM " T " GROUP BY " WIN
      ") GROUP BY window(w, '10 minutes')"}},
    {"agg no wm then agg",
     {"q: SELECT max(n) AS m FROM (SELECT k, count(*) AS n FROM t GROUP BY k)"}},
    {"windowed agg then dropDuplicates(key only)",
     {"a: SELECT window AS w, k, count(*) AS n FROM " T " GROUP BY " WIN ", k", "q: DEDUP a k"}},
    {"stream-static inner", {"q: SELECT * FROM t a JOIN dim b ON a.k = b.k"}},
    {"stream-static left", {"q: SELECT * FROM t a LEFT JOIN dim b ON a.k = b.k"}},
    {"stream-static right", {"q: SELECT * FROM t a RIGHT JOIN dim b ON a.k = b.k"}},
    {"stream-static full", {"q: SELECT * FROM t a FULL JOIN dim b ON a.k = b.k"}},
    {"stream-static leftsemi", {"q: SELECT * FROM t a LEFT SEMI JOIN dim b ON a.k = b.k"}},
    {"stream-static leftanti", {"q: SELECT * FROM t a LEFT ANTI JOIN dim b ON a.k = b.k"}},
    {"static-stream inner", {"q: SELECT * FROM dim a JOIN t b ON a.k = b.k"}},
    {"static-stream left", {"q: SELECT * FROM dim a LEFT JOIN t b ON a.k = b.k"}},
    {"static-stream right", {"q: SELECT * FROM dim a RIGHT JOIN t b ON a.k = b.k"}},
    {"static-stream leftsemi", {"q: SELECT * FROM dim a LEFT SEMI JOIN t b ON a.k = b.k"}},
    {"static-stream leftanti", {"q: SELECT * FROM dim a LEFT ANTI JOIN t b ON a.k = b.k"}},
    {"ss inner no wm", {"q: SELECT id, w FROM t a JOIN u b ON a.k = b.k"}},
    {"ss inner wm+range", {"q: SELECT id, w FROM " T " a JOIN " U " b ON" RANGE}},
    {"ss left no wm", {"q: SELECT id, w FROM t a LEFT JOIN u b ON a.k = b.k"}},
    {"ss left wm both no range", {"q: SELECT id, w FROM " T " a LEFT JOIN " U " b ON a.k = b.k"}},
    {"ss left wm right only + range", {"q: SELECT id, w FROM t a LEFT JOIN " U " b ON" RANGE}},
    {"ss left wm left only + range", {"q: SELECT id, w FROM " T " a LEFT JOIN u b ON" RANGE}},
    {"ss left wm both + range", {"q: SELECT id, w FROM " T " a LEFT JOIN " U " b ON" RANGE}},
    {"ss right wm left only + range",
     {"q: SELECT id, w FROM " T " a RIGHT JOIN u b ON" RANGE_RIGHT}},
    {"ss right wm both + range",
     {"q: SELECT id, w FROM " T " a RIGHT JOIN " U " b ON" RANGE_RIGHT}},
    {"ss full wm both + range", {"q: SELECT id, w FROM " T " a FULL JOIN " U " b ON" RANGE}},
    {"ss full wm one + range", {"q: SELECT id, w FROM t a FULL JOIN " U " b ON" RANGE}},
    {"ss leftsemi wm both + range", {"q: SELECT id FROM " T " a LEFT SEMI JOIN " U " b ON" RANGE}},
    {"ss leftanti wm both + range", {"q: SELECT id FROM " T " a LEFT ANTI JOIN " U " b ON" RANGE}},
    {"ss cross", {"q: SELECT id, w FROM t a CROSS JOIN u b"}},
    {"ss window-equi join left",
     {"q: SELECT id FROM (SELECT id, k, window(ts, '5 minutes') AS x FROM " T
      ") a LEFT JOIN (SELECT k, window(ut, '5 minutes') AS x FROM " U
      ") b ON a.k = b.k AND a.x = b.x"}},
    {"ss range join then windowed agg",
     {"j: SELECT a.ts AS ts, w FROM " T " a JOIN " U " b ON" RANGE,
      "q: SELECT count(*) AS n FROM j GROUP BY " WIN}},
    {"windowed agg both sides then join on window",
     {"q: SELECT n, m FROM (SELECT window AS x, count(*) AS n FROM " T " GROUP BY " WIN
      ") a JOIN (SELECT window AS x, count(*) AS m FROM " U
      " GROUP BY window(ut, '5 minutes')) b ON a.x = b.x"}},
    {"sort", {"q: SELECT id FROM t ORDER BY id"}},
    {"sort after agg", {"q: SELECT k, count(*) AS n FROM t GROUP BY k ORDER BY n"}},
    {"sort before agg",
     {"q: SELECT k, count(*) AS n FROM (SELECT k FROM t ORDER BY k) GROUP BY k"}},
    {"limit", {"q: SELECT id FROM t LIMIT 3"}},
    {"limit after agg", {"q: SELECT k, count(*) AS n FROM t GROUP BY k LIMIT 3"}},
    {"offset", {"q: SELECT id FROM t OFFSET 3"}},
    {"sample", {"q: SELECT id FROM t TABLESAMPLE (50 PERCENT)"}},
    {"rank() over window", {"q: SELECT id, rank() OVER (PARTITION BY k ORDER BY v) AS r FROM t"}},
    {"count distinct", {AGG("count(DISTINCT v)")}},
    {"approx_count_distinct", {AGG("approx_count_distinct(v)")}},
    {"sum distinct", {AGG("sum(DISTINCT v)")}},
    {"grouping sets/cube", {"q: SELECT k, count(*) AS n FROM " T " GROUP BY CUBE (" WIN ", k)"}},
    {"rollup", {"q: SELECT k, count(*) AS n FROM " T " GROUP BY ROLLUP (" WIN ", k)"}},
    {"pivot",
     {"q: SELECT * FROM (SELECT window(ts, '5 minutes') AS x, k, v FROM " T
      ") PIVOT (sum(v) FOR k IN ('a', 'b'))"}},
    {"union stream-stream", {"q: SELECT k FROM t UNION ALL SELECT k FROM u"}},
    {"union stream-static", {"q: SELECT k FROM t UNION ALL SELECT k FROM dim"}},
    {"except stream-static", {"q: SELECT k FROM t EXCEPT SELECT k FROM dim"}},
    {"except static-stream", {"q: SELECT k FROM dim EXCEPT SELECT k FROM t"}},
    {"intersect stream-static", {"q: SELECT k FROM t INTERSECT SELECT k FROM dim"}},
    {"intersect stream-stream", {"q: SELECT k FROM t INTERSECT SELECT k FROM u"}},
    {"unionByName 2 wm sources + windowed agg",
     {"u2: SELECT k, ts FROM " T " UNION ALL SELECT k, ut FROM " U,
      "q: SELECT count(*) AS n FROM u2 GROUP BY " WIN}},
    {"monotonically_increasing_id", {"q: SELECT id, monotonically_increasing_id() AS m FROM t"}},
    {"spark_partition_id", {"q: SELECT id, spark_partition_id() AS p FROM t"}},
    {"rand/uuid", {"q: SELECT rand() AS r, uuid() AS u FROM t"}},
    {"current_timestamp", {"q: SELECT id, current_timestamp() AS now FROM t"}},
    {"collect_list agg", {AGG("collect_list(v)")}},
    {"percentile_approx agg", {AGG("percentile_approx(v, 0.5)")}},
    {"percentile exact agg", {AGG("percentile(v, 0.5)")}},
    {"mode() agg", {AGG("mode(v)")}},
    {"min_by/max_by", {AGG("max_by(v, id)")}},
    {"first/last agg", {AGG("first(v)")}},
    {"withWatermark on string col", {"q: WATERMARK t s 10m"}},
    {"withWatermark negative", {"q: SELECT id FROM t WATERMARK ts DELAY OF INTERVAL -1 SECOND"}},
    {"withWatermark month interval",
     {"q: SELECT count(*) AS n FROM t WATERMARK ts DELAY OF INTERVAL 1 MONTH GROUP BY " WIN}},
    {"scalar subquery w/ stream", {"q: SELECT id, (SELECT max(w) FROM dim) AS m FROM t"}},
    {"stateful in self-union",
     {"a: SELECT window.start AS x, count(*) AS n FROM " T " GROUP BY " WIN,
      "q: SELECT x, n FROM a UNION ALL SELECT x, n FROM a"}},
};

static const char sources[] =
    "{\"sources\": {\"t\": {\"schema\": \"id STRING, k STRING, v INT, s STRING, ts TIMESTAMP, a "
    "ARRAY<INT>\"},"
    " \"u\": {\"schema\": \"k STRING, w INT, ut TIMESTAMP\"}},"
    " \"tables\": {\"dim\": {\"schema\": \"k STRING, name STRING, w INT\"}}}";

static struct mr_relation *shape_step(const char *text, struct mr_arena *a, struct mr_error *err)
{
    struct mr_relation *r = MR_NEW(a, struct mr_relation);
    char *words[8] = {0}, *rest = mr_arena_copy(a, text, strlen(text)), *save = NULL;
    int n = 0;

    if (strncmp(text, "WATERMARK ", 10) != 0 && strncmp(text, "DEDUP ", 6) != 0 &&
        strncmp(text, "WITHIN ", 7) != 0)
        return mr_sql_parse_query(mr_text_of(text), a, &r, err) == MR_OK ? r : NULL;
    for (char *w = strtok_r(rest, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
        words[n++] = w;
    r->input = case_read(words[1], a);
    r->within_watermark = words[0][0] == 'W' && words[0][1] == 'I';
    r->kind = words[0][1] == 'A' ? MR_REL_WITH_WATERMARK : MR_REL_DEDUPLICATE;
    r->delay = "10 minutes";
    r->columns = MR_NEW_ARRAY(a, const char *, n);
    for (int i = 2; i < n; i++)
        r->columns[r->columns_n++] = words[i];
    if (r->kind == MR_REL_WITH_WATERMARK) {
        r->watermark = MR_NEW(a, struct mr_ast);
        r->watermark->kind = MR_AST_NAME;
        r->watermark->parts = r->columns;
        r->watermark->parts_n = 1;
    }
    return r;
}

static struct mr_session *shape_session(const char *const *steps, struct mr_arena *a,
                                        struct mr_error *err)
{
    struct json_reader r = {.at = sources, .end = sources + sizeof sources - 1, .arena = a};
    struct mr_session *s = case_session(json_value(&r), a, err);
    struct mr_view_definition *v = MR_NEW_ARRAY(a, struct mr_view_definition, 4);

    s->views = v;
    for (int i = 0; i < 4 && steps[i] != NULL; i++) {
        const char *colon = strchr(steps[i], ':');

        v[i].name = mr_arena_copy(a, steps[i], (size_t)(colon - steps[i]));
        v[i].relation = shape_step(colon + 2, a, err);
        if (v[i].relation == NULL)
            return NULL;
        s->views_n++;
    }
    return s;
}

/* "OK", "AnalysisException:CONDITION|message", "RUN-FAIL:STREAM_FAILED|.. exception: message". */
static bool agrees(const char *want, enum mr_status status, const struct mr_error *err)
{
    const char *bar = strchr(want, '|'), *colon = strchr(want, ':');
    const char *cause = strstr(want, "with exception: ");

    if (strcmp(want, "OK") == 0)
        return status == MR_OK || status == MR_UNSUPPORTED;
    if (status == MR_OK || bar == NULL)
        return false;
    if (cause != NULL) {
        cause += strlen("with exception: ");
        if (*cause == '[')
            return strlen(err->condition) > 0 &&
                   strncmp(cause + 1, err->condition, strcspn(cause, " ") / 2) == 0;
        return strncmp(cause, err->message, 20) == 0;
    }
    if (strncmp(colon + 1, "None|", 5) == 0)
        return strcmp(err->condition, "IllegalArgumentException") == 0;
    if (strncmp(colon + 1, err->condition, (size_t)(bar - colon - 1)) != 0)
        return false;
    return strncmp(err->condition, "_LEGACY", 7) != 0 || strncmp(bar + 1, err->message, 50) == 0;
}

static int run_shape(const struct json *line, const char *const *steps, struct mr_arena *a)
{
    static const char *const modes[] = {"append", "update", "complete"};
    int failed = 0;

    for (int mode = 0; mode < 3; mode++) {
        const char *want = json_get_text(line, modes[mode]);
        struct mr_plan_request request = {
            .streaming = true, .mode = case_mode(modes[mode]), .workers = 2};
        struct mr_error err = {0};
        struct mr_session *s = shape_session(steps, a, &err);
        struct mr_physical_plan *plan;
        enum mr_status status =
            s == NULL ? err.status : mr_plan_query(s, &request, &plan, NULL, &err);

        if (agrees(want, status, &err))
            continue;
        failed++;
        printf("FAILED %s, %s: want %.150s\n   got %s %s\n", json_get_text(line, "q"), modes[mode],
               want, status == MR_OK ? "a plan" : err.condition,
               status == MR_OK ? "" : err.message);
    }
    return failed;
}

static int check(struct mr_arena *a, struct mr_arena *paths)
{
    FILE *f = fopen(case_path("mode_matrix.jsonl", paths), "r");
    char *text = NULL;
    size_t room = 0, seen = 0;
    int failed = 0;
    ssize_t n;

    if (f == NULL)
        return 77;
    while ((n = getline(&text, &room, f)) > 0) {
        struct json_reader r = {.at = text, .end = text + n, .arena = a};
        const struct json *line;

        mr_arena_reset(a);
        line = json_value(&r);
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            if (strcmp(shapes[i].q, json_get_text(line, "q")) == 0) {
                failed += run_shape(line, shapes[i].steps, a);
                seen++;
            }
    }
    free(text);
    fclose(f);
    printf("%zu of %zu shapes, %d verdicts differ\n", seen, sizeof shapes / sizeof *shapes, failed);
    return failed != 0 || seen != sizeof shapes / sizeof *shapes;
}

int main(void)
{
    return case_main(check);
}
