#include "core/expr/coerce.h"
#include "core/expr/chars.h"
#include "core/expr/search.h"
#include "core/expr/writer.h"
#include "kernels/view/view.h"

/* Lengths, slices, trimming, searching: nothing here writes new text. */

static void put_bytes(struct mr_call *call, const struct mr_column *x, struct mr_column *out)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    mr_view->lengths(out->i32, (const uint64_t *)(const void *)x->views, call->rows);
}

/* Whether the bytes of all selected texts are their characters. */
static bool is_bytes(const struct mr_call *call, const struct mr_column *x)
{
    return x->type->kind == MR_BINARY || mr_chars_column_is_ascii(x, call->sel, call->n);
}

MR_BODY(length)
{
    put_bytes(call, args, out);
    if (is_bytes(call, args))
        return MR_OK;
    MR_EACH_ROW(call, i, row)
    out->i32[row] = (int32_t)mr_chars_length(mr_column_text(&args[0], row));
    return MR_OK;
}

MR_BODY(octet_length)
{
    put_bytes(call, args, out);
    return MR_OK;
}

MR_BODY(bit_length)
{
    put_bytes(call, args, out);
    for (uint32_t row = 0; row < call->rows; row++)
        out->i32[row] = (int32_t)((uint32_t)out->i32[row] * 8);
    return MR_OK;
}

/* substring(t, at, n): at from 1, or from the end when negative; 0 is as 1. */
static void slice(const struct mr_column *x, uint32_t row, int64_t at, int64_t n, bool bytes,
                  struct mr_column *out)
{
    struct mr_text t = mr_column_text(x, row);
    int64_t length = (int64_t)(bytes ? t.n : mr_chars_length(t));
    int64_t from = at > 0 ? at - 1 : at < 0 ? length + at : 0;
    int64_t to = n > INT64_MAX - INT32_MAX ? INT64_MAX : from + n;
    uint64_t first, last;

    from = from < 0 ? 0 : from;
    to = to > length ? length : to;
    if (to <= from) {
        out->views[row] = (struct mr_view){0};
        return;
    }
    first = bytes ? (uint64_t)from : mr_chars_offset(t, (uint64_t)from);
    last = bytes ? (uint64_t)to : mr_chars_offset(t, (uint64_t)to);
    mr_text_slice(out, row, x, row, (uint32_t)first, (uint32_t)(last - first));
}

