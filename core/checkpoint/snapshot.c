#include "core/checkpoint/snapshot.h"

#include "core/base/check.h"
#include "core/checkpoint/crc32c.h"
#include <errno.h>
#include <stdlib.h>

enum { WRITE_BYTES = 256 * 1024 /* of one write at least */ };

static const char *round_path(struct mr_arena *a, const char *path, uint64_t number,
                              const char *ending)
{
    return mr_arena_format(a, "%s/%016llu%s", path, (unsigned long long)number, ending);
}

static uint32_t header_crc(const struct mr_chunk *c)
{
    return mr_crc32c(0, (const uint8_t *)c + 8, sizeof *c - 8);
}

static enum mr_status fail(struct mr_round *r, int64_t rc, const char *what, struct mr_error *err)
{
    return MR_FAIL(err, MR_IO, (int)-rc, "checkpoint: %s %s", what,
                   round_path(r->arena, r->path, r->number, ".tmp"));
}

enum mr_status mr_round_begin(struct mr_round *r, uint64_t epoch, uint64_t first_group,
                              struct mr_error *err)
{
    MR_ASSERT(r->file == NULL);
    r->number++;
    r->first_group = first_group;
    r->offset = r->bytes = 0;
    r->previous_crc = 0;
    r->op = r->table = r->partition = 0;
    r->blocks = (struct mr_blocks){.budget = r->budget};
    const char *path = round_path(r->arena, r->path, r->number, ".tmp");
    int rc = r->env->ops->open(
        r->env, path, MR_OPEN_WRITE | MR_OPEN_CREATE | MR_OPEN_TRUNCATE | MR_OPEN_DIRECT, &r->file);
    if (rc < 0) {
        r->file = NULL;
        return fail(r, rc, "open", err);
    }
    struct mr_chunk begin = {.kind = MR_CHUNK_BEGIN, .epoch = epoch, .first_group = first_group};
    return mr_round_put(r, begin, (struct mr_text){NULL, 0}, err);
}

enum mr_status mr_round_put(struct mr_round *r, struct mr_chunk chunk, struct mr_text data,
                            struct mr_error *err)
{
    static const uint8_t zeros[16];
    uint64_t padded = (data.n + 15) & ~(uint64_t)15;
    enum mr_status status = mr_blocks_reserve(&r->blocks, sizeof chunk + padded + MR_BLOCK, err);

    if (status != MR_OK)
        return status;
    chunk.magic = MR_CHUNK_MAGIC;
    chunk.round = r->number;
    chunk.bytes = data.n;
    chunk.data_crc = mr_crc32c(0, data.data, data.n);
    chunk.previous_crc = r->previous_crc;
    chunk.header_crc = r->previous_crc = header_crc(&chunk);
    mr_blocks_append(&r->blocks, &chunk, sizeof chunk);
    mr_blocks_append(&r->blocks, data.data, data.n);
    mr_blocks_append(&r->blocks, zeros, padded - data.n);
    r->bytes += sizeof chunk + padded;
    if (r->blocks.n < WRITE_BYTES)
        return MR_OK;
    uint64_t whole = r->blocks.n & ~(uint64_t)(MR_BLOCK - 1);
    int64_t n = r->env->ops->write(r->file, r->blocks.data, whole, r->offset);
    if (n < 0)
        return fail(r, n, "write", err);
    r->offset += whole;
    mr_blocks_drop(&r->blocks, whole);
    return MR_OK;
}

static enum mr_status publish(struct mr_round *r, struct mr_error *err)
{
    const char *from = round_path(r->arena, r->path, r->number, ".tmp");
    const char *to = round_path(r->arena, r->path, r->number, "");
    int rc = r->env->ops->rename(r->env, from, to);

    if (rc == 0)
        rc = r->env->ops->sync_dir(r->env, r->path);
    if (rc < 0)
        return fail(r, rc, "rename", err);
    struct mr_snapshot_list list;
    return mr_snapshot_list(r->env, r->path, true, r->arena, &list, err);
}

enum mr_status mr_round_finish(struct mr_round *r, uint64_t epoch, struct mr_error *err)
{
    struct mr_chunk end = {.kind = MR_CHUNK_END, .epoch = epoch};
    enum mr_status status = mr_round_put(r, end, (struct mr_text){NULL, 0}, err);

    if (status != MR_OK)
        return status;
    mr_blocks_pad(&r->blocks);
    int64_t n = r->env->ops->write_sync(r->file, r->blocks.data, r->blocks.n, r->offset);
    if (n < 0)
        return fail(r, n, "write", err);
    mr_round_fini(r);
    return publish(r, err);
}

void mr_round_fini(struct mr_round *r)
{
    if (r->file)
        r->env->ops->close(r->file);
    r->file = NULL;
    mr_blocks_fini(&r->blocks);
}

struct names {
    struct mr_buffer rounds; /* two uint64_t each: the number, whether it is whole */
};

static bool note_name(void *arg, const char *name, bool is_dir)
{
    struct names *n = arg;
    char *end;
    uint64_t number = strtoull(name, &end, 10);

    if (is_dir || end != name + 16 || number == 0)
        return true;
    if (*end == '\0' || strcmp(end, ".tmp") == 0) {
        uint64_t entry[2] = {number, *end == '\0'};
        mr_buffer_append(&n->rounds, entry, sizeof entry);
    }
    return true;
}

