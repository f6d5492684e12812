/* stream_rules.c - what Spark refuses in a stream, by output mode.
 *
 * Order    Spark's: not a stream; aggregates against the mode; node by node from below; last the
 *          chain of stateful operators. A WITH is seen as Spark sees it: each definition for
 *          itself, and a reference to it as a leaf, so that what hides behind a name is not found
 *          by the checks above it.
 */
#include "core/plan/logical.h"

#include <stdio.h>

#define UNSUPPORTED_OPERATION "_LEGACY_ERROR_TEMP_3102"

struct rules {
    enum mr_output_mode mode;
    const struct mr_conf *conf;
    struct mr_error *err;
};

static const char *const modes[] = {"append", "update", "complete"};
static const char *const Modes[] = {"Append", "Update", "Complete"};

static enum mr_status fail_at(const struct rules *r, const struct mr_logical *node)
{
    r->err->line = node->place.line;
    r->err->column = node->place.column;
    return r->err->status;
}

#define REFUSE(r, node, ...)                                                                       \
    ((void)MR_FAIL_CONDITION((r)->err, MR_USER, UNSUPPORTED_OPERATION, __VA_ARGS__),               \
     fail_at(r, node))

static bool is_aggregate(const struct mr_logical *node)
{
    return node->streaming && (node->kind == MR_LOGICAL_AGGREGATE ||
                               node->kind == MR_LOGICAL_DISTINCT || node->kind == MR_LOGICAL_PIVOT);
}

/* The first in pre-order. */
const struct mr_logical *mr_first_aggregate(const struct mr_logical *node)
{
    const struct mr_logical *found = is_aggregate(node) ? node : NULL;

    for (uint32_t i = 0; found == NULL && i < node->children_n; i++)
        found = mr_first_aggregate(node->children[i]);
    return found;
}

static const struct mr_attribute *keys_of(const struct mr_logical *aggregate, uint32_t *n)
{
    bool grouped = aggregate->kind == MR_LOGICAL_AGGREGATE;

    *n = grouped ? aggregate->groups_n : aggregate->output_n;
    return grouped ? aggregate->group_attributes : aggregate->output;
}

static enum mr_status bad_mode(const struct rules *r, const struct mr_logical *node,
                               const char *what)
{
    (void)MR_FAIL_CONDITION(
        r->err, MR_USER, "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
        "Invalid streaming output mode: %s. This output mode is not supported for %s on "
        "streaming DataFrames/DataSets.",
        modes[r->mode], what);
    return fail_at(r, node);
}

static enum mr_status no_watermark(const struct rules *r, const struct mr_logical *aggregate)
{
    enum mr_status status = bad_mode(r, aggregate, "streaming aggregations without watermark");
    size_t n = r->err ? strlen(r->err->message) : 0;

    if (r->err)
        snprintf(r->err->message + n, sizeof r->err->message - n,
                 " Add a watermark to the time that is grouped by, or take another output mode.");
    return status;
}

static enum mr_status check_mode(const struct rules *r, const struct mr_logical *plan)
{
    const struct mr_logical *aggregate = mr_first_aggregate(plan);
    const struct mr_attribute *keys;
    bool timed = false, session = false;
    uint32_t n;

    if (aggregate == NULL)
        return r->mode == MR_COMPLETE ? bad_mode(r, plan, "no streaming aggregations") : MR_OK;
    keys = keys_of(aggregate, &n);
    for (uint32_t i = 0; i < n; i++) {
        timed |= keys[i].event_time;
        session |= keys[i].session;
    }
    if (r->mode == MR_APPEND && !timed)
        return no_watermark(r, aggregate);
    if (r->mode == MR_UPDATE && session)
        return bad_mode(r, aggregate, "session window streaming aggregations");
    return MR_OK;
}

