#include "core/expr/generator.h"

#include "core/expr/gather.h"

void mr_generated_begin(struct mr_call *call, const uint32_t *counts, struct mr_generated *out)
{
    uint32_t *offsets = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *offsets);
    uint32_t *parents, at = 0;

    offsets[0] = 0;
    for (uint32_t i = 0; i < call->n; i++)
        offsets[i + 1] = offsets[i] + counts[i];
    parents = mr_arena_alloc(call->arena, ((size_t)offsets[call->n] + 1) * sizeof *parents);
    MR_EACH_ROW(call, i, row)
    for (uint32_t k = 0; k < counts[i]; k++)
        parents[at++] = row;
    out->rows = offsets[call->n];
    out->offsets = offsets;
    out->parents = parents;
    out->columns_n = call->expr->type->fields_n;
    out->columns = MR_NEW_ARRAY(call->arena, struct mr_column, out->columns_n + 1);
}

/* A row that gave nothing gives one of nulls: rows are numbered anew, with UINT32_MAX for those. */
static void add_outer(struct mr_call *call, struct mr_generated *out)
{
    struct mr_generated outer;
    uint32_t *counts = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *counts), *rows;
    uint32_t at = 0;
    bool any = false;

    for (uint32_t i = 0; i < call->n; i++) {
        counts[i] = out->offsets[i + 1] - out->offsets[i];
        any = any || counts[i] == 0;
        counts[i] = counts[i] ? counts[i] : 1;
    }
    if (!any)
        return;
    mr_generated_begin(call, counts, &outer);
    rows = mr_arena_alloc(call->arena, ((size_t)outer.rows + 1) * sizeof *rows);
    for (uint32_t i = 0; i < call->n; i++) {
        if (out->offsets[i] == out->offsets[i + 1])
            rows[at++] = UINT32_MAX;
        for (uint32_t k = out->offsets[i]; k < out->offsets[i + 1]; k++)
            rows[at++] = k;
    }
    for (uint32_t c = 0; c < out->columns_n; c++)
        mr_column_gather(&outer.columns[c], &out->columns[c], rows, outer.rows, call->arena);
    *out = outer;
}

void mr_generate_finish(struct mr_call *call, bool outer, struct mr_generated *out)
{
    if (outer || (call->expr->function->flags & MR_FN_OUTER))
        add_outer(call, out);
}
