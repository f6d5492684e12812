/* analyzer.h - what the analyze_*.c files share.
 *
 * Errors   Functions give NULL (or false) when they fail; the error is in an->err, with its place.
 * Depth    Syntax trees are bounded by the parser (MR_DEPTH_MAX); views and CTEs by views_n and
 *          depth.
 */
#pragma once
#include "core/base/check.h"
#include "core/expr/function.h"
#include "core/plan/logical.h"
#include "core/sql/parser.h"

struct mr_cte_scope { /* names visible to the query being analyzed; inner ones first */
    const char *name;
    struct mr_logical *plan;
    struct mr_cte_scope *next;
};

struct mr_analyzer {
    struct mr_arena *arena;
    const struct mr_session *session;
    struct mr_error *err;
    struct mr_resolve resolve;
    uint32_t next_id;
    uint32_t views_n; /* views before the one being analyzed */
    struct mr_cte_scope *ctes;
    uint32_t depth;
};

/* Where an expression stands: some places are named in errors, some allow more. */
enum mr_clause {
    MR_IN_SELECT,
    MR_IN_WHERE,
    MR_IN_GROUP_BY,
    MR_IN_HAVING,
    MR_IN_ORDER_BY,
    MR_IN_JOIN,
    MR_IN_VALUES
};

/* Time windows found in the expressions of one node: they become a column of a node below it. */
struct mr_time_window {
    struct mr_expr
        *call; /* window(..), session_window(..), window_time(..) over the child's columns */
    struct mr_attribute attribute;
    bool nested; /* of another window: stands above it */
};
struct mr_time_windows {
    struct mr_time_window *items;
    uint32_t n, capacity;
    struct mr_error bad; /* a window with wrong arguments: told after unknown names */
};

/* Aggregates found in the expressions of one node: they become columns of it. */
struct mr_aggregation {
    struct mr_logical_aggregate *items;
    uint32_t n, capacity;
    bool inside;                       /* an argument of an aggregate is being resolved */
    const struct mr_expr *grouping_id; /* GROUPING SETS: the column, else NULL */
    struct mr_expr *const *groups;     /* for grouping(x), as the user wrote them */
    uint32_t groups_n;
};

struct mr_lambda_frame { /* parameters of an enclosing lambda */
    const char *const *names;
    const struct mr_type *const *types;
    uint32_t n, first; /* number of the first parameter */
    struct mr_lambda_frame *next;
};

struct mr_scope {
    enum mr_clause clause;
    const struct mr_attribute *attributes; /* what names mean */
    uint32_t attributes_n;
    struct mr_scope *outer; /* LATERAL and correlated subqueries */
    /* Select items known by their alias where no column has the name: earlier ones, or all in GROUP
     * BY. */
    struct mr_ast *const *items;
    uint32_t items_n;
    /* Outputs known by their name before any column: HAVING, ORDER BY. */
    const struct mr_attribute *outputs;
    struct mr_expr *const *output_exprs;
    uint32_t outputs_n;
    struct mr_aggregation *aggregation; /* NULL: no aggregates here */
    struct mr_time_windows *windows;    /* NULL: no time windows here */
    struct mr_logical **over; /* OVER (..) calls: the child gets a WINDOW node; NULL: not here */
    struct mr_lambda_frame *lambdas;
};

struct mr_named { /* an item of a select list, or a key */
    struct mr_expr *expr;
    const char *name;
    bool aliased;
    struct mr_place place;
};

/* analyze.c */
struct mr_logical *mr_analyze(struct mr_analyzer *an, const struct mr_relation *r,
                              struct mr_scope *outer);
struct mr_attribute mr_attribute_new(struct mr_analyzer *an, const char *name,
                                     const struct mr_type *type, bool nullable);
/* The attribute that a named expression gives: a plain column keeps its id, an alias its
 * metadata. */
struct mr_attribute mr_attribute_of(struct mr_analyzer *an, const struct mr_named *x,
                                    const struct mr_attribute *from, uint32_t from_n);
/* Notes the place of the error in an->err; gives NULL. */
void *mr_analyze_fail_at(struct mr_analyzer *an, struct mr_place place);
#define MR_ANALYZE_FAIL(an, place, condition, ...)                                                 \
    ((void)MR_FAIL_CONDITION((an)->err, MR_USER, condition, __VA_ARGS__),                          \
     mr_analyze_fail_at(an, place))
struct mr_logical *mr_filter_new(struct mr_analyzer *an, struct mr_logical *child,
                                 struct mr_expr *condition, struct mr_place place);
/* Checks that condition is BOOLEAN and gives the FILTER node. */
struct mr_logical *mr_analyze_condition(struct mr_analyzer *an, struct mr_logical *child,
                                        struct mr_expr *condition, struct mr_place place);
/* Of columns that rows are compared by: false, with an error, if one holds a map. */
bool mr_analyze_no_map(struct mr_analyzer *an, const struct mr_attribute *list, uint32_t n,
                       struct mr_place place);
bool mr_same_name(const char *a, const char *b);

/* analyze_stream.c */
struct mr_logical *mr_analyze_watermark(struct mr_analyzer *an, const struct mr_relation *r,
                                        struct mr_scope *outer);
struct mr_logical *mr_analyze_deduplicate(struct mr_analyzer *an, const struct mr_relation *r,
                                          struct mr_scope *outer);

