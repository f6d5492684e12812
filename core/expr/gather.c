#include "core/expr/gather.h"

#include "core/base/check.h"
#include "kernels/blend/blend.h"

static void gather_valid(struct mr_column *out, const struct mr_column *in, const uint32_t *rows,
                         uint32_t n, struct mr_arena *a)
{
    bool any = in->valid != NULL;

    for (uint32_t i = 0; i < n && !any; i++)
        any = rows[i] == UINT32_MAX;
    if (!any)
        return;
    mr_column_need_valid(out, n, a);
    for (uint32_t at = 0; at < n; at += 64) {
        uint64_t word = out->valid[at / 64];
        for (uint32_t i = at; i < n && i < at + 64; i++) {
            uint32_t taken = -(uint32_t)(rows[i] != UINT32_MAX), row = rows[i] & taken;
            uint64_t valid = taken & 1;
            if (in->valid)
                valid &= in->valid[row / 64] >> (row % 64);
            word &= ~((valid ^ 1) << (i % 64));
        }
        out->valid[at / 64] = word;
    }
}

static void gather_lists(struct mr_column *out, const struct mr_column *in, const uint32_t *rows,
                         uint32_t n, struct mr_arena *a)
{
    uint32_t total = 0, at = 0, *elements;

    out->offsets[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (rows[i] != UINT32_MAX && !mr_column_is_null(in, rows[i]))
            total += (uint32_t)(in->offsets[rows[i] + 1] - in->offsets[rows[i]]);
        out->offsets[i + 1] = (int32_t)total;
    }
    elements = mr_arena_alloc(a, ((size_t)total + 1) * sizeof *elements);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t length = (uint32_t)(out->offsets[i + 1] - out->offsets[i]);
        for (uint32_t k = 0; k < length; k++)
            elements[at++] = (uint32_t)in->offsets[rows[i]] + k;
    }
    for (uint32_t f = 0; f < in->type->fields_n; f++)
        mr_column_gather(&out->children[f], &in->children[f], elements, total, a);
}

#define GATHER(member, zero)                                                                       \
    for (uint32_t i = 0; i < n; i++)                                                               \
        out->member[i] = rows[i] == UINT32_MAX ? (zero) : in->member[rows[i]];                     \
    break
/* Words without a branch, which the rows of a filter would mispredict. Value 0 can be read in every
 * column, in an empty one in its padding. */
#define GATHER_WORDS(member, type)                                                                 \
    {                                                                                              \
        const type *from = (const type *)in->member;                                               \
        type *to = (type *)out->member;                                                            \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            uint32_t taken = -(uint32_t)(rows[i] != UINT32_MAX);                                   \
            to[i] = (type)(from[rows[i] & taken] & (type)(int32_t)taken);                          \
        }                                                                                          \
        break;                                                                                     \
    }

void mr_column_gather(struct mr_column *out, const struct mr_column *in, const uint32_t *rows,
                      uint32_t n, struct mr_arena *a)
{
    mr_column_alloc(out, in->type, n, false, a);
    gather_valid(out, in, rows, n, a);
    switch (in->type->kind) {
    case MR_VOID:
        break;
    case MR_BOOLEAN:
        for (uint32_t i = 0; i < n; i++)
            mr_bit_put(out->bits, i, rows[i] != UINT32_MAX && mr_bit_get(in->bits, rows[i]));
        break;
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        out->heaps = in->heaps;
        out->heaps_n = in->heaps_n;
        GATHER(views, (struct mr_view){0});
    case MR_INTERVAL_CALENDAR:
        GATHER(calendar, (struct mr_calendar_interval){0});
    case MR_ARRAY:
    case MR_MAP:
        gather_lists(out, in, rows, n, a);
        break;
    case MR_STRUCT:
        for (uint32_t f = 0; f < in->type->fields_n; f++)
            mr_column_gather(&out->children[f], &in->children[f], rows, n, a);
        break;
    default:
        switch (mr_type_value_bytes(in->type)) {
        case 1:
            GATHER_WORDS(i8, uint8_t)
        case 2:
            GATHER_WORDS(i16, uint16_t)
        case 4:
            GATHER_WORDS(i32, uint32_t)
        case 8:
            GATHER_WORDS(i64, uint64_t)
        default:
            GATHER_WORDS(i128, unsigned __int128)
        }
    }
}

