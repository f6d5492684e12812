#include "core/checkpoint/metadata.h"

#include "core/checkpoint/crc32c.h"
#include "core/checkpoint/small_file.h"
#include <stdlib.h>

static const char *const slot_names[] = {"i64", "f64", "i128", "bytes"};

static void put_type(const struct mr_type *t, bool nullable, struct mr_buffer *out);

static void put_fields(const struct mr_type *t, struct mr_buffer *out)
{
    mr_buffer_append(out, "<", 1);
    for (uint32_t i = 0; i < t->fields_n; i++) {
        if (i)
            mr_buffer_append(out, ",", 1);
        put_type(t->fields[i].type, t->fields[i].nullable, out);
    }
    mr_buffer_append(out, ">", 1);
}

static void put_type(const struct mr_type *t, bool nullable, struct mr_buffer *out)
{
    switch (t->kind) {
    case MR_STRUCT:
        mr_buffer_append_format(out, "struct");
        put_fields(t, out);
        break;
    case MR_ARRAY:
        mr_buffer_append_format(out, "array");
        put_fields(t, out);
        break;
    case MR_MAP:
        mr_buffer_append_format(out, "map");
        put_fields(t, out);
        break;
    default:
        mr_type_print(t, out);
    }
    mr_buffer_append(out, nullable ? "?" : "!", 1);
}

static struct mr_text field_text(const struct mr_field *f, struct mr_arena *a)
{
    struct mr_buffer b;

    mr_buffer_init(&b, a);
    put_type(f->type, f->nullable, &b);
    mr_buffer_append(&b, " ", 1);
    mr_buffer_append_text(&b, mr_text_of(f->name ? f->name : ""));
    return mr_buffer_text(&b);
}

static const struct mr_text *fields_of(const struct mr_type *type, struct mr_arena *a, uint32_t *n)
{
    *n = type ? type->fields_n : 0;
    struct mr_text *texts = MR_NEW_ARRAY(a, struct mr_text, *n);
    for (uint32_t i = 0; i < *n; i++)
        texts[i] = field_text(&type->fields[i], a);
    return texts;
}

static struct mr_metadata_table table_of(const struct mr_state_table *t, struct mr_arena *a)
{
    struct mr_metadata_table out = {.name = mr_text_of(t->name)};
    struct mr_buffer slots;

    out.keys = fields_of(t->key, a, &out.keys_n);
    out.values = fields_of(t->value, a, &out.values_n);
    mr_buffer_init(&slots, a);
    for (uint32_t i = 0; i < t->slots_n; i++)
        mr_buffer_append_format(&slots, i ? " %s" : "%s", slot_names[t->slots[i]]);
    out.slots = mr_buffer_text(&slots);
    return out;
}

void mr_metadata_of(const struct mr_fingerprint *f, const char *id, struct mr_arena *a,
                    struct mr_metadata *out)
{
    struct mr_text *sources = MR_NEW_ARRAY(a, struct mr_text, f->sources_n);
    struct mr_metadata_operator *operators =
        MR_NEW_ARRAY(a, struct mr_metadata_operator, f->operators_n);

    for (uint32_t i = 0; i < f->sources_n; i++)
        sources[i] = mr_text_of(f->sources[i]);
    for (uint32_t i = 0; i < f->operators_n; i++) {
        const struct mr_fingerprint_operator *from = &f->operators[i];
        struct mr_metadata_table *tables =
            MR_NEW_ARRAY(a, struct mr_metadata_table, from->tables_n);
        for (uint32_t t = 0; t < from->tables_n; t++)
            tables[t] = table_of(&from->tables[t], a);
        operators[i] = (struct mr_metadata_operator){
            .name = mr_text_of(from->name),
            .detail = mr_text_of(from->detail ? from->detail : ""),
            .tables = tables,
            .tables_n = from->tables_n,
        };
    }
    *out = (struct mr_metadata){
        .version = MR_CHECKPOINT_VERSION,
        .id = id,
        .code = MR_VERSION,
        .mode = f->mode,
        .sink = f->sink,
        .sources = sources,
        .sources_n = f->sources_n,
        .operators = operators,
        .operators_n = f->operators_n,
    };
}

