/* file_partition_schema.c - which columns the folders of a source name, and of which type. */
#include "core/base/check.h"
#include "core/format/value.h"
#include "io/file/file_list.h"
#include "io/file/file_options.h"
#include "io/file/file_partition.h"

struct discovery {
    const struct mr_table *table;
    const struct mr_conf *conf;
    const char *base;
    struct mr_arena *arena;  /* of what is found */
    struct mr_arena scratch; /* of the folder at hand */
    const char *first;       /* path of the file seen first, or NULL */
    const char *folder;      /* of the file seen last */
    struct mr_file_partitions columns;
    const struct mr_type *types[MR_FILE_PARTITIONS_MAX];
    enum mr_status status;
    struct mr_error *err;
};

static bool is_digits(struct mr_text t)
{
    uint64_t i = t.n > 0 && (t.data[0] == '-' || t.data[0] == '+');

    for (uint64_t k = i; k < t.n; k++)
        if (!mr_is_digit(t.data[k]))
            return false;
    return t.n > i;
}

/* Java's Double.parseDouble takes fewer words than a cast. */
static bool is_double(struct mr_text t)
{
    double value;

    if (t.n == 0 || !mr_value_parse_double(t, &value))
        return false;
    struct mr_text word = t;
    word.data += *t.data == '-' || *t.data == '+';
    word.n -= *t.data == '-' || *t.data == '+';
    return mr_text_equal(word, MR_TEXT("NaN")) || mr_text_equal(word, MR_TEXT("Infinity")) ||
           mr_is_digit(*word.data) || *word.data == '.';
}

/* pattern: 0 stands for a digit. */
static bool looks_like(struct mr_text t, const char *pattern)
{
    for (; *pattern; pattern++, t.data++, t.n--)
        if (t.n == 0 || (*pattern == '0' ? !mr_is_digit(*t.data) : *pattern != *t.data))
            return false;
    return t.n == 0 || (*t.data == '.' && is_digits((struct mr_text){t.data + 1, t.n - 1}));
}

static const struct mr_type *type_of(const struct discovery *d, struct mr_text t)
{
    int64_t number;
    int32_t days;

    if (mr_text_equal(t, MR_TEXT(MR_FILE_NULL_PARTITION)))
        return &mr_type_void;
    if (!d->conf->infer_partition_types)
        return &mr_type_string;
    if (is_digits(t)) {
        if (mr_value_parse_integer(t, INT32_MIN, INT32_MAX, &number))
            return &mr_type_int;
        if (mr_value_parse_integer(t, INT64_MIN, INT64_MAX, &number))
            return &mr_type_bigint;
        uint32_t digits = (uint32_t)t.n - !mr_is_digit(*t.data);
        if (digits <= 38)
            return mr_type_decimal(d->arena, digits, 0);
    }
    if (is_double(t))
        return &mr_type_double;
    if (looks_like(t, "0000-00-00 00:00:00") &&
        mr_value_parse_timestamp(t, d->conf->zone, 0, &number))
        return &mr_type_timestamp;
    if (t.n == 10 && looks_like(t, "0000-00-00") && mr_value_parse_date(t, &days))
        return &mr_type_date;
    return &mr_type_string;
}

static const struct mr_type *wider(const struct discovery *d, const struct mr_type *x,
                                   const struct mr_type *y)
{
    if (x->kind > y->kind)
        return wider(d, y, x);
    if (x->kind == MR_VOID || mr_type_equal(x, y))
        return y;
    if (mr_type_is_integer(x) && mr_type_is_integer(y))
        return &mr_type_bigint;
    if (x->kind == MR_INT && y->kind == MR_DOUBLE)
        return y;
    if (y->kind == MR_DECIMAL && x->kind != MR_DOUBLE) {
        uint32_t least = x->kind == MR_INT ? 10 : x->kind == MR_BIGINT ? 20 : x->precision;
        return y->precision >= least ? y : mr_type_decimal(d->arena, least, 0);
    }
    if (x->kind == MR_DATE && y->kind == MR_TIMESTAMP)
        return y;
    return &mr_type_string;
}

static const struct mr_type *declared_type(const struct mr_table *t, struct mr_text name)
{
    for (uint32_t i = 0; !t->is_inferred && i < t->schema->fields_n; i++)
        if (mr_text_equal_ignoring_case(name, mr_text_of(t->schema->fields[i].name)))
            return t->schema->fields[i].type;
    return NULL;
}

static bool same_names(const struct mr_file_partitions *x, const struct mr_file_partitions *y)
{
    bool same = x->n == y->n;

    for (uint32_t i = 0; i < x->n && same; i++)
        same = mr_text_equal_ignoring_case(x->names[i], y->names[i]);
    return same;
}

static struct mr_text keep(struct discovery *d, struct mr_text t)
{
    return (struct mr_text){mr_arena_copy(d->arena, t.data, t.n), t.n};
}

