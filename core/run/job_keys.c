#include "core/run/job_keys.h"

#include "core/base/bounds.h"
#include "core/format/value.h"
#include <stdio.h>
#include <strings.h>

enum { NAMES_MAX = 32 }; /* keys of a group */

static bool is_of(const struct mr_job_key *key, enum mr_key_group of)
{
    return key->of == of || (of == MR_KEYS_JOB && key->of == MR_KEYS_QUERY);
}

static const struct mr_job_key *find_key(enum mr_key_group of, const char *name)
{
    for (uint32_t i = 0; i < mr_job_keys_n; i++)
        if (is_of(&mr_job_keys[i], of) && strcmp(mr_job_keys[i].name, name) == 0)
            return &mr_job_keys[i];
    return NULL;
}

/* As checkpoint is of checkpointLocation, which Spark users write. */
static const char *start_of(const char *name, const char *const *names, uint32_t n)
{
    enum { LENGTH_MIN = 4 };

    for (uint32_t i = 0; i < n; i++)
        if (strlen(names[i]) >= LENGTH_MIN && strncasecmp(name, names[i], strlen(names[i])) == 0)
            return names[i];
    return NULL;
}

/* Within {..} a comma ends a text: what was behind it became a key without a value. */
static enum mr_status unknown_key(const struct mr_yaml_file *file, const struct mr_yaml *key,
                                  const struct mr_yaml *value, enum mr_key_group of,
                                  struct mr_error *err)
{
    bool is_cut = mr_yaml_is_null(value) && value->text.n == 0;
    const char *names[NAMES_MAX];
    struct mr_buffer list;
    uint32_t n = 0;

    mr_buffer_init(&list, file->arena);
    for (uint32_t i = 0; i < mr_job_keys_n; i++) {
        if (!is_of(&mr_job_keys[i], of))
            continue;
        mr_buffer_append_format(&list, "%s%s", n ? ", " : "", mr_job_keys[i].name);
        if (n < NAMES_MAX)
            names[n++] = mr_job_keys[i].name;
    }
    const char *nearest = mr_error_nearest(key->text.data, names, n);
    if (nearest == NULL)
        nearest = start_of(key->text.data, names, n);
    return mr_yaml_fail(file, key, err, "unknown key \"%s\"; allowed here: %.*s%s%s%s%s",
                        key->text.data, (int)list.n, (const char *)list.data,
                        nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                        nearest ? "\"?" : "",
                        is_cut ? "; within {..} a text with a comma needs quotes" : "");
}

/* How a value is shown in an error. */
static const char *shown(const struct mr_yaml *node)
{
    return node->is_secret ? "***" : node->text.data;
}

static bool parse_boolean(const struct mr_yaml *node, bool *out)
{
    struct mr_text t = node->text;

    *out = mr_text_equal_ignoring_case(t, MR_TEXT("true"));
    return *out || mr_text_equal_ignoring_case(t, MR_TEXT("false"));
}

/* "512m": k, m, g, t count 1024 each; without a letter bytes. */
static bool parse_bytes(struct mr_text t, int64_t *out)
{
    static const char letters[] = "kmgt";
    int64_t unit = 1;
    const char *letter = t.n ? strchr(letters, t.data[t.n - 1] | 0x20) : NULL;

    if (letter && *letter) {
        unit = (int64_t)1 << (10 * (letter - letters + 1));
        t.n--;
    }
    return mr_value_parse_integer(t, 0, INT64_MAX / unit, out) &&
           !__builtin_mul_overflow(*out, unit, out);
}

static bool is_choice(const char *choices, struct mr_text t)
{
    for (const char *p = choices; *p;) {
        size_t n = strcspn(p, ",");
        if (mr_text_equal((struct mr_text){p, n}, t))
            return true;
        p += n;
        p += strspn(p, ", ");
    }
    return false;
}

