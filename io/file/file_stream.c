#include "io/file/file_stream.h"

#include "core/base/check.h"
#include <errno.h>

enum { CHUNK_BYTES = 256 << 10, HEAD_BYTES = 64 << 10, MEMORY_SHARE = 16 /* of a record */ };

void mr_file_stream_init(struct mr_file_stream *s, struct mr_env *env, struct mr_budget *budget,
                         jmp_buf *escape)
{
    *s = (struct mr_file_stream){.env = env, .record_bytes_max = MR_FILE_RECORD_BYTES_MAX};
    for (const struct mr_budget *b = budget; b; b = b->parent)
        if (b->limit_bytes && b->limit_bytes / MEMORY_SHARE < s->record_bytes_max)
            s->record_bytes_max = b->limit_bytes / MEMORY_SHARE;
    mr_arena_init(&s->arena, budget, escape);
    mr_arena_init(&s->old, budget, escape);
}

void mr_file_stream_fini(struct mr_file_stream *s)
{
    mr_file_stream_close(s);
    mr_arena_fini(&s->arena);
    mr_arena_fini(&s->old);
}

/* Both buffers anew, of a head and a chunk. What they held is gone. */
static void make_buffers(struct mr_file_stream *s, uint64_t head_bytes, uint64_t chunk_bytes)
{
    s->head_bytes = head_bytes;
    s->chunk_bytes = chunk_bytes;
    for (int i = 0; i < 2; i++)
        s->buffers[i] = mr_arena_alloc(&s->arena, head_bytes + chunk_bytes + MR_PAD_BYTES);
}

static void start_read(struct mr_file_stream *s)
{
    uint8_t *to = s->buffers[1 - s->current] + s->head_bytes;

    s->reading = s->env->ops->read_start(s->file, to, s->chunk_bytes, s->at) >= 0;
}

enum mr_status mr_file_stream_open(struct mr_file_stream *s, const struct mr_file_split *split,
                                   bool *gone, struct mr_error *err)
{
    mr_file_stream_close(s);
    int rc = s->env->ops->open(s->env, split->path, MR_OPEN_READ, &s->file);

    *gone = rc == -ENOENT;
    if (rc < 0) {
        s->file = NULL;
        return *gone ? MR_OK : MR_FAIL(err, MR_IO, -rc, "open %s", split->path);
    }
    if (s->head_bytes != HEAD_BYTES) { /* none yet, or grown for a long record */
        mr_arena_reset(&s->arena);
        make_buffers(s, HEAD_BYTES, CHUNK_BYTES);
    }
    s->path = split->path;
    s->codec = split->codec;
    s->at = split->start ? split->start - 1 : 0;
    s->limit = split->end;
    s->wanted = split->start + split->bytes;
    s->is_short = false;
    s->skipping = split->start > 0;
    s->at_end = false;
    s->data = s->buffers[0] + s->head_bytes;
    s->n = 0;
    s->current = 0;
    s->offset = s->at;
    if (s->codec == MR_FILE_PLAIN)
        start_read(s);
    else
        s->inflater = mr_file_inflater_open(s->codec);
    return MR_OK;
}

void mr_file_stream_close(struct mr_file_stream *s)
{
    if (s->file == NULL)
        return;
    if (s->reading)
        s->env->ops->read_wait(s->file);
    s->reading = false;
    s->env->ops->close(s->file);
    s->file = NULL;
    if (s->inflater)
        mr_file_inflater_close(s->inflater);
    s->inflater = NULL;
}

/* The next chunk of plain bytes lands behind the head of the other buffer. */
static enum mr_status read_chunk(struct mr_file_stream *s, uint64_t *got, struct mr_error *err)
{
    uint8_t *to = s->buffers[1 - s->current] + s->head_bytes;
    int64_t n = s->reading ? s->env->ops->read_wait(s->file)
                           : s->env->ops->read(s->file, to, s->chunk_bytes, s->at);

