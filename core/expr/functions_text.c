#include "core/expr/coerce.h"
#include "core/expr/chars.h"
#include "core/expr/signature.h"
#include "core/expr/writer.h"
#include "core/format/utf8.h"

/* Functions that write new texts: concat, repeat, pad, replace and their like. */

static bool is_text(const struct mr_type *t)
{
    return t->kind == MR_STRING || t->kind == MR_BINARY;
}

/* concat: arrays if all are arrays, BINARY if all are, else texts. */
MR_RESOLVE(concat)
{
    bool arrays = call->args_n > 0, binary = call->args_n > 0;
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < call->args_n; i++) {
        arrays = arrays && call->args[i]->type->kind == MR_ARRAY;
        binary = binary && call->args[i]->type->kind == MR_BINARY;
    }
    if (arrays)
        status = mr_coerce_common(r, call, 0, call->args_n, &call->type);
    else if (binary)
        call->type = &mr_type_binary;
    else
        call->type = &mr_type_string;
    for (uint32_t i = 0; !arrays && !binary && i < call->args_n && status == MR_OK; i++) {
        if (call->args[i]->type->kind == MR_BINARY)
            call->args[i] = mr_coerce(r, call->args[i], &mr_type_string);
        status = mr_coerce_argument(r, call, i, &mr_type_string,
                                    "(\"STRING\" or \"BINARY\" or \"ARRAY\")");
    }
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

static void concat_lists(struct mr_call *call, const struct mr_column *args, struct mr_column *out)
{
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        for (uint32_t k = 0; k < call->expr->args_n; k++)
            for (int32_t e = args[k].offsets[row]; e < args[k].offsets[row + 1]; e++)
                mr_builder_append(&w.children[0], &args[k].children[0], (uint32_t)e);
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
}

MR_BODY(concat)
{
    struct mr_text_writer w;

    if (call->expr->type->kind == MR_ARRAY) {
        concat_lists(call, args, out);
        return MR_OK;
    }
    mr_text_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint64_t total = 0, at = 0;
        char *room;
        for (uint32_t k = 0; k < call->expr->args_n; k++)
            total += (uint64_t)args[k].views[row].length;
        room = mr_text_writer_room(&w, total);
        for (uint32_t k = 0; k < call->expr->args_n; k++) {
            struct mr_text t = mr_column_text(&args[k], row);
            mr_copy_blocks(room + at, t.data, t.n);
            at += t.n;
        }
        mr_text_writer_put(&w, row, total);
    }
    return MR_OK;
}

/* concat_ws(separator, texts or arrays of texts..): nulls are left out. */
MR_RESOLVE(concat_ws)
{
    for (uint32_t i = 0; i < call->args_n; i++) {
        const struct mr_type *type = call->args[i]->type;
        enum mr_status status;
        if (i > 0 && type->kind == MR_ARRAY) {
            if (!mr_cast_is_implicit(type->fields[0].type, &mr_type_string))
                return mr_mismatch_argument(r, call, i, "(\"ARRAY<STRING>\" or \"STRING\")");
            call->args[i] =
                mr_coerce(r, call->args[i], mr_type_array(r->arena, &mr_type_string, true));
            continue;
        }
        status = mr_coerce_argument(r, call, i, &mr_type_string,
                                    i ? "(\"ARRAY<STRING>\" or \"STRING\")" : NULL);
        if (status != MR_OK)
            return status;
    }
    call->type = &mr_type_string;
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}

struct joiner {
    char *room; /* NULL: they are only counted */
    uint64_t n;
    struct mr_text separator;
    bool some;
};

static inline void join(struct joiner *j, struct mr_text t)
{
    const uint64_t at = j->n + (j->some ? j->separator.n : 0);

    if (j->room && j->some)
        mr_copy_blocks(j->room + j->n, j->separator.data, j->separator.n);
    if (j->room)
        mr_copy_blocks(j->room + at, t.data, t.n);
    j->n = at + t.n;
    j->some = true;
}

static inline void join_row(struct joiner *j, const struct mr_column *args, uint32_t args_n,
                            uint32_t row)
{
    for (uint32_t k = 0; k < args_n; k++) {
        const struct mr_column *x = &args[k];
        if (mr_column_is_null(x, row))
            continue;
        if (is_text(x->type)) {
            join(j, mr_column_text(x, row));
            continue;
        }
        for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++)
            if (!mr_column_is_null(&x->children[0], (uint32_t)e))
                join(j, mr_column_text(&x->children[0], (uint32_t)e));
    }
}

