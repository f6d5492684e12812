#include "core/expr/coerce.h"
#include "core/expr/chars.h"
#include "core/expr/writer.h"
#include "core/format/utf8.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/md5.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <zlib.h>

/* md5, sha1, sha2, crc32; hex, encode, decode. */

static const char hex_small[] = "0123456789abcdef";
static const char hex_large[] = "0123456789ABCDEF";

/* The digits of four bytes at once: a nibble in each byte of a word, then what makes it a digit. */
static uint64_t put_hex(const uint8_t *data, uint64_t n, const char *digits, char *out)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), low = UINT64_C(0x000f000f000f000f);
    const uint64_t letter = (uint64_t)(digits[10] - '0' - 10);
    uint64_t i = 0;

    for (; i + 4 <= n; i += 4) {
        uint32_t bytes;
        memcpy(&bytes, data + i, sizeof bytes);
        uint64_t x = (bytes | (uint64_t)bytes << 16) & UINT64_C(0x0000ffff0000ffff);
        x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
        x = (x >> 4 & low) | (x & low) << 8;
        x += ones * '0' + ((x + ones * 6) >> 4 & ones) * letter;
        memcpy(out + 2 * i, &x, sizeof x);
    }
    for (; i < n; i++) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
    return 2 * n;
}

/* The functions of one digest each: a context lies on the stack. OpenSSL would rather have its
 * general ones used, but to prepare a digest took longer with them than to make one. */
#define DIGEST(name, context, algorithm)                                                           \
    static void name(struct mr_text t, uint8_t *out)                                               \
    {                                                                                              \
        context c;                                                                                 \
        algorithm##_Init(&c);                                                                      \
        algorithm##_Update(&c, t.data, t.n);                                                       \
        algorithm##_Final(out, &c);                                                                \
    }
DIGEST(make_sha1, SHA_CTX, SHA1)
DIGEST(make_sha224, SHA256_CTX, SHA224)
DIGEST(make_sha256, SHA256_CTX, SHA256)
DIGEST(make_sha384, SHA512_CTX, SHA384)
DIGEST(make_sha512, SHA512_CTX, SHA512)

/* A text that fits one block with its length behind it is put there at once: a fifth faster. */
static void make_md5(struct mr_text t, uint8_t *out)
{
    enum { LENGTH_AT = MD5_CBLOCK - sizeof(uint64_t) };
    uint8_t block[MD5_CBLOCK] = {0};
    const uint64_t bits = t.n * 8;
    MD5_CTX c;

    MD5_Init(&c);
    if (t.n < LENGTH_AT) {
        memcpy(block, t.data, t.n);
        block[t.n] = 0x80;
        memcpy(block + LENGTH_AT, &bits, sizeof bits);
        MD5_Transform(&c, block);
        memcpy(out, (const MD5_LONG[]){c.A, c.B, c.C, c.D}, MD5_DIGEST_LENGTH);
    } else {
        MD5_Update(&c, t.data, t.n);
        MD5_Final(out, &c);
    }
}

enum digest_kind {
    MD5_KIND,
    SHA1_KIND,
    SHA224_KIND,
    SHA256_KIND,
    SHA384_KIND,
    SHA512_KIND,
    NO_DIGEST = -1
};
static const struct {
    void (*make)(struct mr_text t, uint8_t *out);
    uint32_t bytes;
} digests[] = {{make_md5, MD5_DIGEST_LENGTH},       {make_sha1, SHA_DIGEST_LENGTH},
               {make_sha224, SHA224_DIGEST_LENGTH}, {make_sha256, SHA256_DIGEST_LENGTH},
               {make_sha384, SHA384_DIGEST_LENGTH}, {make_sha512, SHA512_DIGEST_LENGTH}};

static enum mr_status digest(struct mr_call *call, const struct mr_column *args,
                             enum digest_kind (*kind_of)(const struct mr_column *args,
                                                         uint32_t row),
                             struct mr_column *out)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        const enum digest_kind kind = kind_of(args, row);
        uint8_t bytes[SHA512_DIGEST_LENGTH];
        if (kind == NO_DIGEST) {
            mr_text_writer_null(&w, row, call->rows);
            continue;
        }
        const uint32_t n = digests[kind].bytes;
        digests[kind].make(mr_column_text(&args[0], row), bytes);
        mr_text_writer_put(&w, row, put_hex(bytes, n, hex_small, mr_text_writer_room(&w, 2 * n)));
    }
    return MR_OK;
}