/* A line; line ends and backslashes of the value are escaped. */
static void put_line(struct mr_buffer *out, const char *key, struct mr_text value)
{
    mr_buffer_append_text(out, mr_text_of(key));
    mr_buffer_append(out, " ", 1);
    for (uint64_t i = 0; i < value.n; i++) {
        char c = value.data[i];
        if (c == '\n' || c == '\\')
            mr_buffer_append(out, c == '\n' ? "\\n" : "\\\\", 2);
        else
            mr_buffer_append(out, &c, 1);
    }
    mr_buffer_append(out, "\n", 1);
}

void mr_metadata_print(const struct mr_metadata *m, struct mr_buffer *out)
{
    mr_buffer_append_format(out, "millrace checkpoint\nversion %u\n", m->version);
    put_line(out, "code", mr_text_of(m->code));
    put_line(out, "id", mr_text_of(m->id));
    put_line(out, "mode", mr_text_of(m->mode));
    if (m->sink)
        put_line(out, "sink", mr_text_of(m->sink));
    for (uint32_t i = 0; i < m->sources_n; i++)
        put_line(out, "source", m->sources[i]);
    for (uint32_t i = 0; i < m->operators_n; i++) {
        const struct mr_metadata_operator *o = &m->operators[i];
        put_line(out, "operator", o->name);
        put_line(out, "detail", o->detail);
        for (uint32_t t = 0; t < o->tables_n; t++) {
            put_line(out, "table", o->tables[t].name);
            put_line(out, "slots", o->tables[t].slots);
            for (uint32_t k = 0; k < o->tables[t].keys_n; k++)
                put_line(out, "key", o->tables[t].keys[k]);
            for (uint32_t v = 0; v < o->tables[t].values_n; v++)
                put_line(out, "value", o->tables[t].values[v]);
        }
    }
}

enum mr_status mr_metadata_save(struct mr_env *env, const char *path, const struct mr_metadata *m,
                                struct mr_arena *a, struct mr_error *err)
{
    struct mr_buffer out;

    mr_buffer_init(&out, a);
    mr_metadata_print(m, &out);
    mr_buffer_append_format(&out, "crc32c %08x\n", mr_crc32c(0, out.data, out.n));
    int rc = mr_env_write_whole(env, path, out.data, out.n);
    return rc < 0 ? MR_FAIL(err, MR_IO, -rc, "checkpoint: write %s", path) : MR_OK;
}

struct parser {
    struct mr_arena *arena;
    const char *path;
    struct mr_text rest;
    uint64_t line;
    struct mr_error *err;
};

static enum mr_status malformed(const struct parser *p, const char *what)
{
    return MR_FAIL(p->err, MR_CORRUPT, 0, "checkpoint: %s: line %llu: %s", p->path,
                   (unsigned long long)p->line, what);
}

static bool next_line(struct parser *p, struct mr_text *key, struct mr_text *value)
{
    const char *end = memchr(p->rest.data, '\n', p->rest.n);

    if (p->rest.n == 0 || end == NULL)
        return false;
    struct mr_text line = {p->rest.data, (uint64_t)(end - p->rest.data)};
    p->rest = (struct mr_text){end + 1, p->rest.n - line.n - 1};
    p->line++;
    const char *blank = memchr(line.data, ' ', line.n);
    *key = (struct mr_text){line.data, blank ? (uint64_t)(blank - line.data) : line.n};
    char *copy = mr_arena_alloc(p->arena, line.n + 1);
    uint64_t n = 0;
    for (uint64_t i = key->n + 1; i < line.n; i++) {
        char c = line.data[i];
        if (c == '\\' && i + 1 < line.n)
            c = line.data[++i] == 'n' ? '\n' : '\\';
        copy[n++] = c;
    }
    copy[n] = '\0';
    *value = (struct mr_text){copy, n};
    return true;
}

/* Room for one more of an array that lies in the arena, doubled at powers of two. */
static void *one_more(struct mr_arena *a, const void *array, uint32_t n, size_t size)
{
    if (n & (n - 1))
        return (void *)(uintptr_t)array;
    uint8_t *grown = mr_arena_zero(a, (n ? 2 * (size_t)n : 1) * size);
    if (n)
        memcpy(grown, array, n * size);
    return grown;
}

static void add_text(struct mr_arena *a, const struct mr_text **array, uint32_t *n,
                     struct mr_text text)
{
    struct mr_text *texts = one_more(a, *array, *n, sizeof *texts);

