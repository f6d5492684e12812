/* Any bytes as the arguments of functions that parse them: JSON paths, sketches, texts cut up by
 * rules. No crash, no assertion broken. The first byte chooses the function, the second where the
 * second argument begins. */
#include "core/base/check.h"
#include "core/expr/eval.h"
#include "core/expr/expr.h"
#include "core/mem/mem.h"
#include "kernels/kernels.h"

#include <setjmp.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    const char *name;
    bool binary, variant;
    uint32_t args_n;
} functions[] = {
    {"get_json_object", false, false, 2},
    {"variant_get", false, true, 2},
    {"hll_sketch_estimate", true, false, 1},
    {"hll_union", true, false, 2},
    {"soundex", false, false, 1},
    {"levenshtein", false, false, 2},
    {"find_in_set", false, false, 2},
    {"mask", false, false, 1},
    {"to_binary", false, false, 1},
    {"luhn_check", false, false, 1},
    {"schema_of_variant", false, true, 1},
    {"json_object_keys", false, false, 1},
    {"parse_url", false, false, 2},
    {"substring_index", false, false, 3},
};

static struct mr_expr *make(struct mr_resolve *r, const char *name, struct mr_expr **args,
                            uint32_t n)
{
    struct mr_expr *out;

    if (mr_call_make(r, mr_function_find(name), args, n, (struct mr_place){0}, name, &out) != MR_OK)
        return NULL;
    return out;
}

static struct mr_expr *argument(struct mr_resolve *r, struct mr_text t, bool binary)
{
    struct mr_expr *x = mr_expr_literal_text(r->arena, t), *cast = x;

    if (binary)
        MR_ASSERT(mr_cast_make(r, x, &mr_type_binary, false, (struct mr_place){0}, &cast) == MR_OK);
    return cast;
}

static void run(struct mr_arena *a, const uint8_t *data, size_t size)
{
    struct mr_error err = {0};
    struct mr_resolve r = {.arena = a, .ansi = true, .zone = mr_zone_utc(), .err = &err};
    struct mr_eval_context context = {.zone = mr_zone_utc(), .ansi = true};
    uint32_t at = data[0] % (sizeof functions / sizeof *functions);
    uint64_t n = size - 2, cut = data[1] % (n + 1);
    char *text = mr_arena_copy(a, (const char *)data + 2, n);
    struct mr_expr *args[3], *call, *out;

    args[0] = argument(&r, (struct mr_text){text, cut}, functions[at].binary);
    args[1] = argument(&r, (struct mr_text){text + cut, n - cut}, functions[at].binary);
    args[2] = mr_expr_literal_i64(a, &mr_type_int, (int64_t)data[1] - 128);
    if (functions[at].variant && (args[0] = make(&r, "try_parse_json", args, 1)) == NULL)
        return;
    call = make(&r, functions[at].name, args, functions[at].args_n);
    if (call != NULL && mr_eval_constant(call, &context, a, &out, &err) == MR_OK)
        MR_ASSERT(out->kind == MR_EXPR_LITERAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jmp_buf escape;
    struct mr_budget budget;
    struct mr_arena a;
    struct mr_error err;

    if (size < 2 || mr_kernels_init(NULL, &err) != MR_OK)
        return 0;
    mr_budget_init(&budget, "fuzz", NULL, 256 << 20);
    mr_arena_init(&a, &budget, &escape);
    if (setjmp(escape) == 0)
        run(&a, data, size);
    mr_arena_fini(&a);
    return 0;
}
