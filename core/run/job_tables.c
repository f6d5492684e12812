#include "core/format/ddl.h"
#include "core/op/source.h"
#include "core/run/job_parts.h"
#include <stdio.h>

enum mr_status mr_job_unknown_name(const struct mr_yaml_file *file, const struct mr_yaml *node,
                                   const char *what, const char *const *names, struct mr_error *err)
{
    struct mr_buffer list;
    uint32_t n = 0;

    mr_buffer_init(&list, file->arena);
    for (; names[n]; n++)
        mr_buffer_append_format(&list, "%s%s", n ? ", " : "", names[n]);
    const char *shown = node->is_secret ? "***" : node->text.data;
    const char *nearest = mr_error_nearest(node->text.data, names, n);
    return mr_yaml_fail(file, node, err, "there is no %s \"%s\"; known: %.*s%s%s%s", what, shown,
                        (int)list.n, (const char *)list.data, nearest ? "; did you mean \"" : "",
                        nearest ? nearest : "", nearest ? "\"?" : "");
}

enum mr_status mr_job_options(const struct mr_yaml_file *file, const struct mr_yaml *path,
                              const struct mr_yaml *map, const struct mr_option **out,
                              uint32_t *out_n, struct mr_error *err)
{
    uint32_t n = 0, capacity = (map ? map->n : 0) + 1;
    struct mr_option *options = MR_NEW_ARRAY(file->arena, struct mr_option, capacity);

    if (path)
        options[n++] = (struct mr_option){"path", path->text.data};
    for (uint32_t i = 0; map && i < map->n; i++) {
        const char *name = map->keys[i]->text.data;
        for (uint32_t k = 0; k < n; k++)
            if (mr_text_equal_ignoring_case(mr_text_of(options[k].name), mr_text_of(name)))
                return mr_yaml_fail(file, map->keys[i], err, "the option %s is there twice", name);
        options[n++] = (struct mr_option){name, map->items[i]->text.data};
    }
    *out = options;
    *out_n = n;
    return MR_OK;
}

/* The place of a schema's error: its column in the text, where it stood in the file. */
static enum mr_status parse_schema(const struct mr_yaml_file *file, const struct mr_yaml *node,
                                   const struct mr_type **out, struct mr_error *err)
{
    struct mr_error inner = {0};

    if (mr_ddl_parse_columns(node->text, file->arena, out, &inner) == MR_OK)
        return MR_OK;
    enum mr_status status = mr_yaml_fail(file, node, err, "schema: %s", inner.message);
    if (err) {
        const struct mr_place *places = mr_yaml_places(file, node);
        uint64_t at = inner.column > 0 ? inner.column - 1 : 0;
        const struct mr_place *place = &places[at < node->text.n ? at : node->text.n];
        memcpy(err->condition, inner.condition, sizeof err->condition);
        err->line = place->line;
        err->column = place->column;
    }
    return status;
}

static enum mr_status missing_schema(const struct mr_yaml_file *file, const struct mr_yaml *name,
                                     const char *format, bool streaming, struct mr_error *err)
{
    enum mr_status status = mr_yaml_fail(
        file, name, err,
        "Schema must be specified when creating a %s DataFrame: format %s has none of its own. Add "
        "schema: \"column TYPE, ..\"",
        streaming ? "streaming source" : "table", format);

    if (err)
        snprintf(err->condition, sizeof err->condition,
                 streaming ? "_LEGACY_ERROR_TEMP_2048" : "UNABLE_TO_INFER_SCHEMA");
    return status;
}

/* The format's own schema, or the declared one. */
static enum mr_status fill_schema(const struct mr_yaml_file *file, const struct mr_yaml *name,
                                  const struct mr_yaml *node, struct mr_table *t,
                                  struct mr_error *err)
{
    const struct mr_yaml *format = mr_yaml_get(node, "format");
    const struct mr_yaml *schema = mr_yaml_get(node, "schema");
    const struct mr_source_ops *ops = NULL;

