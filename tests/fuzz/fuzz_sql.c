/* Any bytes as SQL: no crash, a place with every error; an expression prints to what parses and
 * prints the same again. */
#include "core/base/check.h"
#include "core/sql/parser.h"
#include <stddef.h>

/* What is printed as Spark names it, for people: subqueries; -(4) as (- 4), which is another
 * literal; a call by a name in backquotes; the name that a path v:a gives. */
static bool is_for_people(const struct mr_ast *x)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
                                "+-*/%=<>!&|^~";

    if (x == NULL)
        return false;
    if (x->relation || x->kind == MR_AST_ALIAS || is_for_people(x->filter))
        return true;
    if (x->kind == MR_AST_CALL && x->name[strspn(x->name, plain)] != '\0')
        return true;
    if (x->args_n == 1 && x->name && strcmp(x->name, "negative") == 0 && x->args[0]->args_n == 0)
        return true;
    for (uint32_t i = 0; i < x->args_n; i++)
        if (is_for_people(x->args[i]))
            return true;
    return false;
}

static struct mr_text print(const struct mr_ast *x, struct mr_arena *a)
{
    struct mr_buffer out;

    mr_buffer_init(&out, a);
    mr_ast_print(x, &out);
    return mr_buffer_text(&out);
}

static void check_expression(struct mr_text sql, struct mr_arena *a)
{
    struct mr_ast *x, *again;
    struct mr_error err = {0};

    if (mr_sql_parse_expression(sql, a, &x, &err)) {
        MR_ASSERT(err.condition[0] && err.line > 0 && err.column > 0);
        return;
    }
    if (is_for_people(x))
        return;
    struct mr_text first = print(x, a);
    if (mr_sql_parse_expression(first, a, &again, &err)) {
        /* Parentheses of the printed text count as levels. */
        MR_ASSERT(strcmp(err.condition, "FAILED_TO_PARSE_TOO_COMPLEX") == 0);
        return;
    }
    MR_ASSERT(mr_text_equal(print(again, a), first));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    jmp_buf escape;
    struct mr_arena a;
    struct mr_relation *r;
    struct mr_error err = {0};
    struct mr_text sql = {(const char *)data, n};

    if (setjmp(escape))
        return 0;
    mr_arena_init(&a, NULL, &escape);
    if (mr_sql_parse_query(sql, &a, &r, &err)) {
        MR_ASSERT(err.condition[0] && err.line > 0 && err.column > 0);
    } else {
        struct mr_buffer out;
        mr_buffer_init(&out, &a);
        mr_relation_print(r, &out);
    }
    check_expression(sql, &a);
    mr_arena_fini(&a);
    return 0;
}
