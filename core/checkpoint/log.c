#include "core/checkpoint/log.h"

#include "core/base/check.h"
#include "core/checkpoint/crc32c.h"
#include <errno.h>

enum {
    FIRST_BYTES =
        1024 * 1024,         /* of the first segment: a new checkpoint is there in a millisecond */
    STEP_BYTES = 256 * 1024, /* zero-filled at a time in the background */
};

static const char *spare_path(struct mr_log *l)
{
    return mr_arena_format(l->scratch, "%s/spare", l->path);
}

static const char *segment_path(struct mr_log *l, uint64_t number)
{
    return mr_log_segment_path(l->scratch, l->path, number);
}

static enum mr_status fail(struct mr_log *l, int64_t rc, const char *what, const char *path,
                           struct mr_error *err)
{
    l->is_failed = true;
    return MR_FAIL(err, MR_IO, (int)-rc, "checkpoint: %s %s", what, path);
}

static uint64_t last_number(const struct mr_log *l)
{
    return l->segments_n ? l->segments[l->segments_n - 1].number : 0;
}

static void add_segment(struct mr_log *l, struct mr_log_segment segment)
{
    if (l->segments_n == l->segments_capacity) {
        uint64_t capacity = l->segments_capacity ? l->segments_capacity * 2 : 16;
        struct mr_log_segment *grown = MR_NEW_ARRAY(l->arena, struct mr_log_segment, capacity);
        if (l->segments_n)
            memcpy(grown, l->segments, l->segments_n * sizeof *grown);
        l->segments = grown;
        l->segments_capacity = capacity;
    }
    l->segments[l->segments_n++] = segment;
}

static enum mr_status open_segment(struct mr_log *l, const char *path, int flags,
                                   struct mr_file **file, struct mr_error *err)
{
    int rc = l->env->ops->open(l->env, path, MR_OPEN_WRITE | MR_OPEN_DIRECT | flags, file);

    return rc < 0 ? fail(l, rc, "open", path, err) : MR_OK;
}

/* Zeros from spare_filled up to bytes. */
static enum mr_status fill_spare(struct mr_log *l, uint64_t bytes, struct mr_error *err)
{
    enum mr_status status = MR_OK;

    if (l->spare == NULL) {
        status = open_segment(l, spare_path(l), MR_OPEN_CREATE | MR_OPEN_TRUNCATE, &l->spare, err);
        l->spare_filled = 0;
    }
    if (status == MR_OK)
        status = mr_blocks_reserve(&l->zeros, STEP_BYTES, err);
    while (status == MR_OK && l->spare_filled < bytes) {
        uint64_t step = bytes - l->spare_filled < STEP_BYTES ? bytes - l->spare_filled : STEP_BYTES;
        int64_t n = l->env->ops->write(l->spare, l->zeros.data, step, l->spare_filled);
        if (n < 0)
            return fail(l, n, "fill", spare_path(l), err);
        l->spare_filled += step;
    }
    return status;
}

/* The filled spare gets the number behind the last. */
static enum mr_status number_spare(struct mr_log *l, struct mr_error *err)
{
    const char *path = segment_path(l, last_number(l) + 1);
    int rc = l->env->ops->sync(l->spare);

    if (rc < 0)
        return fail(l, rc, "sync", spare_path(l), err);
    rc = l->env->ops->rename(l->env, spare_path(l), path);
    if (rc < 0)
        return fail(l, rc, "name", path, err);
    rc = l->env->ops->sync_dir(l->env, l->path);
    if (rc < 0)
        return fail(l, rc, "sync", l->path, err);
    l->is_spare_numbered = true;
    mr_blocks_fini(&l->zeros);
    return MR_OK;
}

/* The segment written to is full: it is as long as what was written, or filled before. */
static void leave(struct mr_log *l)
{
    struct mr_log_segment *last = l->segments_n ? &l->segments[l->segments_n - 1] : NULL;

    if (l->file == NULL)
        return;
    l->env->ops->close(l->file);
    l->file = NULL;
    last->bytes = l->offset > l->filled ? l->offset : l->filled;
}

/* Goes on with a segment that has room for bytes. */
static enum mr_status enter_next(struct mr_log *l, uint64_t bytes, struct mr_error *err)
{
    bool is_first = l->segments_n == 0;
    uint64_t size = is_first && l->segment_bytes > FIRST_BYTES ? FIRST_BYTES : l->segment_bytes;
    enum mr_status status = mr_log_sync(l, err);

    if (size < bytes)
        size = bytes;
    if (status == MR_OK && !l->is_spare_numbered) {
        status = fill_spare(l, is_first ? size : 0, err);
        if (status == MR_OK)
            status = number_spare(l, err);
    }
    if (status != MR_OK)
        return status;
    leave(l);
    l->filled = l->spare_filled;
    if (size < l->filled)
        size = l->filled;
    add_segment(l, (struct mr_log_segment){.number = last_number(l) + 1, .bytes = size});
    l->file = l->spare;
    l->offset = 0;
    l->spare = NULL;
    l->spare_filled = 0;
    l->is_spare_numbered = false;
    return MR_OK;
}

