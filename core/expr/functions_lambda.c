#include "core/expr/coerce.h"
#include "core/expr/gather.h"
#include "core/expr/map.h"
#include "kernels/select/select.h"

/* Functions that take a lambda. Its body runs once over all elements of the batch as rows of their
 * own; parents says which row each belongs to. Only aggregate goes step by step, over all rows at
 * once. */

static enum mr_status need_boolean(struct mr_resolve *r, struct mr_expr *call, uint32_t i)
{
    struct mr_expr *lambda = call->args[i];

    if (lambda->kind != MR_EXPR_LAMBDA)
        return mr_mismatch_argument(r, call, i, "\"LAMBDA\"");
    if (lambda->type->kind == MR_VOID) {
        lambda->args[0] = mr_coerce(r, lambda->args[0], &mr_type_boolean);
        lambda->type = &mr_type_boolean;
    }
    if (lambda->type->kind != MR_BOOLEAN)
        return mr_mismatch_argument(r, call, i, "\"BOOLEAN\"");
    return MR_OK;
}

MR_RESOLVE(transform)
{
    const struct mr_expr *lambda = call->args[1];

    if (lambda->kind != MR_EXPR_LAMBDA)
        return mr_mismatch_argument(r, call, 1, "\"LAMBDA\"");
    call->type = mr_type_array(r->arena, lambda->type, lambda->nullable);
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}

MR_RESOLVE(filter)
{
    call->type = call->args[0]->type;
    call->nullable = call->args[0]->nullable;
    return need_boolean(r, call, 1);
}

MR_RESOLVE(quantifier)
{
    call->type = &mr_type_boolean;
    call->nullable = true;
    return need_boolean(r, call, 1);
}

/* The elements of the selected rows' lists as rows of their own. */
struct elements {
    uint32_t n, *at, *parents;
    struct mr_column index; /* INT, place in the list */
};

static void take_elements(struct mr_call *call, const struct mr_column *x, bool with_index,
                          struct elements *e)
{
    uint32_t n = 0;

    MR_EACH_ROW(call, i, row)
    n += (uint32_t)(x->offsets[row + 1] - x->offsets[row]);
    e->n = n;
    e->at = mr_arena_alloc(call->arena, ((size_t)n + 1) * sizeof *e->at);
    e->parents = mr_arena_alloc(call->arena, ((size_t)n + 1) * sizeof *e->parents);
    if (with_index)
        mr_column_alloc(&e->index, &mr_type_int, n, false, call->arena);
    n = 0;
    MR_EACH_ROW(call, i, row)
    for (int32_t k = x->offsets[row]; k < x->offsets[row + 1]; k++, n++) {
        e->at[n] = (uint32_t)k;
        e->parents[n] = row;
        if (with_index)
            e->index.i32[n] = k - x->offsets[row];
    }
}

/* Runs the lambda (element[, index]) of an array, or (key, value) of a map. */
static enum mr_status run(struct mr_call *call, const struct mr_column *x, struct elements *e,
                          struct mr_column *result)
{
    uint32_t variables_n = call->expr->args[1]->variables_n;
    struct mr_column parameters[2];
    bool map = x->type->kind == MR_MAP;

    take_elements(call, x, variables_n == 2 && !map, e);
    mr_column_gather(&parameters[0], &x->children[0], e->at, e->n, call->arena);
    if (map)
        mr_column_gather(&parameters[1], &x->children[1], e->at, e->n, call->arena);
    else
        parameters[1] = e->index;
    return mr_call_lambda(call, 1, e->n, parameters, variables_n, e->parents, result);
}

MR_BODY(transform)
{
    struct elements e;
    struct mr_column result;
    uint32_t at = 0, next = 0;
    enum mr_status status = run(call, args, &e, &result);

    if (status != MR_OK)
        return status;
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    out->children[0] = result;
    out->offsets[0] = 0;
    MR_EACH_ROW(call, i, row)
    {
        for (; next < row; next++)
            out->offsets[next + 1] = (int32_t)at;
        at += (uint32_t)(args[0].offsets[row + 1] - args[0].offsets[row]);
        out->offsets[++next] = (int32_t)at;
    }
    for (; next < call->rows; next++)
        out->offsets[next + 1] = (int32_t)at;
    return MR_OK;
}

