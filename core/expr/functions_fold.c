#include "core/expr/coerce.h"
#include "core/expr/gather.h"
#include "core/expr/writer.h"

/* aggregate(array, zero, merge[, finish]) and array_sort with a comparator. */

MR_RESOLVE(fold)
{
    struct mr_expr *merge = call->args[2];

    if (call->args[0]->type->kind != MR_ARRAY)
        return mr_mismatch_argument(r, call, 0, "\"ARRAY\"");
    if (merge->kind != MR_EXPR_LAMBDA)
        return mr_mismatch_argument(r, call, 2, "\"LAMBDA\"");
    if (!mr_type_equal(merge->type, call->args[1]->type)) {
        if (!mr_cast_is_implicit(merge->type, call->args[1]->type))
            return mr_mismatch_argument(
                r, call, 2,
                mr_arena_format(r->arena, "\"%s\"", mr_type_sql(r->arena, call->args[1]->type)));
        merge->args[0] = mr_coerce(r, merge->args[0], call->args[1]->type);
        merge->type = call->args[1]->type;
    }
    call->type = call->args_n > 3 ? call->args[3]->type : call->args[1]->type;
    call->nullable = true;
    return MR_OK;
}

/* One step for all rows whose arrays are long enough: the accumulators of those rows become the
 * lambda's. */
MR_BODY(fold)
{
    const struct mr_column *x = &args[0];
    uint32_t n = 0, *rows = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *rows);
    uint32_t *at = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *at);
    uint8_t *which = mr_arena_alloc(call->arena, (size_t)call->rows + 1);
    uint32_t *place = mr_arena_alloc(call->arena, ((size_t)call->rows + 1) * sizeof *place);
    struct mr_column accumulator = args[1];

    MR_EACH_ROW(call, i, row)
    if (!mr_column_is_null(x, row))
        rows[n++] = row;
    for (int32_t step = 0; n > 0; step++) {
        struct mr_column parameters[2], result, spread[2];
        uint32_t left = 0;
        enum mr_status status;
        for (uint32_t k = 0; k < n; k++)
            if (x->offsets[rows[k]] + step < x->offsets[rows[k] + 1])
                rows[left++] = rows[k];
        n = left;
        if (n == 0)
            break;
        for (uint32_t k = 0; k < n; k++)
            at[k] = (uint32_t)(x->offsets[rows[k]] + step);
        mr_column_gather(&parameters[0], &accumulator, rows, n, call->arena);
        mr_column_gather(&parameters[1], &x->children[0], at, n, call->arena);
        status = mr_call_lambda(call, 2, n, parameters, 2, rows, &result);
        if (status != MR_OK)
            return status;
        memset(which, 0, call->rows);
        memset(place, 0xff, call->rows * sizeof *place);
        for (uint32_t k = 0; k < n; k++) {
            which[rows[k]] = 1;
            place[rows[k]] = k;
        }
        spread[0] = accumulator;
        mr_column_gather(&spread[1], &result, place, call->rows, call->arena);
        mr_column_choose(&accumulator, args[1].type, spread, 2, which, call->rows, call->sel,
                         call->n, call->arena);
    }
    *out = accumulator;
    if (call->expr->args_n > 3) {
        struct mr_column parameter, result;
        for (uint32_t i = 0; i < call->n; i++)
            at[i] = call->sel ? call->sel[i] : i;
        mr_column_gather(&parameter, &accumulator, at, call->n, call->arena);
        enum mr_status status = mr_call_lambda(call, 3, call->n, &parameter, 1, at, &result);
        if (status != MR_OK)
            return status;
        memset(place, 0xff, call->rows * sizeof *place);
        for (uint32_t i = 0; i < call->n; i++)
            place[at[i]] = i;
        mr_column_gather(out, &result, place, call->rows, call->arena);
    }
    if (x->valid == NULL)
        return MR_OK;
    mr_column_need_valid(out, call->rows, call->arena); /* a null array */
    uint64_t *valid = mr_arena_alloc(call->arena, (mr_bit_words(call->rows) + 1) * sizeof *valid);
    for (uint32_t w = 0; w < mr_bit_words(call->rows); w++)
        valid[w] = out->valid[w] & x->valid[w];
    out->valid = valid;
    return MR_OK;
}

MR_RESOLVE(array_sort)
{
    if (call->args[0]->type->kind != MR_ARRAY)
        return mr_mismatch_argument(r, call, 0, "\"ARRAY\"");
    if (call->args_n == 2 &&
        (call->args[1]->kind != MR_EXPR_LAMBDA || call->args[1]->type->kind != MR_INT))
        return mr_mismatch_argument(r, call, 1, "\"INT\"");
    call->type = call->args[0]->type;
    call->nullable = call->args[0]->nullable;
    if (call->args_n == 2)
        call->function = mr_function_find("array_sort_by");
    return MR_OK;
}

