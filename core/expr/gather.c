#include "core/expr/gather.h"

#include "core/base/check.h"

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

/* Lists: out is appended to row by row, rows not selected are empty. */
static void choose_lists(struct mr_column *out, const struct mr_type *type,
                         const struct mr_column *columns, const uint8_t *which, uint32_t rows,
                         const uint32_t *sel, uint32_t n, struct mr_arena *a)
{
    struct mr_builder b;
    uint32_t at = 0;

    mr_builder_init(&b, type, rows, a);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = sel ? sel[i] : i;
        for (; at < row; at++)
            mr_builder_append_null(&b);
        if (which[row] == MR_CHOOSE_NULL)
            mr_builder_append_null(&b);
        else
            mr_builder_append(&b, &columns[which[row]], row);
        at++;
    }
    for (; at < rows; at++)
        mr_builder_append_null(&b);
    mr_builder_finish(&b, out);
}

static void choose_views(struct mr_column *out, const struct mr_column *columns, uint32_t columns_n,
                         const uint8_t *which, const uint32_t *sel, uint32_t n, struct mr_arena *a)
{
    int32_t *first = mr_arena_alloc(a, (columns_n + 1) * sizeof *first);
    uint32_t heaps = 0;

    for (uint32_t c = 0; c < columns_n; c++) {
        first[c] = (int32_t)heaps;
        heaps += columns[c].heaps_n;
    }
    out->heaps = mr_arena_alloc(a, (heaps + 1) * sizeof *out->heaps);
    out->heaps_n = heaps;
    for (uint32_t c = 0; c < columns_n; c++)
        if (columns[c].heaps_n)
            memcpy(out->heaps + first[c], columns[c].heaps,
                   columns[c].heaps_n * sizeof *out->heaps);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = sel ? sel[i] : i;
        if (which[row] == MR_CHOOSE_NULL || mr_column_is_null(&columns[which[row]], row)) {
            out->views[row] = (struct mr_view){0};
            continue;
        }
        out->views[row] = columns[which[row]].views[row];
        if (out->views[row].length > MR_VIEW_INLINE)
            out->views[row].far.heap += first[which[row]];
    }
}

static void choose_structs(struct mr_column *out, const struct mr_type *type,
                           const struct mr_column *columns, uint32_t columns_n,
                           const uint8_t *which, uint32_t rows, const uint32_t *sel, uint32_t n,
                           struct mr_arena *a)
{
    struct mr_column *children = MR_NEW_ARRAY(a, struct mr_column, columns_n + 1);

    for (uint32_t f = 0; f < type->fields_n; f++) {
        for (uint32_t c = 0; c < columns_n; c++)
            children[c] = columns[c].type->kind == MR_STRUCT
                              ? columns[c].children[f]
                              : (struct mr_column){.type = &mr_type_void};
        mr_column_choose(&out->children[f], type->fields[f].type, children, columns_n, which, rows,
                         sel, n, a);
    }
}

#define CHOOSE(member)                                                                             \
    for (uint32_t i = 0; i < n; i++) {                                                             \
        uint32_t row = sel ? sel[i] : i;                                                           \
        if (which[row] != MR_CHOOSE_NULL && columns[which[row]].type->kind != MR_VOID)             \
            out->member[row] = columns[which[row]].member[row];                                    \
        else                                                                                       \
            memset(&out->member[row], 0, sizeof out->member[row]);                                 \
    }                                                                                              \
    break

static void choose_valid(struct mr_column *out, const struct mr_column *columns,
                         const uint8_t *which, uint32_t rows, const uint32_t *sel, uint32_t n,
                         struct mr_arena *a)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = sel ? sel[i] : i;
        if (which[row] != MR_CHOOSE_NULL && !mr_column_is_null(&columns[which[row]], row))
            continue;
        mr_column_need_valid(out, rows, a);
        mr_bit_clear(out->valid, row);
    }
}

void mr_column_choose(struct mr_column *out, const struct mr_type *type,
                      const struct mr_column *columns, uint32_t columns_n, const uint8_t *which,
                      uint32_t rows, const uint32_t *sel, uint32_t n, struct mr_arena *a)
{
    MR_ASSERT(columns_n <= MR_CHOOSE_MAX);
    if (type->kind == MR_ARRAY || type->kind == MR_MAP) {
        choose_lists(out, type, columns, which, rows, sel, n, a);
        return;
    }
    mr_column_alloc(out, type, rows, false, a);
    choose_valid(out, columns, which, rows, sel, n, a);
    switch (type->kind) {
    case MR_VOID:
        break;
    case MR_BOOLEAN:
        for (uint32_t i = 0; i < n; i++) {
            uint32_t row = sel ? sel[i] : i;
            bool value = which[row] != MR_CHOOSE_NULL &&
                         columns[which[row]].type->kind != MR_VOID &&
                         mr_bit_get(columns[which[row]].bits, row);
            mr_bit_put(out->bits, row, value);
        }
        break;
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        choose_views(out, columns, columns_n, which, sel, n, a);
        break;
    case MR_STRUCT:
        choose_structs(out, type, columns, columns_n, which, rows, sel, n, a);
        break;
    default:
        switch (mr_type_value_bytes(type)) {
        case 1:
            CHOOSE(i8);
        case 2:
            CHOOSE(i16);
        case 4:
            CHOOSE(i32);
        case 8:
            CHOOSE(i64);
        default:
            CHOOSE(i128);
        }
    }
}
