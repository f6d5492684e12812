#include "core/expr/coerce.h"
#include "core/expr/function_state.h"
#include "core/expr/writer.h"
#include "core/format/ddl.h"
#include "core/format/json/json.h"

/* from_json, to_json: the work is core/format/json's. */

struct json_call { /* data of both */
    struct mr_option *options;
    uint32_t options_n;
};

/* The options argument: a constant map of texts. */
static enum mr_status options_of(struct mr_resolve *r, struct mr_expr *call, uint32_t i,
                                 struct json_call *j)
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
    j->options_n = (uint32_t)(map->offsets[1] - map->offsets[0]);
    j->options = MR_NEW_ARRAY(r->arena, struct mr_option, j->options_n + 1);
    for (uint32_t k = 0; k < j->options_n; k++) {
        uint32_t at = (uint32_t)map->offsets[0] + k;
        struct mr_text name = mr_column_text(&map->children[0], at);
        struct mr_text value = mr_column_text(&map->children[1], at);
        j->options[k] = (struct mr_option){mr_arena_copy(r->arena, name.data, name.n),
                                           mr_arena_copy(r->arena, value.data, value.n)};
    }
    return MR_OK;
}

/* "ARRAY<INT>" or "a INT, b STRING". A text that is neither fails as a type: what stands behind its
 * first word is then too much. */
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
    return type_error.status;
}

MR_RESOLVE(from_json)
{
    struct json_call *j = MR_NEW(r->arena, struct json_call);
    enum mr_kind k = call->args[0]->type->kind;
    enum mr_status status = k == MR_STRING || k == MR_VOID
                                ? mr_coerce_argument(r, call, 0, &mr_type_string, NULL)
                                : mr_mismatch_argument(r, call, 0, "\"STRING\"");
    const struct mr_expr *schema = call->args[1];

    if (status == MR_OK)
        status = options_of(r, call, 2, j);
    if (status != MR_OK)
        return status;
    if (schema->kind != MR_EXPR_LITERAL || schema->type->kind != MR_STRING ||
        mr_expr_is_null_literal(schema))
        return MR_FAIL_CONDITION(r->err, MR_USER, "INVALID_SCHEMA.NON_STRING_LITERAL",
                                 "The input schema \"%s\" is not a valid schema string. The input "
                                 "expression must be string literal and not null.",
                                 schema->text ? schema->text : "");
    status = parse_schema(mr_column_text(schema->value, 0), r->arena, &call->type, r->err);
    if (status != MR_OK)
        return status;
    if (call->type->kind != MR_STRUCT && call->type->kind != MR_ARRAY && call->type->kind != MR_MAP)
        return mr_mismatch(r, call, "INVALID_JSON_SCHEMA",
                           "Input schema \"%s\" must be a struct, an array, a map or a variant.",
                           mr_type_sql(r->arena, call->type));
    call->data = j;
    call->nullable = true;
    return MR_OK;
}

struct parser_state {
    struct mr_json_parser *parser;
    struct mr_decoder_config config;
    struct mr_arena arena;
};
_Static_assert(sizeof(struct parser_state) <= MR_JSON_STATE_BYTES, "the table says how much");

void mr_json_state_fini(void *state)
{
    struct parser_state *s = state;

    if (s->parser == NULL)
        return;
    mr_json_parser_close(s->parser);
    mr_arena_fini(&s->arena);
    s->parser = NULL;
}

static enum mr_status open_parser(struct mr_call *call, struct parser_state *s)
{
    const struct json_call *j = call->expr->data;
    enum mr_status status;

    mr_arena_init(&s->arena, call->arena->budget, call->arena->escape);
    s->config = (struct mr_decoder_config){.schema = call->expr->type,
                                           .full_schema = call->expr->type,
                                           .options = j->options,
                                           .options_n = j->options_n,
                                           .zone = call->context->zone,
                                           .batch_rows = call->rows};
    status = mr_json_parser_open(&s->config, &s->arena, &s->parser, call->err);
    if (status != MR_OK) {
        s->parser = NULL;
        mr_arena_fini(&s->arena);
    }
    return status;
}

MR_BODY(from_json)
{
    struct parser_state *s = call->state;

    if (s->parser == NULL) {
        enum mr_status status = open_parser(call, s);
        if (status != MR_OK)
            return status;
    }
    return mr_json_parse_column(s->parser, &args[0], call->rows, call->sel, call->n, call->arena,
                                out, call->err);
}

MR_RESOLVE(to_json)
{
    struct json_call *j = MR_NEW(r->arena, struct json_call);
    enum mr_kind k = call->args[0]->type->kind;
    enum mr_status status = options_of(r, call, 1, j);

    if (status != MR_OK)
        return status;
    if (k != MR_STRUCT && k != MR_ARRAY && k != MR_MAP)
        return mr_mismatch(r, call, "INVALID_JSON_SCHEMA",
                           "Input schema \"%s\" must be a struct, an array, a map or a variant.",
                           mr_type_sql(r->arena, call->args[0]->type));
    call->data = j;
    call->type = &mr_type_string;
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}

MR_BODY(to_json)
{
    const struct json_call *j = call->expr->data;
    struct mr_json_writer json;
    struct mr_text_writer w;
    struct mr_buffer b;
    enum mr_status status = mr_json_writer_init(&json, j->options, j->options_n,
                                                call->context->zone, call->arena, call->err);

    if (status != MR_OK)
        return status;
    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        b.n = 0;
        mr_json_write_value(&json, &args[0], row, &b);
        mr_text_writer_copy(&w, row, mr_buffer_text(&b));
    }
    return MR_OK;
}
