#include "core/expr/eval.h"

#include "core/expr/gather.h"
#include "core/expr/generator.h"
#include "core/expr/program.h"
#include "core/expr/signature.h"
#include "kernels/select/select.h"

struct selection {
    const struct selection *parent;
    uint64_t id;
    const uint32_t *sel;
    uint32_t n;
};

struct mr_eval_scope {
    const struct program *program;
    const struct mr_batch *in;
    const struct selection *selection;
};

struct mr_eval {
    struct mr_arena *arena;  /* as long as the evaluator */
    struct mr_arena scratch; /* until the next reset */
    struct mr_eval_context context;
    struct program program;
    struct mr_eval_node **roots;
    uint32_t roots_n, batch_rows;
    uint64_t selections;   /* given out so far */
    struct selection root; /* of the batch at hand */
    const struct mr_column *root_columns;
};

/* A lambda's batch may be larger than any of the query's; bounded so that row numbers stay 32 bits.
 */
enum { LAMBDA_ROWS_MAX = 1 << 28 };

enum mr_status mr_eval_open(const struct mr_expr *const *exprs, uint32_t n, uint32_t batch_rows,
                            struct mr_arena *a, struct mr_eval **out, struct mr_error *err)
{
    struct mr_eval *e = MR_NEW(a, struct mr_eval);

    (void)err;
    e->arena = a;
    e->batch_rows = batch_rows;
    e->roots_n = n;
    e->roots = MR_NEW_ARRAY(a, struct mr_eval_node *, n);
    e->context = (struct mr_eval_context){.zone = mr_zone_utc(), .ansi = true};
    mr_arena_init(&e->scratch, a->budget, a->escape);
    *out = e;
    for (uint32_t i = 0; i < n; i++)
        e->roots[i] = mr_program_add(&e->program, exprs[i], a);
    return MR_OK;
}

void mr_eval_close(struct mr_eval *e)
{
    if (e == NULL)
        return;
    mr_program_fini(&e->program);
    mr_arena_fini(&e->scratch);
}

void mr_eval_reset(struct mr_eval *e, const struct mr_eval_context *context)
{
    if (context)
        e->context = *context;
    mr_arena_reset(&e->scratch);
    e->root.id = 0;
}

static bool is_cached(const struct mr_eval_node *node, const struct selection *s)
{
    for (; s; s = s->parent)
        if (node->cached == s->id)
            return true;
    return false;
}

static void fill_literal(struct mr_eval *e, struct mr_eval_node *node, uint32_t rows)
{
    uint32_t wanted = e->batch_rows ? e->batch_rows : 1;

    if (node->literal_rows >= rows && node->literal_rows > 0)
        return;
    /* Doubled, so that what is left behind in the arena stays less than what is in use. */
    while (wanted < rows)
        wanted *= 2;
    node->literal_rows = wanted;
    mr_column_repeat(&node->result, node->expr->value, node->literal_rows, e->arena);
}

/* Rows of s whose bit is set in valid; s itself if all are. */
static const struct selection *narrow(struct mr_eval *e, const struct selection *s,
                                      const uint64_t *valid, struct selection *room)
{
    uint32_t *sel = mr_arena_alloc(&e->scratch, ((size_t)s->n + 1) * sizeof *sel);
    uint32_t n = mr_select->from_bits(sel, s->sel, s->n, valid, NULL);

    if (n == s->n)
        return s;
    *room = (struct selection){s, ++e->selections, sel, n};
    return room;
}

/* The AND of the arguments' validity, or NULL; *all_null if one is of type VOID. */
static uint64_t *valid_of_arguments(struct mr_arena *a, const struct mr_column *args, uint32_t n,
                                    uint32_t rows, bool *all_null)
{
    uint64_t *valid = NULL;
    bool own = false;

    *all_null = false;
    for (uint32_t i = 0; i < n; i++) {
        if (args[i].type->kind == MR_VOID)
            *all_null = true;
        if (args[i].valid == NULL || args[i].valid == valid)
            continue;
        if (valid == NULL) {
            valid = args[i].valid;
            continue;
        }
        if (!own) {
            uint64_t *copy = mr_arena_alloc(a, mr_bit_words(rows) * sizeof *copy);
            memcpy(copy, valid, mr_bit_words(rows) * sizeof *copy);
            valid = copy;
            own = true;
        }
        for (uint32_t w = 0; w < mr_bit_words(rows); w++)
            valid[w] &= args[i].valid[w];
    }
    return valid;
}

