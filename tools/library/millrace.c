#include "millrace.h"

#include "core/base/check.h"
#include "core/batch/arrow.h"
#include "core/run/job.h"
#include "io/memory/memory.h"
#include <stdio.h>
#include <string.h>

struct mr_bound { /* a memory source or sink of the job, and its rows */
    const char *name;
    const struct mr_type *schema;
    struct mr_memory *memory;
    struct mr_memory_batch *taken; /* sink: to be given next */
};

struct millrace {
    struct mr_arena arena;
    jmp_buf escape;
    struct mr_job *job;
    struct mr_engine *engine;
    struct mr_query *queries[MR_QUERIES_MAX];
    struct mr_bound *sources, *sinks;
    uint32_t sources_n, sinks_n;
    bool opened, started;
};

const char *millrace_version(void)
{
    return MR_VERSION;
}

static enum millrace_status tell(const struct mr_error *err, struct millrace_error *out)
{
    if (out) {
        mr_error_format(err, out->text, sizeof out->text);
        snprintf(out->condition, sizeof out->condition, "%s", err->condition);
        out->line = err->line;
        out->column = err->column;
    }
    return err->status == MR_USER || err->status == MR_UNSUPPORTED ? MILLRACE_USER
                                                                   : MILLRACE_FAILED;
}

static enum millrace_status result(enum mr_status status, const struct mr_error *err,
                                   struct millrace_error *out)
{
    return status == MR_OK ? MILLRACE_OK : tell(err, out);
}

/* The options with one more: the memory object. */
static enum mr_status bind(struct millrace *m, struct mr_bound *b, const char *name,
                           const struct mr_option **options, uint32_t *n, struct mr_error *err)
{
    enum mr_status status = mr_memory_open(NULL, &b->memory, err);

    if (status != MR_OK)
        return status;
    struct mr_option *more = MR_NEW_ARRAY(&m->arena, struct mr_option, *n + 1);
    if (*n)
        memcpy(more, *options, *n * sizeof *more);
    more[*n] = (struct mr_option){"memory", mr_memory_option(b->memory)};
    b->name = name;
    *options = more;
    (*n)++;
    return MR_OK;
}

static enum mr_status bind_query(struct millrace *m, struct mr_job_query *q, struct mr_error *err)
{
    struct mr_table *tables = MR_NEW_ARRAY(&m->arena, struct mr_table, q->session.tables_n + 1);
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < q->session.tables_n && status == MR_OK; i++) {
        tables[i] = q->session.tables[i];
        if (!tables[i].streaming || strcmp(tables[i].format, "memory") != 0)
            continue;
        struct mr_bound *b = &m->sources[m->sources_n++];
        b->schema = tables[i].schema;
        status = bind(m, b, tables[i].name, &tables[i].options, &tables[i].options_n, err);
    }
    q->session.tables = tables;
    if (status == MR_OK && strcmp(q->sink.format, "memory") == 0)
        status =
            bind(m, &m->sinks[m->sinks_n++], q->name, &q->sink.options, &q->sink.options_n, err);
    return status;
}

static enum mr_status open_queries(struct millrace *m, struct mr_error *err)
{
    enum mr_status status = mr_engine_open(&m->job->engine, &m->engine, err);

    for (uint32_t i = 0; i < m->job->queries_n && status == MR_OK; i++) {
        struct mr_job_query *q = &m->job->queries[i];
        struct mr_query_config *c = MR_NEW(&m->arena, struct mr_query_config);
        struct mr_physical_plan *plan;
        struct mr_plan_texts texts;
        status = mr_job_plan(m->job, q, mr_engine_workers(m->engine), &plan, &texts, err);
        if (status != MR_OK)
            break;
        *c = (struct mr_query_config){.name = q->name,
                                      .session = &q->session,
                                      .plan = plan,
                                      .sink_ops = mr_sink_find(q->sink.format),
                                      .sink = q->sink,
                                      .checkpoint = q->checkpoint,
                                      .trigger = q->trigger,
                                      .trigger_us = q->trigger_us};
        c->sink.schema = plan->root->output;
        for (uint32_t s = 0; s < m->sinks_n; s++)
            if (strcmp(m->sinks[s].name, q->name) == 0)
                m->sinks[s].schema = plan->root->output;
        status = mr_query_open(m->engine, c, &m->queries[i], err);
    }
    return status;
}

/* Not inlined: its variables must not live in the frame of setjmp. */
static __attribute__((noinline)) enum mr_status load(struct millrace *m, const char *job_file,
                                                     struct mr_error *err)
{
    enum mr_status status = mr_job_load(job_file, NULL, &m->arena, &m->job, err);
    uint32_t tables_n = 0;

    if (status != MR_OK)
        return status;
    for (uint32_t i = 0; i < m->job->queries_n; i++)
        tables_n += m->job->queries[i].session.tables_n;
    m->sources = MR_NEW_ARRAY(&m->arena, struct mr_bound, tables_n + 1);
    m->sinks = MR_NEW_ARRAY(&m->arena, struct mr_bound, m->job->queries_n);
    for (uint32_t i = 0; i < m->job->queries_n && status == MR_OK; i++)
        status = bind_query(m, &m->job->queries[i], err);
    return status == MR_OK ? open_queries(m, err) : status;
}

enum millrace_status millrace_open(const char *job_file, struct millrace **out,
                                   struct millrace_error *error)
{
    struct millrace *m = mr_mem_alloc(sizeof *m);
    struct mr_error err = {0};

