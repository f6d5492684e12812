#include "core/expr/coerce.h"
#include "core/expr/hash.h"

#include <math.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* hash (Murmur3, seed 42) and xxhash64 (seed 42): bit by bit as Spark's, over any types. A null
 * leaves the hash as it was; -0.0 hashes as 0.0. */

enum { SEED = 42 };

struct hasher {
    uint64_t (*u32)(uint32_t v, uint64_t seed);
    uint64_t (*u64)(uint64_t v, uint64_t seed);
    uint64_t (*bytes)(const void *data, uint64_t n, uint64_t seed);
};

static inline uint32_t rotate(uint32_t x, uint32_t by)
{
    return x << by | x >> (32 - by);
}
static inline uint32_t murmur_mix(uint32_t h, uint32_t k)
{
    k = rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u;
    return rotate(h ^ k, 13) * 5 + 0xe6546b64u;
}
static inline uint32_t murmur_finish(uint32_t h, uint32_t n)
{
    h ^= n;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}
static uint64_t murmur_u32(uint32_t v, uint64_t seed)
{
    return murmur_finish(murmur_mix((uint32_t)seed, v), 4);
}
static uint64_t murmur_u64(uint64_t v, uint64_t seed)
{
    return murmur_finish(murmur_mix(murmur_mix((uint32_t)seed, (uint32_t)v), (uint32_t)(v >> 32)),
                         8);
}
/* Spark's own: the last bytes are mixed in one by one, each as a signed word. */
static uint64_t murmur_bytes(const void *data, uint64_t n, uint64_t seed)
{
    const uint8_t *p = data;
    uint32_t h = (uint32_t)seed, k;
    uint64_t i = 0;

    for (; i + 4 <= n; i += 4) {
        memcpy(&k, p + i, 4);
        h = murmur_mix(h, k);
    }
    for (; i < n; i++)
        h = murmur_mix(h, (uint32_t)(int32_t)(int8_t)p[i]);
    return murmur_finish(h, (uint32_t)n);
}

static uint64_t xxh64_u32(uint32_t v, uint64_t seed)
{
    return XXH64(&v, sizeof v, seed);
}
static uint64_t xxh64_u64(uint64_t v, uint64_t seed)
{
    return XXH64(&v, sizeof v, seed);
}
static uint64_t xxh64_bytes(const void *data, uint64_t n, uint64_t seed)
{
    return XXH64(data, n, seed);
}

static const struct hasher murmur = {murmur_u32, murmur_u64, murmur_bytes};
static const struct hasher xxh64 = {xxh64_u32, xxh64_u64, xxh64_bytes};

static uint64_t hash_f64(const struct hasher *h, double v, uint64_t seed)
{
    uint64_t bits;

    v = v == 0 ? 0.0 : v != v ? (double)NAN : v;
    memcpy(&bits, &v, sizeof bits);
    return h->u64(bits, seed);
}

static uint64_t hash_f32(const struct hasher *h, float v, uint64_t seed)
{
    uint32_t bits;

    v = v == 0 ? 0.0f : v != v ? NAN : v;
    memcpy(&bits, &v, sizeof bits);
    return h->u32(bits, seed);
}

/* Up to 18 digits as a long, above as the bytes of Java's BigInteger: big end first, no byte too
 * many. */
static uint64_t hash_decimal(const struct hasher *h, const struct mr_column *c, uint32_t row,
                             uint64_t seed)
{
    uint8_t bytes[16];
    uint32_t n = 16, from = 0;
    __int128 v = c->i128[row];

    if (c->type->precision <= 18)
        return h->u64((uint64_t)v, seed);
    for (uint32_t i = 0; i < 16; i++)
        bytes[i] = (uint8_t)(v >> (8 * (15 - i)));
    while (n > 1 && ((bytes[from] == 0 && bytes[from + 1] < 0x80) ||
                     (bytes[from] == 0xff && bytes[from + 1] >= 0x80))) {
        from++;
        n--;
    }
    return h->bytes(bytes + from, n, seed);
}