/* analyze_names.c */
bool mr_matches(const struct mr_analyzer *an, const char *a, const char *b);
struct mr_expr *mr_analyze_name(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x);
struct mr_expr *mr_analyze_field(struct mr_analyzer *an, struct mr_expr *x, const char *name,
                                 struct mr_place place);
/* Room for the columns of a star; gives their number, UINT32_MAX on failure. */
uint32_t mr_analyze_star(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x,
                         struct mr_named **out);
void *mr_unresolved_column(struct mr_analyzer *an, const struct mr_scope *s,
                           const char *const *parts, uint32_t parts_n, struct mr_place place);
void *mr_unresolved_table(struct mr_analyzer *an, const struct mr_relation *r);

/* An item of a list is named by its alias; within an expression an alias is part of its text. */
static inline const struct mr_ast *mr_without_alias(const struct mr_ast *x)
{
    return x->kind == MR_AST_ALIAS ? x->args[0] : x;
}

/* analyze_expr.c */
struct mr_expr *mr_analyze_expr(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x);
struct mr_expr *mr_call(struct mr_analyzer *an, const char *name, struct mr_expr **args,
                        uint32_t args_n, struct mr_place place, const char *text);
struct mr_expr *mr_literal_int(struct mr_analyzer *an, int64_t value);
/* The name of a select item without alias. */
const char *mr_item_name(const struct mr_ast *x, const struct mr_expr *e);
/* A literal after folding, or NULL with an error. */
struct mr_expr *mr_analyze_constant(struct mr_analyzer *an, struct mr_expr *x);

/* analyze_call.c */
struct mr_expr *mr_analyze_call(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x);
bool mr_is_aggregate_call(const struct mr_ast *x);
bool mr_has_aggregate(const struct mr_ast *x); /* outside OVER and subqueries */
bool mr_is_generator(const struct mr_ast *x);
/* The arguments; a star becomes all columns, or 1 for count(*). UINT32_MAX: failed. */
uint32_t mr_analyze_arguments(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x,
                              struct mr_expr ***out);
/* The function of that name, without case, or NULL. */
const struct mr_function *mr_find_function(const char *name);

/* analyze_lambda.c */
struct mr_expr *mr_analyze_higher_order(struct mr_analyzer *an, struct mr_scope *s,
                                        const struct mr_ast *x);

/* analyze_text.c: how Spark prints a call in column names and errors */
const char *mr_call_text(struct mr_analyzer *an, const struct mr_ast *x,
                         struct mr_expr *const *args, uint32_t args_n);
const char *mr_literal_text(struct mr_analyzer *an, const struct mr_column *value);

/* analyze_window.c */
bool mr_is_time_window(const char *name);
struct mr_expr *mr_analyze_time_window(struct mr_analyzer *an, struct mr_scope *s,
                                       const struct mr_ast *x);
/* Puts the nodes that compute the windows over child. NULL: wrong arguments, or two windows. */
struct mr_logical *mr_time_windows_place(struct mr_analyzer *an, struct mr_time_windows *w,
                                         struct mr_logical *child, struct mr_place place);

/* analyze_select.c; sort: an ORDER BY right above, which may see more than the select list gives */
struct mr_logical *mr_analyze_select(struct mr_analyzer *an, const struct mr_relation *r,
                                     struct mr_scope *outer, const struct mr_relation *sort);
struct mr_logical *mr_sort_new(struct mr_analyzer *an, struct mr_logical *child,
                               const struct mr_relation *r, struct mr_expr *const *keys);
/* analyze_generate.c */
/* GENERATE over child: its columns, then the generator's, named by columns (or the generator). */
struct mr_logical *mr_generate_new(struct mr_analyzer *an, struct mr_scope *s,
                                   struct mr_logical *child, const struct mr_ast *call,
                                   const char *qualifier, const char *const *columns,
                                   uint32_t columns_n, bool outer);

/* analyze_aggregate.c */
struct mr_select { /* a select list while it is analyzed */
    const struct mr_relation *relation;
    struct mr_logical *child;
    struct mr_scope scope;
    struct mr_time_windows windows;
    struct mr_aggregation aggregation;
    struct mr_ast **items; /* NULL: a column of a star, named has it */
    struct mr_named *named;
    uint32_t n;
    bool is_aggregate;
    struct mr_expr **groups; /* as the user wrote them, over the child */
    struct mr_attribute *group_attributes;
    uint32_t groups_n;
    struct mr_attribute grouping_id; /* of grouping sets; id 0: none */
    struct mr_attribute *output; /* of the select list; behind n: for HAVING and ORDER BY only */
    struct mr_expr **exprs;
    uint32_t output_n, output_capacity;
    uint32_t visible_n; /* what HAVING and ORDER BY find by name; 0: the list is not complete yet */
};
bool mr_analyze_groups(struct mr_analyzer *an, struct mr_select *q);
/* Puts group columns for group expressions; fails on other columns of the child. */
struct mr_expr *mr_over_groups(struct mr_analyzer *an, struct mr_select *q, struct mr_expr *x);
/* The AGGREGATE node, over the EXPAND of grouping sets if there are any. */
struct mr_logical *mr_aggregate_new(struct mr_analyzer *an, struct mr_select *q);

/* analyze_join.c */
struct mr_logical *mr_analyze_join(struct mr_analyzer *an, const struct mr_relation *r,
                                   struct mr_scope *outer);
struct mr_logical *mr_analyze_set_operation(struct mr_analyzer *an, const struct mr_relation *r,
                                            struct mr_scope *outer);