static enum digest_kind md5_kind(const struct mr_column *args, uint32_t row)
{
    (void)args, (void)row;
    return MD5_KIND;
}
static enum digest_kind sha1_kind(const struct mr_column *args, uint32_t row)
{
    (void)args, (void)row;
    return SHA1_KIND;
}
/* sha2(t, bits): 224, 256 (or 0), 384, 512; null for others. */
static enum digest_kind sha2_kind(const struct mr_column *args, uint32_t row)
{
    int32_t bits = args[1].i32[row];

    return bits == 224                ? SHA224_KIND
           : bits == 256 || bits == 0 ? SHA256_KIND
           : bits == 384              ? SHA384_KIND
           : bits == 512              ? SHA512_KIND
                                      : NO_DIGEST;
}

MR_BODY(md5)
{
    return digest(call, args, md5_kind, out);
}
MR_BODY(sha1)
{
    return digest(call, args, sha1_kind, out);
}
MR_BODY(sha2)
{
    return digest(call, args, sha2_kind, out);
}

MR_BODY(crc32)
{
    mr_column_alloc(out, &mr_type_bigint, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        out->i64[row] = (int64_t)crc32_z(0, (const uint8_t *)t.data, t.n);
    }
    return MR_OK;
}

/* hex(number): without leading zeros; hex(text or binary): two digits a byte. */
MR_RESOLVE(hex)
{
    enum mr_kind k = call->args[0]->type->kind;

    call->type = &mr_type_string;
    call->nullable = call->args[0]->nullable;
    if (k == MR_STRING || k == MR_BINARY)
        return MR_OK;
    return mr_coerce_argument(r, call, 0, &mr_type_bigint,
                              "(\"BIGINT\" or \"BINARY\" or \"STRING\")");
}

MR_BODY(hex)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        if (args[0].type->kind == MR_BIGINT) {
            char *room = mr_text_writer_room(&w, 17);
            mr_text_writer_put(
                &w, row,
                (uint64_t)snprintf(room, 17, "%llX", (unsigned long long)args[0].i64[row]));
        } else {
            struct mr_text t = mr_column_text(&args[0], row);
            char *room = mr_text_writer_room(&w, 2 * t.n);
            mr_text_writer_put(&w, row, put_hex((const uint8_t *)t.data, t.n, hex_large, room));
        }
    }
    return MR_OK;
}

MR_BODY(unhex)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_binary, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        char *room = mr_text_writer_room(&w, t.n / 2 + 1);
        uint64_t n = 0, at = 0;
        bool bad = false;
        if (t.n % 2) { /* a leading digit of its own */
            bad = mr_hex_digit(t.data[0]) < 0;
            room[n++] = (char)mr_hex_digit(t.data[at++]);
        }
        for (; at < t.n && !bad; at += 2) {
            int32_t high = mr_hex_digit(t.data[at]), low = mr_hex_digit(t.data[at + 1]);
            bad = high < 0 || low < 0;
            room[n++] = (char)((high & 15) << 4 | (low & 15));
        }
        if (bad)
            mr_text_writer_null(&w, row, call->rows);
        else
            mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}

enum charset { UTF_8, LATIN_1, ASCII, UTF_16, UTF_16BE, UTF_16LE, CHARSETS_N };
static const char *const charsets[] = {"UTF-8",  "ISO-8859-1", "US-ASCII",
                                       "UTF-16", "UTF-16BE",   "UTF-16LE"};

static enum mr_status find_charset(struct mr_call *call, struct mr_text name, enum charset *out)
{
    for (*out = UTF_8; *out < CHARSETS_N; (*out)++)
        if (mr_text_equal_ignoring_case(name, mr_text_of(charsets[*out])))
            return MR_OK;
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_PARAMETER_VALUE.CHARSET",
                             "The value of parameter(s) `charset` in `%s` is invalid: expects one "
                             "of the iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-8, but "
                             "got %.*s.",
                             call->expr->function->name, (int)name.n, name.data);
}

static uint64_t put_u16(uint32_t v, bool little, char *out)
{
    out[little ? 1 : 0] = (char)(v >> 8);
    out[little ? 0 : 1] = (char)v;
    return 2;
}

static enum mr_status bad_character(struct mr_call *call, struct mr_text charset)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "MALFORMED_CHARACTER_CODING",
                             "Invalid value found when performing `%s` with %.*s",
                             call->expr->function->name, (int)charset.n, charset.data);
}

