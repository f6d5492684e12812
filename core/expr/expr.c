#include "core/expr/expr.h"

#include "core/base/check.h"
#include "core/batch/builder.h"
#include "core/expr/function.h"

enum { OPERANDS_MAX = 64 };

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

static bool is_call(const struct mr_expr *x, const char *name)
{
    return x->kind == MR_EXPR_CALL && strcmp(x->function->name, name) == 0;
}

/* What stands on both sides of an operator that is the same the other way round, in any order: also
 * a + (b + c) and (c + a) + b, but not a - b and -b + a. Each part of a needs another one of b. */
static uint32_t operands(const struct mr_expr *x, const char *name, const struct mr_expr **out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->args_n && n < OPERANDS_MAX; i++) {
        if (is_call(x->args[i], name) && mr_type_equal(x->args[i]->type, x->type)) {
            const struct mr_expr *inner[OPERANDS_MAX];
            uint32_t m = operands(x->args[i], name, inner);

            for (uint32_t k = 0; k < m && n < OPERANDS_MAX; k++)
                out[n++] = inner[k];
        } else {
            out[n++] = x->args[i];
        }
    }
    return n;
}

static bool same_operands(const struct mr_expr *a, const struct mr_expr *b)
{
    const struct mr_expr *x[OPERANDS_MAX], *y[OPERANDS_MAX];
    uint32_t n = operands(a, a->function->name, x), left = operands(b, a->function->name, y);

    if (n != left || n == OPERANDS_MAX)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;

        while (k < left && !mr_expr_equal(x[i], y[k]))
            k++;
        if (k == left)
            return false;
        y[k] = y[--left];
    }
    return true;
}

static bool is_commutative(const struct mr_expr *x)
{
    static const char *const names[] = {"+",   "*",  "=", "<=>",      "&",    "|",
                                        "and", "or", "^", "greatest", "least"};

    for (size_t i = 0; x->kind == MR_EXPR_CALL && i < sizeof names / sizeof *names; i++)
        if (strcmp(x->function->name, names[i]) == 0)
            return true;
    return false;
}

/* a < b is b > a. */
static bool is_mirrored(const struct mr_expr *a, const struct mr_expr *b)
{
    static const char *const twins[][2] = {{"<", ">"}, {"<=", ">="}};

    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
        for (int k = 0; k < 2; k++)
            if (is_call(a, twins[i][k]) && is_call(b, twins[i][1 - k]))
                return mr_expr_equal(a->args[0], b->args[1]) &&
                       mr_expr_equal(a->args[1], b->args[0]);
    return false;
}

bool mr_expr_equal(const struct mr_expr *a, const struct mr_expr *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || !mr_type_equal(a->type, b->type))
        return false;
    if (a->kind == MR_EXPR_LITERAL)
        return literal_equal(a, b);
    if (a->index != b->index || a->variables_n != b->variables_n)
        return false;
    if (a->function != b->function)
        return is_mirrored(a, b);
    if (is_commutative(a))
        return same_operands(a, b);
    if (a->args_n != b->args_n)
        return false;
    for (uint32_t i = 0; i < a->args_n; i++)
        if (!mr_expr_equal(a->args[i], b->args[i]))
            return false;
    return true;
}

void mr_expr_place_error(const struct mr_expr *x, struct mr_error *err)
{
    if (err == NULL || err->line > 0)
        return;
    err->line = x->place.line;
    err->column = x->place.column;
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
