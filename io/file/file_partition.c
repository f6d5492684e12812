#include "io/file/file_partition.h"

#include "core/format/cell.h"
#include "core/format/value.h"
#include "io/file/file_options.h"
#include <stdio.h>

/* Hive's %XX; what is none stays as it is. */
static struct mr_text unescape(struct mr_text t, struct mr_arena *a)
{
    uint64_t n = 0;

    if (t.n == 0 || memchr(t.data, '%', t.n) == NULL)
        return t;
    char *out = mr_arena_alloc(a, t.n);
    for (uint64_t i = 0; i < t.n; i++) {
        int high = t.data[i] == '%' && t.n - i > 2 ? mr_hex_digit(t.data[i + 1]) : -1;
        int low = high >= 0 ? mr_hex_digit(t.data[i + 2]) : -1;
        if (low < 0) {
            out[n++] = t.data[i];
            continue;
        }
        int c = high << 4 | low;
        i += 2;
        if (c >= 0x80) /* a character of Latin 1, in UTF-8 */
            out[n++] = (char)(0xc0 | c >> 6);
        out[n++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
    }
    return (struct mr_text){out, n};
}

/* The rest of path below the folder base, or NULL. */
static const char *below(const char *path, const char *base)
{
    path = mr_file_without_dots(path);
    base = mr_file_without_dots(base);
    size_t n = strlen(base);

    while (n > 0 && base[n - 1] == '/')
        n--;
    if (strcmp(base, ".") == 0 || base[0] == '\0')
        return path[0] == '/' ? NULL : path;
    return strncmp(path, base, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

void mr_file_partitions_read(const char *path, const char *base, struct mr_arena *a,
                             struct mr_file_partitions *out)
{
    const char *at = base ? below(path, base) : NULL, *slash;
    bool is_interrupted = false;

    out->n = 0;
    for (; at && (slash = strchr(at, '/')) != NULL; at = slash + 1) {
        const char *equals = memchr(at, '=', (size_t)(slash - at));
        if (equals == NULL || equals == at) {
            is_interrupted = true;
            continue;
        }
        if (is_interrupted || out->n == MR_FILE_PARTITIONS_MAX)
            out->n = 0;
        is_interrupted = false;
        out->names[out->n] = unescape((struct mr_text){at, (uint64_t)(equals - at)}, a);
        out->values[out->n++] =
            unescape((struct mr_text){equals + 1, (uint64_t)(slash - equals - 1)}, a);
    }
}

uint32_t mr_file_partitions_find(const struct mr_file_partitions *p, const char *column)
{
    uint32_t i = 0;

    while (i < p->n && !mr_text_equal_ignoring_case(p->names[i], mr_text_of(column)))
        i++;
    return i;
}

static bool parse_number(struct mr_text t, const struct mr_type *type, struct mr_arena *a,
                         struct mr_cell *out)
{
    switch (type->kind) {
    case MR_TINYINT:
        return mr_value_parse_integer(t, INT8_MIN, INT8_MAX, &out->i64);
    case MR_SMALLINT:
        return mr_value_parse_integer(t, INT16_MIN, INT16_MAX, &out->i64);
    case MR_INT:
        return mr_value_parse_integer(t, INT32_MIN, INT32_MAX, &out->i64);
    case MR_BIGINT:
        return mr_value_parse_integer(t, INT64_MIN, INT64_MAX, &out->i64);
    case MR_FLOAT:
        return mr_value_parse_float(t, &out->f32);
    case MR_DOUBLE:
        return mr_value_parse_double(t, &out->f64);
    default:
        return mr_cell_parse_decimal(type, t, a, &out->i128);
    }
}

static bool parse(struct mr_text t, const struct mr_type *type, const struct mr_zone *zone,
                  struct mr_arena *a, struct mr_cell *out)
{
    bool boolean = false;
    int32_t days = 0;

    if (mr_type_is_numeric(type))
        return parse_number(t, type, a, out);
    switch (type->kind) {
    case MR_BOOLEAN:
        if (!mr_value_parse_boolean(t, &boolean))
            return false;
        out->i64 = boolean;
        return true;
    case MR_DATE:
        if (!mr_value_parse_date(t, &days))
            return false;
        out->i64 = days;
        return true;
    case MR_TIMESTAMP: /* a time of day alone is no moment: it would depend on when it is read */
        return memchr(t.data, '-', t.n) && mr_value_parse_timestamp(t, zone, 0, &out->i64);
    case MR_TIMESTAMP_NTZ:
        return mr_value_parse_timestamp_ntz_or_zoned(t, &out->i64);
    case MR_INTERVAL_YEAR_MONTH:
    case MR_INTERVAL_DAY_TIME:
        return mr_cell_parse_interval(type, t, out);
    default:
        return false;
    }
}

enum mr_status mr_file_partition_cast(const struct mr_file_partitions *p, uint32_t i,
                                      const struct mr_type *type, const struct mr_zone *zone,
                                      struct mr_arena *a, struct mr_column *out, const char *path,
                                      struct mr_error *err)
{
    struct mr_text value = p->values[i];
    struct mr_cell cell = {0};
    struct mr_buffer shown;

    if (type->kind == MR_VOID || mr_text_equal(value, MR_TEXT(MR_FILE_NULL_PARTITION))) {
        mr_column_alloc_null(out, type, 1, a);
        return MR_OK;
    }
    if (value.n == 0)
        return MR_FAIL_CONDITION(err, MR_QUERY, "EMPTY_PARTITION_COLUMN_VALUE",
                                 "Found an empty partition column value in the path segment "
                                 "'%.*s='. Each partition directory must have a non-empty value "
                                 "after the '=' sign (e.g., 'col=value'). File: %s",
                                 (int)p->names[i].n, p->names[i].data, path);
    mr_column_alloc(out, type, 1, false, a);
    if (type->kind == MR_STRING || type->kind == MR_BINARY) {
        mr_column_set_text(out, 0, value, a);
        return MR_OK;
    }
    if (parse(value, type, zone, a, &cell)) {
        mr_cell_store(out, 0, &cell, NULL);
        return MR_OK;
    }
    mr_buffer_init(&shown, a);
    mr_type_print_sql(type, &shown);
    return MR_FAIL_CONDITION(err, MR_QUERY, "INVALID_PARTITION_VALUE",
                             "Failed to cast value '%.*s' to data type \"%.*s\" for partition "
                             "column `%.*s`. Ensure the value matches the expected data type for "
                             "this partition column. File: %s",
                             (int)value.n, value.data, (int)shown.n, (const char *)shown.data,
                             (int)p->names[i].n, p->names[i].data, path);
}

void mr_file_partition_fill(struct mr_column *out, const struct mr_column *one, uint32_t rows,
                            struct mr_arena *a)
{
    uint64_t width = mr_type_value_bytes(one->type), done = width, bytes = width * rows;

    if (mr_column_is_null(one, 0)) {
        mr_column_alloc_null(out, one->type, rows, a);
        return;
    }
    mr_column_alloc(out, one->type, rows, false, a);
    out->heaps = one->heaps;
    out->heaps_n = one->heaps_n;
    if (one->type->kind == MR_BOOLEAN) {
        memset(out->bits, mr_bit_get(one->bits, 0) ? 0xff : 0, mr_bit_words(rows) * 8);
        return;
    }
    memcpy(out->data, one->data, width);
    for (; done < bytes; done *= 2)
        memcpy((char *)out->data + done, out->data, done < bytes - done ? done : bytes - done);
}

static const char *names_of(const struct mr_file_partitions *p, char *room, size_t bytes)
{
    size_t n = 0;

    room[0] = '\0';
    for (uint32_t i = 0; i < p->n && n < bytes; i++)
        n += (size_t)snprintf(room + n, bytes - n, "%s%.*s", i ? ", " : "", (int)p->names[i].n,
                              p->names[i].data);
    return p->n ? room : "none";
}

enum mr_status mr_file_partition_conflict(const struct mr_table *t, const char *path,
                                          const struct mr_file_partitions *p, const char *other,
                                          const struct mr_file_partitions *others,
                                          struct mr_error *err)
{
    char names[256], other_names[256];

    return MR_FAIL_CONDITION(err, MR_QUERY, "CONFLICTING_PARTITION_COLUMN_NAMES",
                             "source \"%s\": Conflicting partition column names detected: %s (%s) "
                             "and %s (%s). Files should only live in leaf folders, and folders at "
                             "the same level should name the same column; or read all as one "
                             "folder with recursiveFileLookup=true",
                             t->name, names_of(p, names, sizeof names), path,
                             names_of(others, other_names, sizeof other_names), other);
}