    *out = NULL;
    if (m == NULL)
        return tell((MR_FAIL(&err, MR_MEMORY, 0, "no memory"), &err), error);
    memset(m, 0, sizeof *m);
    mr_arena_init(&m->arena, NULL, &m->escape);
    *out = m;
    if (setjmp(m->escape))
        return tell((MR_FAIL(&err, MR_MEMORY, 0, "no memory"), &err), error);
    enum mr_status status = load(m, job_file, &err);
    m->opened = status == MR_OK;
    return result(status, &err, error);
}

enum millrace_status millrace_start(struct millrace *m, struct millrace_error *error)
{
    struct mr_error err = {0};
    enum mr_status status = MR_OK;

    if (!m->opened || m->started)
        return tell((MR_FAIL(&err, MR_USER, 0, "millrace_start: the job %s",
                             m->opened ? "was started before" : "could not be opened"),
                     &err),
                    error);
    m->started = true;
    for (uint32_t i = 0; i < m->job->queries_n && status == MR_OK; i++)
        status = mr_query_start(m->queries[i], &err);
    return result(status, &err, error);
}

enum millrace_status millrace_wait(struct millrace *m, struct millrace_error *error)
{
    struct mr_error first = {0}, err = {0};
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; m->opened && i < m->job->queries_n; i++) {
        enum mr_status ended = mr_query_wait(m->queries[i], &err);
        if (ended != MR_OK && status == MR_OK) {
            status = ended;
            first = err;
            millrace_stop(m);
        }
    }
    return result(status, &first, error);
}

void millrace_stop(struct millrace *m)
{
    for (uint32_t i = 0; m->opened && i < m->job->queries_n; i++)
        if (m->queries[i])
            mr_query_stop(m->queries[i]);
}

void millrace_close(struct millrace *m)
{
    if (m == NULL)
        return;
    for (uint32_t i = 0; m->job && i < m->job->queries_n; i++)
        if (m->queries[i])
            mr_query_close(m->queries[i]);
    if (m->engine)
        mr_engine_close(m->engine);
    for (uint32_t i = 0; i < m->sources_n; i++)
        if (m->sources[i].memory)
            mr_memory_close(m->sources[i].memory);
    for (uint32_t i = 0; i < m->sinks_n; i++) {
        if (m->sinks[i].taken)
            mr_memory_free(m->sinks[i].taken);
        if (m->sinks[i].memory)
            mr_memory_close(m->sinks[i].memory);
    }
    mr_arena_fini(&m->arena);
    mr_mem_free(m, sizeof *m);
}

static struct mr_bound *find(struct mr_bound *bound, uint32_t n, const char *name, const char *what,
                             struct mr_error *err)
{
    const char *names[MR_SOURCES_MAX];
    uint32_t known = n < MR_SOURCES_MAX ? n : MR_SOURCES_MAX;

    for (uint32_t i = 0; i < n; i++)
        if (strcmp(bound[i].name, name) == 0)
            return &bound[i];
    for (uint32_t i = 0; i < known; i++)
        names[i] = bound[i].name;
    const char *nearest = mr_error_nearest(name, names, known);
    MR_FAIL(err, MR_USER, 0, "the job has no memory %s \"%s\"%s%s%s", what, name,
            nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    return NULL;
}

static enum mr_status append(struct mr_bound *b, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, struct mr_arena *a,
                             struct mr_error *err)
{
    const struct mr_type *type;
    struct mr_batch batch;
    enum mr_status status = mr_arrow_import_type(schema, a, &type, err);

    if (status != MR_OK)
        return status;
    if (!mr_type_equal(type, b->schema)) {
        struct mr_buffer want, got;
        mr_buffer_init(&want, a);
        mr_buffer_init(&got, a);
        mr_type_print_sql(b->schema, &want);
        mr_type_print_sql(type, &got);
        return MR_FAIL(err, MR_USER, 0, "memory source \"%s\" takes %.*s, not %.*s", b->name,
                       (int)want.n, (const char *)want.data, (int)got.n, (const char *)got.data);
    }
    /* By the source's own type, which lives as long as the rows; the one just read does not. */
    status = mr_arrow_import(array, schema, b->schema, a, &batch, err);
    return status == MR_OK ? mr_memory_append(b->memory, 0, &batch, err) : status;
}

enum millrace_status millrace_append(struct millrace *m, const char *source,
                                     const struct ArrowSchema *schema,
                                     const struct ArrowArray *array, struct millrace_error *error)
{
    struct mr_error err = {0};
    struct mr_bound *b = find(m->sources, m->sources_n, source, "source", &err);
    struct mr_arena arena;
    jmp_buf escape;

    if (b == NULL)
        return tell(&err, error);
    mr_arena_init(&arena, NULL, &escape);
    if (setjmp(escape)) {
        mr_arena_fini(&arena);
        return tell((MR_FAIL(&err, MR_MEMORY, 0, "no memory"), &err), error);
    }
    enum millrace_status status = result(append(b, schema, array, &arena, &err), &err, error);
    mr_arena_fini(&arena);
    return status;
}

enum millrace_status millrace_next(struct millrace *m, const char *query,
                                   struct ArrowSchema *schema, struct ArrowArray *array,
                                   uint64_t *epoch, int *has, struct millrace_error *error)
{
    struct mr_error err = {0};
    struct mr_bound *b = find(m->sinks, m->sinks_n, query, "sink of a query", &err);

    *has = 0;
    if (b == NULL)
        return tell(&err, error);
    if (b->taken == NULL)
        b->taken = mr_memory_take(b->memory);
    if (b->taken == NULL)
        return MILLRACE_OK;
    enum mr_status status = mr_arrow_export(&b->taken->batch, b->schema, schema, array, &err);
    if (status != MR_OK)
        return tell(&err, error);
    *epoch = b->taken->epoch;
    *has = 1;
    mr_memory_free(b->taken);
    b->taken = NULL;
    return MILLRACE_OK;
}
