#include "core/expr/map.h"
#include "core/expr/regexp.h"
#include "core/expr/signature.h"
#include "core/expr/chars.h"
#include "core/expr/writer.h"

/* rlike, regexp_*, split. */

enum { NO_GROUP = 1 }; /* regexp_extract without a number takes the first group */

/* The first match of the row's pattern (argument 1) in its text; *spans: NULL without one. */
static enum mr_status first_match(struct mr_call *call, const struct mr_column *args, uint32_t row,
                                  const uint64_t **spans)
{
    struct mr_regexp *x;
    bool found = false;
    enum mr_status status = mr_regexp_set(call, mr_column_text(&args[1], row), &x);

    if (status == MR_OK)
        status = mr_regexp_match(call, x, mr_column_text(&args[0], row), 0, &found, spans);
    if (!found)
        *spans = NULL;
    return status;
}

MR_BODY(rlike)
{
    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        const uint64_t *spans;
        enum mr_status status = first_match(call, args, row, &spans);
        if (status != MR_OK)
            return status;
        mr_bit_put(out->bits, row, spans != NULL);
    }
    return MR_OK;
}

/* The first match; *found: there is one. Only then must the pattern have the group. */
static enum mr_status group_of(struct mr_call *call, const struct mr_column *args, uint32_t row,
                               struct mr_regexp **x, uint32_t *group, bool *found,
                               const uint64_t **spans)
{
    enum mr_status status = mr_regexp_set(call, mr_column_text(&args[1], row), x);
    int32_t wanted = call->expr->args_n > 2 ? args[2].i32[row] : NO_GROUP;

    *found = false;
    if (status == MR_OK)
        status = mr_regexp_match(call, *x, mr_column_text(&args[0], row), 0, found, spans);
    if (status != MR_OK || !*found)
        return status;
    if (wanted < 0 || (uint32_t)wanted > mr_regexp_groups(*x))
        return MR_FAIL_CONDITION(
            call->err, MR_QUERY, "INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX",
            "The value of parameter(s) `idx` in `%s` is invalid: Expects group "
            "index between 0 and %u, but got %d.",
            call->expr->function->name, mr_regexp_groups(*x), wanted);
    *group = (uint32_t)wanted;
    return MR_OK;
}

/* The bytes of a group, as a slice of the argument; "" when it took no part. */
static void put_group(const struct mr_column *x, uint32_t row, const uint64_t *spans,
                      uint32_t group, struct mr_column *out)
{
    uint64_t from = spans[2 * group], to = spans[2 * group + 1];

    if (from == UINT64_MAX || to < from)
        out->views[row] = (struct mr_view){0};
    else
        mr_text_slice(out, row, x, row, (uint32_t)from, (uint32_t)(to - from));
}

MR_BODY(regexp_extract)
{
    mr_text_share(out, &args[0], &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_regexp *x;
        const uint64_t *spans;
        uint32_t group = 0;
        bool found;
        enum mr_status status = group_of(call, args, row, &x, &group, &found, &spans);
        if (status != MR_OK)
            return status;
        if (found)
            put_group(&args[0], row, spans, group, out);
    }
    return MR_OK;
}

MR_BODY(regexp_substr)
{
    mr_text_share(out, &args[0], &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        const uint64_t *spans;
        enum mr_status status = first_match(call, args, row, &spans);
        if (status != MR_OK)
            return status;
        if (spans)
            put_group(&args[0], row, spans, 0, out);
        if (spans == NULL || spans[0] == spans[1])
            mr_column_put_null(out, row, call->rows, call->arena);
    }
    return MR_OK;
}

/* Where the search goes on behind a match: past one character if it was empty. */
static uint64_t after_match(struct mr_text t, const uint64_t *spans)
{
    if (spans[1] > spans[0])
        return spans[1];
    return spans[1] < t.n ? mr_chars_next(t, spans[1]) : t.n + 1;
}

/* Calls for each match; stops at the end, at the first error, or when each says no. */
static enum mr_status each_match(struct mr_call *call, struct mr_regexp *x, struct mr_text t,
                                 uint64_t from, bool (*each)(void *arg, const uint64_t *spans),
                                 void *arg)
{
    while (from <= t.n) {
        const uint64_t *spans;
        bool found;
        enum mr_status status = mr_regexp_match(call, x, t, from, &found, &spans);
        if (status != MR_OK || !found)
            return status;
        from = after_match(t, spans);
        if (!each(arg, spans))
            break;
    }
    return MR_OK;
}

struct extract_all {
    struct mr_builder *to;
    struct mr_text t;
    uint32_t group;
};

