#include "core/format/format.h"
#include "core/run/job.h"
#include "core/run/job_yaml.h"
#include <stdio.h>
#include <string.h>

static enum mr_status place_error(const struct mr_job *job, struct mr_place place,
                                  enum mr_status status, struct mr_error *err)
{
    if (err && status != MR_OK) {
        snprintf(err->file, sizeof err->file, "%s", job->path);
        if (err->line == 0) {
            err->line = place.line;
            err->column = place.column;
        }
        mr_job_hide_secrets(job, err);
    }
    return status;
}

static const struct mr_yaml *query_node(const struct mr_job *job, const struct mr_job_query *q)
{
    const struct mr_yaml *list = mr_yaml_get(job->file->root, "queries");

    return list ? list->items[q - job->queries] : job->file->root;
}

/* Where the option stands that the message names, or otherwise. */
static struct mr_place option_place(const struct mr_yaml *node, const struct mr_error *err,
                                    struct mr_place otherwise)
{
    const struct mr_yaml *options = mr_yaml_get(node, "options");

    for (uint32_t i = 0; err && options && i < options->n; i++)
        if (strstr(err->message, options->keys[i]->text.data))
            return options->keys[i]->place;
    return otherwise;
}

static enum mr_status check_sources(const struct mr_job *job, const struct mr_job_query *q,
                                    struct mr_error *err)
{
    for (uint32_t i = 0; i < q->session.tables_n; i++) {
        const struct mr_table *t = &q->session.tables[i];
        const struct mr_source_ops *ops = t->format ? mr_source_find(t->format) : NULL;
        enum mr_status status = ops && ops->check ? ops->check(t, err) : MR_OK;
        if (status == MR_OK && ops)
            status = mr_job_check_path(job, t, err);
        if (status) {
            const struct mr_yaml *map =
                mr_yaml_get(query_node(job, q), t->streaming ? "sources" : "tables");
            struct mr_place place = option_place(mr_yaml_get(map, t->name), err, t->place);
            return place_error(job, place, status, err);
        }
    }
    return MR_OK;
}

/* Where a sink writes files, or NULL. */
static const char *sink_folder(const struct mr_job_query *q)
{
    return mr_format_find(q->sink.format)
               ? mr_option_get(q->sink.options, q->sink.options_n, "path")
               : NULL;
}

/* sink: among whose files it must not lie, or NULL. */
static enum mr_status check_folder(const char *what, const char *path, const char *sink,
                                   const struct mr_physical_plan *plan, struct mr_error *err)
{
    enum mr_status status = mr_job_check_target(what, path, err);

    if (status == MR_OK)
        status = mr_job_check_apart(what, path, plan, err);
    return status == MR_OK && sink ? mr_job_check_among(what, path, sink, err) : status;
}

static enum mr_status check_archive(const struct mr_job_query *q, const struct mr_table *t,
                                    const struct mr_physical_plan *plan, struct mr_error *err)
{
    static const char what[] = "sourceArchiveDir";
    const char *archive = mr_job_archive(t);
    enum mr_status status = check_folder(what, archive, sink_folder(q), plan, err);

    if (status == MR_OK && q->checkpoint)
        status = mr_job_check_among(what, archive, q->checkpoint, err);
    return status == MR_OK && t->bad_records
               ? mr_job_check_among(what, archive, t->bad_records, err)
               : status;
}

static enum mr_status check_other_folders(const struct mr_job *job, const struct mr_job_query *q,
                                          const struct mr_physical_plan *plan, struct mr_error *err)
{
    enum mr_status status = MR_OK;

    if (q->checkpoint)
        status = check_folder("checkpoint", q->checkpoint, sink_folder(q), plan, err);
    if (status != MR_OK)
        return place_error(job, q->checkpoint_place, status, err);
    for (uint32_t i = 0; i < q->session.tables_n; i++) {
        const struct mr_table *t = &q->session.tables[i];
        if (t->bad_records)
            status = check_folder("bad_records", t->bad_records, sink_folder(q), plan, err);
        if (status == MR_OK && t->bad_records && q->checkpoint)
            status = mr_job_check_among("bad_records", t->bad_records, q->checkpoint, err);
        struct mr_place place = t->place;
        if (status == MR_OK && mr_job_archive(t)) {
            status = check_archive(q, t, plan, err);
            place = option_place(mr_yaml_get(mr_yaml_get(query_node(job, q), "sources"), t->name),
                                 err, place);
        }
        if (status != MR_OK)
            return place_error(job, place, status, err);
    }
    return MR_OK;
}

