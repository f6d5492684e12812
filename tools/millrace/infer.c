#include "tools/millrace/infer.h"

#include "core/format/json/infer.h"
#include "io/file/file_stream.h"
#include <strings.h>

static bool none_known(void *arg, const char *path)
{
    (void)arg;
    (void)path;
    return false;
}

static void infer_lines(struct mr_file_stream *s, struct mr_json_inference *in)
{
    const uint8_t *newline;

    while ((newline = memchr(s->data, '\n', s->n)) != NULL || (s->at_end && s->n > 0)) {
        uint64_t n = newline ? (uint64_t)(newline - s->data) : s->n;
        mr_json_infer_record(in, (struct mr_text){(const char *)s->data, n});
        mr_file_stream_consume(s, n + (newline != NULL));
    }
}

static enum mr_status infer_file(const char *path, struct mr_env *env, struct mr_arena *a,
                                 struct mr_json_inference *in, struct mr_error *err)
{
    struct mr_file_split split = {.end = UINT64_MAX, .path = path};
    struct mr_file_stream stream;
    bool gone;
    enum mr_status status = mr_file_codec_of(path, &split.codec, err);

    if (status != MR_OK)
        return status;
    mr_file_stream_init(&stream, env, a->budget, a->escape);
    status = mr_file_stream_open(&stream, &split, &gone, err);
    while (status == MR_OK && !gone && !stream.at_end) {
        status = mr_file_stream_fill(&stream, err);
        if (status == MR_OK)
            infer_lines(&stream, in);
    }
    mr_file_stream_fini(&stream);
    return status;
}

static enum mr_status infer_read(struct mr_relation *r, struct mr_env *env, struct mr_arena *a,
                                 struct mr_error *err)
{
    struct mr_file_list files = {.arena = a};
    struct mr_json_inference *in;
    struct mr_buffer ddl;
    enum mr_status status = mr_json_infer_open(a, &in, err);

    if (status == MR_OK)
        status = mr_file_list(env, r->name[1], NULL, none_known, NULL, &files, err);
    if (status == MR_OK && files.n == 0)
        status = MR_FAIL_CONDITION(err, MR_USER, "PATH_NOT_FOUND", "Path does not exist: %s",
                                   r->name[1]);
    for (uint32_t i = 0; i < files.n && status == MR_OK; i++)
        status = infer_file(files.entries[i].path, env, a, in, err);
    mr_buffer_init(&ddl, a);
    if (status != MR_OK || !mr_json_infer_finish(in, &ddl))
        return status;
    r->inferred_schema = mr_arena_copy(a, ddl.data, ddl.n);
    return MR_OK;
}

/* Recursion follows the statement, whose depth the parser limits. */
enum mr_status mr_infer_schemas(struct mr_relation *relation, struct mr_env *env,
                                struct mr_arena *a, struct mr_error *err)
{
    enum mr_status status = MR_OK;

    if (relation == NULL)
        return MR_OK;
    if (relation->kind == MR_REL_READ && relation->name_n == 2 &&
        strcasecmp(relation->name[0], "json") == 0 &&
        mr_option_get(relation->options, relation->options_n, "schema") == NULL)
        return infer_read(relation, env, a, err);
    for (uint32_t i = 0; i < relation->ctes_n && status == MR_OK; i++)
        status = mr_infer_schemas(relation->ctes[i].relation, env, a, err);
    if (status == MR_OK)
        status = mr_infer_schemas(relation->input, env, a, err);
    return status == MR_OK ? mr_infer_schemas(relation->right, env, a, err) : status;
}