static bool append_group(void *arg, const uint64_t *spans)
{
    struct extract_all *e = arg;
    uint64_t from = spans[2 * e->group], to = spans[2 * e->group + 1];

    if (from == UINT64_MAX)
        from = to = 0;
    mr_builder_append_text(e->to, (struct mr_text){e->t.data + from, to - from});
    return true;
}

MR_BODY(regexp_extract_all)
{
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct extract_all e = {&w.children[0], mr_column_text(&args[0], row), 0};
        struct mr_regexp *x;
        const uint64_t *spans;
        bool found;
        enum mr_status status = group_of(call, args, row, &x, &e.group, &found, &spans);
        if (status == MR_OK && found)
            status = each_match(call, x, e.t, 0, append_group, &e);
        if (status != MR_OK)
            return status;
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

MR_RESOLVE(regexp_extract_all)
{
    enum mr_status status = mr_resolve_types(r, call);

    call->type = mr_type_array(r->arena, &mr_type_string, true);
    return status;
}

static bool count(void *arg, const uint64_t *spans)
{
    (void)spans;
    (*(int32_t *)arg)++;
    return true;
}

MR_BODY(regexp_count)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_regexp *x;
        enum mr_status status = mr_regexp_set(call, mr_column_text(&args[1], row), &x);
        out->i32[row] = 0;
        if (status == MR_OK)
            status = each_match(call, x, mr_column_text(&args[0], row), 0, count, &out->i32[row]);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

MR_BODY(regexp_instr)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        const uint64_t *spans;
        enum mr_status status = first_match(call, args, row, &spans);
        if (status != MR_OK)
            return status;
        out->i32[row] =
            spans ? (int32_t)mr_chars_length((struct mr_text){t.data, spans[0]}) + 1 : 0;
    }
    return MR_OK;
}

/* Java's replacement: $1, ${name}, \ before any character. False: a group that is not there. */
struct replace {
    struct mr_regexp *x;
    struct mr_buffer *b;
    struct mr_text t, with;
    uint64_t at;
    bool bad_group;
};

static void append_span(struct replace *r, const uint64_t *spans, uint32_t group)
{
    if (spans[2 * group] != UINT64_MAX)
        mr_buffer_append(r->b, r->t.data + spans[2 * group],
                         spans[2 * group + 1] - spans[2 * group]);
}

/* The group at with[at], behind a dollar; gives where it ends, 0 if it is none. */
static uint64_t replace_group(struct replace *r, const uint64_t *spans, uint64_t at)
{
    const char *w = r->with.data;
    uint32_t group = 0;
    uint64_t end = at;

    if (at < r->with.n && w[at] == '{') {
        const char *close = memchr(w + at, '}', r->with.n - at);
        int32_t named =
            close ? mr_regexp_group_named(
                        r->x, (struct mr_text){w + at + 1, (uint64_t)(close - w) - at - 1})
                  : -1;
        if (named < 0)
            return 0;
        append_span(r, spans, (uint32_t)named);
        return (uint64_t)(close - w) + 1;
    }
    while (end < r->with.n && w[end] >= '0' && w[end] <= '9') {
        uint32_t more = group * 10 + (uint32_t)(w[end] - '0');
        if (end > at && more > mr_regexp_groups(r->x)) /* $12 with one group is $1 and a 2 */
            break;
        group = more;
        end++;
    }
    if (end == at || group > mr_regexp_groups(r->x))
        return 0;
    append_span(r, spans, group);
    return end;
}

static bool replace_one(void *arg, const uint64_t *spans)
{
    struct replace *r = arg;

    mr_buffer_append(r->b, r->t.data + r->at, spans[0] - r->at);
    r->at = spans[1];
    for (uint64_t k = 0; k < r->with.n;) {
        char c = r->with.data[k];
        if (c == '\\' && k + 1 < r->with.n) {
            mr_buffer_append(r->b, &r->with.data[k + 1], 1);
            k += 2;
        } else if (c == '$') {
            k = replace_group(r, spans, k + 1);
            r->bad_group = k == 0;
            if (k == 0)
                return false;
        } else {
            mr_buffer_append(r->b, &c, 1);
            k++;
        }
    }
    return true;
}

MR_RESOLVE(regexp_replace)
{
    enum mr_status status = mr_resolve_types(r, call);

    if (status == MR_OK && call->args_n == 4)
        status = mr_fold_cast(r, &call->args[3]);
    return status == MR_OK && call->args_n == 4 ? mr_require_literal(r, call, 3, "position")
                                                : status;
}