static void merge_valid(struct mr_arena *a, struct mr_column *out, uint64_t *valid, uint32_t rows)
{
    uint64_t *both;

    if (out->valid == NULL || valid == NULL) {
        out->valid = out->valid ? out->valid : valid;
        return;
    }
    both = mr_arena_alloc(a, mr_bit_words(rows) * sizeof *both);
    for (uint32_t w = 0; w < mr_bit_words(rows); w++)
        both[w] = out->valid[w] & valid[w];
    out->valid = both;
}

static enum mr_status run_body(struct mr_call *call, const struct mr_column *args,
                               struct mr_column *out)
{
    enum mr_status status = call->expr->function->eval(call, args, out);

    if (status != MR_OK)
        mr_expr_place_error(call->expr, call->err);
    return status;
}

/* is_partial: an argument is undefined in rows where one before it is null. */
static enum mr_status run_strict(struct mr_eval *e, struct mr_call *call,
                                 const struct mr_column *args, bool is_partial,
                                 struct mr_column *out)
{
    const struct mr_eval_scope *scope = call->scope;
    struct selection room;
    const struct selection *s = scope->selection;
    bool all_null;
    uint64_t *valid =
        valid_of_arguments(call->arena, args, call->expr->args_n, call->rows, &all_null);

    bool all_rows = (call->expr->function->flags & MR_FN_ALL_ROWS) && !is_partial;
    if (valid && !all_rows && !all_null) {
        s = narrow(e, s, valid, &room);
        all_null = s->n == 0 && scope->selection->n > 0;
    }
    if (all_null) {
        mr_column_alloc_null(out, call->expr->type, call->rows, call->arena);
        return MR_OK;
    }
    struct mr_eval_scope narrowed = {scope->program, scope->in, s};
    call->scope = &narrowed;
    call->sel = s->sel;
    call->n = s->n;
    call->valid = valid;
    enum mr_status status = run_body(call, args, out);
    if (status == MR_OK)
        merge_valid(call->arena, out, valid, call->rows);
    return status;
}

static enum mr_status evaluate(struct mr_eval *e, const struct mr_eval_scope *scope,
                               struct mr_eval_node *node, struct mr_column *out,
                               struct mr_error *err);

static void init_call(struct mr_eval *e, const struct mr_eval_scope *scope,
                      struct mr_eval_node *node, struct mr_error *err, struct mr_call *call)
{
    *call = (struct mr_call){.eval = e,
                             .expr = node->expr,
                             .context = &e->context,
                             .in = scope->in,
                             .rows = scope->in->rows,
                             .n = scope->selection->n,
                             .sel = scope->selection->sel,
                             .arena = &e->scratch,
                             .scope = scope,
                             .node = node,
                             .state = node->state,
                             .err = err};
}

/* Argument i once more, after an error, only for rows in which no argument before it is null: Spark
 * does not ask for it in the others, so what it would raise there does not rise. */
static enum mr_status evaluate_again(struct mr_eval *e, const struct mr_eval_scope *scope,
                                     struct mr_eval_node *node, uint32_t i, struct mr_column *args,
                                     struct mr_error *err)
{
    struct selection room;
    bool all_null;
    uint64_t *valid = valid_of_arguments(&e->scratch, args, i, scope->in->rows, &all_null);

    if (valid == NULL)
        return MR_QUERY;
    *err = (struct mr_error){0};
    struct mr_eval_scope narrowed = {scope->program, scope->in,
                                     narrow(e, scope->selection, valid, &room)};
    if (all_null || narrowed.selection->n == 0) {
        mr_column_alloc_null(&args[i], node->expr->args[i]->type, scope->in->rows, &e->scratch);
        return MR_OK;
    }
    return evaluate(e, &narrowed, node->args[i], &args[i], err);
}