/* Segments behind the end were prepared and never written to: the first is the spare. */
static enum mr_status adopt_spare(struct mr_log *l, const struct mr_log_scan *s,
                                  struct mr_error *err)
{
    uint64_t next = s->end_segment + 1;
    enum mr_status status = MR_OK;

    for (uint64_t i = s->segments_n; i-- > next + 1;) {
        const char *path = segment_path(l, s->segments[i].number);
        int rc = l->env->ops->unlink(l->env, path);
        if (rc < 0)
            return fail(l, rc, "remove", path, err);
    }
    if (next >= s->segments_n)
        return MR_OK;
    status = open_segment(l, segment_path(l, s->segments[next].number), 0, &l->spare, err);
    if (status != MR_OK)
        return status;
    /* It may be cut short: then appends make it longer. */
    l->spare_filled = s->segments[next].bytes;
    l->is_spare_numbered = true;
    return MR_OK;
}

/* What was found may be only in memory, and after a sync that failed the system may think that it
 * is not: a sync alone would do nothing. So it is written again, with the bytes that it has. Groups
 * of earlier segments were synced before the last one was entered. */
static enum mr_status write_again(struct mr_log *l, struct mr_log_scan *s, struct mr_error *err)
{
    uint64_t i = s->groups_n;

    while (i > 0 && s->groups[i - 1].header.number > s->durable &&
           s->groups[i - 1].header.segment == last_number(l))
        i--;
    for (; i < s->groups_n; i++) {
        struct mr_text payload;
        enum mr_status status = mr_log_read(s, i, &payload, err);
        if (status != MR_OK)
            return status;
        int64_t n = l->env->ops->write(l->file, s->blocks.data, s->blocks.n, s->groups[i].offset);
        if (n < 0)
            return fail(l, n, "write again", segment_path(l, last_number(l)), err);
    }
    return MR_OK;
}

enum mr_status mr_log_open(struct mr_log *l, struct mr_log_scan *s, struct mr_error *err)
{
    l->next_group = s->next_group;
    l->previous_crc = s->previous_crc;
    if (s->last_commit)
        l->commit_segment = s->groups[s->last_commit - 1].header.segment;
    for (uint64_t i = 0; s->segments_n && i <= s->end_segment; i++)
        add_segment(l, s->segments[i]);
    if (l->segments_n == 0)
        return enter_next(l, MR_BLOCK, err);
    enum mr_status status = open_segment(l, segment_path(l, last_number(l)), 0, &l->file, err);
    l->offset = s->end_offset;
    l->filled = l->segments[l->segments_n - 1].bytes;
    if (status == MR_OK)
        status = write_again(l, s, err);
    l->is_unsynced = true;
    if (status == MR_OK)
        status = mr_log_sync(l, err);
    return status == MR_OK ? adopt_spare(l, s, err) : status;
}

void mr_log_close(struct mr_log *l)
{
    if (l->file)
        l->env->ops->close(l->file);
    if (l->spare)
        l->env->ops->close(l->spare);
    l->file = l->spare = NULL;
    mr_blocks_fini(&l->group);
    mr_blocks_fini(&l->zeros);
}

enum mr_status mr_log_put(struct mr_log *l, uint64_t epoch, struct mr_record record,
                          struct mr_text data, struct mr_error *err)
{
    uint64_t padded = (data.n + 7) & ~(uint64_t)7, zero = 0;
    enum mr_status status = mr_blocks_reserve(
        &l->group, sizeof(struct mr_group_header) + sizeof record + padded + MR_BLOCK, err);

    if (status != MR_OK)
        return status;
    if (l->records_n == 0)
        l->group.n = sizeof(struct mr_group_header);
    record.bytes = data.n;
    mr_blocks_append(&l->group, &record, sizeof record);
    mr_blocks_append(&l->group, data.data, data.n);
    mr_blocks_append(&l->group, &zero, padded - data.n);
    l->epoch = epoch;
    l->records_n++;
    l->flags |= record.kind == MR_RECORD_COMMIT ? MR_GROUP_COMMIT : 0;
    l->flags |= record.kind == MR_RECORD_OPEN ? MR_GROUP_OPEN : 0;
    return MR_OK;
}

static void seal(struct mr_log *l)
{
    uint8_t *payload = l->group.data + sizeof(struct mr_group_header);
    struct mr_group_header h = {
        .magic = MR_GROUP_MAGIC,
        .number = l->next_group,
        .durable = l->durable,
        .segment = last_number(l),
        .epoch = l->epoch,
        .bytes = l->group.n - sizeof h,
        .previous_crc = l->previous_crc,
        .flags = l->flags,
        .records_n = l->records_n,
    };

    h.payload_crc = mr_crc32c(0, payload, h.bytes);
    h.header_crc = mr_group_header_crc(&h);
    memcpy(l->group.data, &h, sizeof h);
    mr_blocks_pad(&l->group);
    l->previous_crc = h.header_crc;
}

