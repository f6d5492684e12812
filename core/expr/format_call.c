#include "core/expr/format_call.h"

#include "core/expr/coerce.h"
#include "core/format/ddl.h"

enum mr_status mr_format_call_text(struct mr_resolve *r, struct mr_expr *call)
{
    enum mr_kind k = call->args[0]->type->kind;

    return k == MR_STRING || k == MR_VOID ? mr_coerce_argument(r, call, 0, &mr_type_string, NULL)
                                          : mr_mismatch_argument(r, call, 0, "\"STRING\"");
}

struct mr_decoder_config mr_format_call_config(const struct mr_call *call)
{
    const struct mr_format_call *data = call->expr->data;

    return (struct mr_decoder_config){.schema = call->expr->type,
                                      .full_schema = call->expr->type,
                                      .options = data->options,
                                      .options_n = data->options_n,
                                      .zone = call->context->zone,
                                      .batch_rows = call->rows};
}

enum mr_status mr_format_call_options(struct mr_resolve *r, struct mr_expr *call, uint32_t i,
                                      struct mr_format_call *out)
{
    const struct mr_expr *x;
    const struct mr_column *map;

    if (call->args_n <= i)
        return MR_OK;
    x = call->args[i];
    if (x->kind != MR_EXPR_LITERAL || x->type->kind != MR_MAP ||
        x->type->fields[0].type->kind != MR_STRING || x->type->fields[1].type->kind != MR_STRING)
        return MR_FAIL_CONDITION(
            r->err, MR_USER,
            x->type->kind == MR_MAP ? "INVALID_OPTIONS.NON_STRING_TYPE"
                                    : "INVALID_OPTIONS.NON_MAP_FUNCTION",
            "Invalid options: Must use the `map()` function with constant texts "
            "for options.");
    map = x->value;
    out->options_n = (uint32_t)(map->offsets[1] - map->offsets[0]);
    out->options = MR_NEW_ARRAY(r->arena, struct mr_option, out->options_n + 1);
    for (uint32_t k = 0; k < out->options_n; k++) {
        uint32_t at = (uint32_t)map->offsets[0] + k;
        struct mr_text name = mr_column_text(&map->children[0], at);
        struct mr_text value = mr_column_text(&map->children[1], at);
        out->options[k] = (struct mr_option){mr_arena_copy(r->arena, name.data, name.n),
                                             mr_arena_copy(r->arena, value.data, value.n)};
    }
    return MR_OK;
}

/* A text that is neither type nor columns fails as a type: what stands behind its first word is
 * then too much. */
static enum mr_status parse_schema(struct mr_text text, struct mr_arena *a,
                                   const struct mr_type **out, struct mr_error *err)
{
    uint64_t used = 0, word = 0;
    struct mr_error type_error = {0}, ignored = {0};
    struct mr_text rest;

    text = mr_text_trim(text);
    if (text.n == 0)
        return MR_FAIL_CONDITION(err, MR_USER, "PARSE_EMPTY_STATEMENT",
                                 "Syntax error, unexpected empty statement.");
    if (mr_ddl_parse_type(text, a, out, &used, &type_error) == MR_OK) {
        rest = mr_text_trim((struct mr_text){text.data + used, text.n - used});
        if (rest.n == 0)
            return MR_OK;
    }
    if (mr_ddl_parse_columns(text, a, out, &ignored) == MR_OK)
        return MR_OK;
    while (word < text.n && text.data[word] != ' ' && text.data[word] != '<')
        word++;
    if (type_error.status == MR_OK || (word < text.n && text.data[word] == ' '))
        return MR_FAIL_CONDITION(err, MR_USER, "PARSE_SYNTAX_ERROR",
                                 "Syntax error in the schema '%.*s': %s", (int)text.n, text.data,
                                 ignored.message);
    *err = type_error;
    err->line = err->column = 0; /* those of the schema's text: the call has a place of its own */
    return type_error.status;
}

enum mr_status mr_format_call_schema(struct mr_resolve *r, struct mr_expr *call, uint32_t i,
                                     const struct mr_type **out)
{
    const struct mr_expr *schema = call->args[i];

    if (schema->kind != MR_EXPR_LITERAL || schema->type->kind != MR_STRING ||
        mr_expr_is_null_literal(schema))
        return MR_FAIL_CONDITION(r->err, MR_USER, "INVALID_SCHEMA.NON_STRING_LITERAL",
                                 "The input schema \"%s\" is not a valid schema string. The input "
                                 "expression must be string literal and not null.",
                                 schema->text ? schema->text : "");
    return parse_schema(mr_column_text(schema->value, 0), r->arena, out, r->err);
}
