#include "core/expr/aggregate_slots.h"
#include "core/format/ddl.h"
#include "core/expr/format_call.h"
#include "core/expr/variant_schema.h"

/* schema_of_variant_agg: the type that holds all variants, in the slot as SQL writes it; nothing
 * there: VOID. */

MR_RESOLVE(schema_of_variant_agg)
{
    enum mr_kind k = call->args[0]->type->kind;

    if (k != MR_VARIANT && k != MR_VOID)
        return mr_mismatch_argument(r, call, 0, "\"VARIANT\"");
    call->args[0] = mr_coerce(r, call->args[0], &mr_type_variant);
    call->type = &mr_type_string;
    call->nullable = false;
    return MR_OK;
}

static struct mr_text text_of(const struct mr_slot_bytes *slot)
{
    return slot->n ? (struct mr_text){(const char *)slot->data, slot->n} : MR_TEXT("VOID");
}

static enum mr_status merge_type(const struct mr_aggregate_call *c, struct mr_slot_bytes *slot,
                                 const struct mr_type *type)
{
    const struct mr_type *known;
    struct mr_buffer b;
    uint64_t used;
    enum mr_status status = mr_ddl_parse_type(text_of(slot), c->arena, &known, &used, c->err);

    if (status != MR_OK)
        return status;
    mr_buffer_init(&b, c->arena);
    mr_type_print_sql(mr_schema_merge(known, type, &mr_type_variant, c->arena), &b);
    mr_slot_replace(c, slot, b.data, b.n);
    return MR_OK;
}

static enum mr_status schema_update(const struct mr_aggregate_call *c, uint32_t n,
                                    const uint32_t *sel, const struct mr_column *args,
                                    union mr_slot **slots)
{
    struct mr_buffer b;

    mr_buffer_init(&b, c->arena);
    MR_EACH_UPDATE(n, sel, i, row)
    {
        struct mr_slot_bytes *slot = mr_wide_bytes(slots[i]);
        const struct mr_type *type;
        enum mr_status status = MR_OK;
        if (mr_column_is_null(args, row))
            continue;
        type = mr_variant_schema(mr_variant_of(mr_column_text(args, row)), c->arena);
        b.n = 0;
        mr_type_print_sql(type, &b);
        if (!mr_text_equal(mr_buffer_text(&b), text_of(slot)))
            status = merge_type(c, slot, type);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static enum mr_status schema_merge(const struct mr_aggregate_call *c, uint32_t n,
                                   union mr_slot *const *from, union mr_slot **into)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_type *type;
        uint64_t used;
        enum mr_status status =
            mr_ddl_parse_type(text_of(mr_wide_bytes(from[i])), c->arena, &type, &used, c->err);
        if (status == MR_OK)
            status = merge_type(c, mr_wide_bytes(into[i]), type);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static enum mr_status schema_result(const struct mr_aggregate_call *c, uint32_t n,
                                    union mr_slot *const *slots, struct mr_column *out)
{
    struct mr_builder builder;
    struct mr_buffer b;

    mr_builder_init(&builder, &mr_type_string, n, c->arena);
    mr_buffer_init(&b, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_type *type;
        uint64_t used;
        enum mr_status status =
            mr_ddl_parse_type(text_of(mr_wide_bytes(slots[i])), c->arena, &type, &used, c->err);
        if (status != MR_OK)
            return status;
        b.n = 0;
        mr_variant_schema_print(type, &b);
        mr_builder_append_text(&builder, mr_buffer_text(&b));
    }
    mr_builder_finish(&builder, out);
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_schema = {.name = "schema_of_variant_agg",
                                                 .slots = mr_binary_slots,
                                                 .update = schema_update,
                                                 .merge = schema_merge,
                                                 .result = schema_result};