    s->reading = false;
    if (n < 0)
        return MR_FAIL(err, MR_IO, (int)-n, "read %s at %llu", s->path, (unsigned long long)s->at);
    *got = (uint64_t)n;
    s->at_end = *got < s->chunk_bytes;
    s->is_short = s->at_end && s->at + *got < s->wanted;
    return MR_OK;
}

/* A head that holds what is left over; the chunk just read is moved along. Chunks grow too: a
 * record is looked at again with each, so their number must not grow with its length. */
static void grow_head(struct mr_file_stream *s, uint64_t got)
{
    const uint8_t *left = s->data, *chunk = s->buffers[1 - s->current] + s->head_bytes;

    s->old = s->arena;
    mr_arena_init(&s->arena, s->old.budget, s->old.escape);
    make_buffers(s, s->n * 2, s->n / 2 > CHUNK_BYTES ? s->n / 2 : CHUNK_BYTES);
    memcpy(s->buffers[1 - s->current] + s->head_bytes, chunk, got);
    s->data = s->buffers[s->current] + s->head_bytes - s->n;
    memcpy(s->data, left, s->n);
    mr_arena_fini(&s->old);
}

/* Cuts what belongs to the splits before and behind. chunk: the bytes that came last, at offset
 * from. */
static void apply_borders(struct mr_file_stream *s, uint64_t from, uint64_t got)
{
    uint8_t *chunk = s->data + s->n - got, *newline;

    if (s->skipping) {
        newline = got ? memchr(chunk, '\n', got) : NULL;
        uint64_t past = newline ? (uint64_t)(newline - chunk) + 1 : got;
        mr_file_stream_consume(s, s->n - got + past);
        s->skipping = newline == NULL;
        if (newline && from + past - 1 >= s->limit - 1) {
            s->n = 0;
            s->at_end = true;
            return;
        }
        chunk += past;
        got -= past;
        from += past;
    }
    if (s->limit == UINT64_MAX || from + got < s->limit)
        return;
    uint64_t skip = from >= s->limit - 1 ? 0 : s->limit - 1 - from;
    newline = memchr(chunk + skip, '\n', got - skip);
    if (newline) {
        s->n -= got - (uint64_t)(newline - chunk) - 1;
        s->at_end = true;
    }
}

enum mr_status mr_file_stream_fill(struct mr_file_stream *s, struct mr_error *err)
{
    uint64_t got = 0;
    enum mr_status status;

    MR_ASSERT(!s->at_end);
    if (s->codec == MR_FILE_PLAIN) {
        status = read_chunk(s, &got, err);
    } else {
        status = mr_file_inflate(s->inflater, s, s->buffers[1 - s->current] + s->head_bytes,
                                 s->chunk_bytes, &got, err);
        s->at_end = got == 0;
    }
    if (status != MR_OK)
        return status;
    if (s->n > s->head_bytes)
        grow_head(s, got);
    uint8_t *to = s->buffers[1 - s->current] + s->head_bytes - s->n;
    if (s->n)
        memcpy(to, s->data, s->n);
    s->data = to;
    s->n += got;
    s->current = 1 - s->current;
    memset(s->data + s->n, 0, MR_PAD_BYTES);
    uint64_t from = s->at;
    if (s->codec == MR_FILE_PLAIN)
        s->at += got;
    apply_borders(s, from, got);
    if (s->codec == MR_FILE_PLAIN && !s->at_end)
        start_read(s);
    return MR_OK;
}

void mr_file_stream_consume(struct mr_file_stream *s, uint64_t bytes)
{
    MR_ASSERT(bytes <= s->n);
    s->data += bytes;
    s->n -= bytes;
    s->offset += bytes;
}

void mr_file_stream_skip(struct mr_file_stream *s)
{
    mr_file_stream_consume(s, s->n);
    s->skipping = true;
}
