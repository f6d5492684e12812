/* file_folder.h - the columns of the folder that the open split lies in: one per reader.
 *
 * Cost     One column of the folder's value is filled and shared by all batches of the split.
 */
#pragma once
#include "io/file/file_options.h"
#include "io/file/file_partition.h"

struct mr_file_folder {
    const struct mr_source_config *config;
    struct mr_file_options options;
    bool *is_in;               /* by column of the table: its value is the folder's */
    bool *was_in;              /* before the split */
    struct mr_column *values;  /* by column of config->schema: one row */
    struct mr_column *columns; /* the same, room_rows times */
    uint32_t columns_n;        /* of config->schema that are in folders */
    uint32_t room_rows;
    struct mr_arena *arena; /* of the split */
};

uint32_t mr_file_column_of(const struct mr_table *t, const char *name);
MR_NODISCARD enum mr_status mr_file_folder_open(struct mr_file_folder *f,
                                                const struct mr_source_config *config,
                                                struct mr_error *err);
/* path: of the split. *changed: other columns than before stand in its folders. */
MR_NODISCARD enum mr_status mr_file_folder_enter(struct mr_file_folder *f, const char *path,
                                                 struct mr_arena *a, bool *changed,
                                                 struct mr_error *err);
/* Completes a batch of the columns of records. */
void mr_file_folder_add(struct mr_file_folder *f, struct mr_batch *batch, struct mr_arena *scratch);