void mr_column_gather_deep(struct mr_column *out, const struct mr_column *in, const uint32_t *rows,
                           uint32_t n, struct mr_arena *a)
{
    struct mr_builder b;

    mr_builder_init(&b, in->type, n, a);
    mr_builder_append_rows(&b, in, rows, n);
    mr_builder_finish(&b, out);
}

void mr_column_repeat(struct mr_column *out, const struct mr_column *in, uint32_t n,
                      struct mr_arena *a)
{
    uint32_t *rows = mr_arena_zero(a, ((size_t)n + 1) * sizeof *rows);

    mr_column_gather(out, in, rows, n, a);
}

/* Lists: out is appended to row by row. */
static void merge_lists(struct mr_column *out, const struct mr_type *type,
                        const struct mr_branch *branches, uint32_t n, uint32_t rows,
                        struct mr_arena *a)
{
    struct mr_builder b;

    mr_builder_init(&b, type, rows, a);
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t k = 0;
        while (k < n && !mr_bit_get(branches[k].rows, row))
            k++;
        if (k == n)
            mr_builder_append_null(&b);
        else
            mr_builder_append(&b, &branches[k].values, row);
    }
    mr_builder_finish(&b, out);
}

static bool has_values(const struct mr_branch *b)
{
    return b->values.type->kind != MR_VOID;
}

/* Rows with a value; NULL: all. */
static uint64_t *merge_valid(const struct mr_branch *branches, uint32_t n, uint32_t rows,
                             struct mr_arena *a)
{
    uint64_t *valid = MR_NEW_ARRAY(a, uint64_t, mr_bit_words(rows) + 1);

    for (uint32_t k = 0; k < n; k++) {
        const uint64_t *own = branches[k].values.valid;
        for (uint32_t w = 0; w < mr_bit_words(rows) && has_values(&branches[k]); w++)
            valid[w] |= own ? branches[k].rows[w] & own[w] : branches[k].rows[w];
    }
    return mr_bit_count(valid, rows) == rows ? NULL : valid;
}

static void merge_bits(struct mr_column *out, const struct mr_branch *branches, uint32_t n,
                       uint32_t rows, struct mr_arena *a)
{
    out->bits = MR_NEW_ARRAY(a, uint64_t, mr_bit_words(rows) + 8); /* a line at least */
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t w = 0; w < mr_bit_words(rows) && has_values(&branches[k]); w++)
            out->bits[w] |= branches[k].rows[w] & branches[k].values.bits[w];
}

/* All of the first branch, then the others over it. */
static void merge_fixed(struct mr_column *out, const struct mr_branch *branches, uint32_t n,
                        uint32_t rows, struct mr_arena *a)
{
    const uint32_t bytes = mr_type_value_bytes(out->type);
    const enum mr_blend_width width = (enum mr_blend_width)__builtin_ctz(bytes);
    uint32_t first = 0, others = 0;

    while (first < n && !has_values(&branches[first]))
        first++;
    if (first == n) {
        mr_column_alloc_null(out, out->type, rows, a);
        return;
    }
    for (uint32_t k = first + 1; k < n; k++)
        others += has_values(&branches[k]);
    if (others == 0 && !mr_type_is_views(out->type)) { /* rows without a value are null */
        out->data = branches[first].values.data;
        return;
    }
    mr_column_alloc(out, out->type, rows, false, a);
    memcpy(out->data, branches[first].values.data, (size_t)rows * bytes);
    for (uint32_t k = first + 1; k < n; k++)
        if (has_values(&branches[k]))
            mr_blend->of[width](out->data, branches[k].values.data, branches[k].rows, rows);
}

/* Long texts of the rows lie by that many heaps further on. */
static void move_heaps(struct mr_view *views, const uint64_t *bits, uint32_t rows, int32_t by)
{
    for (uint32_t row = 0; row < rows; row++)
        if (mr_bit_get(bits, row) && views[row].length > MR_VIEW_INLINE)
            views[row].far.heap += by;
}

