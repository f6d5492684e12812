/* analyze_generate.c - explode and its kin: in the select list, LATERAL VIEW, or FROM. */
#include "core/plan/analyzer.h"

/* explode_outer(x) is explode(x) that gives a row also for nothing. */
static const struct mr_function *generator(struct mr_analyzer *an, const char *name, bool *outer)
{
    const struct mr_function *f = mr_find_function(name);
    size_t n = strlen(name);

    if (n > 6 && mr_same_name(name + n - 6, "_outer")) {
        const struct mr_function *plain = mr_find_function(mr_arena_copy(an->arena, name, n - 6));

        if (plain != NULL && (plain->flags & MR_FN_GENERATOR)) {
            *outer = true;
            return plain;
        }
    }
    return f;
}

struct mr_logical *mr_generate_new(struct mr_analyzer *an, struct mr_scope *s,
                                   struct mr_logical *child, const struct mr_ast *x,
                                   const char *qualifier, const char *const *columns,
                                   uint32_t columns_n, bool outer)
{
    const struct mr_function *f = x->kind == MR_AST_CALL ? generator(an, x->name, &outer) : NULL;
    struct mr_expr **args, *call;
    struct mr_logical *node;
    uint32_t n;

    if (f == NULL || !(f->flags & MR_FN_GENERATOR)) {
        if (x->kind == MR_AST_CALL && f == NULL)
            return (void)mr_analyze_call(an, s, x), NULL; /* tells that it is unknown */
        return MR_ANALYZE_FAIL(
            an, x->place, "UNSUPPORTED_GENERATOR.NOT_GENERATOR",
            "The generator is not supported: `%s` is expected to be a generator.",
            f != NULL ? f->name : "expression");
    }
    n = mr_analyze_arguments(an, s, x, &args);
    if (n == UINT32_MAX)
        return NULL;
    call = mr_call(an, f->name, args, n, x->place, mr_call_text(an, x, args, n));
    if (call == NULL)
        return NULL;
    MR_ASSERT(call->type->kind == MR_STRUCT);
    if (columns_n > 0 && columns_n != call->type->fields_n)
        return MR_ANALYZE_FAIL(
            an, x->place, "UDTF_ALIAS_NUMBER_MISMATCH",
            "The number of aliases supplied in the AS clause does not match the number "
            "of columns output by the UDTF. Expected %u aliases, but got %u.",
            call->type->fields_n, columns_n);
    node = mr_logical_unary(an->arena, MR_LOGICAL_GENERATE, child, x->place);
    node->outer = outer;
    node->exprs = MR_NEW_ARRAY(an->arena, struct mr_expr *, 1);
    node->exprs[0] = call;
    node->exprs_n = 1;
    node->output =
        mr_attributes_copy(an->arena, child->output, child->output_n, call->type->fields_n);
    for (uint32_t i = 0; i < call->type->fields_n; i++) {
        const struct mr_field *field = &call->type->fields[i];
        struct mr_attribute *a = &node->output[node->output_n++];

        *a = mr_attribute_new(an, columns_n > 0 ? columns[i] : field->name, field->type,
                              field->nullable || outer);
        a->qualifier = qualifier;
    }
    return node;
}
