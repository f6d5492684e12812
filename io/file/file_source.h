/* file_source.h - inside the file source: what planner and reader agree on.
 *
 * Offsets  {"logOffset":N} for people; the bytes are a list of files with time and size.
 * Split    a byte range of one file. A record belongs to the split in which its first byte lies:
 *          all but the first split skip to behind the first newline at or after start - 1.
 */
#pragma once
#include "io/file/file_list.h"
#include "io/file/file_options.h"
#include "io/file/file_seen.h"

enum mr_file_codec { MR_FILE_PLAIN, MR_FILE_GZIP, MR_FILE_ZSTD };

struct mr_file_split {
    uint64_t epoch;
    enum mr_file_codec codec;
    uint64_t start, end; /* end UINT64_MAX: to the end of the file */
    uint64_t bytes; /* of the file from start, as listed: what input_file_block_length() says */
    const char *path;
};

MR_NODISCARD enum mr_status mr_file_codec_of(const char *path, enum mr_file_codec *codec,
                                             struct mr_error *err);
void mr_file_split_write(const struct mr_file_split *s, struct mr_buffer *out);
/* path is copied to a. */
void mr_file_split_read(struct mr_text bytes, struct mr_arena *a, struct mr_file_split *out);

struct mr_file_planner {
    const struct mr_source_config *config;
    struct mr_file_options options;
    const struct mr_format_ops *format;
    struct mr_option *format_options;
    uint32_t format_options_n;
    struct mr_file_seen seen;
    int64_t purge_us; /* older files are never new */
    bool frozen;
    bool told_old, told_empty;
    struct mr_arena listing;    /* of unread */
    struct mr_file_list unread; /* sorted; from unread_at on */
    uint32_t unread_at;
    struct mr_arena epoch_arena; /* of the planned epoch */
    struct mr_file_entry *files;
    uint32_t files_n;
    uint64_t epoch;
    int64_t log_offset; /* epochs with files, - 1 */
    struct mr_buffer *splits;
    uint32_t splits_n;
    struct mr_buffer json, bytes;
};

enum mr_status mr_file_planner_open(void *planner, const struct mr_source_config *config,
                                    struct mr_error *err);
void mr_file_planner_close(void *planner);
enum mr_status mr_file_plan(void *planner, uint64_t epoch, enum mr_source_limit limit,
                            struct mr_offsets *to, bool *has_new, struct mr_error *err);
enum mr_status mr_file_freeze(void *planner, struct mr_error *err);
enum mr_status mr_file_adopt(void *planner, uint64_t epoch, struct mr_text bytes,
                             struct mr_error *err);
void mr_file_save(void *planner, struct mr_buffer *out);
enum mr_status mr_file_load(void *planner, struct mr_text saved, struct mr_error *err);
enum mr_status mr_file_committed(void *planner, uint64_t epoch, struct mr_error *err);
enum mr_status mr_file_splits(void *planner, uint32_t *n, struct mr_error *err);
struct mr_text mr_file_split_bytes(void *planner, uint32_t i);

enum mr_status mr_file_reader_open(void *reader, const struct mr_source_config *config,
                                   struct mr_error *err);
void mr_file_reader_close(void *reader);
enum mr_status mr_file_open_split(void *reader, struct mr_text split, struct mr_error *err);
enum mr_step mr_file_pull(void *reader, struct mr_batch *out, struct mr_source_counts *counts,
                          struct mr_error *err);
void mr_file_input(void *reader, struct mr_input_block *out);

/* One per format: json, csv, text. */
extern const struct mr_source_ops mr_source_csv, mr_source_json, mr_source_text;
