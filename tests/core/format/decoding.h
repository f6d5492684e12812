/* decoding.h - runs a decoder over a text, in pieces, and gives the rows as JSON lines. */
#pragma once
#include "core/format/ddl.h"
#include "core/format/format.h"
#include "core/format/json/decoder.h"
#include "core/format/json/json.h"
#include "kernels/kernels.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

struct decoding {
    const char *format, *schema, *needed; /* needed NULL: all of schema */
    struct mr_option options[16];
    uint32_t options_n;
    uint32_t batch_rows; /* 0: the default */
    bool exact;          /* json: without the fast path */
    uint64_t piece;      /* the input comes in pieces of at most so many bytes more; 0: at once */
};

struct decoded {
    struct mr_arena arena;
    jmp_buf escape;
    struct mr_buffer rows; /* one JSON object a line */
    uint32_t bad_n;
    uint64_t bad_offset; /* of the last */
    struct mr_error err;
    enum mr_status status;
};

static void decoding_on_bad(void *arg, const struct mr_bad_record *bad)
{
    struct decoded *d = arg;

    assert_non_null(bad->reason);
    d->bad_n++;
    d->bad_offset = bad->offset;
}

static enum mr_status decoding_run(const struct decoding *in, const struct mr_format_ops *ops,
                                   const struct mr_decoder_config *config, struct mr_text text,
                                   struct decoded *out)
{
    struct mr_decoder *d = NULL;
    struct mr_arena scratch;
    struct mr_json_writer writer = {
        .zone = mr_zone_utc(), .keep_nulls = true, .microseconds_always = true};
    enum mr_status status = ops->decoder_open(config, &out->arena, &d, &out->err);
    if (status != MR_OK)
        return status;
    mr_arena_init(&scratch, NULL, &out->escape);
    ops->decoder_begin(d);
    if (in->exact)
        json_decoder_force_exact(d);
    uint64_t at = 0, have = in->piece ? 0 : text.n;
    for (bool done = false; !done && status == MR_OK;) {
        struct mr_batch batch;
        uint64_t used;
        bool at_end = have == text.n;
        /* a copy of its own, so that nothing behind it but the pad may be read, and views must
         * follow */
        uint8_t *window = mr_arena_alloc(&scratch, have - at + MR_PAD_BYTES);
        memset(window + (have - at), '7', MR_PAD_BYTES);
        if (have > at)
            memcpy(window, text.data + at, have - at);
        status = ops->decode(d, window, have - at, at_end, &scratch, &batch, &used, &out->err);
        if (status != MR_OK)
            break;
        assert_true(batch.rows <= config->batch_rows);
        assert_true(batch.rows == 0 || mr_batch_is_valid(&batch));
        for (uint32_t i = 0; i < batch.rows; i++) {
            mr_json_write_row(&writer, config->schema, &batch, i, &out->rows);
            mr_buffer_append(&out->rows, "\n", 1);
        }
        at += used;
        done = at_end && used == 0 && batch.rows == 0;
        if (used == 0 && batch.rows == 0 && have < text.n)
            have = have + in->piece < text.n ? have + in->piece : text.n;
        mr_arena_reset(&scratch);
    }
    if (status == MR_OK)
        assert_int_equal(at, text.n);
    ops->decoder_close(d);
    mr_arena_fini(&scratch);
    return status;
}

/* Fills out; call decoded_free. */
static void decode_text(const struct decoding *in, struct mr_text text, struct decoded *out)
{
    const struct mr_format_ops *ops = mr_format_find(in->format);
    const struct mr_type *full, *needed;

    memset(out, 0, sizeof *out);
    mr_arena_init(&out->arena, NULL, &out->escape);
    mr_buffer_init(&out->rows, &out->arena);
    mr_buffer_reserve(&out->rows, 1);
    assert_int_equal(mr_ddl_parse_columns(mr_text_of(in->schema), &out->arena, &full, &out->err),
                     MR_OK);
    needed = full;
    if (in->needed)
        assert_int_equal(
            mr_ddl_parse_columns(mr_text_of(in->needed), &out->arena, &needed, &out->err), MR_OK);
    struct mr_decoder_config config = {.schema = needed,
                                       .full_schema = full,
                                       .options = in->options,
                                       .options_n = in->options_n,
                                       .zone = mr_zone_utc(),
                                       .batch_rows =
                                           in->batch_rows ? in->batch_rows : MR_BATCH_ROWS_DEFAULT,
                                       .on_bad = decoding_on_bad,
                                       .on_bad_arg = out};
    out->status = ops->check_options(in->options, in->options_n, true, &out->err);
    if (out->status == MR_OK)
        out->status = decoding_run(in, ops, &config, text, out);
    mr_buffer_append(&out->rows, "", 1);
    out->rows.n--;
}

static inline void decoded_free(struct decoded *d)
{
    mr_arena_fini(&d->arena);
}

/* The rows, in any batch size, piece and instruction set. */
static inline void expect_rows(struct decoding in, const char *text, const char *rows)
{
    static const uint64_t pieces[] = {0, 1, 7, 64};
    static const uint32_t sizes[] = {0, 1, 2};
    struct mr_error err;

    for (int isa = MR_ISA_SCALAR; isa <= (int)mr_kernels_best(); isa++) {
        assert_int_equal(mr_kernels_init(mr_isa_name((enum mr_isa)isa), &err), MR_OK);
        for (uint32_t i = 0; i < 4; i++) {
            for (uint32_t k = 0; k < 3; k++) {
                struct decoded out;
                in.piece = pieces[i];
                in.batch_rows = sizes[k];
                decode_text(&in, mr_text_of(text), &out);
                if (out.status != MR_OK)
                    print_message("%s\n", out.err.message);
                assert_int_equal(out.status, MR_OK);
                assert_string_equal((const char *)out.rows.data, rows);
                decoded_free(&out);
            }
        }
    }
}