/* filter, map_filter: entries for which the lambda is true. */
MR_BODY(filter)
{
    struct elements e;
    struct mr_column keep;
    uint32_t n, at = 0, *kept;
    enum mr_status status = run(call, args, &e, &keep);

    if (status != MR_OK)
        return status;
    kept = mr_arena_alloc(call->arena, ((size_t)e.n + 1) * sizeof *kept);
    n = mr_select->from_bits(kept, NULL, e.n, keep.bits, keep.valid);
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    for (uint32_t row = 0; row < call->rows; row++) {
        while (at < n && e.parents[kept[at]] == row)
            at++;
        out->offsets[row + 1] = (int32_t)at;
    }
    for (uint32_t i = 0; i < n; i++)
        kept[i] = e.at[kept[i]];
    for (uint32_t f = 0; f < out->type->fields_n; f++)
        mr_column_gather(&out->children[f], &args[0].children[f], kept, n, call->arena);
    return MR_OK;
}

/* exists: decided by true. forall: decided by false. Else null if one was null. */
static enum mr_status quantify(struct mr_call *call, const struct mr_column *args, bool decided,
                               struct mr_column *out)
{
    struct elements e;
    struct mr_column result;
    uint32_t at = 0;
    enum mr_status status = run(call, args, &e, &result);

    if (status != MR_OK)
        return status;
    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        bool found = false, null = false;
        for (; at < e.n && e.parents[at] == row; at++) {
            if (mr_column_is_null(&result, at))
                null = true;
            else
                found = found || mr_bit_get(result.bits, at) == decided;
        }
        mr_bit_put(out->bits, row, found ? decided : !decided);
        if (!found && null)
            mr_column_put_null(out, row, call->rows, call->arena);
    }
    return MR_OK;
}

MR_BODY(exists)
{
    return quantify(call, args, true, out);
}
MR_BODY(forall)
{
    return quantify(call, args, false, out);
}

MR_RESOLVE(transform_map)
{
    const struct mr_type *map = call->args[0]->type;
    const struct mr_expr *lambda = call->args[1];
    bool keys = strcmp(call->function->name, "transform_keys") == 0;

    if (map->kind != MR_MAP || lambda->kind != MR_EXPR_LAMBDA)
        return mr_mismatch_argument(r, call, map->kind == MR_MAP, "\"MAP\"");
    call->type =
        keys ? mr_type_map(r->arena, lambda->type, map->fields[1].type, map->fields[1].nullable)
             : mr_type_map(r->arena, map->fields[0].type, lambda->type, lambda->nullable);
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}

static enum mr_status transform_map(struct mr_call *call, const struct mr_column *args, bool keys,
                                    struct mr_column *out)
{
    struct elements e;
    struct mr_column result;
    struct mr_list_writer w;
    uint32_t at = 0;
    enum mr_status status = run(call, args, &e, &result);

