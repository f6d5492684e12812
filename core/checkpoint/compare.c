/* Whether a query may go on with a checkpoint: Spark's rules and conditions, by position. */
#include "core/checkpoint/metadata.h"

#include "core/base/path.h"

struct comparison {
    const char *path;
    struct mr_arena *arena;
    struct mr_error *err;
};

static const char advice[] = "go on with the query that wrote it, or start with a new checkpoint";

/* Earlier versions wrote paths down as the job had them: those are below the current directory. */
static bool is_same_source(const struct comparison *c, struct mr_text stored, struct mr_text now)
{
    static const char head[] = "FileSource[";
    const uint64_t n = sizeof head - 1;
    char absolute[PATH_MAX];

    if (mr_text_equal(stored, now))
        return true;
    if (stored.n <= n + 1 || now.n < n || memcmp(stored.data, head, n) != 0 ||
        memcmp(now.data, head, n) != 0)
        return false;
    mr_path_absolute(mr_arena_copy(c->arena, stored.data + n, stored.n - n - 1), absolute);
    return mr_text_equal(mr_text_of(absolute), (struct mr_text){now.data + n, now.n - n - 1});
}

static enum mr_status compare_sources(const struct comparison *c, const struct mr_metadata *stored,
                                      const struct mr_metadata *now)
{
    if (stored->sources_n != now->sources_n)
        return MR_FAIL_CONDITION(
            c->err, MR_USER, "UnknownException",
            "checkpoint %s: it was written with %u sources, the query has %u; %s", c->path,
            stored->sources_n, now->sources_n, advice);
    for (uint32_t i = 0; i < now->sources_n; i++) {
        if (is_same_source(c, stored->sources[i], now->sources[i]))
            continue;
        return MR_FAIL_CONDITION(c->err, MR_USER, "IllegalArgumentException",
                                 "checkpoint %s: source %u was %.*s and is %.*s; %s", c->path,
                                 i + 1, (int)stored->sources[i].n, stored->sources[i].data,
                                 (int)now->sources[i].n, now->sources[i].data, advice);
    }
    return MR_OK;
}

/* What one kind of sink prepared, another can't publish. */
static enum mr_status compare_sink(const struct comparison *c, const struct mr_metadata *stored,
                                   const struct mr_metadata *now)
{
    if (stored->sink == NULL || now->sink == NULL || strcmp(stored->sink, now->sink) == 0)
        return MR_OK;
    return MR_FAIL(c->err, MR_USER, 0, "checkpoint %s: its sink was %s and is %s; %s", c->path,
                   stored->sink, now->sink, advice);
}

static const char *operator_names(const struct comparison *c, const struct mr_metadata *m)
{
    struct mr_buffer b;

    mr_buffer_init(&b, c->arena);
    for (uint32_t i = 0; i < m->operators_n; i++)
        mr_buffer_append_format(&b, "%s%.*s", i ? ", " : "", (int)m->operators[i].name.n,
                                m->operators[i].name.data);
    mr_buffer_append(&b, m->operators_n ? "" : "none", m->operators_n ? 1 : 5);
    return (const char *)b.data;
}

static enum mr_status compare_operators(const struct comparison *c,
                                        const struct mr_metadata *stored,
                                        const struct mr_metadata *now)
{
    bool same = stored->operators_n == now->operators_n;

    for (uint32_t i = 0; same && i < now->operators_n; i++)
        same = mr_text_equal(stored->operators[i].name, now->operators[i].name) &&
               stored->operators[i].tables_n == now->operators[i].tables_n;
    if (same)
        return MR_OK;
    return MR_FAIL_CONDITION(c->err, MR_USER,
                             stored->operators_n == 0
                                 ? "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY"
                                 : "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
                             "checkpoint %s: its stateful operators were %s and are %s; %s",
                             c->path, operator_names(c, stored), operator_names(c, now), advice);
}

/* The type part of "bigint? k". */
static struct mr_text type_part(struct mr_text field)
{
    const char *blank = field.n ? memchr(field.data, ' ', field.n) : NULL;
    const char *end = blank;

    /* Type names have blanks of their own; the mark before the name's blank ends the type. */
    while (end && end > field.data && end[-1] != '?' && end[-1] != '!')
        end = memchr(end + 1, ' ', field.n - (uint64_t)(end + 1 - field.data));
    return (struct mr_text){field.data, end ? (uint64_t)(end - field.data) : field.n};
}

/* Equal, but that what could be null before need not be able to now. */
static bool may_replace(struct mr_text stored, struct mr_text now)
{
    struct mr_text a = type_part(stored), b = type_part(now);

    if (a.n != b.n)
        return false;
    for (uint64_t i = 0; i < a.n; i++) {
        if (a.data[i] != b.data[i] && !(a.data[i] == '?' && b.data[i] == '!'))
            return false;
    }
    return true;
}

