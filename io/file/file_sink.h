/* file_sink.h - inside the file sink.
 *
 * How      A writer appends to ".part-..tmp", an open file under a hidden name, which is durable
 *          up to the length that the commit record names; the committer renames it to its final
 *          name when it is big or old enough, when the query ends, or at the next start (cut back
 *          to the length that the last commit names). So readers see whole files only, millisecond
 *          epochs make no thousands of them, and an epoch without a commit record leaves nothing
 *          visible.
 * Prepared One record per open file: flags, length, path. Versioned by its first byte.
 */
#pragma once
#include "io/file/file_options.h"
#include "io/file/file_source.h"

enum { MR_FILE_PARTITIONS_OPEN_MAX = 64 };

struct mr_file_sink_options {
    const char *path;
    uint64_t bytes_max;
    int64_t age_max_us;
    enum mr_file_codec codec;
    const struct mr_format_ops *format;
    struct mr_option *format_options;
    uint32_t format_options_n;
};
MR_NODISCARD enum mr_status mr_file_sink_options_read(const struct mr_sink_config *config,
                                                      struct mr_arena *a,
                                                      struct mr_file_sink_options *out,
                                                      struct mr_error *err);

/* One output file that is being written. */
struct mr_file_part {
    struct mr_arena arena;    /* of path and buffer; reset when the file is closed */
    char *path;               /* the hidden one, or NULL: the slot is free */
    struct mr_text partition; /* "/k=v/..", "" without partitions */
    struct mr_file *file;
    const char *folder;      /* its own, until its name there is durable; then NULL */
    struct mr_buffer buffer; /* encoded, not yet written */
    uint64_t length;         /* written */
    int64_t opened_us;
    uint64_t used_at; /* write call that used it last */
    bool is_taken;    /* the committer gave it out while idle: the writer only closes it */
};

struct mr_file_writer {
    const struct mr_sink_config *config;
    struct mr_file_committer *committer;
    struct mr_file_sink_options options;
    struct mr_encoder *encoder;
    uint32_t worker, serial;
    struct mr_file_part parts[MR_FILE_PARTITIONS_OPEN_MAX];
    uint64_t writes;
    struct mr_arena scratch;     /* of one write */
    struct mr_arena frame_arena; /* of one compressed frame: files are also closed in a write */
    struct mr_arena epoch_arena; /* of finals */
    struct mr_buffer finals;     /* records of files closed in this epoch before its end */
    uint32_t *partition_columns; /* indexes into the schema */
    uint32_t *data_columns;
    uint32_t data_columns_n;
};

struct mr_file_committer {
    const struct mr_sink_config *config;
    struct mr_file_sink_options options;
    struct mr_arena arena; /* of open: rewritten by each publish */
    struct mr_arena walk;  /* of undo */
    struct mr_file_open {
        const char *path;
        uint64_t length;
    } * open;
    uint32_t open_n;
    struct mr_file_writer *writers[MR_WORKERS_MAX];
    bool began; /* an epoch ran in this process: publish is no longer a recovery */
};

/* Gives a file its final name: cut to length, synced, renamed; done before: nothing. */
MR_NODISCARD enum mr_status mr_file_finalize(struct mr_env *env, const char *hidden,
                                             uint64_t length, struct mr_error *err);
/* Of an earlier run: what that did is made durable; a file that is gone under both names has been
 * taken away by who reads it. */
MR_NODISCARD enum mr_status mr_file_finalize_again(struct mr_env *env, const char *hidden,
                                                   uint64_t length, struct mr_error *err);
/* The failure when the hidden name is gone under the hands of who writes it. */
enum mr_status mr_file_lost(const char *hidden, struct mr_error *err);
/* One record of prepare. */
void mr_file_record_write(struct mr_buffer *out, bool is_final, uint64_t length, const char *path);
bool mr_file_record_read(struct mr_text *records, struct mr_arena *a, bool *is_final,
                         uint64_t *length, const char **path);

enum mr_status mr_file_writer_open(void *writer, const struct mr_sink_config *config,
                                   void *committer, uint32_t worker, struct mr_error *err);
void mr_file_writer_close(void *writer);
enum mr_step mr_file_write(void *writer, uint64_t epoch, const struct mr_batch *batch,
                           struct mr_error *err);
enum mr_step mr_file_prepare(void *writer, uint64_t epoch, struct mr_buffer *out,
                             struct mr_error *err);

extern const struct mr_sink_ops mr_sink_csv, mr_sink_json, mr_sink_text;