enum mr_status mr_snapshot_list(struct mr_env *env, const char *path, bool remove,
                                struct mr_arena *a, struct mr_snapshot_list *out,
                                struct mr_error *err)
{
    struct names names;

    *out = (struct mr_snapshot_list){0};
    mr_buffer_init(&names.rounds, a);
    int rc = env->ops->list(env, path, note_name, &names);
    if (rc < 0 && rc != -ENOENT)
        return MR_FAIL(err, MR_IO, -rc, "checkpoint: list %s", path);
    const uint64_t *rounds = (const uint64_t *)(const void *)names.rounds.data;
    uint64_t rounds_n = names.rounds.n / (2 * sizeof *rounds);
    for (uint64_t i = 0; i < rounds_n; i++) {
        if (rounds[2 * i] > out->seen_max)
            out->seen_max = rounds[2 * i];
        if (rounds[2 * i + 1] && rounds[2 * i] > out->newest)
            out->newest = rounds[2 * i];
    }
    if (!remove)
        return MR_OK;
    for (uint64_t i = 0; i < rounds_n; i++) {
        bool is_whole = rounds[2 * i + 1];
        if (is_whole && rounds[2 * i] == out->newest)
            continue;
        const char *old = round_path(a, path, rounds[2 * i], is_whole ? "" : ".tmp");
        rc = env->ops->unlink(env, old);
        if (rc < 0 && rc != -ENOENT)
            return MR_FAIL(err, MR_IO, -rc, "checkpoint: remove %s", old);
    }
    return MR_OK;
}

static enum mr_status broken(const struct mr_snapshot_reader *r, const char *what,
                             struct mr_error *err)
{
    return MR_FAIL(err, MR_CORRUPT, 0, "checkpoint: %s: broken at byte %llu: %s", r->path,
                   (unsigned long long)r->offset, what);
}

static enum mr_status fetch(struct mr_snapshot_reader *r, uint64_t offset, uint64_t bytes,
                            struct mr_error *err)
{
    r->blocks.n = 0;
    enum mr_status status = mr_blocks_reserve(&r->blocks, bytes, err);
    if (status != MR_OK)
        return status;
    int64_t n = r->env->ops->read(r->file, r->blocks.data, bytes, offset);
    if (n < 0)
        return MR_FAIL(err, MR_IO, (int)-n, "checkpoint: read %s", r->path);
    return (uint64_t)n == bytes ? MR_OK : broken(r, "it ends early", err);
}

/* The chunk at offset, its data in blocks. */
static enum mr_status read_chunk(struct mr_snapshot_reader *r, struct mr_chunk *c,
                                 struct mr_error *err)
{
    enum mr_status status;

    if (r->size - r->offset < sizeof *c)
        return broken(r, "it ends early", err);
    status = fetch(r, r->offset, sizeof *c, err);
    if (status != MR_OK)
        return status;
    memcpy(c, r->blocks.data, sizeof *c);
    if (c->magic != MR_CHUNK_MAGIC || c->header_crc != header_crc(c))
        return broken(r, "a header has another CRC", err);
    if (c->round != r->number || c->previous_crc != r->previous_crc ||
        (r->chunks == 0) != (c->kind == MR_CHUNK_BEGIN))
        return broken(r, "a chunk of something else", err);
    uint64_t padded = (c->bytes + 15) & ~(uint64_t)15;
    if (c->bytes > r->size || padded > r->size - r->offset - sizeof *c)
        return broken(r, "it ends early", err);
    status = fetch(r, r->offset + sizeof *c, c->bytes, err);
    if (status != MR_OK)
        return status;
    if (c->data_crc != mr_crc32c(0, r->blocks.data, c->bytes))
        return broken(r, "data has another CRC", err);
    r->previous_crc = c->header_crc;
    r->offset += sizeof *c + padded;
    r->chunks++;
    return MR_OK;
}

void mr_snapshot_reader_fini(struct mr_snapshot_reader *r)
{
    if (r->file)
        r->env->ops->close(r->file);
    r->file = NULL;
    mr_blocks_fini(&r->blocks);
}

enum mr_status mr_snapshot_read(struct mr_snapshot_reader *r, const char *path, uint64_t number,
                                struct mr_arena *a,
                                enum mr_status (*seen)(void *arg, const struct mr_chunk *chunk,
                                                       struct mr_text data, struct mr_error *err),
                                void *arg, struct mr_error *err)
{
    struct mr_file_stat st;
    struct mr_chunk c = {0};
    enum mr_status status = MR_OK;

    r->number = number;
    r->path = round_path(a, path, number, "");
    int rc = r->env->ops->stat(r->env, r->path, &st);
    if (rc == 0)
        rc = r->env->ops->open(r->env, r->path, MR_OPEN_READ, &r->file);
    if (rc < 0) {
        r->file = NULL;
        return MR_FAIL(err, MR_IO, -rc, "checkpoint: open %s", r->path);
    }
    r->size = st.size;
    while (status == MR_OK && c.kind != MR_CHUNK_END) {
        status = read_chunk(r, &c, err);
        if (status == MR_OK)
            status = seen(arg, &c, (struct mr_text){(char *)r->blocks.data, c.bytes}, err);
    }
    return status;
}
