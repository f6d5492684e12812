/* ast.h - the unresolved plan: what the user said, before names and types are known.
 *
 * What     Relations are named as Spark Connect's. Three front-ends make them: the SQL parser, the
 *          job file's steps and the C API. Names keep the user's spelling; case does not count.
 * Owner    Everything lies in one arena. place: line and column in the statement's text, from 1.
 * Depth    Of a tree at most MR_DEPTH_MAX, AND and OR are balanced: walks may recurse.
 * Shapes   What the parser makes of syntax that is no plain call, name first, then args:
 *            a != b                             not(=(a, b))
 *            a BETWEEN x AND y                  between(a, x, y)
 *            a || b                             concat(a, b)
 *            a << b, >>, >>>                    shiftleft, shiftright, shiftrightunsigned
 *            -a                                 negative(a); a number: a negative LITERAL
 *            +a                                 positive(a)
 *            a IS TRUE                          <=>(a, true)
 *            a IS UNKNOWN                       isnull(a)
 *            a IS DISTINCT FROM b               not(<=>(a, b))
 *            NOT after a                        not(..) around it
 *            a LIKE p ESCAPE e                  like(a, p, e)
 *            a LIKE ANY (p, q)                  or(like(a, p), like(a, q)); ALL: and
 *            CASE x WHEN v ..                   case(=(x, v), ..)
 *            (a, b)                             struct(a, b)
 *            EXTRACT(f FROM x)                  extract('f', x)
 *            POSITION(a IN b)                   position(a, b)
 *            TRIM(BOTH c FROM x)                trim(c, x), ltrim, rtrim: the characters come first
 *            SUBSTRING(x FROM y FOR z)          substring(x, y, z)
 *            OVERLAY(x PLACING y FROM p FOR n)  overlay(x, y, p, n)
 *            TIMESTAMPADD(unit, n, t), DATEADD  timestampadd('unit', n, t); timestampdiff alike
 *            TIMESTAMP '..', DATE '..'          CAST of the text, checked to be valid
 *            X'1F'                              a BINARY LITERAL
 *            current_date                       NAME, as it is written: such a column wins
 *            INTERVAL ..                        LITERAL of INTERVAL_YEAR_MONTH or _DAY_TIME
 */
#pragma once
#include "core/batch/column.h"
#include "core/expr/expr.h"

enum mr_ast_kind {
    MR_AST_LITERAL, /* literal: one row; type in literal->type; name: as it was written */
    MR_AST_NAME,    /* parts: a.b.c, resolved to column and fields */
    MR_AST_STAR,    /* parts: qualifier or none; except */
    MR_AST_CALL,    /* name, args: functions and operators ("+", "=", "<=>", "and", "not", "isnull",
                       "in", "like", "ilike", "rlike", "case": when, then, .., else). Operators are
                       in lower case, functions as the user wrote them, a.b.f with the dots */
    MR_AST_CAST,    /* args[0], type; is_try */
    MR_AST_FIELD,   /* args[0].name */
    MR_AST_ITEM,    /* args[0][args[1]] */
    MR_AST_LAMBDA,  /* parts: parameters; args[0] */
    MR_AST_ALIAS,   /* args[0]; parts: one name, or several for a generator */
    MR_AST_SUBQUERY,  /* relation: scalar */
    MR_AST_EXISTS,    /* relation */
    MR_AST_IN_QUERY,  /* args: the value(s); relation */
    MR_AST_ORDER,     /* args[0]; descending, nulls_first */
    MR_AST_PARAMETER, /* named argument: name => args[0] */
};

struct mr_relation;

struct mr_window_spec { /* OVER (..) */
    struct mr_ast **partition, **order;
    uint32_t partition_n, order_n;
    const char *name;  /* OVER name */
    const char *frame; /* as text, or NULL */
};

struct mr_ast {
    enum mr_ast_kind kind;
    uint16_t depth; /* of the tree from here, subqueries too */
    struct mr_place place;
    const char *name;
    const char **parts;
    uint32_t parts_n;
    struct mr_ast **args;
    uint32_t args_n;
    const struct mr_column *literal;
    const struct mr_type *type;
    struct mr_relation *relation;
    /* CALL */
    bool distinct, ignore_nulls;
    struct mr_ast *filter;  /* FILTER (WHERE ..) */
    struct mr_ast **within; /* WITHIN GROUP (ORDER BY ..) */
    uint32_t within_n;
    const struct mr_window_spec *over;
    bool is_try, is_literal;      /* CAST: TRY_CAST; DATE '..' and the like */
    bool descending, nulls_first; /* ORDER; defaults already applied */
    struct mr_ast **except;       /* STAR EXCEPT (..) */
    uint32_t except_n;
};