static enum mr_status evaluate_arguments(struct mr_eval *e, const struct mr_eval_scope *scope,
                                         struct mr_eval_node *node, struct mr_column **out,
                                         bool *is_partial, struct mr_error *err)
{
    const struct mr_expr *x = node->expr;
    struct mr_column *args = MR_NEW_ARRAY(&e->scratch, struct mr_column, x->args_n + 1);

    *out = args;
    for (uint32_t i = 0; i < x->args_n; i++) {
        bool bound =
            i > 0 && x->args[i]->kind == MR_EXPR_LITERAL && (x->function->flags & MR_FN_BOUND);
        if (bound || x->args[i]->kind == MR_EXPR_LAMBDA) {
            args[i] = (struct mr_column){.type = x->args[i]->type};
            continue;
        }
        enum mr_status status = evaluate(e, scope, node->args[i], &args[i], err);
        if (status == MR_QUERY && i > 0 && (x->function->flags & MR_FN_NULL_IF_ANY_NULL)) {
            status = evaluate_again(e, scope, node, i, args, err);
            *is_partial = true;
        }
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static enum mr_status run_call(struct mr_eval *e, const struct mr_eval_scope *scope,
                               struct mr_eval_node *node, struct mr_column *out,
                               struct mr_error *err)
{
    const struct mr_expr *x = node->expr;
    struct mr_call call;
    struct mr_column *args;
    enum mr_status status;
    bool is_partial = false;

    init_call(e, scope, node, err, &call);
    *out = (struct mr_column){.type = x->type};
    if (x->function->flags & MR_FN_LAZY)
        return run_body(&call, NULL, out);
    status = evaluate_arguments(e, scope, node, &args, &is_partial, err);
    if (status != MR_OK)
        return status;
    if (x->function->flags & MR_FN_NULL_IF_ANY_NULL)
        return run_strict(e, &call, args, is_partial, out);
    return run_body(&call, args, out);
}

static enum mr_status evaluate(struct mr_eval *e, const struct mr_eval_scope *scope,
                               struct mr_eval_node *node, struct mr_column *out,
                               struct mr_error *err)
{
    if (node->is_input) {
        MR_ASSERT(node->index < scope->in->columns_n);
        *out = scope->in->columns[node->index];
        return MR_OK;
    }
    if (node->expr->kind == MR_EXPR_LITERAL) {
        fill_literal(e, node, scope->in->rows);
        *out = node->result;
        return MR_OK;
    }
    MR_ASSERT(node->expr->kind == MR_EXPR_CALL);
    if (!is_cached(node, scope->selection)) {
        enum mr_status status = run_call(e, scope, node, &node->result, err);
        if (status != MR_OK) {
            node->cached = 0;
            return status;
        }
        node->cached = scope->selection->id;
        MR_ASSERT(node->result.type == node->expr->type ||
                  mr_type_equal(node->result.type, node->expr->type));
    }
    *out = node->result;
    return MR_OK;
}

static void set_root(struct mr_eval *e, const struct mr_batch *in)
{
    if (e->root.id != 0 && e->root.sel == in->sel && e->root.n == in->n &&
        e->root_columns == in->columns)
        return;
    e->root = (struct selection){NULL, ++e->selections, in->sel, in->n};
    e->root_columns = in->columns;
}

enum mr_status mr_eval(struct mr_eval *e, uint32_t i, const struct mr_batch *in,
                       struct mr_column *out, struct mr_error *err)
{
    struct mr_eval_scope scope = {&e->program, in, &e->root};

    MR_ASSERT(i < e->roots_n);
    set_root(e, in);
    return evaluate(e, &scope, e->roots[i], out, err);
}

enum mr_status mr_generate(struct mr_eval *e, uint32_t i, const struct mr_batch *in, bool outer,
                           struct mr_generated *out, struct mr_error *err)
{
    struct mr_eval_scope scope = {&e->program, in, &e->root};
    struct mr_eval_node *node = e->roots[i];
    struct mr_column *args;
    struct mr_call call;
    enum mr_status status;

    MR_ASSERT(i < e->roots_n && node->expr->kind == MR_EXPR_CALL && node->expr->function->generate);
    set_root(e, in);
    init_call(e, &scope, node, err, &call);
    bool is_partial = false; /* no generator is strict */
    status = evaluate_arguments(e, &scope, node, &args, &is_partial, err);
    if (status == MR_OK)
        status = node->expr->function->generate(&call, args, out);
    if (status == MR_OK)
        mr_generate_finish(&call, outer, out);
    return status;
}

/* Conjuncts narrow the selection one after another. */
static enum mr_status filter(struct mr_eval *e, const struct mr_eval_scope *scope,
                             struct mr_eval_node *node, uint32_t *sel, uint32_t *n,
                             struct mr_error *err)
{
    struct mr_column c;
    enum mr_status status;

    if (node->expr->kind == MR_EXPR_CALL && strcmp(node->expr->function->name, "and") == 0) {
        status = filter(e, scope, node->args[0], sel, n, err);
        if (status != MR_OK || *n == 0)
            return status;
        uint32_t *left = mr_arena_alloc(&e->scratch, *n * sizeof *left);
        memcpy(left, sel, *n * sizeof *left);
        struct selection narrowed = {scope->selection, ++e->selections, left, *n};
        struct mr_eval_scope inner = {scope->program, scope->in, &narrowed};
        return filter(e, &inner, node->args[1], sel, n, err);
    }
    status = evaluate(e, scope, node, &c, err);
    if (status != MR_OK)
        return status;
    *n = c.type->kind == MR_VOID ? 0
                                 : mr_select->from_bits(sel, scope->selection->sel,
                                                        scope->selection->n, c.bits, c.valid);
    return MR_OK;
}

enum mr_status mr_eval_filter(struct mr_eval *e, uint32_t i, const struct mr_batch *in,
                              uint32_t *sel, uint32_t *n, struct mr_error *err)
{
    struct mr_eval_scope scope = {&e->program, in, &e->root};

    MR_ASSERT(i < e->roots_n);
    set_root(e, in);
    return filter(e, &scope, e->roots[i], sel, n, err);
}

enum mr_status mr_call_argument(struct mr_call *call, uint32_t i, const uint32_t *sel, uint32_t n,
                                struct mr_column *out)
{
    const struct mr_eval_scope *scope = call->scope;
    struct mr_eval *e = call->eval;

    if (sel == scope->selection->sel && n == scope->selection->n)
        return evaluate(e, scope, call->node->args[i], out, call->err);
    struct selection narrowed = {scope->selection, ++e->selections, sel, n};
    struct mr_eval_scope inner = {scope->program, scope->in, &narrowed};
    return evaluate(e, &inner, call->node->args[i], out, call->err);
}

enum mr_status mr_call_argument_where(struct mr_call *call, uint32_t i, const uint64_t *rows,
                                      struct mr_column *out)
{
    struct mr_eval *e = call->eval;
    struct mr_eval_node *node = call->node->args[i];
    struct mr_eval_scope inner = *call->scope;
    struct selection room;

    if (!node->is_input && node->expr->kind != MR_EXPR_LITERAL)
        inner.selection = narrow(e, inner.selection, rows, &room);
    return evaluate(e, &inner, node, out, call->err);
}

enum mr_status mr_call_lambda(struct mr_call *call, uint32_t i, uint32_t rows,
                              const struct mr_column *parameters, uint32_t n,
                              const uint32_t *parents, struct mr_column *out)
{
    struct mr_eval *e = call->eval;
    struct program *p = call->node->args[i]->lambda;
    struct mr_column *columns =
        MR_NEW_ARRAY(call->arena, struct mr_column, p->captures_n + p->variables_n + 1);

    MR_ASSERT(rows <= LAMBDA_ROWS_MAX && n <= p->variables_n);
    for (uint32_t c = 0; c < p->captures_n; c++) {
        struct mr_column outer;
        enum mr_status status = evaluate(e, call->scope, p->captures[c].outer, &outer, call->err);
        if (status != MR_OK)
            return status;
        mr_column_gather(&columns[c], &outer, parents, rows, call->arena);
    }
    for (uint32_t v = 0; v < n; v++)
        columns[p->captures_n + v] = parameters[v];
    struct mr_batch in = {
        .columns = columns, .columns_n = p->captures_n + n, .rows = rows, .n = rows};
    struct selection all = {NULL, ++e->selections, NULL, rows};
    struct mr_eval_scope scope = {p, &in, &all};
    return evaluate(e, &scope, p->body, out, call->err);
}

enum mr_status mr_eval_constant(const struct mr_expr *x, const struct mr_eval_context *context,
                                struct mr_arena *a, struct mr_expr **out, struct mr_error *err)
{
    struct mr_eval *e;
    struct mr_column c, *value = MR_NEW(a, struct mr_column);
    struct mr_batch one = {.rows = 1, .n = 1};
    enum mr_status status = mr_eval_open(&x, 1, 1, a, &e, err);

    if (status != MR_OK)
        return status;
    mr_eval_reset(e, context);
    status = mr_eval(e, 0, &one, &c, err);
    if (status == MR_OK) {
        const uint32_t row = 0;
        mr_column_gather_deep(value, &c, &row, 1, a);
        *out = MR_NEW(a, struct mr_expr);
        **out = (struct mr_expr){.kind = MR_EXPR_LITERAL,
                                 .type = x->type,
                                 .nullable = mr_column_is_null(value, 0),
                                 .place = x->place,
                                 .value = value,
                                 .text = x->text};
    }
    mr_eval_close(e);
    return status;
}

enum mr_status mr_call_argument_error(struct mr_call *call, const char *name, int64_t value)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_PARAMETER_VALUE",
                             "The value of parameter(s) `%s` in `%s` is invalid: %lld.", name,
                             call->expr->function->name, (long long)value);
}