/* Heaps of all branches, one behind the other; rows without a value have length 0. */
static void merge_views(struct mr_column *out, const struct mr_branch *branches, uint32_t n,
                        uint32_t rows, struct mr_arena *a)
{
    uint64_t *none = mr_arena_alloc(a, (mr_bit_words(rows) + 1) * sizeof *none);
    uint32_t heaps = 0;

    merge_fixed(out, branches, n, rows, a);
    memset(none, 0xff, mr_bit_words(rows) * sizeof *none);
    for (uint32_t k = 0; k < n; k++)
        heaps += has_values(&branches[k]) ? branches[k].values.heaps_n : 0;
    out->heaps = mr_arena_alloc(a, (heaps + 1) * sizeof *out->heaps);
    for (uint32_t k = 0; k < n; k++) {
        const struct mr_column *x = &branches[k].values;
        if (!has_values(&branches[k]))
            continue;
        for (uint32_t w = 0; w < mr_bit_words(rows); w++)
            none[w] &= ~branches[k].rows[w];
        if (x->heaps_n == 0)
            continue;
        memcpy(out->heaps + out->heaps_n, x->heaps, x->heaps_n * sizeof *out->heaps);
        if (out->heaps_n > 0)
            move_heaps(out->views, branches[k].rows, rows, (int32_t)out->heaps_n);
        out->heaps_n += x->heaps_n;
    }
    for (uint32_t w = 0; w < mr_bit_words(rows); w++)
        for (uint64_t word = none[w]; word; word &= word - 1) {
            const uint32_t row = w * 64 + (uint32_t)__builtin_ctzll(word);
            if (row < rows)
                out->views[row] = (struct mr_view){0};
        }
}

static void merge_structs(struct mr_column *out, const struct mr_type *type,
                          const struct mr_branch *branches, uint32_t n, uint32_t rows,
                          struct mr_arena *a)
{
    struct mr_branch *children = MR_NEW_ARRAY(a, struct mr_branch, n + 1);

    out->children = MR_NEW_ARRAY(a, struct mr_column, type->fields_n + 1);
    for (uint32_t f = 0; f < type->fields_n; f++) {
        for (uint32_t k = 0; k < n; k++) {
            children[k].rows = branches[k].rows;
            children[k].values = has_values(&branches[k])
                                     ? branches[k].values.children[f]
                                     : (struct mr_column){.type = &mr_type_void};
        }
        mr_column_merge(&out->children[f], type->fields[f].type, children, n, rows, a);
    }
}

void mr_column_merge(struct mr_column *out, const struct mr_type *type,
                     const struct mr_branch *branches, uint32_t n, uint32_t rows,
                     struct mr_arena *a)
{
    uint64_t *valid;

    if (type->kind == MR_ARRAY || type->kind == MR_MAP) {
        merge_lists(out, type, branches, n, rows, a);
        return;
    }
    *out = (struct mr_column){.type = type};
    valid = merge_valid(branches, n, rows, a);
    if (type->kind == MR_BOOLEAN)
        merge_bits(out, branches, n, rows, a);
    else if (mr_type_is_views(type))
        merge_views(out, branches, n, rows, a);
    else if (type->kind == MR_STRUCT)
        merge_structs(out, type, branches, n, rows, a);
    else if (type->kind != MR_VOID)
        merge_fixed(out, branches, n, rows, a);
    out->valid = valid;
}

void mr_column_choose(struct mr_column *out, const struct mr_type *type,
                      const struct mr_column *columns, uint32_t columns_n, const uint8_t *which,
                      uint32_t rows, const uint32_t *sel, uint32_t n, struct mr_arena *a)
{
    struct mr_branch *branches = MR_NEW_ARRAY(a, struct mr_branch, columns_n + 1);

    MR_ASSERT(columns_n <= MR_CHOOSE_MAX);
    for (uint32_t c = 0; c < columns_n; c++) {
        uint64_t *bits = MR_NEW_ARRAY(a, uint64_t, mr_bit_words(rows) + 1);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t row = sel ? sel[i] : i;
            bits[row >> 6] |= (uint64_t)(which[row] == c) << (row & 63);
        }
        branches[c] = (struct mr_branch){columns[c], bits};
    }
    mr_column_merge(out, type, branches, columns_n, rows, a);
}