enum mr_status mr_log_append(struct mr_log *l, bool durable, struct mr_error *err)
{
    uint64_t bytes = mr_blocks_round(l->group.n);
    enum mr_status status = MR_OK;

    if (l->is_failed)
        return MR_FAIL(err, MR_IO, 0, "checkpoint: %s: an earlier write failed", l->path);
    if (l->records_n == 0)
        return durable ? mr_log_sync(l, err) : MR_OK;
    if (l->segments[l->segments_n - 1].bytes - l->offset < bytes)
        status = enter_next(l, bytes, err);
    if (status != MR_OK)
        return status;
    seal(l);
    struct mr_log_segment *segment = &l->segments[l->segments_n - 1];
    int64_t n = durable ? l->env->ops->write_sync(l->file, l->group.data, bytes, l->offset)
                        : l->env->ops->write(l->file, l->group.data, bytes, l->offset);
    if (n < 0)
        return fail(l, n, "append to", segment_path(l, segment->number), err);
    if (segment->first_group == 0)
        segment->first_group = l->next_group;
    segment->last_group = l->next_group;
    if (l->flags & MR_GROUP_COMMIT)
        l->commit_segment = segment->number;
    if (durable)
        l->durable = l->next_group;
    l->is_unsynced = !durable;
    l->next_group++;
    l->offset += bytes;
    l->appended_bytes += bytes;
    l->group.n = 0;
    l->records_n = l->flags = 0;
    return MR_OK;
}

enum mr_status mr_log_sync(struct mr_log *l, struct mr_error *err)
{
    if (l->is_failed)
        return MR_FAIL(err, MR_IO, 0, "checkpoint: %s: an earlier write failed", l->path);
    if (!l->is_unsynced)
        return MR_OK;
    int rc = l->env->ops->sync(l->file);
    if (rc < 0)
        return fail(l, rc, "sync", segment_path(l, last_number(l)), err);
    l->is_unsynced = false;
    l->durable = l->next_group - 1;
    return MR_OK;
}

enum mr_status mr_log_check_name(struct mr_log *l, struct mr_error *err)
{
    const char *path = segment_path(l, last_number(l));
    struct mr_file_stat stat;
    int rc = l->env->ops->stat(l->env, path, &stat);

    if (rc == 0)
        return MR_OK;
    if (rc != -ENOENT && rc != -ENOTDIR)
        return fail(l, rc, "look at", path, err);
    l->is_failed = true;
    return MR_FAIL(err, MR_IO, 0,
                   "checkpoint: %s was moved or removed while the job ran: what it did since is "
                   "known to nobody; put the folder back, or start with a new checkpoint and a new "
                   "output folder",
                   path);
}

enum mr_status mr_log_prepare(struct mr_log *l, struct mr_error *err)
{
    if (l->is_failed || l->is_spare_numbered ||
        l->offset < l->segments[l->segments_n - 1].bytes / 2)
        return MR_OK;
    uint64_t step = l->segment_bytes - l->spare_filled;
    enum mr_status status =
        fill_spare(l, l->spare_filled + (step < STEP_BYTES ? step : STEP_BYTES), err);
    if (status == MR_OK && l->spare_filled >= l->segment_bytes)
        status = number_spare(l, err);
    return status;
}

/* A segment goes: as the spare, if none is there or begun and it is not larger than usual. */
static enum mr_status free_segment(struct mr_log *l, const struct mr_log_segment *old,
                                   struct mr_error *err)
{
    const char *from = segment_path(l, old->number);

    if (l->spare || old->bytes > l->segment_bytes) {
        int rc = l->env->ops->unlink(l->env, from);
        return rc < 0 ? fail(l, rc, "remove", from, err) : MR_OK;
    }
    const char *to = segment_path(l, last_number(l) + 1);
    int rc = l->env->ops->rename(l->env, from, to);
    if (rc < 0)
        return fail(l, rc, "rename", from, err);
    enum mr_status status = open_segment(l, to, 0, &l->spare, err);
    if (status != MR_OK)
        return status;
    l->spare_filled = old->bytes;
    l->is_spare_numbered = true;
    return MR_OK;
}

enum mr_status mr_log_recycle(struct mr_log *l, uint64_t first_group, struct mr_error *err)
{
    uint64_t n = 0;

    while (n + 1 < l->segments_n && l->segments[n].last_group < first_group &&
           l->segments[n].number < l->commit_segment) {
        enum mr_status status = free_segment(l, &l->segments[n], err);
        if (status != MR_OK)
            return status;
        n++;
    }
    if (n == 0)
        return MR_OK;
    memmove(l->segments, l->segments + n, (l->segments_n - n) * sizeof *l->segments);
    l->segments_n -= n;
    int rc = l->env->ops->sync_dir(l->env, l->path);
    return rc < 0 ? fail(l, rc, "sync", l->path, err) : MR_OK;
}
