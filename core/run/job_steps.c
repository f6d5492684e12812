#include "core/format/value.h"
#include "core/run/job_parts.h"
#include <stdio.h>
#include "core/sql/parser.h"

const char **mr_job_texts(struct mr_arena *a, const struct mr_yaml *node, uint32_t *n)
{
    *n = node == NULL ? 0 : node->kind == MR_YAML_SCALAR ? 1 : node->n;
    const char **texts = MR_NEW_ARRAY(a, const char *, *n + 1);

    for (uint32_t i = 0; i < *n; i++)
        texts[i] = node->kind == MR_YAML_SCALAR ? node->text.data : node->items[i]->text.data;
    return texts;
}

static struct mr_relation *new_relation(struct mr_arena *a, enum mr_relation_kind kind,
                                        struct mr_place place)
{
    struct mr_relation *r = MR_NEW(a, struct mr_relation);

    r->kind = kind;
    r->place = place;
    r->depth = 1;
    return r;
}

/* The input of a watermark or dedup step: a source, a table or a step before. */
static enum mr_status read_input(const struct mr_yaml_file *file, const struct mr_session *session,
                                 const struct mr_yaml *node, struct mr_relation **out,
                                 struct mr_error *err)
{
    const char **names =
        MR_NEW_ARRAY(file->arena, const char *, session->tables_n + session->views_n + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < session->tables_n; i++)
        names[n++] = session->tables[i].name;
    for (uint32_t i = 0; i < session->views_n; i++)
        names[n++] = session->views[i].name;
    for (uint32_t i = 0; i < n; i++) {
        if (!mr_text_equal_ignoring_case(node->text, mr_text_of(names[i])))
            continue;
        struct mr_relation *r = new_relation(file->arena, MR_REL_READ, node->place);
        r->name = names + i;
        r->name_n = 1;
        *out = r;
        return MR_OK;
    }
    enum mr_status status =
        mr_job_unknown_name(file, node, "source, table or step before this one", names, err);
    if (err)
        snprintf(err->condition, sizeof err->condition, "TABLE_OR_VIEW_NOT_FOUND");
    return status;
}

static enum mr_status read_watermark(const struct mr_yaml_file *file,
                                     const struct mr_session *session, const struct mr_yaml *node,
                                     struct mr_relation **out, struct mr_error *err)
{
    const struct mr_yaml *column = mr_yaml_get(node, "column");
    struct mr_relation *r = new_relation(file->arena, MR_REL_WITH_WATERMARK, node->place), *input;
    struct mr_error inner = {0};
    struct mr_ast *name;
    enum mr_status status = read_input(file, session, mr_yaml_get(node, "input"), &input, err);

    if (status)
        return status;
    if (mr_sql_parse_expression(column->text, file->arena, &name, &inner) ||
        name->kind != MR_AST_NAME)
        return mr_yaml_fail(file, column, err,
                            "column: \"%s\" is no column's name; a name with blanks or signs "
                            "stands in backquotes",
                            column->is_secret ? "***" : column->text.data);
    name->place = column->place;
    r->input = input;
    r->depth = 2;
    r->watermark = name;
    r->delay = mr_yaml_get(node, "delay")->text.data;
    *out = r;
    return MR_OK;
}

static enum mr_status read_dedup(const struct mr_yaml_file *file, const struct mr_session *session,
                                 const struct mr_yaml *node, struct mr_relation **out,
                                 struct mr_error *err)
{
    struct mr_relation *r = new_relation(file->arena, MR_REL_DEDUPLICATE, node->place), *input;
    enum mr_status status = read_input(file, session, mr_yaml_get(node, "input"), &input, err);

    if (status)
        return status;
    r->input = input;
    r->depth = 2;
    r->columns = mr_job_texts(file->arena, mr_yaml_get(node, "keys"), &r->columns_n);
    r->within_watermark = mr_job_boolean(mr_yaml_get(node, "within_watermark"), false);
    *out = r;
    return MR_OK;
}

static enum mr_status read_sql(const struct mr_yaml_file *file, const struct mr_yaml *node,
                               struct mr_relation **out, struct mr_error *err)
{
    enum mr_status status =
        mr_sql_parse_query_placed(node->text, mr_yaml_places(file, node), file->arena, out, err);

    if (status && err)
        snprintf(err->file, sizeof err->file, "%s", file->path);
    return status;
}

static enum mr_status read_step(const struct mr_yaml_file *file, const struct mr_session *session,
                                const struct mr_yaml *step, struct mr_relation **out,
                                struct mr_error *err)
{
    const struct mr_yaml *sql = mr_yaml_get(step, "sql"), *dedup = mr_yaml_get(step, "dedup");
    const struct mr_yaml *watermark = mr_yaml_get(step, "watermark");

    if ((sql != NULL) + (dedup != NULL) + (watermark != NULL) != 1)
        return mr_yaml_fail(file, step, err,
                            "a step has exactly one of sql, watermark and dedup besides as");
    return sql     ? read_sql(file, sql, out, err)
           : dedup ? read_dedup(file, session, dedup, out, err)
                   : read_watermark(file, session, watermark, out, err);
}

static enum mr_status check_name(const struct mr_yaml_file *file, const struct mr_yaml *name,
                                 const struct mr_session *session, struct mr_error *err)
{
    bool taken = false;

    if (name->text.n > MR_NAME_MAX)
        return mr_yaml_fail(file, name, err, "a name has 1 to %d bytes", MR_NAME_MAX);
    for (uint32_t i = 0; i < session->tables_n; i++)
        taken =
            taken || mr_text_equal_ignoring_case(mr_text_of(session->tables[i].name), name->text);
    for (uint32_t i = 0; i < session->views_n; i++)
        taken =
            taken || mr_text_equal_ignoring_case(mr_text_of(session->views[i].name), name->text);
    if (taken)
        return mr_yaml_fail(file, name, err, "the name \"%s\" is there twice", name->text.data);
    return MR_OK;
}

enum mr_status mr_job_steps(const struct mr_yaml_file *file, const struct mr_yaml *query,
                            struct mr_session *session, struct mr_error *err)
{
    const struct mr_yaml *steps = mr_yaml_get(query, "steps");
    uint32_t n = steps ? steps->n : 0;
    struct mr_view_definition *views = MR_NEW_ARRAY(file->arena, struct mr_view_definition, n + 1);

    session->views = views;
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_yaml *step = steps->items[i], *name = mr_yaml_get(step, "as");
        enum mr_status status = check_name(file, name, session, err);
        if (status == MR_OK)
            status = read_step(file, session, step, &views[i].relation, err);
        if (status)
            return status;
        views[i].name = name->text.data;
        session->views_n++;
    }
    return MR_OK;
}