    if (status != MR_OK)
        return status;
    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint32_t from = w.children[0].rows;
        for (; at < e.n && e.parents[at] == row; at++) {
            status = keys ? mr_map_put(call, &w, from, &result, at, &args[0].children[1], e.at[at])
                          : mr_map_put(call, &w, from, &args[0].children[0], e.at[at], &result, at);
            if (status != MR_OK)
                return status;
        }
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

MR_BODY(transform_keys)
{
    return transform_map(call, args, true, out);
}
MR_BODY(transform_values)
{
    return transform_map(call, args, false, out);
}

MR_RESOLVE(map_zip_with)
{
    const struct mr_type *x = call->args[0]->type, *y = call->args[1]->type;
    const struct mr_expr *lambda = call->args[2];

    if (x->kind != MR_MAP || y->kind != MR_MAP)
        return mr_mismatch_argument(r, call, x->kind != MR_MAP ? 0 : 1, "\"MAP\"");
    if (lambda->kind != MR_EXPR_LAMBDA)
        return mr_mismatch_argument(r, call, 2, "\"LAMBDA\"");
    if (!mr_type_equal(x->fields[0].type, y->fields[0].type)) /* lambda has those of the first */
        return mr_mismatch(r, call, "MAP_ZIP_WITH_DIFF_TYPES",
                           "Input to the `map_zip_with` should have been two maps with compatible "
                           "key types, but it's [\"%s\", \"%s\"].",
                           mr_type_sql(r->arena, x->fields[0].type),
                           mr_type_sql(r->arena, y->fields[0].type));
    call->type = mr_type_map(r->arena, x->fields[0].type, lambda->type, lambda->nullable);
    call->nullable = call->args[0]->nullable || call->args[1]->nullable;
    return MR_OK;
}

static uint32_t entry_of(const struct mr_column *map, uint32_t row, const struct mr_column *keys,
                         uint32_t key)
{
    for (int32_t e = map->offsets[row]; e < map->offsets[row + 1]; e++)
        if (mr_column_compare(&map->children[0], (uint32_t)e, keys, key) == 0)
            return (uint32_t)e;
    return UINT32_MAX;
}

/* The keys of both maps: those of the first, then what only the second has. */
struct zipped {
    uint32_t n, *parents;
    uint32_t *places[2]; /* entries of each map; UINT32_MAX: it lacks the key */
};

static void zip_keys(struct mr_call *call, const struct mr_column *args, struct zipped *z)
{
    size_t most = 1;

    MR_EACH_ROW(call, i, row)
    for (uint32_t k = 0; k < 2; k++)
        most += (uint32_t)(args[k].offsets[row + 1] - args[k].offsets[row]);
    z->parents = mr_arena_alloc(call->arena, most * sizeof *z->parents);
    for (uint32_t k = 0; k < 2; k++)
        z->places[k] = mr_arena_alloc(call->arena, most * sizeof *z->places[k]);
    MR_EACH_ROW(call, i, row)
    for (uint32_t k = 0; k < 2; k++)
        for (int32_t e = args[k].offsets[row]; e < args[k].offsets[row + 1]; e++) {
            uint32_t other = entry_of(&args[1 - k], row, &args[k].children[0], (uint32_t)e);
            if (k == 1 && other != UINT32_MAX)
                continue;
            z->parents[z->n] = row;
            z->places[k][z->n] = (uint32_t)e;
            z->places[1 - k][z->n++] = other;
        }
}

MR_BODY(map_zip_with)
{
    struct zipped z = {0};
    struct mr_column parameters[3], result;
    struct mr_list_writer w;
    uint32_t at = 0;

    zip_keys(call, args, &z);
    for (uint32_t k = 0; k < 2; k++)
        mr_column_gather(&parameters[k + 1], &args[k].children[1], z.places[k], z.n, call->arena);
    struct mr_builder keys;
    mr_builder_init(&keys, args[0].type->fields[0].type, z.n, call->arena);
    for (uint32_t e = 0; e < z.n; e++) {
        uint32_t k = z.places[0][e] == UINT32_MAX;
        mr_builder_append(&keys, &args[k].children[0], z.places[k][e]);
    }
    mr_builder_finish(&keys, &parameters[0]);
    enum mr_status status = mr_call_lambda(call, 2, z.n, parameters, 3, z.parents, &result);
    if (status != MR_OK)
        return status;
    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint32_t from = w.children[0].rows;
        for (; status == MR_OK && at < z.n && z.parents[at] == row; at++)
            status = mr_map_put(call, &w, from, &parameters[0], at, &result, at);
        if (status != MR_OK)
            return status;
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

MR_RESOLVE(zip_with)
{
    const struct mr_expr *lambda = call->args[2];

    if (lambda->kind != MR_EXPR_LAMBDA)
        return mr_mismatch_argument(r, call, 2, "\"LAMBDA\"");
    call->type = mr_type_array(r->arena, lambda->type, true);
    call->nullable = call->args[0]->nullable || call->args[1]->nullable;
    return MR_OK;
}

/* As many elements as the longer array has; the shorter one gives nulls. */
MR_BODY(zip_with)
{
    uint32_t n = 0, at = 0, next = 0, *rows[2], *parents;
    struct mr_column parameters[2], result;
    enum mr_status status;

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    out->offsets[0] = 0;
    MR_EACH_ROW(call, i, row)
    {
        int32_t x = args[0].offsets[row + 1] - args[0].offsets[row];
        int32_t y = args[1].offsets[row + 1] - args[1].offsets[row];
        for (; next < row; next++)
            out->offsets[next + 1] = (int32_t)n;
        n += (uint32_t)(x > y ? x : y);
        out->offsets[++next] = (int32_t)n;
    }
    for (; next < call->rows; next++)
        out->offsets[next + 1] = (int32_t)n;
    parents = mr_arena_alloc(call->arena, ((size_t)n + 1) * sizeof *parents);
    for (uint32_t k = 0; k < 2; k++)
        rows[k] = mr_arena_alloc(call->arena, ((size_t)n + 1) * sizeof *rows[k]);
    MR_EACH_ROW(call, i, row)
    for (int32_t e = 0; e < out->offsets[row + 1] - out->offsets[row]; e++, at++) {
        parents[at] = row;
        for (uint32_t k = 0; k < 2; k++) {
            int32_t place = args[k].offsets[row] + e;
            rows[k][at] = place < args[k].offsets[row + 1] ? (uint32_t)place : UINT32_MAX;
        }
    }
    for (uint32_t k = 0; k < 2; k++)
        mr_column_gather(&parameters[k], &args[k].children[0], rows[k], n, call->arena);
    status = mr_call_lambda(call, 2, n, parameters, 2, parents, &result);
    out->children[0] = result;
    return status;
}