MR_BODY(regexp_replace)
{
    struct mr_text_writer w;
    struct mr_buffer b;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct replace r = {
            .b = &b, .t = mr_column_text(&args[0], row), .with = mr_column_text(&args[2], row)};
        int32_t from = call->expr->args_n > 3 ? args[3].i32[row] : 1;
        enum mr_status status = mr_regexp_set(call, mr_column_text(&args[1], row), &r.x);
        b.n = 0;
        if (from < 1)
            return mr_call_argument_error(call, "position", from);
        if (status == MR_OK)
            status = each_match(call, r.x, r.t, mr_chars_offset(r.t, (uint64_t)from - 1),
                                replace_one, &r);
        if (status == MR_OK && r.bad_group)
            status = MR_FAIL_CONDITION(
                call->err, MR_QUERY, "INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX",
                "regexp_replace: no such group in '%.*s'", (int)r.with.n, r.with.data);
        if (status != MR_OK)
            return status;
        mr_buffer_append(&b, r.t.data + r.at, r.t.n - r.at);
        mr_text_writer_copy(&w, row, mr_buffer_text(&b));
    }
    return MR_OK;
}

MR_RESOLVE(split)
{
    enum mr_status status = mr_resolve_types(r, call);

    call->type = mr_type_array(r->arena, &mr_type_string, false);
    return status;
}

struct pieces {
    struct mr_builder *to;
    struct mr_text t;
    uint64_t at;
    int32_t left; /* pieces still allowed but the last one; negative: any number */
};

static bool split_one(void *arg, const uint64_t *spans)
{
    struct pieces *p = arg;

    if (spans[1] == spans[0] && (spans[0] == 0 || spans[0] >= p->t.n))
        return true; /* an empty match cuts only inside the text */
    if (p->left == 0)
        return false;
    mr_builder_append_text(p->to, (struct mr_text){p->t.data + p->at, spans[0] - p->at});
    p->at = spans[1];
    p->left -= p->left > 0;
    return true;
}

/* A pattern without special characters is searched as it is. */
static bool is_plain(struct mr_text pattern)
{
    for (uint64_t i = 0; i < pattern.n; i++)
        if (strchr("\\.[]{}()*+?^$|", pattern.data[i]) != NULL)
            return false;
    return pattern.n > 0;
}

static void split_plain(struct pieces *p, struct mr_text by)
{
    uint64_t spans[2];

    while ((spans[0] = mr_chars_find(p->t, by, p->at)) != UINT64_MAX) {
        spans[1] = spans[0] + by.n;
        if (!split_one(p, spans))
            break;
    }
}

/* All pieces of p->t. */
static enum mr_status cut(struct mr_call *call, struct pieces *p, struct mr_text pattern)
{
    struct mr_regexp *x;
    enum mr_status status = MR_OK;

    if (is_plain(pattern)) {
        split_plain(p, pattern);
    } else {
        status = mr_regexp_set(call, pattern, &x);
        if (status == MR_OK)
            status = each_match(call, x, p->t, 0, split_one, p);
    }
    if (status == MR_OK)
        mr_builder_append_text(p->to, (struct mr_text){p->t.data + p->at, p->t.n - p->at});
    return status;
}

/* The pieces as slices of the argument, whose heaps they share. */
struct slices {
    const struct mr_column *from;
    struct mr_column *to;
    uint32_t n, capacity;
    struct mr_arena *arena;
};

static void add_slice(struct slices *s, uint32_t row, uint64_t at, uint64_t n)
{
    if (s->n == s->capacity) {
        uint32_t capacity = s->capacity > INT32_MAX / 2 ? INT32_MAX : 2 * s->capacity;
        if (s->n == capacity) /* no column could hold more */
            mr_arena_exhaust(s->arena);
        struct mr_view *views = mr_arena_alloc(s->arena, (size_t)capacity * sizeof *views);
        memcpy(views, s->to->views, s->n * sizeof *views);
        s->to->views = views;
        s->capacity = capacity;
    }
    mr_text_slice(s->to, s->n++, s->from, row, (uint32_t)at, (uint32_t)n);
}

static const char *find_plain(struct mr_text t, struct mr_text by, uint64_t at)
{
    if (by.n == 1)
        return at < t.n ? memchr(t.data + at, by.data[0], t.n - at) : NULL;
    at = mr_chars_find(t, by, at);
    return at == UINT64_MAX ? NULL : t.data + at;
}

