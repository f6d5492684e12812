/* file_reader.h - the reader of the file source: one per worker. */
#pragma once
#include "io/file/file_bad.h"
#include "io/file/file_folder.h"
#include "io/file/file_stream.h"

struct mr_file_reader {
    const struct mr_source_config *config;
    const struct mr_format_ops *format;
    struct mr_decoder *decoder;
    struct mr_arena decoder_arena;
    struct mr_file_folder folder;
    struct mr_arena scratch; /* of the batch given last */
    struct mr_arena split_arena;
    struct mr_file_split split;
    struct mr_file_stream stream;
    struct mr_file_bad bad;
    uint64_t bad_n;  /* in the split so far */
    uint64_t bad_at; /* where in the file the last one begins */
    bool is_open;
    bool window_done; /* the decoder needs more bytes */
};