/* Some part of x that Spark does not allow in a stream. */
static const struct mr_expr *unsupported_part(const struct mr_expr *x)
{
    if (mr_expr_is_call(x, "monotonically_increasing_id"))
        return x;
    for (uint32_t i = 0; i < x->args_n; i++) {
        const struct mr_expr *found = unsupported_part(x->args[i]);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static enum mr_status check_expressions(const struct rules *r, const struct mr_logical *node)
{
    for (uint32_t i = 0; i < node->exprs_n; i++) {
        const struct mr_expr *x = unsupported_part(node->exprs[i]);
        if (x != NULL)
            return REFUSE(r, node,
                          "Expression(s): %s is not supported with streaming DataFrames/Datasets",
                          x->text);
    }
    return MR_OK;
}

static const char *join_name(enum mr_join_kind kind)
{
    static const char *const names[] = {"Inner",    "LeftOuter", "RightOuter", "FullOuter",
                                        "LeftSemi", "LeftAnti",  "Cross"};
    return names[kind];
}

static bool is_event_time(const struct mr_logical *side, const struct mr_expr *x)
{
    if (x->kind == MR_EXPR_COLUMN) {
        const struct mr_attribute *a = mr_attribute_find(side->output, side->output_n, x->index);
        return a != NULL && a->event_time;
    }
    return false;
}

/* x refers to side only; *timed: to its event time. */
static bool is_of_side(const struct mr_logical *side, const struct mr_expr *x, bool *timed)
{
    if (x->kind == MR_EXPR_COLUMN) {
        *timed |= is_event_time(side, x);
        return mr_attribute_find(side->output, side->output_n, x->index) != NULL;
    }
    for (uint32_t i = 0; i < x->args_n; i++)
        if (!is_of_side(side, x->args[i], timed))
            return false;
    return true;
}

static const struct mr_expr *strip_casts(const struct mr_expr *x)
{
    while (x->kind == MR_EXPR_CALL && x->args_n == 1 && strstr(x->function->name, "cast") != NULL)
        x = x->args[0];
    return x;
}

/* Does the condition bound state of side by the watermark? An equality on an event time does (on
 * either side), and so does a comparison of times that sets a lower bound for side by the other's
 * event time. */
static bool bounds_state(const struct mr_expr *x, const struct mr_logical *side,
                         const struct mr_logical *other)
{
    const struct mr_expr *a, *b;
    bool less, greater;

    if (mr_expr_is_call(x, "and")) {
        for (uint32_t i = 0; i < x->args_n; i++)
            if (bounds_state(x->args[i], side, other))
                return true;
        return false;
    }
    if (x->kind != MR_EXPR_CALL || x->args_n != 2)
        return false;
    a = strip_casts(x->args[0]);
    b = strip_casts(x->args[1]);
    if (mr_expr_is_call(x, "=")) {
        bool a_timed = is_event_time(side, a) || is_event_time(other, a);
        bool b_timed = is_event_time(side, b) || is_event_time(other, b);
        return a_timed || b_timed;
    }
    less = mr_expr_is_call(x, "<") || mr_expr_is_call(x, "<=");
    greater = mr_expr_is_call(x, ">") || mr_expr_is_call(x, ">=");
    if (less || greater) {
        const struct mr_expr *small = less ? a : b, *big = less ? b : a;
        bool side_timed = false, other_timed = false;

        /* other's time <= f(side's time): a side row is done once other's watermark passed it */
        return is_of_side(other, small, &other_timed) && is_of_side(side, big, &side_timed) &&
               other_timed && big->type->kind == MR_TIMESTAMP;
    }
    return false;
}

static bool preserved_side_is_bounded(const struct mr_logical *join)
{
    const struct mr_logical *left = join->children[0], *right = join->children[1];
    const struct mr_expr *on = join->exprs_n ? join->exprs[0] : NULL;

    if (on == NULL)
        return false;
    switch (join->join_kind) {
    case MR_JOIN_LEFT:
    case MR_JOIN_SEMI:
        return bounds_state(on, left, right);
    case MR_JOIN_RIGHT:
        return bounds_state(on, right, left);
    default:
        return bounds_state(on, left, right) || bounds_state(on, right, left);
    }
}

static enum mr_status check_stream_join(const struct rules *r, const struct mr_logical *node)
{
    enum mr_join_kind kind = node->join_kind;
    const char *name = join_name(kind);
    bool any_mode = kind == MR_JOIN_INNER || kind == MR_JOIN_CROSS || kind == MR_JOIN_SEMI;

    if (kind == MR_JOIN_ANTI)
        return REFUSE(
            r, node,
            "LeftAnti joins with a streaming DataFrame/Dataset on the right are not supported");
    if (any_mode && r->mode == MR_COMPLETE)
        return REFUSE(
            r, node,
            "%s join between two streaming DataFrames/Datasets is not supported in Complete output "
            "mode, only in Append and Update output modes",
            name);
    if (!any_mode && r->mode != MR_APPEND)
        return REFUSE(
            r, node,
            "%s join between two streaming DataFrames/Datasets is not supported in %s output mode, "
            "only in Append output mode",
            name, Modes[r->mode]);
    if (kind == MR_JOIN_INNER || kind == MR_JOIN_CROSS || preserved_side_is_bounded(node))
        return MR_OK;
    return REFUSE(
        r, node,
        "Stream-stream %s join between two streaming DataFrame/Datasets is not supported without a "
        "watermark in the join keys, or a watermark on the nullable side and an appropriate range "
        "condition",
        name);
}

static enum mr_status check_join(const struct rules *r, const struct mr_logical *node)
{
    bool left = node->children[0]->streaming, right = node->children[1]->streaming;
    const char *name = join_name(node->join_kind);

    if (left && right)
        return check_stream_join(r, node);
    switch (node->join_kind) {
    case MR_JOIN_FULL:
        return REFUSE(r, node,
                      "FullOuter joins with streaming DataFrames/Datasets on the %s and a static "
                      "DataFrame/Dataset on the %s is not supported",
                      left ? "left" : "right", left ? "right" : "left");
    case MR_JOIN_LEFT:
    case MR_JOIN_SEMI:
        return right
                   ? REFUSE(r, node,
                            "%s join with a streaming DataFrame/Dataset on the right and a static "
                            "DataFrame/Dataset on the left is not supported",
                            name)
                   : MR_OK;
    case MR_JOIN_ANTI:
        return right ? REFUSE(r, node,
                              "LeftAnti joins with a streaming DataFrame/Dataset on the right are "
                              "not supported")
                     : MR_OK;
    case MR_JOIN_RIGHT:
        return left ? REFUSE(r, node,
                             "RightOuter join with a streaming DataFrame/Dataset on the left and a "
                             "static DataFrame/DataSet on the right not supported")
                    : MR_OK;
    default:
        return MR_OK;
    }
}

/* Late rows are told by one column: of several event times among the keys Spark takes none. */
static enum mr_status check_event_times(const struct rules *r, const struct mr_logical *node,
                                        const struct mr_attribute *keys, uint32_t n)
{
    uint32_t first = 0, times = 0;

    for (uint32_t i = 0; i < n; i++)
        if (keys[i].event_time && (times == 0 || keys[i].id != first)) {
            first = keys[i].id;
            times++;
        }
    if (times < 2 || r->mode == MR_COMPLETE)
        return MR_OK;
    (void)MR_FAIL_CONDITION(
        r->err, MR_USER, "_LEGACY_ERROR_TEMP_3077",
        "More than one event time columns are available. Please ensure there is "
        "at most one event time column among the keys.");
    return fail_at(r, node);
}

static enum mr_status check_aggregate(const struct rules *r, const struct mr_logical *node)
{
    for (uint32_t i = 0; i < node->aggregates_n; i++)
        if (node->aggregates[i].distinct)
            return REFUSE(
                r, node,
                "Distinct aggregations are not supported on streaming DataFrames/Datasets. "
                "Consider using approx_count_distinct() instead.");
    return check_event_times(r, node, node->group_attributes, node->groups_n);
}

static enum mr_status check_within(const struct rules *r, const struct mr_logical *node)
{
    for (uint32_t i = 0; i < node->output_n; i++)
        if (node->output[i].event_time)
            return MR_OK;
    return REFUSE(r, node,
                  "dropDuplicatesWithinWatermark is not supported on streaming DataFrames/DataSets "
                  "without watermark");
}

static enum mr_status check_window(const struct rules *r, const struct mr_logical *node)
{
    (void)MR_FAIL_CONDITION(
        r->err, MR_USER, "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING",
        "Window function is not supported in %s on streaming DataFrames/Datasets. "
        "Structured Streaming only supports time-window aggregation using the WINDOW "
        "function.",
        node->name);
    return fail_at(r, node);
}

static enum mr_status check_node(const struct rules *r, const struct mr_logical *node)
{
    const struct mr_logical *child = node->children_n ? node->children[0] : NULL;

    switch (node->kind) {
    case MR_LOGICAL_AGGREGATE:
        return check_aggregate(r, node);
    case MR_LOGICAL_DISTINCT:
        return check_event_times(r, node, node->output, node->output_n);
    case MR_LOGICAL_DEDUPLICATE:
        return node->within ? check_within(r, node) : MR_OK;
    case MR_LOGICAL_JOIN:
        return check_join(r, node);
    case MR_LOGICAL_UNION:
        return node->children[0]->streaming != node->children[1]->streaming
                   ? REFUSE(
                         r, node,
                         "Union between streaming and batch DataFrames/Datasets is not supported")
                   : MR_OK;
    case MR_LOGICAL_EXCEPT:
        return node->children[1]->streaming
                   ? REFUSE(r, node,
                            "Except on a streaming DataFrame/Dataset on the right is not supported")
                   : MR_OK;
    case MR_LOGICAL_INTERSECT:
        return REFUSE(r, node, "Intersect of streaming DataFrames/Datasets is not supported");
    case MR_LOGICAL_LIMIT:
        return r->mode == MR_UPDATE ? REFUSE(r, node,
                                             "Limits are not supported on streaming "
                                             "DataFrames/Datasets in Update output mode")
                                    : MR_OK;
    case MR_LOGICAL_OFFSET:
        return REFUSE(r, node, "Offset is not supported on streaming DataFrames/Datasets");
    case MR_LOGICAL_SORT:
        return r->mode == MR_COMPLETE && mr_first_aggregate(child) != NULL
                   ? MR_OK
                   : REFUSE(
                         r, node,
                         "Sorting is not supported on streaming DataFrames/Datasets, unless it is "
                         "on aggregated DataFrame/Dataset in Complete output mode");
    case MR_LOGICAL_SAMPLE:
        return REFUSE(r, node, "Sampling is not supported on streaming DataFrames/Datasets");
    case MR_LOGICAL_WINDOW:
        return check_window(r, node);
    default:
        return MR_OK;
    }
}

static enum mr_status check_nodes(const struct rules *r, const struct mr_logical *node)
{
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < node->children_n && status == MR_OK; i++)
        status = check_nodes(r, node->children[i]);
    if (status == MR_OK && node->streaming)
        status = check_expressions(r, node);
    return status == MR_OK && node->streaming ? check_node(r, node) : status;
}

static bool is_stateful(const struct mr_logical *node)
{
    if (!node->streaming)
        return false;
    if (node->kind == MR_LOGICAL_JOIN)
        return node->children[0]->streaming && node->children[1]->streaming;
    if (node->kind == MR_LOGICAL_DEDUPLICATE && !node->within) {
        for (uint32_t i = 0; i < node->keys_n; i++)
            if (mr_attribute_find(node->output, node->output_n, node->keys[i])->event_time)
                return true;
        return false;
    }
    return is_aggregate(node) || node->kind == MR_LOGICAL_DEDUPLICATE;
}

static enum mr_status check_chain(const struct rules *r, const struct mr_logical *node)
{
    enum mr_status status = MR_OK;
    bool late = false;

    if (is_stateful(node)) {
        late = node->kind == MR_LOGICAL_PIVOT; /* two aggregations */
        for (uint32_t i = 0; i < node->children_n && !late; i++)
            late = mr_first_aggregate(node->children[i]) != NULL;
    }
    if (late)
        return REFUSE(
            r, node,
            "Detected pattern of possible 'correctness' issue due to global watermark. The query "
            "contains stateful operation which can emit rows older than the current watermark plus "
            "allowed late record delay, which are \"late rows\" in downstream stateful operations "
            "and these rows can be discarded. If you understand the possible risk of correctness "
            "issue and still need to run the query, you can disable this check by setting the "
            "config `spark.sql.streaming.statefulOperator.checkCorrectness.enabled` to false.");
    for (uint32_t i = 0; i < node->children_n && status == MR_OK; i++)
        status = check_chain(r, node->children[i]);
    return status;
}

static bool has_watermark(const struct mr_logical *node)
{
    bool found = node->kind == MR_LOGICAL_WATERMARK;

    if (node->kind == MR_LOGICAL_CTE_REF)
        return has_watermark(node->definition);
    for (uint32_t i = 0; i < node->children_n && !found; i++)
        found = has_watermark(node->children[i]);
    return found;
}

/* Spark tells of it in the first batch that has a watermark. */
static enum mr_status check_watermarks(const struct rules *r, const struct mr_logical *node)
{
    enum mr_status status = MR_OK;

    if (node->kind == MR_LOGICAL_WATERMARK && has_watermark(node->children[0])) {
        (void)MR_FAIL_CONDITION(r->err, MR_USER, "_LEGACY_ERROR_TEMP_3076",
                                "Redefining watermark is disallowed.");
        return fail_at(r, node);
    }
    for (uint32_t i = 0; i < node->children_n && status == MR_OK; i++)
        status = check_watermarks(r, node->children[i]);
    return status;
}

static bool has_equality(const struct mr_logical *join, const struct mr_expr *x)
{
    bool timed = false;

    if (mr_expr_is_call(x, "and")) {
        for (uint32_t i = 0; i < x->args_n; i++)
            if (has_equality(join, x->args[i]))
                return true;
        return false;
    }
    if (!mr_expr_is_call(x, "=") && !mr_expr_is_call(x, "<=>"))
        return false;
    return (is_of_side(join->children[0], x->args[0], &timed) &&
            is_of_side(join->children[1], x->args[1], &timed)) ||
           (is_of_side(join->children[1], x->args[0], &timed) &&
            is_of_side(join->children[0], x->args[1], &timed));
}

/* What Spark finds only when it makes the physical plan. */
static enum mr_status check_planning(const struct rules *r, const struct mr_logical *node)
{
    enum mr_status status = MR_OK;
    bool session = false, other = false;

    for (uint32_t i = 0; i < node->children_n && status == MR_OK; i++)
        status = check_planning(r, node->children[i]);
    if (status != MR_OK || !node->streaming)
        return status;
    if (node->kind == MR_LOGICAL_JOIN && node->children[0]->streaming &&
        node->children[1]->streaming &&
        (node->exprs_n == 0 || !has_equality(node, node->exprs[0]))) {
        (void)MR_FAIL_CONDITION(r->err, MR_USER, "_LEGACY_ERROR_TEMP_1181",
                                "Stream-stream join without equality predicate is not supported.");
        return fail_at(r, node);
    }
    for (uint32_t i = 0; i < node->groups_n && node->kind == MR_LOGICAL_AGGREGATE; i++)
        node->group_attributes[i].session ? (session = true) : (other = true);
    if (session && !other) {
        (void)MR_FAIL_CONDITION(
            r->err, MR_USER, "_LEGACY_ERROR_TEMP_3068",
            "Global aggregation with session window in streaming query is not supported.");
        return fail_at(r, node);
    }
    if (r->mode == MR_APPEND && (is_aggregate(node) || node->kind == MR_LOGICAL_EXCEPT)) {
        uint32_t n;
        const struct mr_attribute *keys = keys_of(node, &n);

        for (uint32_t i = 0; i < n; i++)
            if (keys[i].event_time)
                return MR_OK;
        (void)MR_FAIL_CONDITION(r->err, MR_USER, "UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK",
                                "Append output mode not supported for aggregations on streaming "
                                "DataFrames/DataSets without watermark.");
        return fail_at(r, node);
    }
    return MR_OK;
}

enum mr_status mr_stream_rules_check(const struct mr_logical *plan, bool streaming,
                                     enum mr_output_mode mode, const struct mr_conf *conf,
                                     struct mr_error *err)
{
    struct rules r = {mode, conf, err};
    enum mr_status status;

    if (!streaming)
        return plan->streaming ? REFUSE(&r, plan,
                                        "Queries with streaming sources must be executed with "
                                        "writeStream.start()")
                               : MR_OK;
    if (!plan->streaming)
        return MR_FAIL_CONDITION(
            err, MR_USER, "WRITE_STREAM_NOT_ALLOWED",
            "`writeStream` can be called only on streaming Dataset/DataFrame.");
    status = check_mode(&r, plan);
    if (status == MR_OK)
        status = check_nodes(&r, plan);
    if (status == MR_OK && conf->check_correctness && mode != MR_APPEND)
        status = check_chain(&r, plan);
    if (status == MR_OK)
        status = check_watermarks(&r, plan);
    return status == MR_OK ? check_planning(&r, plan) : status;
}