    texts[(*n)++] = text;
    *array = texts;
}

static enum mr_status take_line(struct parser *p, struct mr_metadata *m, struct mr_text key,
                                struct mr_text value)
{
    struct mr_metadata_operator *o =
        m->operators_n ? (struct mr_metadata_operator *)(uintptr_t)&m->operators[m->operators_n - 1]
                       : NULL;
    struct mr_metadata_table *t =
        o && o->tables_n ? (struct mr_metadata_table *)(uintptr_t)&o->tables[o->tables_n - 1]
                         : NULL;

    if (mr_text_equal(key, MR_TEXT("code"))) {
        m->code = value.data;
    } else if (mr_text_equal(key, MR_TEXT("id"))) {
        m->id = value.data;
    } else if (mr_text_equal(key, MR_TEXT("mode"))) {
        m->mode = value.data;
    } else if (mr_text_equal(key, MR_TEXT("sink"))) {
        m->sink = value.data;
    } else if (mr_text_equal(key, MR_TEXT("source"))) {
        add_text(p->arena, &m->sources, &m->sources_n, value);
    } else if (mr_text_equal(key, MR_TEXT("operator"))) {
        o = one_more(p->arena, m->operators, m->operators_n, sizeof *o);
        o[m->operators_n++] = (struct mr_metadata_operator){.name = value};
        m->operators = o;
    } else if (o && mr_text_equal(key, MR_TEXT("detail"))) {
        o->detail = value;
    } else if (o && mr_text_equal(key, MR_TEXT("table"))) {
        t = one_more(p->arena, o->tables, o->tables_n, sizeof *t);
        t[o->tables_n++] = (struct mr_metadata_table){.name = value};
        o->tables = t;
    } else if (t && mr_text_equal(key, MR_TEXT("slots"))) {
        t->slots = value;
    } else if (t && mr_text_equal(key, MR_TEXT("key"))) {
        add_text(p->arena, &t->keys, &t->keys_n, value);
    } else if (t && mr_text_equal(key, MR_TEXT("value"))) {
        add_text(p->arena, &t->values, &t->values_n, value);
    } else {
        return malformed(p, "a key that is not known here");
    }
    return MR_OK;
}

static enum mr_status parse(struct parser *p, struct mr_metadata *m)
{
    static const char ending[] = "crc32c 00000000\n";
    struct mr_text key, value, all = p->rest;
    enum mr_status status = MR_OK;

    if (all.n < sizeof ending - 1)
        return malformed(p, "it is too short");
    p->rest.n -= sizeof ending - 1;
    uint32_t crc = mr_crc32c(0, p->rest.data, p->rest.n);
    const char *expected = mr_arena_format(p->arena, "crc32c %08x\n", crc);
    if (memcmp(expected, all.data + p->rest.n, sizeof ending - 1) != 0)
        return malformed(p, "its CRC is another one: the file was changed or is damaged");
    if (!next_line(p, &key, &value) || !mr_text_equal(key, MR_TEXT("millrace")))
        return malformed(p, "it is no checkpoint of millrace");
    if (!next_line(p, &key, &value) || !mr_text_equal(key, MR_TEXT("version")))
        return malformed(p, "a version was expected");
    m->version = (uint32_t)strtoul(value.data, NULL, 10);
    if (m->version != MR_CHECKPOINT_VERSION)
        return MR_FAIL(p->err, MR_UNSUPPORTED, 0,
                       "checkpoint: %s has format version %u; millrace " MR_VERSION " reads %d",
                       p->path, m->version, MR_CHECKPOINT_VERSION);
    while (status == MR_OK && next_line(p, &key, &value))
        status = take_line(p, m, key, value);
    if (status == MR_OK && (m->id == NULL || m->mode == NULL || m->code == NULL))
        return malformed(p, "id, code or mode is missing");
    return status;
}

enum mr_status mr_metadata_load(struct mr_env *env, const char *path, struct mr_arena *a,
                                struct mr_metadata *out, bool *found, struct mr_error *err)
{
    struct parser p = {.arena = a, .path = path, .err = err};

    *out = (struct mr_metadata){0};
    enum mr_status status = mr_small_file_read(env, path, a, &p.rest, found, err);
    return status != MR_OK || !*found ? status : parse(&p, out);
}
