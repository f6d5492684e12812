/* file_stream.h - the bytes of one split, in windows, decompressed, with the split's borders
 * applied.
 *
 * How      Two buffers: while records of one are decoded, the other is read ahead. What is left
 *          over of a record is moved in front of the next window, into a head that every buffer
 *          keeps free.
 * Owner    data[0..n) is valid until the next fill; a batch may borrow it until then.
 * Limits   A record of more than record_bytes_max is not held: see mr_file_stream_skip. A sixteenth
 *          of the memory limit, at most MR_FILE_RECORD_BYTES_MAX: both buffers grow to two and a
 *          half times a long record, on each worker.
 */
#pragma once
#include "io/file/file_source.h"

enum { MR_FILE_RECORD_BYTES_MAX = 256 << 20 };

struct mr_file_inflater; /* file_inflate.c */

struct mr_file_stream {
    struct mr_env *env;
    struct mr_file *file;
    struct mr_arena arena; /* of the buffers */
    struct mr_arena old;   /* while they grow: an escape leaves it to be closed */
    uint8_t *buffers[2];
    uint64_t head_bytes, chunk_bytes, record_bytes_max;
    uint32_t current;
    uint64_t at;     /* next byte to read of the file */
    uint64_t limit;  /* the split's end */
    uint64_t wanted; /* where the file ended when its epoch was planned, or the split does */
    bool reading;    /* a read into the other buffer is under way */
    bool skipping;   /* the record that began in the split before */
    bool at_end;     /* nothing follows data[0..n) */
    bool is_short;   /* the file ended before that: rows are missing */
    uint8_t *data;
    uint64_t n;
    uint64_t offset; /* of data[0], in the decompressed input */
    const char *path;
    enum mr_file_codec codec;
    struct mr_file_inflater *inflater;
};

void mr_file_stream_init(struct mr_file_stream *s, struct mr_env *env, struct mr_budget *budget,
                         jmp_buf *escape);
void mr_file_stream_fini(struct mr_file_stream *s);
/* *gone: there is no such file any more. */
MR_NODISCARD enum mr_status mr_file_stream_open(struct mr_file_stream *s,
                                                const struct mr_file_split *split, bool *gone,
                                                struct mr_error *err);
void mr_file_stream_close(struct mr_file_stream *s);
/* More bytes behind those of the window, or at_end. */
MR_NODISCARD enum mr_status mr_file_stream_fill(struct mr_file_stream *s, struct mr_error *err);
void mr_file_stream_consume(struct mr_file_stream *s, uint64_t bytes);
/* Drops the window and goes on behind the next newline. */
void mr_file_stream_skip(struct mr_file_stream *s);

/* Up to room decompressed bytes to out; *got 0: the end. read gives compressed bytes. */
struct mr_file_inflater *mr_file_inflater_open(enum mr_file_codec codec);
void mr_file_inflater_close(struct mr_file_inflater *f);
MR_NODISCARD enum mr_status mr_file_inflate(struct mr_file_inflater *f, struct mr_file_stream *s,
                                            uint8_t *out, uint64_t room, uint64_t *got,
                                            struct mr_error *err);
