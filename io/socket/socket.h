/* socket.h - lines from a TCP server, for trying things out: Spark's socket source.
 *
 * How      The planner has the connection and takes whole lines from it without waiting; a split
 *          carries its lines, so any worker can give them as rows. The offset counts lines.
 * Limits   Not recoverable: what was read and not committed is lost in a crash, and said so at
 *          start. A line is at most 16 MiB; an epoch takes at most 64 MiB.
 */
#pragma once
#include "core/op/source.h"

extern const struct mr_source_ops mr_source_socket;

/* In a split, before the bytes of each line. */
struct mr_socket_line {
    int64_t time_us;
    uint64_t bytes;
};

struct mr_socket_reader {
    struct mr_arena split_arena, rows_arena;
    const struct mr_type *schema;
    uint32_t batch_rows;
    struct mr_text rest; /* of the split */
    struct mr_column columns[2];
};

enum mr_status mr_socket_reader_open(void *reader, const struct mr_source_config *config,
                                     struct mr_error *err);
void mr_socket_reader_close(void *reader);
enum mr_status mr_socket_open_split(void *reader, struct mr_text split, struct mr_error *err);
enum mr_step mr_socket_pull(void *reader, struct mr_batch *out, struct mr_source_counts *counts,
                            struct mr_error *err);