/* Merges runs of width elements, level by level: at each level all comparisons of one round, one
 * per pair of runs and row, go through the lambda together. */
struct run {
    uint32_t left, left_end, right, right_end, out;
    uint32_t row;
};

static enum mr_status merge_runs(struct mr_call *call, const struct mr_column *element,
                                 struct run *runs, uint32_t n, const uint32_t *from, uint32_t *to)
{
    uint32_t *lefts = mr_arena_alloc(call->arena, ((size_t)n + 1) * sizeof *lefts);
    uint32_t *rights = mr_arena_alloc(call->arena, ((size_t)n + 1) * sizeof *rights);
    uint32_t *parents = mr_arena_alloc(call->arena, ((size_t)n + 1) * sizeof *parents);
    uint32_t *open = mr_arena_alloc(call->arena, ((size_t)n + 1) * sizeof *open);

    for (;;) {
        struct mr_column parameters[2], order;
        uint32_t open_n = 0;
        enum mr_status status;
        for (uint32_t k = 0; k < n; k++) {
            if (runs[k].left == runs[k].left_end || runs[k].right == runs[k].right_end)
                continue;
            lefts[open_n] = from[runs[k].left];
            rights[open_n] = from[runs[k].right];
            parents[open_n] = runs[k].row;
            open[open_n++] = k;
        }
        if (open_n == 0)
            break;
        /* Java's sort asks for the later one beside the earlier: a comparator may tell them
         * apart. */
        mr_column_gather(&parameters[0], element, rights, open_n, call->arena);
        mr_column_gather(&parameters[1], element, lefts, open_n, call->arena);
        status = mr_call_lambda(call, 1, open_n, parameters, 2, parents, &order);
        if (status != MR_OK)
            return status;
        for (uint32_t k = 0; k < open_n; k++) {
            struct run *run = &runs[open[k]];
            if (mr_column_is_null(&order, k))
                return MR_FAIL_CONDITION(call->err, MR_QUERY, "COMPARATOR_RETURNS_NULL",
                                         "The comparator has returned a NULL for a comparison.");
            to[run->out++] = order.i32[k] >= 0 ? from[run->left++] : from[run->right++];
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        while (runs[k].left < runs[k].left_end)
            to[runs[k].out++] = from[runs[k].left++];
        while (runs[k].right < runs[k].right_end)
            to[runs[k].out++] = from[runs[k].right++];
    }
    return MR_OK;
}

static uint32_t cut_runs(struct mr_call *call, const struct mr_column *x, uint32_t width,
                         struct run *runs)
{
    uint32_t n = 0, base = 0;

    MR_EACH_ROW(call, i, row)
    {
        uint32_t length = (uint32_t)(x->offsets[row + 1] - x->offsets[row]);
        for (uint32_t at = 0; at < length; at += 2 * width) {
            uint32_t middle = at + width < length ? at + width : length;
            uint32_t end = at + 2 * width < length ? at + 2 * width : length;
            runs[n++] =
                (struct run){base + at, base + middle, base + middle, base + end, base + at, row};
        }
        base += length;
    }
    return n;
}

MR_BODY(array_sort_by)
{
    const struct mr_column *x = &args[0];
    uint32_t total = 0, longest = 0, at = 0, *from, *to;
    struct mr_list_writer w;
    struct run *runs;

    MR_EACH_ROW(call, i, row)
    {
        uint32_t length = (uint32_t)(x->offsets[row + 1] - x->offsets[row]);
        total += length;
        longest = length > longest ? length : longest;
    }
    from = mr_arena_alloc(call->arena, ((size_t)total + 1) * sizeof *from);
    to = mr_arena_alloc(call->arena, ((size_t)total + 1) * sizeof *to);
    runs = mr_arena_alloc(call->arena, ((size_t)total + 1) * sizeof *runs);
    MR_EACH_ROW(call, i, row)
    for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++)
        from[at++] = (uint32_t)e;
    for (uint32_t width = 1; width < longest; width *= 2) {
        uint32_t n = cut_runs(call, x, width, runs), *swap = from;
        enum mr_status status = merge_runs(call, &x->children[0], runs, n, from, to);
        if (status != MR_OK)
            return status;
        from = to;
        to = swap;
    }
    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    at = 0;
    MR_EACH_ROW(call, i, row)
    {
        uint32_t length = (uint32_t)(x->offsets[row + 1] - x->offsets[row]);
        mr_builder_append_rows(&w.children[0], &x->children[0], from + at, length);
        at += length;
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}
