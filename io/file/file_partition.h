/* file_partition.h - columns that stand in folder names: in/day=2026-01-01/hour=7/part.json.
 *
 * Rule     As in Spark: the folders name=value on the way to a file, next to each other and nearest
 *          to it, below the base. A folder's value is the column's in all rows of its files,
 *          whatever a record says.
 * Types    A declared column has its declared type, any other the narrowest one that the values of
 *          all folders have.
 */
#pragma once
#include "core/op/source.h"

enum { MR_FILE_PARTITIONS_MAX = 32 };

/* The folder's value of a NULL (or of an empty text, which no folder can tell from it). */
#define MR_FILE_NULL_PARTITION "__HIVE_DEFAULT_PARTITION__"

struct mr_file_partitions {
    struct mr_text names[MR_FILE_PARTITIONS_MAX], values[MR_FILE_PARTITIONS_MAX];
    uint32_t n;
};

/* From the outermost to the innermost, unescaped. base: a folder above path; NULL: there are none.
 * The texts lie in path or in a. */
void mr_file_partitions_read(const char *path, const char *base, struct mr_arena *a,
                             struct mr_file_partitions *out);
/* Which of them is the column, or n. */
uint32_t mr_file_partitions_find(const struct mr_file_partitions *p, const char *column);
/* Value number i as a column of one row. */
MR_NODISCARD enum mr_status mr_file_partition_cast(const struct mr_file_partitions *p, uint32_t i,
                                                   const struct mr_type *type,
                                                   const struct mr_zone *zone, struct mr_arena *a,
                                                   struct mr_column *out, const char *path,
                                                   struct mr_error *err);
/* The first row of one, rows times. */
void mr_file_partition_fill(struct mr_column *out, const struct mr_column *one, uint32_t rows,
                            struct mr_arena *a);
/* Paths that can't be read as one table, since their folders name different columns. */
MR_NODISCARD enum mr_status mr_file_partition_conflict(const struct mr_table *t, const char *path,
                                                       const struct mr_file_partitions *p,
                                                       const char *other,
                                                       const struct mr_file_partitions *others,
                                                       struct mr_error *err);

/* file_partition_schema.c: the columns of the folders that are there now go to the end of the
 * schema. */
enum mr_status mr_file_complete_schema(struct mr_table *t, const struct mr_conf *conf,
                                       struct mr_arena *a, struct mr_error *err);