enum mr_relation_kind {
    MR_REL_READ,           /* name parts: a view, source or table; or format.`path` */
    MR_REL_LOCAL,          /* VALUES: rows of exprs */
    MR_REL_ONE_ROW,        /* SELECT without FROM */
    MR_REL_ALIAS,          /* input AS name (columns) */
    MR_REL_PROJECT,        /* exprs */
    MR_REL_FILTER,         /* condition */
    MR_REL_AGGREGATE,      /* groups (with kind), exprs = the select list, having */
    MR_REL_DISTINCT,       /* SELECT DISTINCT */
    MR_REL_DEDUPLICATE,    /* the job file's dedup step: columns (none: all), within_watermark */
    MR_REL_WITH_WATERMARK, /* column or expr AS name, delay text */
    MR_REL_GENERATE,       /* LATERAL VIEW [OUTER] generator table AS columns */
    MR_REL_JOIN,           /* left, right, join type, condition or using */
    MR_REL_SET_OPERATION,  /* union, except, intersect; all */
    MR_REL_SORT,
    MR_REL_LIMIT,          /* exprs[0] */
    MR_REL_OFFSET,         /* exprs[0] */
    MR_REL_WITH,           /* CTEs: names and relations, then input */
    MR_REL_PIVOT,          /* exprs: aggregates; columns: FOR; groups: values, maybe ALIAS */
    MR_REL_SAMPLE,         /* name: "percent", "rows" or "bucket"; exprs[0] (bucket: and [1]) */
    MR_REL_TABLE_FUNCTION, /* range(..), explode(..) in FROM */
};

enum mr_group_kind { MR_GROUP_PLAIN, MR_GROUP_ROLLUP, MR_GROUP_CUBE, MR_GROUP_SETS, MR_GROUP_ALL };
enum mr_join_kind {
    MR_JOIN_INNER,
    MR_JOIN_LEFT,
    MR_JOIN_RIGHT,
    MR_JOIN_FULL,
    MR_JOIN_SEMI,
    MR_JOIN_ANTI,
    MR_JOIN_CROSS
};
enum mr_set_kind { MR_SET_UNION, MR_SET_EXCEPT, MR_SET_INTERSECT };

struct mr_cte {
    const char *name;
    const char **columns;
    uint32_t columns_n;
    struct mr_relation *relation;
};

struct mr_relation {
    enum mr_relation_kind kind;
    uint16_t depth; /* as in mr_ast */
    struct mr_place place;
    struct mr_relation *input; /* or the left one */
    struct mr_relation *right;
    const char **name; /* READ: parts; ALIAS, GENERATE: one */
    uint32_t name_n;
    const char **columns; /* ALIAS, GENERATE, DEDUPLICATE, JOIN USING */
    uint32_t columns_n;
    struct mr_ast **exprs;    /* PROJECT, AGGREGATE, SORT, LIMIT, OFFSET, LOCAL (row by row) */
    uint32_t exprs_n, rows_n; /* LOCAL: rows_n rows of exprs_n / rows_n values */
    struct mr_ast *condition; /* FILTER, JOIN, AGGREGATE's HAVING, GENERATE's generator */
    struct mr_ast **groups;   /* AGGREGATE */
    uint32_t groups_n;
    enum mr_group_kind group_kind;
    uint32_t **sets; /* ROLLUP, CUBE and GROUPING SETS alike: each a list of indexes into
                        groups, its length first; groups has no expression twice */
    uint32_t sets_n;
    enum mr_join_kind join_kind;
    bool natural, lateral, outer, all, within_watermark, streaming; /* streaming: STREAM t */
    enum mr_set_kind set_kind;
    struct mr_ast *watermark; /* WITH_WATERMARK: NAME, or ALIAS of an expression */
    const char *delay;        /* interval text: "10 minutes", "-1 minutes" */
    struct mr_cte *ctes;
    uint32_t ctes_n;
    const struct mr_option *options; /* READ of format.`path` WITH options */
    uint32_t options_n;
    const char *inferred_schema; /* the same: found in the files, as DDL; or NULL */
};
