#include "core/batch/batch.h"

#include "core/batch/builder.h"

void mr_batch_copy(struct mr_batch *out, const struct mr_batch *in, struct mr_arena *a)
{
    struct mr_column *columns = MR_NEW_ARRAY(a, struct mr_column, in->columns_n);

    for (uint32_t i = 0; i < in->columns_n; i++) {
        struct mr_builder b;
        mr_builder_init(&b, in->columns[i].type, in->n, a);
        mr_builder_append_rows(&b, &in->columns[i], in->sel, in->n);
        mr_builder_finish(&b, &columns[i]);
    }
    *out = (struct mr_batch){.columns = columns,
                             .columns_n = in->columns_n,
                             .rows = in->n,
                             .n = in->n,
                             .port = in->port};
}

static bool views_are_valid(const struct mr_column *c, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        const struct mr_view *v = &c->views[i];
        if (v->length < 0)
            return false;
        if (v->length <= MR_VIEW_INLINE)
            continue;
        if (v->far.heap < 0 || (uint32_t)v->far.heap >= c->heaps_n || v->far.offset < 0 ||
            v->far.offset > INT32_MAX - v->length)
            return false;
        if (memcmp(v->far.prefix, c->heaps[v->far.heap] + v->far.offset, 4) != 0)
            return false;
    }
    return true;
}

static bool column_is_valid(const struct mr_column *c, uint32_t rows)
{
    const struct mr_type *t = c->type;
    uint32_t child_rows = rows;

    if (t == NULL || t->kind >= MR_KINDS_N || (t->fields_n > 0 && c->children == NULL))
        return false;
    if (rows > 0 && c->data == NULL && t->kind != MR_VOID && t->kind != MR_STRUCT)
        return false;
    if (mr_type_is_views(t))
        return views_are_valid(c, rows);
    if (t->kind == MR_ARRAY || t->kind == MR_MAP) {
        if (rows > 0 && c->offsets[0] < 0)
            return false;
        for (uint32_t i = 0; i < rows; i++)
            if (c->offsets[i] > c->offsets[i + 1])
                return false;
        child_rows = rows > 0 ? (uint32_t)c->offsets[rows] : 0;
    }
    for (uint32_t i = 0; i < t->fields_n; i++)
        if (!mr_type_equal(c->children[i].type, t->fields[i].type) ||
            !column_is_valid(&c->children[i], child_rows))
            return false;
    return true;
}

bool mr_batch_is_valid(const struct mr_batch *b)
{
    if (b->n > b->rows || (b->sel == NULL && b->n != b->rows))
        return false;
    for (uint32_t i = 0; b->sel && i < b->n; i++)
        if (b->sel[i] >= b->rows || (i > 0 && b->sel[i] <= b->sel[i - 1]))
            return false;
    for (uint32_t i = 0; i < b->columns_n; i++)
        if (!column_is_valid(&b->columns[i], b->rows))
            return false;
    return true;
}