static uint64_t hash_value(const struct hasher *h, const struct mr_column *c, uint32_t row,
                           uint64_t seed)
{
    struct mr_text t;

    if (mr_column_is_null(c, row))
        return seed;
    switch (c->type->kind) {
    case MR_BOOLEAN:
        return h->u32(mr_bit_get(c->bits, row), seed);
    case MR_TINYINT:
        return h->u32((uint32_t)(int32_t)c->i8[row], seed);
    case MR_SMALLINT:
        return h->u32((uint32_t)(int32_t)c->i16[row], seed);
    case MR_INT:
    case MR_DATE:
    case MR_INTERVAL_YEAR_MONTH:
        return h->u32((uint32_t)c->i32[row], seed);
    case MR_FLOAT:
        return hash_f32(h, c->f32[row], seed);
    case MR_DOUBLE:
        return hash_f64(h, c->f64[row], seed);
    case MR_DECIMAL:
        return hash_decimal(h, c, row, seed);
    case MR_STRING:
    case MR_BINARY:
        t = mr_column_text(c, row);
        return h->bytes(t.data, t.n, seed);
    case MR_INTERVAL_CALENDAR:
        seed = h->u64((uint64_t)c->calendar[row].us, seed);
        seed = h->u32((uint32_t)c->calendar[row].days, seed);
        return h->u32((uint32_t)c->calendar[row].months, seed);
    case MR_ARRAY:
    case MR_MAP:
        for (int32_t e = c->offsets[row]; e < c->offsets[row + 1]; e++)
            for (uint32_t f = 0; f < c->type->fields_n; f++)
                seed = hash_value(h, &c->children[f], (uint32_t)e, seed);
        return seed;
    case MR_STRUCT:
        for (uint32_t f = 0; f < c->type->fields_n; f++)
            seed = hash_value(h, &c->children[f], row, seed);
        return seed;
    default:
        return h->u64((uint64_t)c->i64[row], seed);
    }
}

uint32_t mr_hash_murmur(const void *data, uint64_t n, uint32_t seed)
{
    return (uint32_t)murmur_bytes(data, n, seed);
}

uint64_t mr_hash_xxh64(const struct mr_column *c, uint32_t row, uint64_t seed)
{
    return hash_value(&xxh64, c, row, seed);
}

static bool holds_map(const struct mr_type *type)
{
    for (uint32_t f = 0; f < type->fields_n; f++)
        if (holds_map(type->fields[f].type))
            return true;
    return type->kind == MR_MAP;
}

MR_RESOLVE(hash)
{
    bool wide = call->function->name[0] == 'x';

    for (uint32_t i = 0; i < call->args_n; i++)
        if (holds_map(call->args[i]->type))
            return mr_mismatch(r, call, "HASH_MAP_TYPE",
                               "Input to the function `%s` cannot contain elements of the \"MAP\" "
                               "type.",
                               call->function->name);
        else if (mr_type_has(call->args[i]->type, MR_VARIANT))
            return mr_mismatch(r, call, "HASH_VARIANT_TYPE",
                               "Input to the function `%s` cannot contain elements of the "
                               "\"VARIANT\" type yet.",
                               call->function->name);
    call->type = wide ? &mr_type_bigint : &mr_type_int;
    return MR_OK;
}

/* Of one text, as most are: without asking each row for its type. */
#define HASH_TEXTS(name, type, bytes)                                                              \
    static void name(struct mr_call *call, const struct mr_column *x, type *to)                    \
    {                                                                                              \
        MR_EACH_ROW(call, i, row)                                                                  \
        {                                                                                          \
            const struct mr_text t = mr_column_text(x, row);                                       \
            to[row] = mr_column_is_null(x, row) ? SEED : (type)bytes(t.data, t.n, SEED);           \
        }                                                                                          \
    }
HASH_TEXTS(murmur_texts, int32_t, murmur_bytes)
HASH_TEXTS(xxh64_texts, int64_t, xxh64_bytes)

static bool is_one_text(const struct mr_call *call, const struct mr_column *args)
{
    return call->expr->args_n == 1 &&
           (args->type->kind == MR_STRING || args->type->kind == MR_BINARY);
}

MR_BODY(hash)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    if (is_one_text(call, args)) {
        murmur_texts(call, args, out->i32);
        return MR_OK;
    }
    MR_EACH_ROW(call, i, row)
    {
        uint64_t seed = SEED;
        for (uint32_t k = 0; k < call->expr->args_n; k++)
            seed = hash_value(&murmur, &args[k], row, seed);
        out->i32[row] = (int32_t)(uint32_t)seed;
    }
    return MR_OK;
}

MR_BODY(xxhash64)
{
    mr_column_alloc(out, &mr_type_bigint, call->rows, false, call->arena);
    if (is_one_text(call, args)) {
        xxh64_texts(call, args, out->i64);
        return MR_OK;
    }
    MR_EACH_ROW(call, i, row)
    {
        uint64_t seed = SEED;
        for (uint32_t k = 0; k < call->expr->args_n; k++)
            seed = hash_value(&xxh64, &args[k], row, seed);
        out->i64[row] = (int64_t)seed;
    }
    return MR_OK;
}
