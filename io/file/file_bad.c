#include "io/file/file_bad.h"

#include "core/format/json/json.h"
#include <xxhash.h>

enum { LINES_BYTES = 1 << 20 };

void mr_file_bad_init(struct mr_file_bad *b, struct mr_env *env, const char *source,
                      const char *folder, struct mr_budget *budget, jmp_buf *escape)
{
    *b = (struct mr_file_bad){.env = env, .source = source, .folder = folder};
    mr_arena_init(&b->arena, budget, escape);
    mr_buffer_init(&b->lines, &b->arena);
}

static void flush(struct mr_file_bad *b)
{
    if (b->file && b->lines.n && b->error == 0) {
        int64_t n = b->env->ops->write(b->file, b->lines.data, b->lines.n, b->written);
        if (n < 0)
            b->error = (int)-n;
        else
            b->written += (uint64_t)n;
    }
    b->lines.n = 0;
}

static void open_file(struct mr_file_bad *b, const struct mr_file_split *split)
{
    const char *name = mr_arena_format(&b->arena, "%s\n%s\n%llu", b->source, split->path,
                                       (unsigned long long)split->start);
    char *path = mr_arena_format(&b->arena, "%s/epoch-%llu-%016llx.json", b->folder,
                                 (unsigned long long)split->epoch,
                                 (unsigned long long)XXH3_64bits(name, strlen(name)));
    int rc = mr_env_make_dirs(b->env, b->folder);

    if (rc >= 0)
        rc = b->env->ops->open(b->env, path, MR_OPEN_WRITE | MR_OPEN_CREATE | MR_OPEN_TRUNCATE,
                               &b->file);
    if (rc < 0) {
        b->file = NULL;
        b->error = -rc;
    }
    b->written = 0;
}

void mr_file_bad_add(struct mr_file_bad *b, const struct mr_file_split *split,
                     const struct mr_bad_record *bad, uint64_t base_offset)
{
    if (b->folder == NULL || b->error)
        return;
    if (b->file == NULL)
        open_file(b, split);
    mr_buffer_append_format(&b->lines,
                            "{\"epoch\":%llu,\"path\":", (unsigned long long)split->epoch);
    mr_json_write_text(mr_text_of(split->path), &b->lines);
    mr_buffer_append_format(
        &b->lines, ",\"offset\":%llu,\"reason\":", (unsigned long long)(base_offset + bad->offset));
    mr_json_write_text(mr_text_of(bad->reason), &b->lines);
    mr_buffer_append_text(&b->lines, MR_TEXT(",\"raw\":"));
    mr_json_write_text(bad->raw, &b->lines);
    mr_buffer_append_text(&b->lines, MR_TEXT("}\n"));
    if (b->lines.n >= LINES_BYTES)
        flush(b);
}

enum mr_status mr_file_bad_finish(struct mr_file_bad *b, struct mr_error *err)
{
    flush(b);
    if (b->file && b->error == 0) {
        int rc = b->env->ops->sync(b->file);
        if (rc >= 0)
            rc = b->env->ops->sync_dir(b->env, b->folder);
        if (rc < 0)
            b->error = -rc;
    }
    if (b->file)
        b->env->ops->close(b->file);
    b->file = NULL;
    mr_arena_reset(&b->arena);
    mr_buffer_init(&b->lines, &b->arena);
    return b->error ? MR_FAIL(err, MR_IO, b->error, "bad_records: write to %s", b->folder) : MR_OK;
}

void mr_file_bad_fini(struct mr_file_bad *b)
{
    if (b->file)
        b->env->ops->close(b->file);
    b->file = NULL;
    mr_arena_fini(&b->arena);
}
