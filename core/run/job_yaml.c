#include "core/run/job_yaml.h"

#include "core/base/bounds.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <yaml.h>

enum { FILE_BYTES_MAX = 16 << 20 };

struct reader {
    struct mr_yaml_file *file;
    struct mr_arena *arena;
    struct mr_error *err;
    enum mr_status status;
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
    uint32_t depth;
};

static struct mr_place place_of(yaml_mark_t mark)
{
    return (struct mr_place){(uint32_t)mark.line + 1, (uint32_t)mark.column + 1};
}

static enum mr_status fail_at(const struct mr_yaml_file *file, struct mr_place place,
                              struct mr_error *err, const char *format, va_list args)
{
    char message[MR_ERROR_MESSAGE];

    vsnprintf(message, sizeof message, format, args);
    enum mr_status status = MR_FAIL(err, MR_USER, 0, "%s", message);
    if (err) {
        snprintf(err->file, sizeof err->file, "%s", file->path);
        err->line = place.line;
        err->column = place.column;
    }
    return status;
}

enum mr_status mr_yaml_fail(const struct mr_yaml_file *file, const struct mr_yaml *node,
                            struct mr_error *err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    enum mr_status status = fail_at(file, node->place, err, format, args);
    va_end(args);
    return status;
}

static MR_PRINTF(3, 4) enum mr_status
    fail_mark(struct reader *r, yaml_mark_t mark, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    enum mr_status status = fail_at(r->file, place_of(mark), r->err, format, args);
    va_end(args);
    return status;
}

static enum mr_status next_event(struct reader *r)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = yaml_parser_parse(&r->parser, &r->event);
    if (r->has_event)
        return MR_OK;
    yaml_mark_t mark = r->parser.problem_mark;
    const char *problem = r->parser.problem ? r->parser.problem : "not readable";
    if (r->parser.error == YAML_READER_ERROR)
        return fail_mark(r, r->parser.mark, "not YAML: %s at byte %zu", problem,
                         r->parser.problem_offset);
    return fail_mark(r, mark, "not YAML: %s%s%s", problem, r->parser.context ? ", " : "",
                     r->parser.context ? r->parser.context : "");
}

static enum mr_yaml_style style_of(yaml_scalar_style_t style)
{
    return style == YAML_SINGLE_QUOTED_SCALAR_STYLE   ? MR_YAML_SINGLE
           : style == YAML_DOUBLE_QUOTED_SCALAR_STYLE ? MR_YAML_DOUBLE
           : style == YAML_LITERAL_SCALAR_STYLE       ? MR_YAML_LITERAL
           : style == YAML_FOLDED_SCALAR_STYLE        ? MR_YAML_FOLDED
                                                      : MR_YAML_PLAIN;
}

static enum mr_status read_scalar(struct reader *r, struct mr_yaml *node)
{
    const char *value = (const char *)r->event.data.scalar.value;
    size_t n = r->event.data.scalar.length;

    if (memchr(value, '\0', n))
        return fail_mark(r, r->event.start_mark, "a text must not have a zero byte");
    node->kind = MR_YAML_SCALAR;
    node->text = (struct mr_text){mr_arena_copy(r->arena, value, n), n};
    node->style = style_of(r->event.data.scalar.style);
    return mr_yaml_resolve(r->file, node, r->err);
}

static void push_item(struct reader *r, struct mr_yaml *node, struct mr_yaml *key,
                      struct mr_yaml *value, uint32_t *capacity)
{
    if (node->n == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 8;
        struct mr_yaml **items = MR_NEW_ARRAY(r->arena, struct mr_yaml *, *capacity);
        struct mr_yaml **keys = MR_NEW_ARRAY(r->arena, struct mr_yaml *, *capacity);
        if (node->n) {
            memcpy(items, node->items, sizeof *items * node->n);
            memcpy(keys, node->keys, sizeof *keys * node->n);
        }
        node->items = items;
        node->keys = keys;
    }
    node->items[node->n] = value;
    node->keys[node->n++] = key;
}

static enum mr_status read_node(struct reader *r, struct mr_yaml **out);

static enum mr_status read_list(struct reader *r, struct mr_yaml *node)
{
    uint32_t capacity = 0;

