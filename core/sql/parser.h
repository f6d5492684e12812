/* parser.h - Spark SQL text -> unresolved plan (ast.h).
 *
 * How      Recursive descent, precedence climbing, depth limit MR_DEPTH_MAX. Spark has no reserved
 *          words: keywords are names unless their place makes them keywords.
 * Errors   MR_USER with PARSE_SYNTAX_ERROR (or Spark's finer condition), line and column in the
 *          text.
 */
#pragma once
#include "core/sql/ast.h"

/* One query, an optional ';' at the end. */
MR_NODISCARD enum mr_status mr_sql_parse_query(struct mr_text sql, struct mr_arena *a,
                                               struct mr_relation **out, struct mr_error *err);
/* The same for text that came out of a file: places[0..sql.n] says where each byte, and the end,
 * stood there, and so do the error and the tree. */
MR_NODISCARD enum mr_status mr_sql_parse_query_placed(struct mr_text sql,
                                                      const struct mr_place *places,
                                                      struct mr_arena *a, struct mr_relation **out,
                                                      struct mr_error *err);
/* One expression: for the C API and tests. */
MR_NODISCARD enum mr_status mr_sql_parse_expression(struct mr_text sql, struct mr_arena *a,
                                                    struct mr_ast **out, struct mr_error *err);
/* What "millrace sql" takes besides queries: EXPLAIN [EXTENDED] query, SHOW FUNCTIONS [[LIKE]
 * 'pattern'], DESCRIBE FUNCTION [EXTENDED] name. */
enum mr_statement_kind {
    MR_STATEMENT_QUERY,
    MR_STATEMENT_EXPLAIN,
    MR_STATEMENT_SHOW_FUNCTIONS,
    MR_STATEMENT_DESCRIBE_FUNCTION
};
struct mr_statement {
    enum mr_statement_kind kind;
    struct mr_relation *query; /* of the first two */
    bool is_extended;          /* EXPLAIN: each stage, not the physical plan alone */
    const char *name;          /* of SHOW: a pattern or NULL; of DESCRIBE: a function */
};
MR_NODISCARD enum mr_status mr_sql_parse_statement(struct mr_text sql, struct mr_arena *a,
                                                   struct mr_statement *out, struct mr_error *err);
/* The unresolved plan as an indented tree, for explain. */
void mr_relation_print(const struct mr_relation *r, struct mr_buffer *out);
/* An expression as SQL with all its parentheses: it parses to the same tree. */
void mr_ast_print(const struct mr_ast *x, struct mr_buffer *out);
