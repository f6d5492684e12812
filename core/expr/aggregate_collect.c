#include "core/expr/aggregate_slots.h"
#include "core/expr/encode.h"
#include "core/expr/hash.h"

/* collect_list, collect_set, listagg: values, encoded one behind the other. A set holds some values
 * twice until it has doubled, then it is cleaned, so that adding stays cheap. */
enum { CLEAN, VALUES, CLEAN_BYTES_MIN = 1024 };

MR_RESOLVE(collect)
{
    if (strcmp(call->function->name, "collect_set") == 0 &&
        mr_type_has(call->args[0]->type, MR_MAP))
        return mr_mismatch(r, call, "UNSUPPORTED_INPUT_TYPE",
                           "The input of `collect_set` can't be \"MAP\" type data.");
    call->type = mr_type_array(r->arena, call->args[0]->type, false);
    call->nullable = false;
    return MR_OK;
}

static uint32_t set_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                          const struct mr_type **buffer_types, struct mr_arena *a)
{
    mr_values_slots(call, kinds + VALUES, buffer_types + VALUES, a);
    kinds[CLEAN] = MR_SLOT_I64; /* bytes after the last cleaning */
    buffer_types[CLEAN] = &mr_type_bigint;
    return 2;
}

static enum mr_status list_result(const struct mr_aggregate_call *c, uint32_t n,
                                  union mr_slot *const *slots, struct mr_column *out)
{
    struct mr_builder b;

    mr_builder_init(&b, c->expr->type, n, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        mr_values_decode(mr_wide_bytes(slots[i]), &b.children[0]);
        mr_builder_close_row(&b);
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

/* Numbers of the values that are the first of their kind, ascending by value. */
static uint32_t *distinct(const struct mr_aggregate_call *c, const struct mr_column *x,
                          uint32_t rows, uint32_t *n)
{
    uint32_t *order = mr_values_order(x, rows, c->arena), kept = 0;

    for (uint32_t i = 0; i < rows; i++)
        if (kept == 0 || mr_column_compare(x, order[kept - 1], x, order[i]) != 0)
            order[kept++] = order[i];
    *n = kept;
    return order;
}

static void clean(const struct mr_aggregate_call *c, union mr_slot *slot)
{
    struct mr_builder b;
    struct mr_column x;
    struct mr_buffer kept;
    uint32_t n, *rows;

    mr_builder_init(&b, c->expr->type->fields[0].type, 64, c->arena);
    mr_values_decode(mr_wide_bytes(&slot[VALUES]), &b);
    mr_builder_finish(&b, &x);
    rows = distinct(c, &x, b.rows, &n);
    mr_buffer_init(&kept, c->arena);
    for (uint32_t i = 0; i < n; i++)
        mr_value_encode(&x, rows[i], &kept);
    mr_slot_replace(c, mr_wide_bytes(&slot[VALUES]), kept.data, kept.n);
    slot[CLEAN].i64 = (int64_t)kept.n;
}

static void clean_if_large(const struct mr_aggregate_call *c, union mr_slot *slot)
{
    if (mr_wide_bytes(&slot[VALUES])->n > 2 * slot[CLEAN].i64 + CLEAN_BYTES_MIN)
        clean(c, slot);
}

enum { SEEN = 256 };

/* Where a value of a group is looked for. */
static uint64_t place_of(const struct mr_column *x, uint32_t row, const union mr_slot *slot)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t words[2], seed = (uint64_t)(uintptr_t)slot;

    if (!mr_type_is_views(x->type) || x->views[row].length > MR_VIEW_INLINE)
        return mr_hash_xxh64(x, row, seed) % SEEN;
    memcpy(words, &x->views[row], sizeof words);
    seed = ((seed ^ words[0]) * factor ^ words[1]) * factor;
    return (seed ^ seed >> 32) % SEEN;
}

static bool is_same(const struct mr_column *x, uint32_t row, uint32_t other)
{
    if (mr_type_is_views(x->type) && x->views[row].length <= MR_VIEW_INLINE)
        return memcmp(&x->views[row], &x->views[other], sizeof *x->views) == 0;
    return mr_column_compare(x, row, x, other) == 0;
}

/* Values, but not those that the same group had in the batch before, as far as a small table knows
 * them. */
static void add_new(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                    const struct mr_column *x, union mr_slot **slots)
{
    struct {
        union mr_slot *slot; /* NULL: free */
        uint32_t row;
    } seen[SEEN] = {{0}};
    uint32_t *rows = mr_arena_alloc(c->arena, ((size_t)n + 1) * sizeof *rows), kept = 0;
    union mr_slot **of = mr_arena_alloc(c->arena, ((size_t)n + 1) * sizeof *of);

    MR_EACH_UPDATE(n, sel, i, row)
    {
        if (mr_column_is_null(x, row))
            continue;
        uint64_t at = place_of(x, row, slots[i]);
        if (seen[at].slot == slots[i] && is_same(x, row, seen[at].row))
            continue;
        seen[at].slot = slots[i];
        seen[at].row = row;
        rows[kept] = row;
        of[kept++] = slots[i];
    }
    mr_values_add(c, kept, rows, x, of, VALUES);
}

static enum mr_status set_update(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                                 const struct mr_column *args, union mr_slot **slots)
{
    add_new(c, n, sel, args, slots);
    for (uint32_t i = 0; i < n; i++)
        clean_if_large(c, slots[i]);
    return MR_OK;
}

static enum mr_status set_merge(const struct mr_aggregate_call *c, uint32_t n,
                                union mr_slot *const *from, union mr_slot **into)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_slot_bytes *more = mr_wide_bytes(&from[i][VALUES]);
        mr_slot_append(c, mr_wide_bytes(&into[i][VALUES]), more->data, more->n);
        clean_if_large(c, into[i]);
    }
    return MR_OK;
}