    node->kind = MR_YAML_LIST;
    for (;;) {
        struct mr_yaml *item;
        enum mr_status status = next_event(r);
        if (status || r->event.type == YAML_SEQUENCE_END_EVENT)
            return status;
        status = read_node(r, &item);
        if (status)
            return status;
        push_item(r, node, NULL, item, &capacity);
    }
}

static enum mr_status read_map(struct reader *r, struct mr_yaml *node)
{
    uint32_t capacity = 0;

    node->kind = MR_YAML_MAP;
    for (;;) {
        struct mr_yaml *key, *value;
        enum mr_status status = next_event(r);
        if (status || r->event.type == YAML_MAPPING_END_EVENT)
            return status;
        if (r->event.type != YAML_SCALAR_EVENT)
            return fail_mark(r, r->event.start_mark, "a key must be a plain text");
        status = read_node(r, &key);
        if (status)
            return status;
        if (node->n == MR_COLUMNS_MAX)
            return mr_yaml_fail(r->file, key, r->err, "more than %d keys in a map", MR_COLUMNS_MAX);
        if (mr_yaml_get(node, key->text.data))
            return mr_yaml_fail(r->file, key, r->err, "the key \"%s\" is there twice",
                                key->text.data);
        status = next_event(r);
        if (status == MR_OK)
            status = read_node(r, &value);
        if (status)
            return status;
        push_item(r, node, key, value, &capacity);
    }
}

static enum mr_status read_node(struct reader *r, struct mr_yaml **out)
{
    struct mr_yaml *node = MR_NEW(r->arena, struct mr_yaml);
    enum mr_status status;

    *out = node;
    node->place = place_of(r->event.start_mark);
    if (++r->depth > MR_DEPTH_MAX)
        return fail_mark(r, r->event.start_mark, "nested too deeply: %d levels are allowed",
                         MR_DEPTH_MAX);
    switch (r->event.type) {
    case YAML_SCALAR_EVENT:
        status = read_scalar(r, node);
        break;
    case YAML_SEQUENCE_START_EVENT:
        status = read_list(r, node);
        break;
    case YAML_MAPPING_START_EVENT:
        status = read_map(r, node);
        break;
    default:
        return fail_mark(r, r->event.start_mark,
                         "anchors and aliases (& and *) are not supported: quote the text if it "
                         "is one");
    }
    r->depth--;
    return status;
}

static enum mr_status read_document(struct reader *r)
{
    enum mr_status status = next_event(r); /* the stream's start */

    if (status == MR_OK)
        status = next_event(r);
    if (status)
        return status;
    if (r->event.type == YAML_STREAM_END_EVENT)
        return fail_mark(r, r->event.start_mark, "the file is empty");
    status = next_event(r);
    if (status == MR_OK)
        status = read_node(r, &r->file->root);
    if (status == MR_OK)
        status = next_event(r); /* the document's end */
    if (status == MR_OK)
        status = next_event(r);
    if (status == MR_OK && r->event.type != YAML_STREAM_END_EVENT)
        return fail_mark(r, r->event.start_mark, "a second document: one is allowed in a file");
    return status;
}

/* libyaml's memory is not the arena's: when the arena has no more, it is freed on the way out. */
static enum mr_status guarded(struct reader *r)
{
    jmp_buf *outer = r->arena->escape, here;

    r->status = MR_MEMORY;
    if (setjmp(here) == 0) {
        r->arena->escape = &here;
        r->status = read_document(r);
    }
    r->arena->escape = outer;
    if (r->has_event)
        yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
    if (r->status == MR_MEMORY)
        longjmp(*outer, 1);
    return r->status;
}

