/* file_options.h - the options of the file source and sink that are not the format's. */
#pragma once
#include "core/op/sink.h"

enum mr_file_clean { MR_FILE_CLEAN_OFF, MR_FILE_CLEAN_ARCHIVE, MR_FILE_CLEAN_DELETE };

struct mr_file_options {
    const char *path;
    const char *base; /* columns stand in the names of folders below it; NULL: in none */
    uint64_t files_max, bytes_max; /* per trigger; 0: no limit */
    bool latest_first, name_only;
    bool flat; /* recursiveFileLookup */
    int64_t age_max_us;
    enum mr_file_clean clean;
    const char *archive_dir;
    const char *name_glob; /* pathGlobFilter, or NULL */
};

/* What a source takes, for help and the check of names; the format checks the rest. */
extern const char *const mr_file_source_options[], *const mr_file_sink_options[];

MR_NODISCARD enum mr_status mr_file_options_read(const struct mr_table *table,
                                                 struct mr_file_options *out, struct mr_error *err);
/* By mr_path_absolute, in the arena. */
const char *mr_file_absolute(const char *path, struct mr_arena *a);
/* Paths from the root on: a file has one name, wherever the program runs and however its folder is
 * written. */
void mr_file_options_resolve(struct mr_file_options *o, struct mr_arena *a);
/* After a format refused options with this status: if one is nearly one of own, says so instead. */
enum mr_status mr_file_unknown_option(const char *format, const struct mr_option *options,
                                      uint32_t n, const char *const *own, bool reading,
                                      enum mr_status status, struct mr_error *err);

/* Options that are in neither list go to the format: fills format_options (room for n). */
uint32_t mr_file_format_options(const struct mr_option *options, uint32_t n, const char *const *own,
                                struct mr_option *format_options);
/* "128m", "10kb", "1000": Spark's byte texts. */
bool mr_file_parse_bytes(const char *text, uint64_t *bytes);
/* "./in" -> "in" */
const char *mr_file_without_dots(const char *path);