/* Gives false for a character that the set does not have. */
static bool encode_text(struct mr_text t, enum charset set, char *out, uint64_t *n)
{
    *n = 0;
    if (set == UTF_16)
        *n += put_u16(0xfeff, false, out);
    for (uint64_t at = 0; at < t.n; at = mr_chars_next(t, at)) {
        uint32_t bytes, c = mr_chars_decode(t.data + at, t.n - at, &bytes);
        if (set == LATIN_1 || set == ASCII) {
            if (c > (set == ASCII ? 0x7fu : 0xffu))
                return false;
            out[(*n)++] = (char)c;
        } else if (c < 0x10000) {
            *n += put_u16(c, set == UTF_16LE, out + *n);
        } else {
            *n += put_u16(0xd800 + ((c - 0x10000) >> 10), set == UTF_16LE, out + *n);
            *n += put_u16(0xdc00 + ((c - 0x10000) & 0x3ff), set == UTF_16LE, out + *n);
        }
    }
    return true;
}

MR_BODY(encode)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_binary, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_utf8_replace(mr_column_text(&args[0], row), call->arena);
        char *room = mr_text_writer_room(&w, 2 * t.n + 2);
        uint64_t n = t.n;
        enum charset set;
        enum mr_status status = find_charset(call, mr_column_text(&args[1], row), &set);
        if (status != MR_OK)
            return status;
        if (set == UTF_16 && t.n == 0) /* not even a mark of its order */
            n = 0;
        else if (set == UTF_8)
            memcpy(room, t.data, t.n);
        else if (!encode_text(t, set, room, &n))
            return bad_character(call, mr_column_text(&args[1], row));
        mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}

static bool decode_bytes(struct mr_text t, enum charset set, char *out, uint64_t *n)
{
    bool little = set == UTF_16LE;
    uint64_t at = 0;

    *n = 0;
    if (set == LATIN_1 || set == ASCII) {
        for (; at < t.n; at++) {
            if (set == ASCII && (t.data[at] & 0x80))
                return false;
            *n += mr_utf8_put((uint8_t)t.data[at], (uint8_t *)out + *n);
        }
        return true;
    }
    for (; at + 2 <= t.n; at += 2) {
        uint32_t c = (uint32_t)(uint8_t)t.data[at + little] << 8 | (uint8_t)t.data[at + !little];
        if (set == UTF_16 && at == 0 && (c == 0xfeff || c == 0xfffe)) {
            little = c == 0xfffe;
            continue;
        }
        if (c >= 0xd800 && c < 0xe000) { /* half of a pair: the other must follow */
            if (c >= 0xdc00 || at + 4 > t.n)
                return false;
            uint32_t low =
                (uint32_t)(uint8_t)t.data[at + 2 + little] << 8 | (uint8_t)t.data[at + 2 + !little];
            if (low < 0xdc00 || low >= 0xe000)
                return false;
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            at += 2;
        }
        *n += mr_utf8_put(c, (uint8_t *)out + *n);
    }
    return at == t.n;
}

MR_BODY(decode)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        char *room = mr_text_writer_room(&w, 4 * t.n + 4);
        uint64_t n = t.n;
        enum charset set;
        enum mr_status status = find_charset(call, mr_column_text(&args[1], row), &set);
        if (status != MR_OK)
            return status;
        bool ok = true;
        if (set != UTF_8)
            ok = decode_bytes(t, set, room, &n);
        else if (mr_utf8_replace(t, call->arena).data == t.data) /* nothing was to be replaced */
            memcpy(room, t.data, t.n);
        else
            ok = false;
        if (!ok)
            return bad_character(call, mr_column_text(&args[1], row));
        mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}

/* decode(x, charset), or decode(x, search, result, .., [default]): the second is a CASE with
 * <=>. */
MR_RESOLVE(decode)
{
    struct mr_expr **args;
    uint32_t n = 0;

    call->type = &mr_type_string;
    if (call->args_n == 2) {
        enum mr_status status = MR_OK;
        if (call->args[0]->type->kind != MR_STRING && call->args[0]->type->kind != MR_BINARY)
            status = mr_mismatch_argument(r, call, 0, "\"BINARY\"");
        call->nullable = mr_expr_any_nullable(call);
        return status == MR_OK ? mr_coerce_argument(r, call, 1, &mr_type_string, NULL) : status;
    }
    args = MR_NEW_ARRAY(r->arena, struct mr_expr *, call->args_n);
    for (uint32_t i = 1; i + 1 < call->args_n; i += 2) {
        struct mr_expr *pair[2] = {call->args[0], call->args[i]};
        enum mr_status status =
            mr_call_make(r, mr_function_find("<=>"), pair, 2, call->place, call->text, &args[n]);
        if (status != MR_OK)
            return status;
        args[n + 1] = call->args[i + 1];
        n += 2;
    }
    if (call->args_n % 2 == 0)
        args[n++] = call->args[call->args_n - 1];
    call->args = args;
    call->args_n = n;
    call->function = mr_function_find("case");
    return call->function->resolve(r, call);
}