static enum mr_status no_interval(const struct mr_yaml_file *file, const struct mr_job_key *key,
                                  const struct mr_yaml *node, struct mr_error *err)
{
    enum mr_status status =
        mr_yaml_fail(file, node, err, "%s: \"%s\" is no interval; write it as \"10 minutes\"",
                     key->name, shown(node));

    if (err)
        snprintf(err->condition, sizeof err->condition, "CANNOT_PARSE_INTERVAL");
    return status;
}

static enum mr_status check_scalar(const struct mr_yaml_file *file, const struct mr_job_key *key,
                                   const struct mr_yaml *node, struct mr_error *err)
{
    struct mr_calendar_interval interval;
    int64_t whole;
    bool boolean;

    switch (key->type) {
    case MR_KEY_WHOLE:
        if (!mr_value_parse_integer(node->text, key->min, key->max, &whole))
            return mr_yaml_fail(file, node, err, "%s: \"%s\" is no whole number from %lld to %lld",
                                key->name, shown(node), (long long)key->min, (long long)key->max);
        return MR_OK;
    case MR_KEY_BOOLEAN:
        if (!parse_boolean(node, &boolean))
            return mr_yaml_fail(file, node, err, "%s: \"%s\" is neither true nor false", key->name,
                                shown(node));
        return MR_OK;
    case MR_KEY_CHOICE:
        if (!is_choice(key->choices, node->text))
            return mr_yaml_fail(file, node, err, "%s: \"%s\" is none of %s", key->name, shown(node),
                                key->choices);
        return MR_OK;
    case MR_KEY_BYTES:
        if (!parse_bytes(node->text, &whole))
            return mr_yaml_fail(file, node, err, "%s: \"%s\" is no number of bytes, as 512m or 4g",
                                key->name, shown(node));
        return MR_OK;
    case MR_KEY_INTERVAL:
        return mr_value_parse_interval(node->text, &interval) ? MR_OK
                                                              : no_interval(file, key, node, err);
    default:
        if (node->text.n == 0)
            return mr_yaml_fail(file, node, err, "%s: it must not be empty", key->name);
        return MR_OK;
    }
}

static enum mr_status expect(const struct mr_yaml_file *file, const struct mr_job_key *key,
                             const struct mr_yaml *node, enum mr_yaml_kind kind, const char *what,
                             struct mr_error *err)
{
    if (node->kind == kind && !(kind != MR_YAML_SCALAR && mr_yaml_is_null(node)))
        return MR_OK;
    return mr_yaml_fail(file, node, err, "%s: expected %s, got %s", key->name, what,
                        mr_yaml_is_null(node) ? "nothing" : mr_yaml_kind_name(node));
}

static enum mr_status check_texts(const struct mr_yaml_file *file, const struct mr_job_key *key,
                                  const struct mr_yaml *node, struct mr_error *err)
{
    if (node->kind == MR_YAML_SCALAR)
        return check_scalar(file, key, node, err);
    enum mr_status status = expect(file, key, node, MR_YAML_LIST, "a list of texts", err);
    for (uint32_t i = 0; i < node->n && status == MR_OK; i++) {
        status = expect(file, key, node->items[i], MR_YAML_SCALAR, "a text", err);
        if (status == MR_OK)
            status = check_scalar(file, key, node->items[i], err);
    }
    return status;
}

static enum mr_status check_options(const struct mr_yaml_file *file, const struct mr_job_key *key,
                                    const struct mr_yaml *node, struct mr_error *err)
{
    enum mr_status status = expect(file, key, node, MR_YAML_MAP, "names with values", err);

    for (uint32_t i = 0; i < node->n && status == MR_OK; i++)
        if (node->items[i]->kind != MR_YAML_SCALAR || mr_yaml_is_null(node->items[i]))
            return mr_yaml_fail(
                file, node->items[i], err, "%s: expected a value, got %s", node->keys[i]->text.data,
                mr_yaml_is_null(node->items[i]) ? "nothing" : mr_yaml_kind_name(node->items[i]));
    return status;
}

