/* function.h - every SQL function has one row here: name, arguments, result type, null rule, body.
 *
 * Why      The analyzer, SHOW FUNCTIONS and the docs read this table; to add a function is to add a
 *          row in functions.def and its body in functions_<area>.c. Operators are functions too
 *          ("+", "=", "and"), as are cast, case_when, get_field.
 * Types    resolve gets the argument expressions, may replace them by casts (Spark's implicit
 *          casts) and sets type and nullable, or fails with Spark's condition
 *          (DATATYPE_MISMATCH.*). Most rows use mr_resolve_types, which follows the row's signature
 *          (signature.h).
 */
#pragma once
#include "core/expr/expr.h"

struct mr_aggregate;  /* aggregate.h */
struct mr_generated;  /* generate.h */
struct mr_eval_scope; /* of eval.c: the rows and the selection that a body runs under */
struct mr_eval_node;

enum mr_function_flags {
    MR_FN_NULL_IF_ANY_NULL = 1, /* the runtime evaluates only rows without null arguments */
    MR_FN_LAZY = 2,             /* evaluates its arguments itself (case_when, and, coalesce) */
    MR_FN_NONDETERMINISTIC = 4, /* rand, uuid: not folded, not pushed down */
    MR_FN_AGGREGATE = 8,        /* see aggregate.h: no eval */
    MR_FN_GENERATOR = 16,       /* explode, inline, stack, json_tuple: see the generate operator */
    MR_FN_CONTEXT = 32,         /* depends on zone or epoch: folded per epoch only */
    MR_FN_BOUND = 256,          /* resolve has read the literal arguments behind the first one: the
                                    body does not get them */
    MR_FN_INTERNAL = 512, /* made by the planner only, with arguments as its body wants them: no
                             name in SQL */
    MR_FN_OUTER = 128,    /* a GENERATOR that gives a row of nulls for nothing: explode_outer */
    MR_FN_ALL_ROWS = 64,  /* with NULL_IF_ANY_NULL: the body gets the null rows too, because a
                                   loop over all is faster; it raises nothing for them */
};

/* What resolve knows. */
struct mr_resolve {
    struct mr_arena *arena;
    bool ansi;
    const struct mr_zone *zone;
    struct mr_error *err;
};

struct mr_call { /* one evaluation: rows sel[0..n) (sel NULL: 0..n-1) of rows */
    struct mr_eval *eval;
    const struct mr_expr *expr;
    const struct mr_eval_context *context;
    const struct mr_batch *in;
    uint32_t rows, n;
    const uint32_t *sel;
    struct mr_arena *arena; /* results */
    const uint64_t *valid;  /* NULL_IF_ANY_NULL: rows without null arguments; NULL: all */
    const struct mr_eval_scope *scope;
    const struct mr_eval_node *node;
    void *state; /* state_size bytes per worker and call site, zeroed at open */
    struct mr_error *err;
};

struct mr_function {
    const char *name;            /* lower case; aliases are rows of their own with the same body */
    const char *usage;           /* "concat(a, ..): the texts joined", for docs and errors */
    uint32_t args_min, args_max; /* UINT32_MAX: any number */
    uint32_t flags;
    const char *signature; /* for mr_resolve_types, or NULL */
    /* NULL is allowed only for functions that the analyzer rewrites. */
    enum mr_status (*resolve)(struct mr_resolve *r, struct mr_expr *call);
    /* out->type is set; the body allocates data (mr_column_alloc) and fills the rows of sel. Under
     * MR_FN_NULL_IF_ANY_NULL validity is done by the runtime; the body may add nulls. */
    enum mr_status (*eval)(struct mr_call *call, const struct mr_column *args,
                           struct mr_column *out);
    uint32_t state_size;
    void (*state_fini)(void *state);      /* or NULL */
    const struct mr_aggregate *aggregate; /* AGGREGATE */
    /* GENERATOR: see generate.h. */
    enum mr_status (*generate)(struct mr_call *call, const struct mr_column *args,
                               struct mr_generated *out);
};

/* Sorted by name; found by binary search. */
const struct mr_function *mr_function_find(const char *name);
/* For SHOW FUNCTIONS and did-you-mean: names[0..n). */
const char *const *mr_function_names(uint32_t *n);
/* Makes a resolved call: checks the argument count, runs resolve. place and text as in mr_expr. */
MR_NODISCARD enum mr_status mr_call_make(struct mr_resolve *r, const struct mr_function *f,
                                         struct mr_expr **args, uint32_t args_n,
                                         struct mr_place place, const char *text,
                                         struct mr_expr **out);
/* An explicit or implicit cast. explicit ones obey Spark's table of allowed casts (ANSI), else
 * DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION and its like. Gives x itself if it has the type. */
MR_NODISCARD enum mr_status mr_cast_make(struct mr_resolve *r, struct mr_expr *x,
                                         const struct mr_type *type, bool is_try,
                                         struct mr_place place, struct mr_expr **out);
/* The type that a function named as a type casts to: int(a), date(a); or NULL. Case does not
 * count. */
const struct mr_type *mr_cast_alias(const char *name, struct mr_arena *a);
/* The common type of two by Spark's rules, or NULL. */
const struct mr_type *mr_type_common(const struct mr_type *a, const struct mr_type *b, bool ansi,
                                     struct mr_arena *arena);
/* The same without reading text as another type: values of greatest(), elements, inline tables. */
const struct mr_type *mr_type_common_strict(const struct mr_type *a, const struct mr_type *b,
                                            bool ansi, struct mr_arena *arena);
bool mr_cast_is_implicit(const struct mr_type *from, const struct mr_type *to);
