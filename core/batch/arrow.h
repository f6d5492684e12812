/* arrow.h - the Arrow C Data Interface (arrow.apache.org/docs/format/CDataInterface.html).
 *
 * Owner    Export copies the selected rows deeply; the consumer calls release, on any thread, also
 *          of children that it moved out. Import copies as well, into the arena: the interface
 *          tells no capacity, and columns promise aligned and padded buffers. So the array may be
 *          released at once.
 * Types    STRING and BINARY go out as views, TIMESTAMP as microseconds in UTC, INTERVAL_DAY_TIME
 *          as a duration. In come also 32 and 64-bit offsets; other units of time, unsigned
 *          integers and dictionaries are MR_UNSUPPORTED.
 */
#pragma once
#include "core/batch/batch.h"

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

/* type is a STRUCT: the columns of the batch. */
MR_NODISCARD enum mr_status mr_arrow_export(const struct mr_batch *batch,
                                            const struct mr_type *type, struct ArrowSchema *schema,
                                            struct ArrowArray *array, struct mr_error *err);
MR_NODISCARD enum mr_status mr_arrow_import_type(const struct ArrowSchema *schema,
                                                 struct mr_arena *a, const struct mr_type **type,
                                                 struct mr_error *err);
/* Offsets other than 0 are accepted. schema tells the layout, type (as imported from it) the
 * columns. */
MR_NODISCARD enum mr_status mr_arrow_import(const struct ArrowArray *array,
                                            const struct ArrowSchema *schema,
                                            const struct mr_type *type, struct mr_arena *a,
                                            struct mr_batch *out, struct mr_error *err);