MR_BODY(substring)
{
    const bool bytes = is_bytes(call, args);

    mr_text_share(out, &args[0], call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    slice(&args[0], row, args[1].i32[row], call->expr->args_n > 2 ? args[2].i32[row] : INT64_MAX,
          bytes, out);
    return MR_OK;
}

MR_BODY(left)
{
    const bool bytes = is_bytes(call, args);

    mr_text_share(out, &args[0], call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    slice(&args[0], row, 1, args[1].i32[row], bytes, out);
    return MR_OK;
}

MR_BODY(right)
{
    const bool bytes = is_bytes(call, args);

    mr_text_share(out, &args[0], call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    if (args[1].i32[row] > 0)
        slice(&args[0], row, -(int64_t)args[1].i32[row], INT64_MAX, bytes, out);
    return MR_OK;
}

/* Does one of the characters of set stand at t[at..at+bytes)? */
static bool in_set(struct mr_text set, const char *c, uint32_t bytes)
{
    for (uint64_t at = 0; at < set.n; at = mr_chars_next(set, at))
        if (mr_chars_next(set, at) - at == bytes && memcmp(set.data + at, c, bytes) == 0)
            return true;
    return false;
}

enum { TRIM_LEFT = 1, TRIM_RIGHT = 2 };

static void trim_row(const struct mr_column *x, uint32_t row, struct mr_text set, int sides,
                     struct mr_column *out)
{
    struct mr_text t = mr_column_text(x, row);
    uint64_t from = 0, to = t.n;

    if (set.n == 1 && (uint8_t)set.data[0] < 0x80) { /* no byte of another character is one */
        const char c = set.data[0];
        while ((sides & TRIM_LEFT) && from < to && t.data[from] == c)
            from++;
        while ((sides & TRIM_RIGHT) && to > from && t.data[to - 1] == c)
            to--;
        sides = 0;
    }
    while ((sides & TRIM_LEFT) && from < to) {
        uint64_t next = mr_chars_next(t, from);
        if (!in_set(set, t.data + from, (uint32_t)(next - from)))
            break;
        from = next;
    }
    while ((sides & TRIM_RIGHT) && to > from) {
        uint64_t last = to - 1;
        while (last > from && ((uint8_t)t.data[last] & 0xc0) == 0x80)
            last--;
        if (!in_set(set, t.data + last, (uint32_t)(to - last)))
            break;
        to = last;
    }
    mr_text_slice(out, row, x, row, (uint32_t)from, (uint32_t)(to - from));
}

/* trim(t), trim(t, set). */
static enum mr_status trim(struct mr_call *call, const struct mr_column *args, int sides,
                           struct mr_column *out)
{
    mr_text_share(out, &args[0], call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    trim_row(&args[0], row, call->expr->args_n > 1 ? mr_column_text(&args[1], row) : MR_TEXT(" "),
             sides, out);
    return MR_OK;
}

MR_BODY(trim)
{
    return trim(call, args, TRIM_LEFT | TRIM_RIGHT, out);
}
MR_BODY(ltrim)
{
    return trim(call, args, TRIM_LEFT, out);
}
MR_BODY(rtrim)
{
    return trim(call, args, TRIM_RIGHT, out);
}

/* trim(set, t): the order of TRIM(set FROM t) in Spark's functions ltrim and rtrim. */
MR_RESOLVE(trim_set_first)
{
    if (call->args_n == 2) {
        struct mr_expr *set = call->args[0];
        call->args[0] = call->args[1];
        call->args[1] = set;
    }
    for (uint32_t i = 0; i < call->args_n; i++) {
        enum mr_status status = mr_coerce_argument(r, call, i, &mr_type_string, NULL);
        if (status != MR_OK)
            return status;
    }
    call->type = &mr_type_string;
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

static inline bool has(struct mr_text t, struct mr_text what)
{
    return mr_chars_find(t, what, 0) != UINT64_MAX;
}
static inline bool starts(struct mr_text t, struct mr_text what)
{
    return what.n <= t.n && mr_chars_same(t.data, what.data, what.n);
}
static inline bool ends(struct mr_text t, struct mr_text what)
{
    return what.n <= t.n && mr_chars_same(t.data + t.n - what.n, what.data, what.n);
}

/* A constant: nothing, it and nothing are the pieces of contains, the first two those of endswith,
 * the last two those of startswith. */
static void search_constant(struct mr_call *call, const struct mr_column *x, uint32_t first,
                            uint32_t pieces_n, uint64_t *bits)
{
    struct mr_view_piece pieces[3];
    const struct mr_view_pattern pattern = {pieces + first, pieces_n};

    mr_search_piece_text(&pieces[0], MR_TEXT(""), call->arena);
    mr_search_piece_text(&pieces[1], mr_column_text(call->expr->args[1]->value, 0), call->arena);
    pieces[2] = pieces[0];
    mr_search_put_bits(call, x, &pattern, bits);
}

#define SEARCH_BODY(name, test, first, pieces_n)                                                   \
    static bool name##_columns(const void *arg, uint32_t row)                                      \
    {                                                                                              \
        const struct mr_column *args = arg;                                                        \
        return test(mr_column_text(&args[0], row), mr_column_text(&args[1], row));                 \
    }                                                                                              \
    MR_BODY(name)                                                                                  \
    {                                                                                              \
        mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);                    \
        if (mr_call_is_literal(call, 1))                                                           \
            search_constant(call, args, first, pieces_n, out->bits);                               \
        else                                                                                       \
            mr_call_put_bits(call, out->bits, args, name##_columns);                               \
        return MR_OK;                                                                              \
    }
SEARCH_BODY(contains, has, 0, 3)
SEARCH_BODY(startswith, starts, 1, 2)
SEARCH_BODY(endswith, ends, 0, 2)

/* Character number (from 1) of the first occurrence at or after character number from; 0: none. */
static int32_t position(struct mr_text t, struct mr_text what, int32_t from, bool bytes)
{
    uint64_t at;

    if (from < 1)
        return 0;
    if (what.n == 0) /* wherever it starts */
        return 1;
    at =
        mr_chars_find(t, what, bytes ? (uint64_t)from - 1 : mr_chars_offset(t, (uint64_t)from - 1));
    if (at == UINT64_MAX || bytes)
        return (int32_t)(at + 1);
    return (int32_t)mr_chars_length((struct mr_text){t.data, at}) + 1;
}

/* A constant in each text from its beginning. */
static void put_positions(struct mr_call *call, const struct mr_column *x, uint32_t argument,
                          struct mr_column *out)
{
    const struct mr_text what = mr_column_text(call->expr->args[argument]->value, 0);
    const bool bytes = is_bytes(call, x);

    MR_EACH_ROW(call, i, row)
    out->i32[row] = position(mr_column_text(x, row), what, 1, bytes);
}

MR_BODY(instr)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    if (mr_call_is_literal(call, 1)) {
        put_positions(call, &args[0], 1, out);
        return MR_OK;
    }
    MR_EACH_ROW(call, i, row)
    out->i32[row] =
        position(mr_column_text(&args[0], row), mr_column_text(&args[1], row), 1, false);
    return MR_OK;
}

MR_BODY(locate)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    if (call->expr->args_n == 2 && mr_call_is_literal(call, 0) && args[0].valid == NULL) {
        put_positions(call, &args[1], 0, out);
        out->valid = args[1].valid;
        return MR_OK;
    }
    MR_EACH_ROW(call, i, row)
    {
        if (call->expr->args_n > 2 && mr_column_is_null(&args[2], row)) /* whatever the texts are */
            out->i32[row] = 0;
        else if (mr_column_is_null(&args[0], row) || mr_column_is_null(&args[1], row))
            mr_column_put_null(out, row, call->rows, call->arena);
        else
            out->i32[row] = position(mr_column_text(&args[1], row), mr_column_text(&args[0], row),
                                     call->expr->args_n > 2 ? args[2].i32[row] : 1, false);
    }
    return MR_OK;
}

MR_BODY(ascii)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        uint32_t bytes;
        out->i32[row] = t.n ? (int32_t)mr_chars_decode(t.data, t.n, &bytes) : 0;
    }
    return MR_OK;
}

/* substring_index(t, delimiter, n): what stands before the n-th delimiter, or after it from the
 * end. */
static void index_slice(const struct mr_column *x, uint32_t row, struct mr_text delimiter,
                        int32_t count, struct mr_column *out)
{
    struct mr_text t = mr_column_text(x, row);
    uint64_t at = 0, from = 0, to = t.n;

    if (count == 0 || delimiter.n == 0) {
        out->views[row] = (struct mr_view){0};
        return;
    }
    for (int32_t k = 0; count > 0 && k < count; k++) {
        to = mr_chars_find(t, delimiter, at);
        if (to == UINT64_MAX) {
            to = t.n;
            break;
        }
        at = to + delimiter.n;
    }
    for (int64_t end = (int64_t)t.n; count < 0; count++) {
        int64_t found = end - (int64_t)delimiter.n;
        while (found >= 0 && memcmp(t.data + found, delimiter.data, delimiter.n) != 0)
            found--;
        if (found < 0) {
            from = 0;
            break;
        }
        from = (uint64_t)found + delimiter.n;
        end = found;
    }
    mr_text_slice(out, row, x, row, (uint32_t)from, (uint32_t)(to - from));
}

MR_BODY(substring_index)
{
    mr_text_share(out, &args[0], call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    index_slice(&args[0], row, mr_column_text(&args[1], row), args[2].i32[row], out);
    return MR_OK;
}
