#include "core/base/check.h"
#include "core/batch/arrow_format.h"
#include "core/mem/mem.h"

#include <stdatomic.h>

/* Everything of one export lies in one arena, which goes with the last part that is released. */
struct owner {
    struct mr_arena arena;
    jmp_buf escape;
    atomic_uint parts;
};

static struct owner *open_owner(void)
{
    struct owner *o = mr_mem_alloc(sizeof *o);

    if (o) {
        mr_arena_init(&o->arena, NULL, &o->escape);
        atomic_init(&o->parts, 0);
    }
    return o;
}

static void close_owner(struct owner *o)
{
    mr_arena_fini(&o->arena);
    mr_mem_free(o, sizeof *o);
}

static void keep(struct owner *o)
{
    atomic_fetch_add_explicit(&o->parts, 1, memory_order_relaxed);
}

static void drop(struct owner *o)
{
    /* acq_rel: what other threads did with their parts comes before the memory goes. */
    if (atomic_fetch_sub_explicit(&o->parts, 1, memory_order_acq_rel) == 1)
        close_owner(o);
}

static void release_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++)
        if (s->children[i]->release)
            s->children[i]->release(s->children[i]);
    s->release = NULL;
    drop(s->private_data);
}

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
    array->release = NULL;
    drop(array->private_data);
}

/* ---- schema ---- */

static void open_schema(struct owner *o, struct ArrowSchema *s, const char *name,
                        const char *format, bool nullable, uint32_t children_n)
{
    struct mr_arena *a = &o->arena;

    *s = (struct ArrowSchema){.format = mr_arena_copy(a, format, strlen(format)),
                              .name = mr_arena_copy(a, name, strlen(name)),
                              .flags = nullable ? ARROW_FLAG_NULLABLE : 0,
                              .n_children = children_n,
                              .release = release_schema,
                              .private_data = o};
    keep(o);
    if (children_n == 0)
        return;
    s->children = MR_NEW_ARRAY(a, struct ArrowSchema *, children_n);
    struct ArrowSchema *children = MR_NEW_ARRAY(a, struct ArrowSchema, children_n);
    for (uint32_t i = 0; i < children_n; i++)
        s->children[i] = &children[i];
}

static void export_type(struct owner *o, const struct mr_type *type, const char *name,
                        bool nullable, struct ArrowSchema *s)
{
    struct ArrowSchema *parent = s;

    open_schema(o, s, name, mr_arrow_format_write(type, &o->arena), nullable,
                type->kind == MR_MAP ? 1 : type->fields_n);
    if (type->kind == MR_MAP) {
        parent = s->children[0];
        open_schema(o, parent, "entries", "+s", false, 2);
    }
    for (uint32_t i = 0; i < type->fields_n; i++)
        export_type(o, type->fields[i].type, type->fields[i].name, type->fields[i].nullable,
                    parent->children[i]);
}

/* ---- array ---- */

static void open_array(struct owner *o, struct ArrowArray *array, int64_t rows, uint32_t buffers_n,
                       uint32_t children_n)
{
    *array = (struct ArrowArray){.length = rows,
                                 .n_buffers = buffers_n,
                                 .n_children = children_n,
                                 .release = release_array,
                                 .private_data = o};
    keep(o);
    array->buffers = MR_NEW_ARRAY(&o->arena, const void *, buffers_n ? buffers_n : 1);
    if (children_n == 0)
        return;
    array->children = MR_NEW_ARRAY(&o->arena, struct ArrowArray *, children_n);
    struct ArrowArray *children = MR_NEW_ARRAY(&o->arena, struct ArrowArray, children_n);
    for (uint32_t i = 0; i < children_n; i++)
        array->children[i] = &children[i];
}

static int64_t count_nulls(const struct mr_column *c, uint32_t rows)
{
    int64_t n = 0;

    for (uint32_t i = 0; c->valid && i < rows; i++)
        n += !mr_bit_get(c->valid, i);
    return n;
}