MR_BODY(concat_ws)
{
    const uint32_t n = call->expr->args_n - 1;
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        if (mr_column_is_null(&args[0], row)) {
            mr_text_writer_null(&w, row, call->rows);
            continue;
        }
        struct joiner count = {.separator = mr_column_text(&args[0], row)}, fill = count;
        join_row(&count, args + 1, n, row);
        fill.room = mr_text_writer_room(&w, count.n);
        join_row(&fill, args + 1, n, row);
        mr_text_writer_put(&w, row, count.n);
    }
    return MR_OK;
}

static enum mr_status too_long(struct mr_call *call)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "COLLECTION_SIZE_LIMIT_EXCEEDED.FUNCTION",
                             "%s: a text of more than 2147483647 bytes",
                             call->expr->function->name);
}

MR_BODY(repeat)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        uint64_t n = args[1].i32[row] > 0 ? (uint64_t)args[1].i32[row] : 0;
        char *room;
        if (n * t.n > INT32_MAX)
            return too_long(call);
        room = mr_text_writer_room(&w, n * t.n);
        for (uint64_t k = 0; k < n; k++)
            memcpy(room + k * t.n, t.data, t.n);
        mr_text_writer_put(&w, row, n * t.n);
    }
    return MR_OK;
}

MR_BODY(space)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint64_t n = args[0].i32[row] > 0 ? (uint64_t)args[0].i32[row] : 0;
        memset(mr_text_writer_room(&w, n), ' ', n);
        mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}

static void reverse_bytes(struct mr_text t, char *out)
{
    uint64_t word, at = 0;

    for (; at + sizeof word <= t.n; at += sizeof word) {
        memcpy(&word, t.data + at, sizeof word);
        word = __builtin_bswap64(word);
        memcpy(out + t.n - at - sizeof word, &word, sizeof word);
    }
    for (; at < t.n; at++)
        out[t.n - 1 - at] = t.data[at];
}

/* Characters by swapping the ends, bytes of each kept in order. */
static void reverse_text(struct mr_text t, char *out)
{
    uint64_t end = t.n;

    for (uint64_t at = 0; at < t.n;) {
        uint64_t next = mr_chars_next(t, at);
        end -= next - at;
        memcpy(out + end, t.data + at, next - at);
        at = next;
    }
}

MR_RESOLVE(reverse)
{
    if (call->args[0]->type->kind != MR_ARRAY && call->args[0]->type->kind != MR_BINARY) {
        enum mr_status status =
            mr_coerce_argument(r, call, 0, &mr_type_string, "(\"STRING\" or \"ARRAY\")");
        if (status != MR_OK)
            return status;
    }
    call->type = call->args[0]->type;
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}

MR_BODY(reverse)
{
    const struct mr_column *x = &args[0];
    struct mr_text_writer w;
    struct mr_list_writer l;

    if (x->type->kind == MR_ARRAY) {
        mr_list_writer_init(&l, out, x->type, call->rows, call->arena);
        MR_EACH_ROW(call, i, row)
        {
            for (int32_t e = x->offsets[row + 1]; e-- > x->offsets[row];)
                mr_builder_append(&l.children[0], &x->children[0], (uint32_t)e);
            mr_list_writer_close(&l, row);
        }
        mr_list_writer_finish(&l);
        return MR_OK;
    }
    const bool bytes =
        x->type->kind == MR_BINARY || mr_chars_column_is_ascii(x, call->sel, call->n);
    mr_text_writer_init(&w, out, x->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(x, row);
        char *room = mr_text_writer_room(&w, t.n);
        if (bytes)
            reverse_bytes(t, room);
        else
            reverse_text(t, room);
        mr_text_writer_put(&w, row, t.n);
    }
    return MR_OK;
}

MR_RESOLVE(pad)
{
    enum mr_status status;

    if (call->args[0]->type->kind != MR_BINARY ||
        (call->args_n > 2 && call->args[2]->type->kind != MR_BINARY))
        return mr_resolve_types(r, call);
    status = mr_coerce_argument(r, call, 1, &mr_type_int, NULL);
    call->type = &mr_type_binary;
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

/* lpad, rpad: to n characters (or bytes, with zeros) with those of pad, or cut to n. */
static enum mr_status pad(struct mr_call *call, const struct mr_column *args, bool left,
                          struct mr_column *out)
{
    bool bytes = call->expr->type->kind == MR_BINARY;
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        struct mr_text p = bytes ? (struct mr_text){"", 1} : MR_TEXT(" ");
        if (call->expr->args_n > 2)
            p = mr_column_text(&args[2], row);
        uint64_t wanted = args[1].i32[row] > 0 ? (uint64_t)args[1].i32[row] : 0;
        uint64_t have = bytes ? t.n : mr_chars_length(t),
                 missing = wanted > have ? wanted - have : 0, used = 0;
        char *room;
        if (p.n == 0)
            missing = 0;
        if (missing * 4 > INT32_MAX - t.n)
            return too_long(call);
        if (wanted < have)
            t.n = bytes ? wanted : mr_chars_offset(t, wanted);
        room = mr_text_writer_room(&w, t.n + missing * 4);
        if (!left)
            memcpy(room, t.data, t.n);
        used = left ? 0 : t.n;
        for (uint64_t at = 0; missing > 0; missing--) {
            uint64_t next = bytes ? at + 1 : mr_chars_next(p, at);
            memcpy(room + used, p.data + at, next - at);
            used += next - at;
            at = next == p.n ? 0 : next;
        }
        if (left) {
            memcpy(room + used, t.data, t.n);
            used += t.n;
        }
        mr_text_writer_put(&w, row, used);
    }
    return MR_OK;
}

