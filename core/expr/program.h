/* program.h - expression trees as evaluation sees them: nodes, equal ones once. Inside core/expr.
 *
 * What     One program for the expressions of a struct mr_eval, and one more for the body of each
 *          lambda, whose inputs are what it captures followed by its parameters.
 * Cache    A node remembers its last result and the selection under which it was made; it holds
 *          under that selection and all that were narrowed from it. Numbers of selections never
 *          come again.
 */
#pragma once
#include "core/expr/eval.h"

struct program;

struct mr_eval_node {
    const struct mr_expr *expr;
    struct mr_eval_node **args;
    uint32_t index; /* COLUMN and VARIABLE: the column of the program's input */
    bool is_input;
    void *state;            /* CALL */
    struct program *lambda; /* LAMBDA */
    uint32_t literal_rows;  /* LITERAL: result has so many */
    uint64_t cached;        /* selection of result; 0: none */
    struct mr_column result;
};

struct capture {
    enum mr_expr_kind kind; /* COLUMN or VARIABLE */
    uint32_t index;         /* as in the expression */
    struct mr_eval_node *outer;
};

struct program {
    struct program *outer; /* of the expression around the lambda */
    struct mr_eval_node **nodes;
    uint32_t nodes_n, nodes_capacity;
    struct capture *captures; /* lambda: columns 0..captures_n of its input */
    uint32_t captures_n, captures_capacity;
    uint32_t variables_from, variables_n; /* parameters: VARIABLE index from.. */
    struct mr_eval_node *body;
};

/* Interns x in p. */
struct mr_eval_node *mr_program_add(struct program *p, const struct mr_expr *x, struct mr_arena *a);
/* Calls state_fini of all nodes. */
void mr_program_fini(struct program *p);
