/* bounds.h - the limits on everything that could grow, in one place. */
#pragma once

enum {
    MR_BATCH_ROWS_MAX = 16384,    /* rows of a batch; the config's batch_rows lies in [1, this] */
    MR_BATCH_ROWS_DEFAULT = 4096, /* 4096 rows of some columns stay in a 1 MiB L2 cache */
    MR_PAD_BYTES = 64,            /* readable (not writable) bytes behind every buffer */
    MR_PARTITIONS = 256,          /* virtual partitions of state; partition = hash >> 56 */
    MR_WORKERS_MAX = 64,
    MR_RING_MAX = 65536,
    MR_QUERIES_MAX = 64,
    MR_SOURCES_MAX = 64,      /* per query */
    MR_WATERMARKS_MAX = 16,   /* watermark nodes per query */
    MR_STATE_TABLES_MAX = 32, /* per query */
    MR_COLUMNS_MAX = 4096,
    MR_DEPTH_MAX = 200, /* nesting of SQL, types, JSON schemas and values */
    MR_NAME_MAX = 255,
    MR_ZONES_MAX = 16384, /* time zones known to a process, offsets included */
    MR_DECIMAL_DIGITS = 38,
};

_Static_assert((MR_BATCH_ROWS_MAX & (MR_BATCH_ROWS_MAX - 1)) == 0, "a power of two");
_Static_assert(MR_BATCH_ROWS_DEFAULT <= MR_BATCH_ROWS_MAX, "the default is allowed");
_Static_assert(MR_PARTITIONS == 256, "a partition is the top byte of a hash");
_Static_assert(MR_WORKERS_MAX <= MR_PARTITIONS, "each worker owns a partition");
