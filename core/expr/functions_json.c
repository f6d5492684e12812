#include "core/expr/coerce.h"
#include "core/expr/format_call.h"
#include "core/expr/function_state.h"
#include "core/expr/writer.h"
#include "core/format/json/json.h"

/* from_json, to_json: the work is core/format/json's. */

/* Maps with keys that are no texts: JSON has none. */
static bool has_other_keys(const struct mr_type *type)
{
    if (type->kind == MR_MAP && type->fields[0].type->kind != MR_STRING)
        return true;
    for (uint32_t i = 0; i < type->fields_n; i++)
        if (has_other_keys(type->fields[i].type))
            return true;
    return false;
}

MR_RESOLVE(from_json)
{
    struct mr_format_call *j = MR_NEW(r->arena, struct mr_format_call);
    enum mr_status status = mr_format_call_text(r, call);

    if (status == MR_OK)
        status = mr_format_call_options(r, call, 2, j);
    if (status == MR_OK)
        status = mr_format_call_schema(r, call, 1, &call->type);
    if (status != MR_OK)
        return status;
    if (call->type->kind != MR_STRUCT && call->type->kind != MR_ARRAY &&
        call->type->kind != MR_MAP && call->type->kind != MR_VARIANT)
        return mr_mismatch(r, call, "INVALID_JSON_SCHEMA",
                           "Input schema \"%s\" must be a struct, an array, a map or a variant.",
                           mr_type_sql(r->arena, call->type));
    if (has_other_keys(call->type))
        return mr_mismatch(r, call, "INVALID_JSON_MAP_KEY_TYPE",
                           "Input schema \"%s\" can only contain STRING as a key type for a MAP.",
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
    enum mr_status status;

    mr_arena_init(&s->arena, call->arena->budget, call->arena->escape);
    s->config = mr_format_call_config(call);
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
    struct mr_format_call *j = MR_NEW(r->arena, struct mr_format_call);
    enum mr_kind k = call->args[0]->type->kind;
    enum mr_status status = mr_format_call_options(r, call, 1, j);

    if (status != MR_OK)
        return status;
    if (k != MR_STRUCT && k != MR_ARRAY && k != MR_MAP && k != MR_VARIANT)
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
    const struct mr_format_call *j = call->expr->data;
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