static enum mr_status check_sink(const struct mr_job *job, const struct mr_job_query *q,
                                 const struct mr_physical_plan *plan, struct mr_error *err)
{
    static const char *const modes[] = {"append", "update", "complete"};
    const struct mr_sink_ops *ops = mr_sink_find(q->sink.format);
    struct mr_sink_config config = q->sink;

    if (!(ops->modes >> q->sink.mode & 1))
        return place_error(job, q->sink_place,
                           MR_FAIL_CONDITION(err, MR_USER,
                                             "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE",
                                             "Invalid streaming output mode: %s. This output mode "
                                             "is not supported in Data Source %s.",
                                             modes[q->sink.mode], ops->name),
                           err);
    if (ops->needs_checkpoint && q->checkpoint == NULL)
        return place_error(job, q->checkpoint_place,
                           MR_FAIL_CONDITION(err, MR_USER, "_LEGACY_ERROR_TEMP_1298",
                                             "the sink %s needs a checkpoint: add checkpoint: "
                                             "FOLDER to the query",
                                             ops->name),
                           err);
    config.schema = plan->root->output;
    enum mr_status status = ops->check ? ops->check(&config, err) : MR_OK;
    if (status == MR_OK && sink_folder(q))
        status = check_folder("sink", sink_folder(q), NULL, plan, err);
    if (status == MR_OK)
        return check_other_folders(job, q, plan, err);
    const struct mr_yaml *sink = mr_yaml_get(query_node(job, q), "sink");
    return place_error(job, option_place(sink, err, q->sink_place), status, err);
}

static enum mr_status complete_schema(struct mr_table *table, const struct mr_conf *conf,
                                      struct mr_arena *a, struct mr_error *err)
{
    const struct mr_source_ops *ops = table->format ? mr_source_find(table->format) : NULL;

    return ops && ops->complete_schema ? ops->complete_schema(table, conf, a, err) : MR_OK;
}

enum mr_status mr_session_complete(struct mr_session *session, struct mr_error *err)
{
    struct mr_table *tables = MR_NEW_ARRAY(session->arena, struct mr_table, session->tables_n + 1);
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < session->tables_n && status == MR_OK; i++) {
        tables[i] = session->tables[i];
        status = complete_schema(&tables[i], &session->conf, session->arena, err);
        if (err && status != MR_OK && err->line == 0) {
            err->line = tables[i].place.line;
            err->column = tables[i].place.column;
        }
    }
    session->tables = tables;
    session->complete_schema = complete_schema;
    return status;
}

/* A column that is not found, but stands in a pattern as a folder's name: in/day=* */
static void say_base_path(const struct mr_session *session, struct mr_error *err)
{
    static const char unresolved[] = "UNRESOLVED_COLUMN";

    if (err == NULL || strncmp(err->condition, unresolved, sizeof unresolved - 1) != 0)
        return;
    for (uint32_t i = 0; i < session->tables_n; i++) {
        const struct mr_table *t = &session->tables[i];
        const char *path = mr_option_get(t->options, t->options_n, "path");
        if (path == NULL || mr_option_get(t->options, t->options_n, "basePath") ||
            strpbrk(path, "*?[") == NULL)
            continue;
        for (const char *equals = path; (equals = strchr(equals, '=')) != NULL; equals++) {
            const char *name = equals;
            char quoted[128];
            while (name > path && name[-1] != '/')
                name--;
            size_t n = strlen(err->message);
            snprintf(quoted, sizeof quoted, "`%.*s`", (int)(equals - name), name);
            if (strstr(err->message, quoted) == NULL)
                continue;
            snprintf(err->message + n, sizeof err->message - n,
                     " Folder names below a pattern are no columns: source \"%s\" needs the option "
                     "basePath, the folder below which they are.",
                     t->name);
            return;
        }
    }
}

enum mr_status mr_job_plan(const struct mr_job *job, const struct mr_job_query *query,
                           uint32_t workers, struct mr_physical_plan **plan,
                           struct mr_plan_texts *texts, struct mr_error *err)
{
    struct mr_plan_request request = {
        .streaming = true, .mode = query->sink.mode, .workers = workers};
    struct mr_session session = query->session;
    enum mr_status status = check_sources(job, query, err);

    if (status)
        return status;
    status = mr_session_complete(&session, err);
    if (status == MR_OK)
        status = mr_plan_query(&session, &request, plan, texts, err);
    if (status)
        say_base_path(&session, err);
    if (status)
        return place_error(job, (struct mr_place){0}, status, err);
    return check_sink(job, query, *plan, err);
}