/* "k BIGINT NOT NULL" of "bigint! k". */
static const char *for_people(struct mr_arena *a, struct mr_text field)
{
    struct mr_text type = type_part(field);
    struct mr_buffer b;

    mr_buffer_init(&b, a);
    if (field.n > type.n + 1)
        mr_buffer_append_format(&b, "%.*s ", (int)(field.n - type.n - 1), field.data + type.n + 1);
    for (uint64_t i = 0; i < type.n; i++) {
        char ch = type.data[i];
        if (ch == '!')
            mr_buffer_append_text(&b, MR_TEXT(" NOT NULL"));
        else if (ch != '?')
            mr_buffer_append_format(&b, "%c", ch >= 'a' && ch <= 'z' ? ch - 'a' + 'A' : ch);
    }
    mr_buffer_append(&b, "", 1);
    return (const char *)b.data;
}

struct place {
    const struct mr_metadata_operator *operator;
    uint32_t index;
    const struct mr_metadata_table *table;
    const char *what; /* key or value */
    const char *condition;
};

static enum mr_status compare_columns(const struct comparison *c, const struct place *at,
                                      const struct mr_text *stored, uint32_t stored_n,
                                      const struct mr_text *now, uint32_t now_n)
{
    uint32_t n = stored_n < now_n ? stored_n : now_n, i = 0;

    while (i < n && may_replace(stored[i], now[i]))
        i++;
    if (i == stored_n && i == now_n)
        return MR_OK;
    return MR_FAIL_CONDITION(
        c->err, MR_USER, at->condition,
        "checkpoint %s: operator %u (%.*s), table %.*s: %s column %u was %s and is %s; %s", c->path,
        at->index + 1, (int)at->operator->name.n, at->operator->name.data, (int)at->table->name.n,
        at->table->name.data, at->what, i + 1,
        i < stored_n ? for_people(c->arena, stored[i]) : "not there",
        i < now_n ? for_people(c->arena, now[i]) : "not there", advice);
}

static enum mr_status compare_keys(const struct comparison *c, uint32_t index,
                                   const struct mr_metadata_operator *stored,
                                   const struct mr_metadata_operator *now)
{
    for (uint32_t t = 0; t < now->tables_n; t++) {
        const struct mr_metadata_table *a = &stored->tables[t], *b = &now->tables[t];
        const struct place at = {now, index, b, "key", "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"};
        enum mr_status status = compare_columns(c, &at, a->keys, a->keys_n, b->keys, b->keys_n);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static enum mr_status compare_values(const struct comparison *c, uint32_t index,
                                     const struct mr_metadata_operator *stored,
                                     const struct mr_metadata_operator *now)
{
    for (uint32_t t = 0; t < now->tables_n; t++) {
        const struct mr_metadata_table *a = &stored->tables[t], *b = &now->tables[t];
        const struct place at = {now, index, b, "value", "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"};
        enum mr_status status =
            compare_columns(c, &at, a->values, a->values_n, b->values, b->values_n);
        if (status != MR_OK)
            return status;
        if (!mr_text_equal(a->slots, b->slots))
            return MR_FAIL_CONDITION(
                c->err, MR_USER, at.condition,
                "checkpoint %s: operator %u (%.*s), table %.*s: its slots were [%.*s] and are "
                "[%.*s]; %s",
                c->path, index + 1, (int)now->name.n, now->name.data, (int)b->name.n, b->name.data,
                (int)a->slots.n, a->slots.data, (int)b->slots.n, b->slots.data, advice);
    }
    return MR_OK;
}

/* What Spark lets pass although old state then means something else. */
static enum mr_status compare_meaning(const struct comparison *c, const struct mr_metadata *stored,
                                      const struct mr_metadata *now)
{
    for (uint32_t i = 0; i < now->operators_n; i++) {
        struct mr_text was = stored->operators[i].detail, is = now->operators[i].detail;
        if (!mr_text_equal(was, is))
            return MR_FAIL(
                c->err, MR_USER, 0,
                "checkpoint %s: operator %u (%.*s) was \"%.*s\" and is \"%.*s\": its old "
                "state would mean something else; %s",
                c->path, i + 1, (int)now->operators[i].name.n, now->operators[i].name.data,
                (int)was.n, was.data, (int)is.n, is.data, advice);
    }
    if (now->operators_n && strcmp(stored->mode, "append") == 0 &&
        strcmp(now->mode, "complete") == 0)
        return MR_FAIL(
            c->err, MR_USER, 0,
            "checkpoint %s: output mode was append and is complete: what append gave and "
            "evicted would be missing; %s",
            c->path, advice);
    return MR_OK;
}

enum mr_status mr_metadata_compare(const struct mr_metadata *stored, const struct mr_metadata *now,
                                   const char *path, struct mr_arena *a, struct mr_error *err)
{
    struct comparison c = {path, a, err};
    enum mr_status status = compare_sources(&c, stored, now);

    if (status == MR_OK)
        status = compare_sink(&c, stored, now);
    if (status == MR_OK)
        status = compare_operators(&c, stored, now);
    for (uint32_t i = 0; status == MR_OK && i < now->operators_n; i++)
        status = compare_keys(&c, i, &stored->operators[i], &now->operators[i]);
    for (uint32_t i = 0; status == MR_OK && i < now->operators_n; i++)
        status = compare_values(&c, i, &stored->operators[i], &now->operators[i]);
    return status == MR_OK ? compare_meaning(&c, stored, now) : status;
}
