#include "core/expr/coerce.h"
#include "core/expr/format_call.h"
#include "core/expr/function_state.h"
#include "core/expr/writer.h"
#include "core/format/csv/csv_record.h"

/* from_csv, to_csv, schema_of_csv: the work is core/format/csv's. */

static enum mr_status options_of(struct mr_resolve *r, struct mr_expr *call, uint32_t i,
                                 bool reading, struct mr_format_call *out)
{
    struct mr_format_call given = {0};
    enum mr_status status = mr_format_call_options(r, call, i, &given);

    if (status != MR_OK)
        return status;
    return mr_csv_record_options(given.options, given.options_n, reading, r->arena, &out->options,
                                 &out->options_n, r->err);
}

MR_RESOLVE(from_csv)
{
    struct mr_format_call *data = MR_NEW(r->arena, struct mr_format_call);
    enum mr_status status = mr_format_call_text(r, call);

    if (status == MR_OK)
        status = options_of(r, call, 2, true, data);
    if (status == MR_OK)
        status = mr_format_call_schema(r, call, 1, &call->type);
    if (status != MR_OK)
        return status;
    if (call->type->kind != MR_STRUCT) {
        const char *type = mr_type_sql(r->arena, call->type);
        return MR_FAIL_CONDITION(r->err, MR_USER, "INVALID_SCHEMA.NON_STRUCT_TYPE",
                                 "The input schema \"%s\" is not a valid schema string. The input "
                                 "expression should be evaluated to struct type, but got \"%s\".",
                                 call->args[1]->text ? call->args[1]->text : "", type);
    }
    call->data = data;
    call->nullable = true;
    return MR_OK;
}

struct parser_state {
    struct mr_csv_parser *parser;
    struct mr_decoder_config config;
    struct mr_arena arena;
};
_Static_assert(sizeof(struct parser_state) <= MR_CSV_STATE_BYTES, "the table says how much");

void mr_csv_state_fini(void *state)
{
    struct parser_state *s = state;

    if (s->parser == NULL)
        return;
    mr_csv_parser_close(s->parser);
    mr_arena_fini(&s->arena);
    s->parser = NULL;
}

static enum mr_status open_parser(struct mr_call *call, struct parser_state *s)
{
    enum mr_status status;

    mr_arena_init(&s->arena, call->arena->budget, call->arena->escape);
    s->config = mr_format_call_config(call);
    status = mr_csv_parser_open(&s->config, &s->arena, &s->parser, call->err);
    if (status != MR_OK) {
        s->parser = NULL;
        mr_arena_fini(&s->arena);
    }
    return status;
}

MR_BODY(from_csv)
{
    struct parser_state *s = call->state;

    if (s->parser == NULL) {
        enum mr_status status = open_parser(call, s);
        if (status != MR_OK)
            return status;
    }
    return mr_csv_parse_column(s->parser, &args[0], call->rows, call->sel, call->n, call->arena,
                               out, call->err);
}

MR_RESOLVE(to_csv)
{
    struct mr_format_call *data = MR_NEW(r->arena, struct mr_format_call);
    const struct mr_type *type = call->args[0]->type;
    enum mr_status status = options_of(r, call, 1, false, data);

    if (status != MR_OK)
        return status;
    if ((type->kind != MR_STRUCT && type->kind != MR_VOID) || mr_type_has(type, MR_VARIANT))
        return mr_mismatch(r, call, "UNSUPPORTED_INPUT_TYPE",
                           "The input of `to_csv` can't be \"%s\" type data.",
                           mr_type_sql(r->arena, type));
    call->data = data;
    call->type = &mr_type_string;
    call->nullable = true;
    return MR_OK;
}

MR_BODY(to_csv)
{
    const struct mr_format_call *data = call->expr->data;
    const struct mr_encoder_config config = {.schema = args[0].type,
                                             .options = data->options,
                                             .options_n = data->options_n,
                                             .zone = call->context->zone};
    struct mr_encoder *csv = NULL;
    struct mr_text_writer w;
    struct mr_buffer b;
    enum mr_status status = mr_csv_writer_open(&config, call->arena, &csv, call->err);

    if (status != MR_OK)
        return status;
    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        b.n = 0;
        mr_csv_write_record(csv, &args[0], row, &b);
        if (b.n) /* univocity gives nothing for a record of nothing */
            mr_text_writer_copy(&w, row, mr_buffer_text(&b));
        else
            mr_text_writer_null(&w, row, call->rows);
    }
    return MR_OK;
}

MR_RESOLVE(schema_of_csv)
{
    enum mr_status status = mr_format_call_text(r, call);
    struct mr_format_call data = {0};
    const struct mr_type *type = NULL;
    const char *text = call->text;

    if (status == MR_OK)
        status = mr_require_literal(r, call, 0, "csv");
    if (status == MR_OK)
        status = options_of(r, call, 1, true, &data);
    if (status != MR_OK)
        return status;
    if (mr_expr_is_null_literal(call->args[0]))
        return mr_mismatch(r, call, "UNEXPECTED_NULL", "The csv must not be null.");
    status = mr_csv_infer(data.options, data.options_n, r->zone,
                          mr_column_text(call->args[0]->value, 0), r->arena, &type, r->err);
    if (status != MR_OK)
        return status;
    if (type == NULL)
        return MR_FAIL(r->err, MR_USER, 0,
                       "schema_of_csv: there is no CSV record in the text; give one line of data");
    *call = *mr_expr_literal_text(r->arena, mr_text_of(mr_type_sql(r->arena, type)));
    call->text = text;
    return MR_OK;
}