MR_BODY(lpad)
{
    return pad(call, args, true, out);
}
MR_BODY(rpad)
{
    return pad(call, args, false, out);
}

MR_BODY(replace)
{
    struct mr_text_writer w;
    struct mr_buffer b;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row), what = mr_column_text(&args[1], row);
        struct mr_text with = call->expr->args_n > 2 ? mr_column_text(&args[2], row) : MR_TEXT("");
        uint64_t at = 0, found;
        b.n = 0;
        while (what.n > 0 && (found = mr_chars_find(t, what, at)) != UINT64_MAX) {
            mr_buffer_append(&b, t.data + at, found - at);
            mr_buffer_append_text(&b, with);
            at = found + what.n;
        }
        mr_buffer_append(&b, t.data + at, t.n - at);
        mr_text_writer_copy(&w, row, mr_buffer_text(&b));
    }
    return MR_OK;
}

/* translate(t, from, to): each character of from becomes the one of to at its place, or goes. */
static void translate_text(struct mr_text t, struct mr_text from, struct mr_text to,
                           struct mr_buffer *b)
{
    for (uint64_t at = 0; at < t.n;) {
        uint64_t next = mr_chars_next(t, at), f = 0, o = 0;
        bool found = false;
        while (f < from.n && !found) {
            uint64_t f_next = mr_chars_next(from, f);
            found = f_next - f == next - at && memcmp(from.data + f, t.data + at, next - at) == 0;
            if (found)
                break;
            f = f_next;
            o = o < to.n ? mr_chars_next(to, o) : o;
        }
        if (!found)
            mr_buffer_append(b, t.data + at, next - at);
        else if (o < to.n)
            mr_buffer_append(b, to.data + o, mr_chars_next(to, o) - o);
        at = next;
    }
}

MR_BODY(translate)
{
    struct mr_text_writer w;
    struct mr_buffer b;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        b.n = 0;
        translate_text(mr_column_text(&args[0], row), mr_column_text(&args[1], row),
                       mr_column_text(&args[2], row), &b);
        mr_text_writer_copy(&w, row, mr_buffer_text(&b));
    }
    return MR_OK;
}

static uint64_t units(struct mr_text t, bool is_binary)
{
    return is_binary ? t.n : mr_chars_length(t);
}

/* Where unit n begins, or the end. */
static uint64_t unit_offset(struct mr_text t, uint64_t n, bool is_binary)
{
    return !is_binary ? mr_chars_offset(t, n) : n < t.n ? n : t.n;
}

/* overlay(t, with, at[, n]): n characters, of BINARY bytes, from the at-th on, or as many as with
 * has, are replaced. */
MR_BODY(overlay)
{
    const bool is_binary = call->expr->type->kind == MR_BINARY;
    struct mr_text_writer w;
    struct mr_buffer b;

    mr_text_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row), with = mr_column_text(&args[1], row);
        int64_t at = args[2].i32[row];
        int64_t n = call->expr->args_n > 3 ? args[3].i32[row] : -1;
        uint64_t head, tail;
        if (n < 0)
            n = (int64_t)units(with, is_binary);
        head = at > 1 ? unit_offset(t, (uint64_t)at - 1, is_binary) : 0;
        n += at; /* a place below 0 counts from the end */
        if (n < 0)
            n += (int64_t)units(t, is_binary) + 1;
        tail = n > 1 ? unit_offset(t, (uint64_t)(n - 1), is_binary) : 0;
        b.n = 0;
        mr_buffer_append(&b, t.data, head);
        mr_buffer_append_text(&b, with);
        mr_buffer_append(&b, t.data + tail, t.n - tail);
        mr_text_writer_copy(&w, row, mr_buffer_text(&b));
    }
    return MR_OK;
}

/* chr(n): the character of the low eight bits. */
MR_BODY(chr)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t v = args[0].i64[row];
        char *room = mr_text_writer_room(&w, 4);
        mr_text_writer_put(&w, row, v < 0 ? 0 : mr_utf8_put((uint32_t)(v & 0xff), (uint8_t *)room));
    }
    return MR_OK;
}
