#include "io/file/file_stream.h"

#include "core/base/check.h"
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum {
    RAW_BYTES = 128 << 10,
    WINDOW_LOG_MAX = 27 /* zstd frames may need this much memory: 128 MiB */
};

struct mr_file_inflater {
    enum mr_file_codec codec;
    uint8_t raw[RAW_BYTES];
    uint64_t raw_n, raw_at;
    bool in_member; /* a gzip member or zstd frame has begun and not ended */
    z_stream gzip;
    ZSTD_DStream *zstd;
};

struct mr_file_inflater *mr_file_inflater_open(enum mr_file_codec codec)
{
    struct mr_file_inflater *f = calloc(1, sizeof *f);

    if (f == NULL)
        return NULL;
    f->codec = codec;
    bool ok = codec == MR_FILE_GZIP ? inflateInit2(&f->gzip, 16 + MAX_WBITS) == Z_OK
                                    : (f->zstd = ZSTD_createDStream()) != NULL;
    if (ok && codec == MR_FILE_ZSTD)
        ZSTD_DCtx_setParameter(f->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    if (!ok) {
        free(f);
        return NULL;
    }
    return f;
}

void mr_file_inflater_close(struct mr_file_inflater *f)
{
    if (f->codec == MR_FILE_GZIP)
        inflateEnd(&f->gzip);
    else
        ZSTD_freeDStream(f->zstd);
    free(f);
}

/* One step of the decompressor: consumes raw bytes, gives how many came out, or -1 for bad data. */
static int64_t step_gzip(struct mr_file_inflater *f, uint8_t *out, uint64_t room)
{
    f->gzip.next_in = f->raw + f->raw_at;
    f->gzip.avail_in = (uInt)(f->raw_n - f->raw_at);
    f->gzip.next_out = out;
    f->gzip.avail_out = (uInt)room;
    f->in_member = true;
    int rc = inflate(&f->gzip, Z_NO_FLUSH);
    f->raw_at = f->raw_n - f->gzip.avail_in;
    if (rc == Z_STREAM_END) {
        f->in_member = false;
        inflateReset(&f->gzip);
    } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
        return -1;
    }
    return (int64_t)(room - f->gzip.avail_out);
}

static int64_t step_zstd(struct mr_file_inflater *f, uint8_t *out, uint64_t room)
{
    ZSTD_inBuffer in = {f->raw, f->raw_n, f->raw_at};
    ZSTD_outBuffer to = {out, room, 0};
    size_t rc = ZSTD_decompressStream(f->zstd, &to, &in);

    f->raw_at = in.pos;
    if (ZSTD_isError(rc))
        return -1;
    f->in_member = rc != 0;
    return (int64_t)to.pos;
}

enum mr_status mr_file_inflate(struct mr_file_inflater *f, struct mr_file_stream *s, uint8_t *out,
                               uint64_t room, uint64_t *got, struct mr_error *err)
{
    *got = 0;
    if (f == NULL)
        return MR_FAIL(err, MR_MEMORY, 0, "%s: no memory to decompress it", s->path);
    while (*got < room) {
        if (f->raw_at == f->raw_n) {
            int64_t n = s->env->ops->read(s->file, f->raw, RAW_BYTES, s->at);
            if (n < 0)
                return MR_FAIL(err, MR_IO, (int)-n, "read %s at %llu", s->path,
                               (unsigned long long)s->at);
            if (n == 0 && f->in_member)
                return MR_FAIL(err, MR_QUERY, 0,
                               "%s: the compressed file is cut off at %llu; put the whole file in "
                               "its place or take it away, and start again",
                               s->path, (unsigned long long)s->at);
            if (n == 0)
                return MR_OK;
            f->raw_n = (uint64_t)n;
            f->raw_at = 0;
            s->at += (uint64_t)n;
        }
        int64_t n = f->codec == MR_FILE_GZIP ? step_gzip(f, out + *got, room - *got)
                                             : step_zstd(f, out + *got, room - *got);
        if (n < 0)
            return MR_FAIL(err, MR_QUERY, 0,
                           "%s: bad compressed data near byte %llu; mend the file or take it away, "
                           "and start again",
                           s->path, (unsigned long long)(s->at - f->raw_n + f->raw_at));
        *got += (uint64_t)n;
    }
    return MR_OK;
}