/* The first file says which columns there are. */
static enum mr_status begin(struct discovery *d, const char *path,
                            const struct mr_file_partitions *p)
{
    d->first = mr_arena_copy(d->arena, path, strlen(path));
    d->columns.n = p->n;
    for (uint32_t i = 0; i < p->n; i++) {
        d->columns.names[i] = keep(d, p->names[i]);
        d->types[i] = declared_type(d->table, p->names[i]);
        for (uint32_t k = 0; k < i; k++)
            if (mr_text_equal_ignoring_case(p->names[k], p->names[i]))
                return MR_FAIL_CONDITION(d->err, MR_USER, "COLUMN_ALREADY_EXISTS",
                                         "The column `%.*s` already exists: two folders of %s "
                                         "name it. Choose another name or rename the existing "
                                         "column.",
                                         (int)p->names[i].n, p->names[i].data, path);
    }
    return MR_OK;
}

static enum mr_status see(struct discovery *d, const char *path)
{
    struct mr_file_partitions p;
    struct mr_column one;

    mr_file_partitions_read(path, d->base, &d->scratch, &p);
    if (d->first == NULL) {
        enum mr_status status = begin(d, path, &p);
        if (status != MR_OK)
            return status;
    }
    if (!same_names(&p, &d->columns))
        return mr_file_partition_conflict(d->table, path, &p, d->first, &d->columns, d->err);
    for (uint32_t i = 0; i < p.n; i++) {
        const struct mr_type *declared = declared_type(d->table, p.names[i]);
        const struct mr_type *type = declared ? declared : type_of(d, p.values[i]);
        enum mr_status status =
            mr_file_partition_cast(&p, i, type, d->conf->zone, &d->scratch, &one, path, d->err);
        if (status != MR_OK)
            return status;
        d->types[i] = d->types[i] ? wider(d, d->types[i], type) : type;
    }
    return MR_OK;
}

/* Called with every path that is found; true: it is not wanted in the list. */
static bool visit(void *arg, const char *path)
{
    struct discovery *d = arg;
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;

    if (slash == NULL || d->status != MR_OK ||
        (d->folder && strncmp(d->folder, path, n) == 0 && d->folder[n] == '\0'))
        return true;
    mr_arena_reset(&d->scratch);
    d->folder = mr_arena_copy(&d->scratch, path, n);
    d->status = see(d, path);
    return true;
}

/* Behind the others; a column that records were found to have, too, keeps its place. */
static void add_columns(const struct discovery *d, struct mr_table *t, struct mr_arena *a)
{
    const struct mr_type *old = t->schema;
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, old->fields_n + d->columns.n);
    bool *in_folder = mr_arena_zero(a, old->fields_n + d->columns.n), *is_there;
    uint32_t n = 0;

    is_there = mr_arena_zero(a, d->columns.n);
    for (uint32_t i = 0; i < old->fields_n; i++) {
        uint32_t k = mr_file_partitions_find(&d->columns, old->fields[i].name);
        if (k < d->columns.n && !t->is_inferred)
            continue;
        fields[n] = old->fields[i];
        if (k < d->columns.n) {
            fields[n].type = d->types[k];
            in_folder[n] = is_there[k] = true;
        }
        n++;
    }
    for (uint32_t k = 0; k < d->columns.n; k++) {
        struct mr_text name = d->columns.names[k];
        if (is_there[k])
            continue;
        fields[n] = (struct mr_field){mr_arena_copy(a, name.data, name.n), d->types[k], true};
        for (uint32_t i = 0; i < old->fields_n; i++)
            if (mr_text_equal_ignoring_case(name, mr_text_of(old->fields[i].name)))
                fields[n].name = old->fields[i].name;
        in_folder[n++] = true;
    }
    t->schema = mr_type_struct(a, fields, n);
    t->in_folder = in_folder;
}

enum mr_status mr_file_complete_schema(struct mr_table *t, const struct mr_conf *conf,
                                       struct mr_arena *a, struct mr_error *err)
{
    struct mr_file_options options;
    struct mr_arena listing;
    struct mr_file_list none = {.arena = &listing};
    struct mr_env *env;
    struct discovery d = {.table = t, .conf = conf, .arena = a, .err = err};
    enum mr_status status = mr_file_options_read(t, &options, err);

    d.base = options.base;
    if (status != MR_OK || d.base == NULL)
        return status;
    status = mr_env_open("syscalls", &env, err);
    if (status != MR_OK)
        return status;
    mr_arena_init(&listing, a->budget, a->escape);
    mr_arena_init(&d.scratch, a->budget, a->escape);
    status = mr_file_list(env, options.path, options.name_glob, visit, &d, &none, err);
    env->ops->fini(env);
    mr_arena_fini(&listing);
    mr_arena_fini(&d.scratch);
    if (status == MR_OK)
        status = d.status;
    if (status == MR_OK && d.columns.n > 0)
        add_columns(&d, t, a);
    return status;
}