static enum mr_status check_rows(const struct mr_yaml_file *file, const struct mr_job_key *key,
                                 const struct mr_yaml *node, struct mr_error *err)
{
    enum mr_status status = expect(file, key, node, MR_YAML_LIST, "a list of rows", err);

    for (uint32_t i = 0; i < node->n && status == MR_OK; i++)
        status = expect(file, key, node->items[i], MR_YAML_LIST, "a row as a list of values", err);
    return status;
}

static enum mr_status check_children(const struct mr_yaml_file *file, const struct mr_job_key *key,
                                     const struct mr_yaml *node, struct mr_error *err)
{
    bool is_list = key->type == MR_KEY_LIST;
    enum mr_status status = expect(file, key, node, is_list ? MR_YAML_LIST : MR_YAML_MAP,
                                   is_list ? "a list" : "a map from names", err);

    for (uint32_t i = 0; i < node->n && status == MR_OK; i++) {
        const struct mr_yaml *item = node->items[i];
        if (item->kind != MR_YAML_MAP)
            return mr_yaml_fail(file, item, err, "%s: expected a map, got %s",
                                is_list ? key->name : node->keys[i]->text.data,
                                mr_yaml_is_null(item) ? "nothing" : mr_yaml_kind_name(item));
        status = mr_job_keys_check(file, item, key->group, err);
    }
    return status;
}

static enum mr_status check_value(const struct mr_yaml_file *file, const struct mr_job_key *key,
                                  const struct mr_yaml *node, struct mr_error *err)
{
    enum mr_status status;

    switch (key->type) {
    case MR_KEY_TEXTS:
        return check_texts(file, key, node, err);
    case MR_KEY_OPTIONS:
        return check_options(file, key, node, err);
    case MR_KEY_ROWS:
        return check_rows(file, key, node, err);
    case MR_KEY_MAP:
        status = expect(file, key, node, MR_YAML_MAP, "a map", err);
        return status ? status : mr_job_keys_check(file, node, key->group, err);
    case MR_KEY_NAMED:
    case MR_KEY_LIST:
        return check_children(file, key, node, err);
    default:
        status = expect(file, key, node, MR_YAML_SCALAR, "a value", err);
        return status ? status : check_scalar(file, key, node, err);
    }
}

enum mr_status mr_job_keys_check(const struct mr_yaml_file *file, const struct mr_yaml *map,
                                 enum mr_key_group of, struct mr_error *err)
{
    for (uint32_t i = 0; i < map->n; i++) {
        const struct mr_job_key *key = find_key(of, map->keys[i]->text.data);
        if (key == NULL)
            return unknown_key(file, map->keys[i], map->items[i], of, err);
        enum mr_status status = check_value(file, key, map->items[i], err);
        if (status)
            return status;
    }
    if (of == MR_KEYS_JOB && mr_yaml_get(map, "queries"))
        return MR_OK;
    for (uint32_t i = 0; i < mr_job_keys_n; i++)
        if (is_of(&mr_job_keys[i], of) && mr_job_keys[i].is_needed &&
            mr_yaml_get(map, mr_job_keys[i].name) == NULL)
            return mr_yaml_fail(file, map, err, "the key \"%s\" is missing: %s",
                                mr_job_keys[i].name, mr_job_keys[i].text);
    return MR_OK;
}

int64_t mr_job_whole(const struct mr_yaml *node, int64_t otherwise)
{
    int64_t value = otherwise;

    if (node && !mr_value_parse_integer(node->text, INT64_MIN, INT64_MAX, &value))
        return otherwise;
    return value;
}

bool mr_job_boolean(const struct mr_yaml *node, bool otherwise)
{
    bool value = otherwise;

    return node && parse_boolean(node, &value) ? value : otherwise;
}

const char *mr_job_text(const struct mr_yaml *node, const char *otherwise)
{
    return node ? node->text.data : otherwise;
}

int64_t mr_job_bytes(const struct mr_yaml *node, int64_t otherwise)
{
    int64_t value = otherwise;

    return node && parse_bytes(node->text, &value) ? value : otherwise;
}