    if (t->format) {
        ops = mr_source_find(t->format);
        if (ops == NULL) {
            enum mr_status status =
                mr_job_unknown_name(file, format, "source format", mr_source_names(), err);
            if (err)
                snprintf(err->condition, sizeof err->condition, "DATA_SOURCE_NOT_FOUND");
            return status;
        }
        t->format = ops->name;
    }
    if (schema)
        return parse_schema(file, schema, &t->schema, err);
    if (ops && ops->schema)
        t->schema = ops->schema(t->options, t->options_n, file->arena);
    if (t->schema)
        return MR_OK;
    return missing_schema(file, name, t->format ? t->format : "rows", t->streaming, err);
}

static enum mr_status read_table(const struct mr_yaml_file *file, const struct mr_yaml *name,
                                 const struct mr_yaml *node, const struct mr_zone *zone,
                                 struct mr_table *t, struct mr_error *err)
{
    const struct mr_yaml *rows = mr_yaml_get(node, "rows"), *path = mr_yaml_get(node, "path");
    const struct mr_yaml *format = mr_yaml_get(node, "format");

    t->name = name->text.data;
    t->place = name->place;
    t->format = mr_job_text(format, NULL);
    t->bad_records = mr_job_text(mr_yaml_get(mr_yaml_get(node, "bad_records"), "path"), NULL);
    if (rows && (path || format))
        return mr_yaml_fail(file, rows, err, "rows: a table has either rows or format and path");
    if (rows == NULL && format == NULL)
        return mr_yaml_fail(file, name, err, "the table %s needs rows, or format and path",
                            t->name);
    enum mr_status status =
        mr_job_options(file, path, mr_yaml_get(node, "options"), &t->options, &t->options_n, err);
    if (status == MR_OK)
        status = fill_schema(file, name, node, t, err);
    if (status == MR_OK && rows)
        status = mr_job_rows(file, rows, t->schema, zone, &t->rows, err);
    return status;
}

static enum mr_status check_name(const struct mr_yaml_file *file, const struct mr_yaml *name,
                                 const struct mr_table *tables, uint32_t n, struct mr_error *err)
{
    if (name->text.n == 0 || name->text.n > MR_NAME_MAX)
        return mr_yaml_fail(file, name, err, "a name has 1 to %d bytes", MR_NAME_MAX);
    for (uint32_t i = 0; i < n; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(tables[i].name), name->text))
            return mr_yaml_fail(file, name, err, "the name \"%s\" is there twice", name->text.data);
    return MR_OK;
}

enum mr_status mr_job_tables(const struct mr_yaml_file *file, const struct mr_yaml *query,
                             struct mr_session *session, struct mr_error *err)
{
    const struct mr_yaml *maps[] = {mr_yaml_get(query, "sources"), mr_yaml_get(query, "tables")};
    uint32_t n = 0, capacity = (maps[0] ? maps[0]->n : 0) + (maps[1] ? maps[1]->n : 0);
    struct mr_table *tables = MR_NEW_ARRAY(file->arena, struct mr_table, capacity + 1);

    if (maps[0] && maps[0]->n > MR_SOURCES_MAX)
        return mr_yaml_fail(file, maps[0], err, "%u sources: at most %d are allowed", maps[0]->n,
                            MR_SOURCES_MAX);
    for (uint32_t m = 0; m < 2; m++) {
        for (uint32_t i = 0; maps[m] && i < maps[m]->n; i++) {
            const struct mr_yaml *name = maps[m]->keys[i];
            enum mr_status status = check_name(file, name, tables, n, err);
            if (status)
                return status;
            tables[n].streaming = m == 0;
            tables[n].index = i;
            status = read_table(file, name, maps[m]->items[i], session->conf.zone, &tables[n], err);
            if (status)
                return status;
            n++;
        }
    }
    if (n == 0 || !tables[0].streaming)
        return mr_yaml_fail(file, maps[0] ? maps[0] : query, err,
                            "sources: at least one is needed");
    session->tables = tables;
    session->tables_n = n;
    return MR_OK;
}