/* Arrow wants zeros behind short values, and the size of each heap as the last buffer. */
static void export_views(struct owner *o, const struct mr_column *c, uint32_t rows,
                         struct ArrowArray *array)
{
    int64_t *sizes = MR_NEW_ARRAY(&o->arena, int64_t, c->heaps_n ? c->heaps_n : 1);

    for (uint32_t i = 0; i < rows; i++) {
        struct mr_view *v = &c->views[i];
        if (v->length <= MR_VIEW_INLINE) {
            memset(v->inlined + v->length, 0, (size_t)(MR_VIEW_INLINE - v->length));
            continue;
        }
        int64_t end = (int64_t)v->far.offset + v->length;
        if (end > sizes[v->far.heap])
            sizes[v->far.heap] = end;
    }
    for (uint32_t i = 0; i < c->heaps_n; i++)
        array->buffers[2 + i] = c->heaps[i];
    array->buffers[2 + c->heaps_n] = sizes;
}

/* Microseconds become nanoseconds, in place; false when one does not fit. */
static bool scale_calendar(struct mr_column *c, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        int64_t *us = &c->calendar[i].us;
        if (__builtin_mul_overflow(*us, 1000, us) && !mr_column_is_null(c, i))
            return false;
    }
    return true;
}

static bool export_column(struct owner *o, struct mr_column *c, uint32_t rows,
                          struct ArrowArray *array)
{
    const struct mr_type *t = c->type;
    uint32_t child_rows = rows, buffers_n = 2, children_n = t->fields_n;
    struct ArrowArray *parent = array;

    if (t->kind == MR_STRING || t->kind == MR_BINARY)
        buffers_n = 3 + c->heaps_n;
    else if (t->kind == MR_STRUCT || t->kind == MR_VOID)
        buffers_n = t->kind == MR_STRUCT;
    open_array(o, array, rows, buffers_n, t->kind == MR_MAP ? 1 : children_n);
    array->null_count = t->kind == MR_VOID ? rows : count_nulls(c, rows);
    if (buffers_n > 0)
        array->buffers[0] = c->valid;
    if (buffers_n > 1)
        array->buffers[1] = c->data;
    if (buffers_n > 2)
        export_views(o, c, rows, array);
    if (t->kind == MR_INTERVAL_CALENDAR && !scale_calendar(c, rows))
        return false;
    if (t->kind == MR_ARRAY || t->kind == MR_MAP)
        child_rows = (uint32_t)c->offsets[rows];
    if (t->kind == MR_MAP) {
        parent = array->children[0];
        open_array(o, parent, child_rows, 1, 2);
    }
    for (uint32_t i = 0; i < t->fields_n; i++)
        if (!export_column(o, &c->children[i], child_rows, parent->children[i]))
            return false;
    return true;
}

static enum mr_status fill(struct owner *o, const struct mr_batch *batch,
                           const struct mr_type *type, struct ArrowSchema *schema,
                           struct ArrowArray *array)
{
    struct mr_batch copy;

    if (setjmp(o->escape) != 0)
        return MR_MEMORY;
    export_type(o, type, "", false, schema);
    mr_batch_copy(&copy, batch, &o->arena);
    struct mr_column whole = {.type = type, .children = copy.columns};
    return export_column(o, &whole, copy.n, array) ? MR_OK : MR_UNSUPPORTED;
}

enum mr_status mr_arrow_export(const struct mr_batch *batch, const struct mr_type *type,
                               struct ArrowSchema *schema, struct ArrowArray *array,
                               struct mr_error *err)
{
    MR_ASSERT(type->kind == MR_STRUCT && type->fields_n == batch->columns_n);
    struct owner *o = open_owner();
    enum mr_status status = o ? fill(o, batch, type, schema, array) : MR_MEMORY;

    if (status == MR_OK)
        return MR_OK;
    if (o)
        close_owner(o);
    schema->release = NULL;
    array->release = NULL;
    if (status == MR_MEMORY)
        return MR_FAIL(err, status, 0, "arrow: no memory for %u rows", batch->n);
    return MR_FAIL(err, status, 0, "arrow: an interval is too long for nanoseconds");
}
