/* Snapshot rounds: a bounded piece between two epochs. */
#include "core/checkpoint/handle.h"

enum {
    ROUND_LOG_BYTES = 8 * 1024 * 1024, /* of the log, at least, from one round to the next */
    PLENTY_SEGMENTS = 16,              /* of the log since a round began: a second of a restart */
    LOG_SHARE = 4,                     /* then an epoch writes a fourth of what it logged */
};

/* A round costs about what the last one had; so it begins when the log has grown by that. */
static bool is_due(const struct mr_checkpoint *c)
{
    uint64_t wanted = c->log.segment_bytes / 2;

    if (wanted > ROUND_LOG_BYTES)
        wanted = ROUND_LOG_BYTES;
    if (wanted < c->round_bytes)
        wanted = c->round_bytes;
    return c->log.records_n == 0 && c->log.appended_bytes - c->round_mark >= wanted;
}

static enum mr_status begin(struct mr_checkpoint *c, uint64_t epoch,
                            const struct mr_snapshot_from *from, struct mr_error *err)
{
    c->round_mark = c->log.appended_bytes;
    enum mr_status status = mr_round_begin(&c->round, epoch, c->log.next_group, err);

    for (uint32_t i = 0; status == MR_OK && i < from->sources_n; i++) {
        struct mr_chunk chunk = {.kind = MR_CHUNK_SOURCE, .op = (uint16_t)i, .epoch = epoch};
        struct mr_buffer saved;
        mr_buffer_init(&saved, &c->scratch);
        from->source_save(from->arg, i, &saved);
        status = mr_round_put(&c->round, chunk, mr_buffer_text(&saved), err);
    }
    return status;
}

static struct mr_chunk state_chunk(const struct mr_round *r, uint64_t epoch, uint32_t partition,
                                   uint32_t partitions_n)
{
    return (struct mr_chunk){.kind = MR_CHUNK_STATE,
                             .epoch = epoch,
                             .op = (uint16_t)r->op,
                             .table = (uint16_t)r->table,
                             .partition = (uint16_t)partition,
                             .partitions_n = partitions_n};
}

/* Partitions of one table, as many as the bytes allow, at least one. Empty ones are told together.
 */
static enum mr_status take_table(struct mr_checkpoint *c, uint64_t epoch,
                                 const struct mr_snapshot_from *from, uint64_t bytes_max,
                                 struct mr_error *err)
{
    struct mr_round *r = &c->round;
    uint32_t empty_from = r->partition;
    enum mr_status status = MR_OK;

    do {
        struct mr_buffer data;
        mr_arena_reset(&c->scratch);
        mr_buffer_init(&data, &c->scratch);
        from->take(from->arg, r->op, r->table, r->partition, &data);
        if (data.n) {
            if (empty_from < r->partition)
                status =
                    mr_round_put(r, state_chunk(r, epoch, empty_from, r->partition - empty_from),
                                 (struct mr_text){NULL, 0}, err);
            if (status == MR_OK)
                status = mr_round_put(r, state_chunk(r, epoch, r->partition, 1),
                                      mr_buffer_text(&data), err);
            empty_from = r->partition + 1;
        }
        r->partition++;
    } while (status == MR_OK && r->partition < MR_PARTITIONS && r->bytes < bytes_max);
    if (status == MR_OK && empty_from < r->partition)
        status = mr_round_put(r, state_chunk(r, epoch, empty_from, r->partition - empty_from),
                              (struct mr_text){NULL, 0}, err);
    if (r->partition == MR_PARTITIONS) {
        r->partition = 0;
        r->table++;
    }
    return status;
}

static enum mr_status finish(struct mr_checkpoint *c, uint64_t epoch, struct mr_error *err)
{
    /* A snapshot must never be newer than the log. */
    enum mr_status status = mr_log_sync(&c->log, err);

    if (status == MR_OK)
        status = mr_round_finish(&c->round, epoch, err);
    c->round_bytes = c->round.bytes;
    return status == MR_OK ? mr_log_recycle(&c->log, c->round.first_group, err) : status;
}

/* However large epochs are, a round must come to its end, or the log would grow without bound. */
static uint64_t bytes_of_epoch(struct mr_checkpoint *c)
{
    const uint64_t end = c->log.appended_bytes;
    const uint64_t share = end - c->round_mark > PLENTY_SEGMENTS * c->log.segment_bytes
                               ? (end - c->epoch_mark) / LOG_SHARE
                               : 0;

    c->epoch_mark = end;
    return share > c->config.snapshot_bytes_per_epoch ? share : c->config.snapshot_bytes_per_epoch;
}

enum mr_status mr_checkpoint_snapshot(struct mr_checkpoint *c, uint64_t epoch,
                                      const struct mr_snapshot_from *from, struct mr_error *err)
{
    struct mr_round *r = &c->round;
    uint64_t bytes_max = bytes_of_epoch(c);
    enum mr_status status = mr_log_prepare(&c->log, err);

    if (status != MR_OK || (r->file == NULL && !is_due(c)))
        return status;
    mr_arena_reset(&c->scratch);
    if (r->file == NULL)
        status = begin(c, epoch, from, err);
    else
        bytes_max += r->bytes;
    while (status == MR_OK && r->op < from->operators_n) {
        if (r->table == from->tables_n[r->op]) {
            r->op++;
            r->table = 0;
        } else if (r->bytes < bytes_max) {
            status = take_table(c, epoch, from, bytes_max, err);
        } else {
            break;
        }
    }
    if (status == MR_OK && r->op == from->operators_n)
        status = finish(c, epoch, err);
    return status;
}