static enum mr_status set_result(const struct mr_aggregate_call *c, uint32_t n,
                                 union mr_slot *const *slots, struct mr_column *out)
{
    struct mr_builder b;

    mr_builder_init(&b, c->expr->type, n, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        struct mr_builder values;
        struct mr_column x;
        uint32_t kept, *rows;
        mr_builder_init(&values, c->expr->type->fields[0].type, 64, c->arena);
        mr_values_decode(mr_wide_bytes(&slots[i][VALUES]), &values);
        mr_builder_finish(&values, &x);
        rows = distinct(c, &x, values.rows, &kept);
        mr_builder_append_rows(&b.children[0], &x, rows, kept);
        mr_builder_close_row(&b);
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_list = {.name = "collect_list",
                                               .slots = mr_values_slots,
                                               .update = mr_values_update,
                                               .merge = mr_values_merge,
                                               .result = list_result,
                                               .is_ordered = true};
const struct mr_aggregate mr_aggregate_set = {.name = "collect_set",
                                              .slots = set_slots,
                                              .update = set_update,
                                              .merge = set_merge,
                                              .result = set_result,
                                              .is_ordered = true};

/* listagg(text[, separator[, key, descending]]): with a key, texts are joined in its order. */
enum { LIST_VALUE, LIST_SEPARATOR, LIST_KEY, LIST_DESCENDING };

MR_RESOLVE(listagg)
{
    enum mr_status status = MR_OK;

    if (call->args[LIST_VALUE]->type->kind != MR_BINARY)
        status = mr_coerce_argument(r, call, LIST_VALUE, &mr_type_string, NULL);
    if (status == MR_OK && call->args_n > LIST_SEPARATOR)
        status = mr_coerce_argument(r, call, LIST_SEPARATOR, call->args[LIST_VALUE]->type, NULL);
    if (status == MR_OK && call->args_n > LIST_SEPARATOR)
        status = mr_require_literal(r, call, LIST_SEPARATOR, "delimiter");
    call->type = call->args[LIST_VALUE]->type;
    call->nullable = true;
    return status;
}

/* Keys lie behind their texts. */
static uint32_t listagg_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                              const struct mr_type **buffer_types, struct mr_arena *a)
{
    const struct mr_type *value = call->args[LIST_VALUE]->type;

    kinds[0] = MR_SLOT_BYTES;
    if (call->args_n > LIST_KEY)
        value = mr_slot_pair(value, call->args[LIST_KEY]->type, a);
    buffer_types[0] = mr_type_array(a, value, false);
    return 1;
}

static enum mr_status listagg_update(const struct mr_aggregate_call *c, uint32_t n,
                                     const uint32_t *sel, const struct mr_column *args,
                                     union mr_slot **slots)
{
    bool keyed = c->expr->args_n > LIST_KEY;
    struct mr_buffer b;

    mr_buffer_init(&b, c->arena);
    MR_EACH_UPDATE(n, sel, i, row)
    {
        if (mr_column_is_null(&args[LIST_VALUE], row))
            continue;
        b.n = 0;
        mr_value_encode(&args[LIST_VALUE], row, &b);
        if (keyed)
            mr_value_encode(&args[LIST_KEY], row, &b);
        mr_slot_append(c, mr_wide_bytes(slots[i]), b.data, b.n);
    }
    return MR_OK;
}

static void join(const struct mr_aggregate_call *c, const struct mr_slot_bytes *slot,
                 struct mr_builder *out)
{
    bool keyed = c->expr->args_n > LIST_KEY;
    bool down = c->expr->args_n > LIST_DESCENDING &&
                mr_bit_get(c->expr->args[LIST_DESCENDING]->value->bits, 0);
    struct mr_builder values, keys;
    struct mr_column x, key;
    struct mr_buffer b;
    const uint8_t *at = slot->data;
    uint32_t *order;

    mr_builder_init(&values, c->expr->type, 64, c->arena);
    mr_builder_init(&keys, keyed ? c->expr->args[LIST_KEY]->type : c->expr->type, 64, c->arena);
    while (at < slot->data + slot->n) {
        mr_value_decode(&at, &values);
        if (keyed)
            mr_value_decode(&at, &keys);
    }
    mr_builder_finish(&values, &x);
    mr_builder_finish(&keys, &key);
    order = keyed ? mr_values_order(&key, values.rows, c->arena) : NULL;
    mr_buffer_init(&b, c->arena);
    for (uint32_t i = 0; i < values.rows; i++) {
        uint32_t k = down ? values.rows - 1 - i : i, row = order ? order[k] : k;
        if (i > 0 && c->expr->args_n > LIST_SEPARATOR)
            mr_buffer_append_text(&b, mr_column_text(c->expr->args[LIST_SEPARATOR]->value, 0));
        mr_buffer_append_text(&b, mr_column_text(&x, row));
    }
    mr_builder_append_text(out, mr_buffer_text(&b));
}

static enum mr_status listagg_result(const struct mr_aggregate_call *c, uint32_t n,
                                     union mr_slot *const *slots, struct mr_column *out)
{
    struct mr_builder b;

    mr_builder_init(&b, c->expr->type, n, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        if (mr_wide_bytes(slots[i])->n == 0)
            mr_builder_append_null(&b);
        else
            join(c, mr_wide_bytes(slots[i]), &b);
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_listagg = {.name = "listagg",
                                                  .slots = listagg_slots,
                                                  .update = listagg_update,
                                                  .merge = mr_values_merge,
                                                  .result = listagg_result,
                                                  .is_ordered = true};