static uint32_t hex_unit(const char *p)
{
    uint32_t unit = 0;

    for (uint32_t i = 0; i < 4; i++) {
        char c = p[i];
        uint32_t digit = c >= '0' && c <= '9' ? (uint32_t)(c - '0')
                         : (c | 0x20) >= 'a' && (c | 0x20) <= 'f'
                             ? (uint32_t)((c | 0x20) - 'a') + 10
                             : 16;
        if (digit == 16)
            return 0;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* JSON writes characters beyond 16 bits as two \u escapes; YAML has \U for them, in one character
 * less. */
static struct mr_text join_surrogates(struct mr_text t, struct mr_arena *a)
{
    uint64_t start = 0;

    while (start < t.n && (uint8_t)t.data[start] <= ' ')
        start++;
    if (start == t.n || t.data[start] != '{' || memmem(t.data, t.n, "\\u", 2) == NULL)
        return t;
    char *copy = mr_arena_copy(a, t.data, t.n);
    for (uint64_t i = start; i + 12 <= t.n; i++) {
        if (copy[i] != '\\')
            continue;
        uint32_t high = copy[i + 1] == 'u' ? hex_unit(copy + i + 2) : 0;
        uint32_t low = high >= 0xD800 && high < 0xDC00 && copy[i + 6] == '\\' && copy[i + 7] == 'u'
                           ? hex_unit(copy + i + 8)
                           : 0;
        if (low >= 0xDC00 && low < 0xE000) {
            char escape[11];
            snprintf(escape, sizeof escape, "\\U%08X",
                     0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
            memcpy(copy + i, escape, 10);
            memmove(copy + i + 10, copy + i + 12, t.n - i - 12 + 1);
            t.n -= 2;
        }
        i++;
    }
    return (struct mr_text){copy, t.n};
}

enum mr_status mr_yaml_parse(struct mr_text text, const char *path, struct mr_arena *a,
                             struct mr_yaml_file *out, struct mr_error *err)
{
    *out = (struct mr_yaml_file){.path = path, .text = join_surrogates(text, a), .arena = a};
    struct reader r = {.file = out, .arena = a, .err = err};

    if (!yaml_parser_initialize(&r.parser))
        return MR_FAIL(err, MR_MEMORY, 0, "no memory to read %s", path);
    if (out->text.n >= 3 && memcmp(out->text.data, "\xef\xbb\xbf", 3) == 0) {
        out->text.data += 3; /* a byte order mark */
        out->text.n -= 3;
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)out->text.data, out->text.n);
    return guarded(&r);
}

enum mr_status mr_yaml_read_file(const char *path, uint64_t bytes_max, struct mr_arena *a,
                                 struct mr_text *out, struct mr_error *err)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return MR_FAIL(err, MR_USER, errno, "%s can't be opened", path);
    uint64_t room = bytes_max + 1; /* a pipe has no size */
    if (S_ISREG(about.st_mode) && (uint64_t)about.st_size < room)
        room = (uint64_t)about.st_size;
    char *text = mr_arena_alloc(a, room + 1);
    FILE *f = fopen(path, "rbe");
    if (f == NULL)
        return MR_FAIL(err, MR_USER, errno, "%s can't be opened", path);
    size_t n = fread(text, 1, room, f);
    int failed = ferror(f) ? errno : 0;
    fclose(f);
    if (failed)
        return MR_FAIL(err, MR_USER, failed, "%s can't be read", path);
    if (n > bytes_max)
        return MR_FAIL(err, MR_USER, 0, "%s has more than the %llu bytes that are allowed", path,
                       (unsigned long long)bytes_max);
    text[n] = '\0';
    *out = (struct mr_text){text, n};
    return MR_OK;
}

enum mr_status mr_yaml_read(const char *path, struct mr_arena *a, struct mr_yaml_file *out,
                            struct mr_error *err)
{
    struct mr_text text;
    enum mr_status status = mr_yaml_read_file(path, FILE_BYTES_MAX, a, &text, err);

    return status ? status : mr_yaml_parse(text, path, a, out, err);
}

const struct mr_yaml *mr_yaml_get(const struct mr_yaml *map, const char *key)
{
    if (map == NULL || map->kind != MR_YAML_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->n; i++)
        if (strcmp(map->keys[i]->text.data, key) == 0)
            return map->items[i];
    return NULL;
}

bool mr_yaml_is_null(const struct mr_yaml *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

    if (node->kind != MR_YAML_SCALAR || node->style != MR_YAML_PLAIN || node->is_resolved)
        return false;
    for (uint32_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++)
        if (strcmp(node->text.data, nulls[i]) == 0)
            return true;
    return false;
}

const char *mr_yaml_kind_name(const struct mr_yaml *node)
{
    return node->kind == MR_YAML_LIST ? "a list" : node->kind == MR_YAML_MAP ? "a map" : "a value";
}
