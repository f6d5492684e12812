/* fold.c - constant expressions become literals. */
#include "core/expr/function.h"
#include "core/plan/logical.h"

struct folding {
    struct mr_arena *arena;
    const struct mr_session *session;
};

static bool is_foldable(const struct mr_expr *x)
{
    if (x->kind == MR_EXPR_COLUMN || x->kind == MR_EXPR_VARIABLE || x->kind == MR_EXPR_LAMBDA)
        return false;
    if (x->kind == MR_EXPR_CALL && (x->function->eval == NULL ||
                                    (x->function->flags & (MR_FN_NONDETERMINISTIC | MR_FN_CONTEXT |
                                                           MR_FN_AGGREGATE | MR_FN_GENERATOR))))
        return false;
    for (uint32_t i = 0; i < x->args_n; i++)
        if (!is_foldable(x->args[i]))
            return false;
    return true;
}

static struct mr_expr *fold_part(void *arg, struct mr_expr *x)
{
    const struct folding *f = arg;
    struct mr_eval_context context = {
        .zone = f->session->conf.zone, .ansi = f->session->conf.ansi, .now_us = f->session->now_us};
    struct mr_error ignored = {0};
    struct mr_expr *out = NULL;

    if (x->kind != MR_EXPR_CALL || !is_foldable(x))
        return NULL;
    /* what fails is left as it is: its error rises only if a row needs it */
    if (mr_eval_constant(x, &context, f->arena, &out, &ignored) != MR_OK)
        return x;
    out->text = x->text;
    out->place = x->place;
    return out;
}

struct mr_expr *mr_expr_fold(struct mr_arena *a, const struct mr_session *session,
                             struct mr_expr *x)
{
    struct folding f = {a, session};

    return mr_expr_replace(a, x, fold_part, &f);
}
