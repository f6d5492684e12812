#include "core/expr/function.h"

#include "core/expr/aggregate.h"
#include "core/base/bounds.h"
#include "core/expr/coerce.h"
#include "core/expr/function_state.h"
#include "core/expr/regexp.h"
#include <stdio.h>

/* What functions.def names. */
#define FN(name, usage, min, max, flags, signature, resolve, body)                                 \
    MR_RESOLVE(resolve);                                                                           \
    MR_BODY(body);
#define FN_INTERNAL FN
#define FN_STATE(name, usage, min, max, flags, signature, resolve, body, bytes, fini)              \
    FN(name, usage, min, max, flags, signature, resolve, body)
#define FN_PLAN(name, usage, min, max, flags, signature, resolve) MR_RESOLVE(resolve);
#define AGGREGATE(name, usage, min, max, signature, resolve, aggregate)                            \
    MR_RESOLVE(resolve);                                                                           \
    extern const struct mr_aggregate mr_aggregate_##aggregate;
#define GENERATOR(name, usage, min, max, flags, resolve, body)                                     \
    MR_RESOLVE(resolve);                                                                           \
    MR_GENERATE(body);
#include "core/expr/functions.def"
#undef FN
#undef FN_INTERNAL
#undef FN_STATE
#undef FN_PLAN
#undef AGGREGATE
#undef GENERATOR

#define ANY UINT32_MAX
#define STRICT MR_FN_NULL_IF_ANY_NULL
#define STRICT_ALL (MR_FN_NULL_IF_ANY_NULL | MR_FN_ALL_ROWS)
#define STRICT_ZONE (MR_FN_NULL_IF_ANY_NULL | MR_FN_CONTEXT)
#define STRICT_ZONE_ALL (STRICT_ZONE | MR_FN_ALL_ROWS)
static const struct mr_function functions[] = {
#define FN(name_, usage_, min, max, flags_, signature_, resolve_, body)                            \
    {.name = name_,                                                                                \
     .usage = usage_,                                                                              \
     .args_min = min,                                                                              \
     .args_max = max,                                                                              \
     .flags = flags_,                                                                              \
     .signature = signature_,                                                                      \
     .resolve = mr_resolve_##resolve_,                                                             \
     .eval = mr_fn_##body},
#define FN_INTERNAL(name_, usage_, min, max, flags_, signature_, resolve_, body)                   \
    FN(name_, usage_, min, max, (flags_) | MR_FN_INTERNAL, signature_, resolve_, body)
#define FN_STATE(name_, usage_, min, max, flags_, signature_, resolve_, body, bytes, fini)         \
    {.name = name_,                                                                                \
     .usage = usage_,                                                                              \
     .args_min = min,                                                                              \
     .args_max = max,                                                                              \
     .flags = flags_,                                                                              \
     .signature = signature_,                                                                      \
     .resolve = mr_resolve_##resolve_,                                                             \
     .eval = mr_fn_##body,                                                                         \
     .state_size = bytes,                                                                          \
     .state_fini = fini},
#define FN_PLAN(name_, usage_, min, max, flags_, signature_, resolve_)                             \
    {.name = name_,                                                                                \
     .usage = usage_,                                                                              \
     .args_min = min,                                                                              \
     .args_max = max,                                                                              \
     .flags = flags_,                                                                              \
     .signature = signature_,                                                                      \
     .resolve = mr_resolve_##resolve_},
#define AGGREGATE(name_, usage_, min, max, signature_, resolve_, aggregate_)                       \
    {.name = name_,                                                                                \
     .usage = usage_,                                                                              \
     .args_min = min,                                                                              \
     .args_max = max,                                                                              \
     .flags = MR_FN_AGGREGATE,                                                                     \
     .signature = signature_,                                                                      \
     .resolve = mr_resolve_##resolve_,                                                             \
     .aggregate = &mr_aggregate_##aggregate_},
#define GENERATOR(name_, usage_, min, max, flags_, resolve_, body)                                 \
    {.name = name_,                                                                                \
     .usage = usage_,                                                                              \
     .args_min = min,                                                                              \
     .args_max = max,                                                                              \
     .flags = MR_FN_GENERATOR | (flags_),                                                          \
     .resolve = mr_resolve_##resolve_,                                                             \
     .generate = mr_generate_##body},
#include "core/expr/functions.def"
#undef FN
#undef FN_INTERNAL
#undef FN_STATE
#undef FN_PLAN
#undef AGGREGATE
#undef GENERATOR
};
enum { FUNCTIONS_N = sizeof functions / sizeof functions[0] };

static const char *const names[] = {
#define FN(name, ...) name,
#define FN_INTERNAL(...)
#define FN_STATE(name, ...) name,
#define FN_PLAN(name, ...) name,
#define AGGREGATE(name, ...) name,
#define GENERATOR(name, ...) name,
#include "core/expr/functions.def"
};

const struct mr_function *mr_function_find(const char *name)
{
    struct mr_text wanted = mr_text_of(name);
    char lower[MR_NAME_MAX + 1];
    uint32_t from = 0, to = FUNCTIONS_N;

    if (wanted.n > MR_NAME_MAX)
        return NULL;
    for (uint64_t i = 0; i <= wanted.n; i++)
        lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
    while (from < to) {
        uint32_t middle = (from + to) / 2;
        int order = strcmp(lower, functions[middle].name);
        if (order == 0)
            return &functions[middle];
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

const char *const *mr_function_names(uint32_t *n)
{
    *n = sizeof names / sizeof *names;
    return names;
}

const struct mr_aggregate *mr_aggregate_find(const char *name)
{
    const struct mr_function *f = mr_function_find(name);

    return f ? f->aggregate : NULL;
}

static enum mr_status wrong_count(struct mr_resolve *r, const struct mr_function *f, uint32_t n)
{
    char wanted[64];

    if (f->args_max == ANY)
        snprintf(wanted, sizeof wanted, "> %u", f->args_min ? f->args_min - 1 : 0);
    else if (f->args_max == f->args_min)
        snprintf(wanted, sizeof wanted, "%u", f->args_min);
    else if (f->args_max == f->args_min + 1)
        snprintf(wanted, sizeof wanted, "[%u, %u]", f->args_min, f->args_max);
    else
        snprintf(wanted, sizeof wanted, "[%u - %u]", f->args_min, f->args_max);
    return MR_FAIL_CONDITION(r->err, MR_USER, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
                             "The `%s` requires %s parameters but the actual number is %u. (%s)",
                             f->name, wanted, n, f->usage);
}

enum mr_status mr_call_make(struct mr_resolve *r, const struct mr_function *f,
                            struct mr_expr **args, uint32_t args_n, struct mr_place place,
                            const char *text, struct mr_expr **out)
{
    struct mr_expr *call = MR_NEW(r->arena, struct mr_expr);
    enum mr_status status;

    call->kind = MR_EXPR_CALL;
    call->function = f;
    call->place = place;
    call->text = text;
    call->args_n = args_n;
    call->args = MR_NEW_ARRAY(r->arena, struct mr_expr *, args_n + 1);
    for (uint32_t i = 0; i < args_n; i++)
        call->args[i] = args[i];
    if (args_n < f->args_min || args_n > f->args_max)
        status = wrong_count(r, f, args_n);
    else
        status = f->resolve(r, call);
    if (status != MR_OK) {
        if (r->err && r->err->line == 0) {
            r->err->line = place.line;
            r->err->column = place.column;
        }
        return status;
    }
    MR_ASSERT(call->type != NULL);
    *out = call;
    return MR_OK;
}