static void split_slices(struct mr_call *call, const struct mr_column *args, struct mr_text by,
                         struct mr_column *out)
{
    enum { PIECES = 3 }; /* expected */
    struct slices s = {.from = &args[0], .capacity = PIECES * call->n + 4, .arena = call->arena};
    uint32_t next = 0;

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    s.to = &out->children[0];
    mr_text_share(s.to, s.from, &mr_type_string, s.capacity, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        int32_t limit = call->expr->args_n > 2 ? args[2].i32[row] : -1;
        int32_t left = limit > 0 ? limit - 1 : -1;
        uint64_t at = 0;
        const char *found;
        for (; next < row; next++)
            out->offsets[next + 1] = (int32_t)s.n;
        while (left != 0 && (found = find_plain(t, by, at)) != NULL) {
            add_slice(&s, row, at, (uint64_t)(found - t.data) - at);
            at = (uint64_t)(found - t.data) + by.n;
            left -= left > 0;
        }
        add_slice(&s, row, at, t.n - at);
        out->offsets[++next] = (int32_t)s.n;
    }
    for (; next < call->rows; next++)
        out->offsets[next + 1] = (int32_t)s.n;
}

/* split(t, pattern[, limit]): at most limit pieces if it is above 0. */
MR_BODY(split)
{
    struct mr_list_writer w;

    if (mr_call_is_literal(call, 1) && is_plain(mr_column_text(call->expr->args[1]->value, 0))) {
        split_slices(call, args, mr_column_text(call->expr->args[1]->value, 0), out);
        return MR_OK;
    }
    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int32_t limit = call->expr->args_n > 2 ? args[2].i32[row] : -1;
        struct pieces p = {&w.children[0], mr_column_text(&args[0], row), 0,
                           limit > 0 ? limit - 1 : -1};
        enum mr_status status = cut(call, &p, mr_column_text(&args[1], row));
        if (status != MR_OK)
            return status;
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

/* str_to_map(t[, between entries[, between key and value]]): both are patterns in Spark; plain
 * texts here when they have no special characters, else patterns as well. */
MR_RESOLVE(str_to_map)
{
    enum mr_status status = mr_resolve_types(r, call);

    call->type = mr_type_map(r->arena, &mr_type_string, &mr_type_string, true);
    return status;
}

/* One entry: key, and the value or null. */
static enum mr_status put_entry(struct mr_call *call, struct mr_list_writer *w, uint32_t from,
                                struct mr_text entry, struct mr_text by)
{
    struct mr_builder b;
    struct mr_column pair;
    struct pieces p = {&b, entry, 0, 1};
    enum mr_status status;

    mr_builder_init(&b, &mr_type_string, 2, call->arena);
    status = cut(call, &p, by);
    if (status != MR_OK)
        return status;
    if (b.rows == 1)
        mr_builder_append_null(&b);
    mr_builder_finish(&b, &pair);
    return mr_map_put(call, w, from, &pair, 0, &pair, 1);
}

MR_BODY(str_to_map)
{
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint32_t n = call->expr->args_n, from = w.children[0].rows;
        struct mr_text entries = n > 1 ? mr_column_text(&args[1], row) : MR_TEXT(",");
        struct mr_text by = n > 2 ? mr_column_text(&args[2], row) : MR_TEXT(":");
        struct mr_builder b;
        struct mr_column list;
        struct pieces p = {&b, mr_column_text(&args[0], row), 0, -1};
        enum mr_status status;
        mr_builder_init(&b, &mr_type_string, 8, call->arena);
        status = cut(call, &p, entries);
        mr_builder_finish(&b, &list);
        for (uint32_t k = 0; k < b.rows && status == MR_OK; k++)
            status = put_entry(call, &w, from, mr_column_text(&list, k), by);
        if (status != MR_OK)
            return status;
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

/* split_part(t, delimiter, n): the n-th piece, from the end if negative; no regular expression. */
MR_BODY(split_part)
{
    mr_text_share(out, &args[0], &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row), by = mr_column_text(&args[1], row);
        int64_t wanted = args[2].i32[row], pieces = 1, at = 1;
        uint64_t from = 0, to;
        if (wanted == 0)
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_INDEX_OF_ZERO",
                                     "The index 0 is invalid. An index shall be either < 0 or > 0 "
                                     "(the first element has index 1).");
        for (uint64_t k = 0; by.n && (k = mr_chars_find(t, by, k)) != UINT64_MAX; k += by.n)
            pieces++;
        wanted = wanted > 0 ? wanted : pieces + wanted + 1;
        for (; at < wanted && at < pieces; at++)
            from = mr_chars_find(t, by, from) + by.n;
        if (wanted < 1 || wanted > pieces)
            continue;
        to = by.n ? mr_chars_find(t, by, from) : UINT64_MAX;
        to = to == UINT64_MAX ? t.n : to;
        mr_text_slice(out, row, &args[0], row, (uint32_t)from, (uint32_t)(to - from));
    }
    return MR_OK;
}
