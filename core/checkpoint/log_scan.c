#include "core/checkpoint/log.h"

#include "core/base/check.h"
#include "core/checkpoint/crc32c.h"
#include <errno.h>
#include <stdlib.h>

uint32_t mr_group_header_crc(const struct mr_group_header *h)
{
    return mr_crc32c(0, (const uint8_t *)h + 8, sizeof *h - 8);
}

const char *mr_log_segment_path(struct mr_arena *a, const char *path, uint64_t number)
{
    return mr_arena_format(a, "%s/%016llu", path, (unsigned long long)number);
}

struct names {
    struct mr_buffer numbers;
};

static bool note_name(void *arg, const char *name, bool is_dir)
{
    struct names *n = arg;
    char *end;
    uint64_t number = strtoull(name, &end, 10);

    if (!is_dir && end == name + 16 && *end == '\0' && number > 0)
        mr_buffer_append(&n->numbers, &number, sizeof number);
    return true;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* The last run of consecutive segments: what lies before a gap was being removed. */
static enum mr_status find_segments(struct mr_log_scan *s, struct mr_error *err)
{
    struct names names;

    mr_buffer_init(&names.numbers, s->arena);
    int rc = s->env->ops->list(s->env, s->path, note_name, &names);
    if (rc < 0 && rc != -ENOENT)
        return MR_FAIL(err, MR_IO, -rc, "checkpoint: list %s", s->path);
    uint64_t n = names.numbers.n / sizeof(uint64_t), first = 0;
    uint64_t *numbers = (uint64_t *)(void *)names.numbers.data;
    if (n)
        qsort(numbers, n, sizeof *numbers, by_number);
    for (uint64_t i = 1; i < n; i++) {
        if (numbers[i] != numbers[i - 1] + 1)
            first = i;
    }
    s->segments = MR_NEW_ARRAY(s->arena, struct mr_log_segment, n - first);
    for (uint64_t i = first; i < n; i++) {
        struct mr_file_stat st;
        const char *path = mr_log_segment_path(s->arena, s->path, numbers[i]);
        rc = s->env->ops->stat(s->env, path, &st);
        if (rc < 0)
            return MR_FAIL(err, MR_IO, -rc, "checkpoint: stat %s", path);
        s->segments[s->segments_n++] = (struct mr_log_segment){
            .number = numbers[i], .bytes = st.size & ~(uint64_t)(MR_BLOCK - 1)};
    }
    return MR_OK;
}

static enum mr_status read_range(struct mr_log_scan *s, uint64_t segment, uint64_t offset,
                                 uint64_t bytes, struct mr_error *err)
{
    const char *path = mr_log_segment_path(s->arena, s->path, s->segments[segment].number);
    struct mr_file *file;

    s->blocks.n = 0;
    enum mr_status status = mr_blocks_reserve(&s->blocks, bytes, err);
    if (status != MR_OK)
        return status;
    int rc = s->env->ops->open(s->env, path, MR_OPEN_READ, &file);
    if (rc < 0)
        return MR_FAIL(err, MR_IO, -rc, "checkpoint: open %s", path);
    int64_t n = s->env->ops->read(file, s->blocks.data, bytes, offset);
    s->env->ops->close(file);
    if (n < 0)
        return MR_FAIL(err, MR_IO, (int)-n, "checkpoint: read %s", path);
    if ((uint64_t)n < bytes)
        return MR_FAIL(err, MR_CORRUPT, 0, "checkpoint: %s ends at byte %llu while it is read",
                       path, (unsigned long long)offset + (unsigned long long)n);
    s->blocks.n = bytes;
    return MR_OK;
}

static bool is_header(const struct mr_group_header *h)
{
    return h->magic == MR_GROUP_MAGIC && h->header_crc == mr_group_header_crc(h);
}

/* Whether the next group of the chain lies at offset of the segment in blocks. */
static bool is_next(const struct mr_log_scan *s, uint64_t segment, uint64_t offset,
                    struct mr_group_header *h)
{
    uint64_t room = s->blocks.n - offset;

    if (room < MR_BLOCK)
        return false;
    memcpy(h, s->blocks.data + offset, sizeof *h);
    if (!is_header(h) || h->segment != s->segments[segment].number)
        return false;
    if (s->next_group && (h->number != s->next_group || h->previous_crc != s->previous_crc))
        return false;
    return h->bytes <= room - sizeof *h &&
           h->payload_crc == mr_crc32c(0, s->blocks.data + offset + sizeof *h, h->bytes);
}

static void note_group(struct mr_log_scan *s, struct mr_buffer *groups, uint64_t segment,
                       uint64_t offset, const struct mr_group_header *h)
{
    struct mr_log_group g = {.header = *h, .offset = offset};
    struct mr_log_segment *in = &s->segments[segment];

    mr_buffer_append(groups, &g, sizeof g);
    if (in->first_group == 0)
        in->first_group = h->number;
    in->last_group = h->number;
    s->next_group = h->number + 1;
    s->previous_crc = h->header_crc;
    if (h->durable > s->durable)
        s->durable = h->durable;
    s->end_segment = segment;
    s->end_offset = offset + mr_blocks_round(sizeof *h + h->bytes);
}

static enum mr_status corrupt_end(const struct mr_log_scan *s, const char *how, uint64_t number,
                                  struct mr_error *err)
{
    const char *path = mr_log_segment_path(s->arena, s->path, s->segments[s->end_segment].number);

    if (s->next_group == 0)
        return MR_FAIL(err, MR_CORRUPT, 0,
                       "checkpoint: %s: the log is broken at byte 0: its first group is not there, "
                       "but %s %llu is",
                       path, how, (unsigned long long)number);
    return MR_FAIL(err, MR_CORRUPT, 0,
                   "checkpoint: %s: the log is broken at byte %llu: group %llu is not there, but "
                   "%s %llu says that it was durable",
                   path, (unsigned long long)s->end_offset, (unsigned long long)s->next_group, how,
                   (unsigned long long)number);
}

enum mr_status mr_log_check_begin(const struct mr_log_scan *s, uint64_t first_group,
                                  struct mr_error *err)
{
    uint64_t oldest = s->groups_n ? s->groups[0].header.number : s->next_group;
    uint64_t needed = first_group ? first_group : 1;

    if (oldest <= needed)
        return MR_OK;
    return MR_FAIL(err, MR_CORRUPT, 0,
                   "checkpoint: %s begins with group %llu, but %s from group %llu on", s->path,
                   (unsigned long long)oldest,
                   first_group ? "the snapshot needs the log" : "without a snapshot it is needed",
                   (unsigned long long)needed);
}

enum mr_status mr_log_check_end(const struct mr_log_scan *s, uint64_t newest, uint64_t committed,
                                struct mr_error *err)
{
    if (newest <= committed)
        return MR_OK;
    return MR_FAIL(err, MR_CORRUPT, 0,
                   "checkpoint: %s: the snapshot is newer than the last commit in the log",
                   s->path);
}

/* Whether a group in the segment in blocks, which was not reached, claims that the next one was
 * durable. If the log goes on in the next segment, none does. */
static enum mr_status look_for_claims(const struct mr_log_scan *s, uint64_t segment,
                                      struct mr_error *err)
{
    uint64_t from = segment == s->end_segment ? s->end_offset : 0;
    struct mr_group_header h;

    for (; from + MR_BLOCK <= s->blocks.n; from += MR_BLOCK) {
        memcpy(&h, s->blocks.data + from, sizeof h);
        if (is_header(&h) && h.segment == s->segments[segment].number && h.durable >= s->next_group)
            return corrupt_end(s, "the later group", h.number, err);
    }
    return MR_OK;
}

/* Groups of an epoch count when its commit follows before another run begins. */
static void mark_committed(struct mr_log_scan *s)
{
    uint64_t begin = 0;

    for (uint64_t i = 0; i < s->groups_n; i++) {
        if (s->groups[i].header.flags & MR_GROUP_OPEN)
            begin = i;
        if ((s->groups[i].header.flags & MR_GROUP_COMMIT) == 0)
            continue;
        for (uint64_t k = begin; k <= i; k++)
            s->groups[k].is_committed = true;
        begin = i + 1;
        s->last_commit = i + 1;
    }
}

/* A segment may be empty, when the group that came next was larger. */
static enum mr_status scan_segments(struct mr_log_scan *s, struct mr_buffer *groups,
                                    struct mr_error *err)
{
    if (s->segments_n == 0 || s->segments[0].number == 1)
        s->next_group = 1;
    for (uint64_t i = 0; i < s->segments_n; i++) {
        struct mr_group_header h;
        uint64_t offset = 0;
        enum mr_status status = read_range(s, i, 0, s->segments[i].bytes, err);
        while (status == MR_OK && is_next(s, i, offset, &h)) {
            note_group(s, groups, i, offset, &h);
            offset = s->end_offset;
        }
        if (status == MR_OK)
            status = look_for_claims(s, i, err);
        if (status != MR_OK)
            return status;
    }
    if (s->next_group == 0)
        return MR_FAIL(err, MR_CORRUPT, 0,
                       "checkpoint: %s: the log is broken at byte 0: it does not begin",
                       mr_log_segment_path(s->arena, s->path, s->segments[0].number));
    return MR_OK;
}

enum mr_status mr_log_scan(struct mr_log_scan *s, uint64_t durable, struct mr_error *err)
{
    struct mr_buffer groups;

    mr_buffer_init(&groups, s->arena);
    s->durable = durable;
    enum mr_status status = find_segments(s, err);
    if (status == MR_OK)
        status = scan_segments(s, &groups, err);
    if (status != MR_OK)
        return status;
    s->groups = (struct mr_log_group *)(void *)groups.data;
    s->groups_n = groups.n / sizeof *s->groups;
    if (durable >= s->next_group) {
        if (s->segments_n == 0)
            return MR_FAIL(err, MR_CORRUPT, 0,
                           "checkpoint: %s has no segments, but %llu groups were durable", s->path,
                           (unsigned long long)durable);
        return corrupt_end(s, "the head after group", durable, err);
    }
    mark_committed(s);
    return MR_OK;
}

/* Index of the segment with group i. */
static uint64_t segment_of(const struct mr_log_scan *s, uint64_t i)
{
    return s->groups[i].header.segment - s->segments[0].number;
}

enum mr_status mr_log_read(struct mr_log_scan *s, uint64_t i, struct mr_text *payload,
                           struct mr_error *err)
{
    const struct mr_log_group *g = &s->groups[i];
    uint64_t bytes = mr_blocks_round(sizeof g->header + g->header.bytes);
    enum mr_status status = read_range(s, segment_of(s, i), g->offset, bytes, err);

    if (status != MR_OK)
        return status;
    *payload = (struct mr_text){(char *)s->blocks.data + sizeof g->header, g->header.bytes};
    return MR_OK;
}

bool mr_log_next(struct mr_text *payload, struct mr_record *record, struct mr_text *data, bool *ok)
{
    *ok = payload->n == 0;
    if (payload->n < sizeof *record)
        return false;
    memcpy(record, payload->data, sizeof *record);
    uint64_t left = payload->n - sizeof *record;
    uint64_t padded = (record->bytes + 7) & ~(uint64_t)7;
    if (record->bytes > left || padded > left)
        return false;
    *ok = true;
    *data = (struct mr_text){payload->data + sizeof *record, record->bytes};
    *payload = (struct mr_text){data->data + padded, left - padded};
    return true;
}

void mr_log_scan_fini(struct mr_log_scan *s)
{
    mr_blocks_fini(&s->blocks);
}
