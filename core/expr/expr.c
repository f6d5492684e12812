#include "core/expr/expr.h"

#include "core/base/check.h"
#include "core/batch/builder.h"
#include "core/expr/function.h"

struct mr_expr *mr_expr_column(struct mr_arena *a, uint32_t index, const struct mr_type *type,
                               bool nullable, const char *text)
{
    struct mr_expr *x = MR_NEW(a, struct mr_expr);

    x->kind = MR_EXPR_COLUMN;
    x->index = index;
    x->type = type;
    x->nullable = nullable;
    x->text = text;
    return x;
}

static struct mr_expr *literal(struct mr_arena *a, const struct mr_type *type,
                               const struct mr_column *value, bool is_null, const char *text)
{
    struct mr_expr *x = MR_NEW(a, struct mr_expr);

    x->kind = MR_EXPR_LITERAL;
    x->type = type;
    x->value = value;
    x->nullable = is_null;
    x->text = text;
    return x;
}

struct mr_expr *mr_expr_literal_i64(struct mr_arena *a, const struct mr_type *type, int64_t value)
{
    struct mr_column *c = MR_NEW(a, struct mr_column);
    struct mr_builder b;

    mr_builder_init(&b, type, 1, a);
    mr_builder_append_i64(&b, value);
    mr_builder_finish(&b, c);
    return literal(a, type, c, false, mr_arena_format(a, "%lld", (long long)value));
}

struct mr_expr *mr_expr_literal_text(struct mr_arena *a, struct mr_text value)
{
    struct mr_column *c = MR_NEW(a, struct mr_column);
    struct mr_builder b;

    mr_builder_init(&b, &mr_type_string, 1, a);
    mr_builder_append_text(&b, value);
    mr_builder_finish(&b, c);
    return literal(a, &mr_type_string, c, false, mr_arena_copy(a, value.data, value.n));
}

struct mr_expr *mr_expr_literal_null(struct mr_arena *a, const struct mr_type *type)
{
    struct mr_column *c = MR_NEW(a, struct mr_column);

    mr_column_alloc_null(c, type, 1, a);
    return literal(a, type, c, true, "NULL");
}

static bool literal_equal(const struct mr_expr *a, const struct mr_expr *b)
{
    bool a_null = mr_column_is_null(a->value, 0), b_null = mr_column_is_null(b->value, 0);

    if (a_null || b_null)
        return a_null && b_null;
    if (a->type->kind == MR_FLOAT || a->type->kind == MR_DOUBLE) /* 0.0 and -0.0 differ here */
        return memcmp(a->value->data, b->value->data, mr_type_value_bytes(a->type)) == 0;
    if (a->type->kind == MR_MAP || a->type->kind == MR_INTERVAL_CALENDAR)
        return a->value == b->value;
    return mr_column_compare(a->value, 0, b->value, 0) == 0;
}

bool mr_expr_equal(const struct mr_expr *a, const struct mr_expr *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->args_n != b->args_n || !mr_type_equal(a->type, b->type))
        return false;
    if (a->kind == MR_EXPR_LITERAL)
        return literal_equal(a, b);
    if (a->index != b->index || a->variables_n != b->variables_n || a->function != b->function)
        return false;
    for (uint32_t i = 0; i < a->args_n; i++)
        if (!mr_expr_equal(a->args[i], b->args[i]))
            return false;
    return true;
}

bool mr_expr_is_deterministic(const struct mr_expr *x)
{
    if (x->kind == MR_EXPR_CALL && (x->function->flags & MR_FN_NONDETERMINISTIC))
        return false;
    for (uint32_t i = 0; i < x->args_n; i++)
        if (!mr_expr_is_deterministic(x->args[i]))
            return false;
    return true;
}
