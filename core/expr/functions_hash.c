#include "core/expr/coerce.h"
#include "core/expr/hash.h"

#include "kernels/sparkhash/one.h"
#include "kernels/sparkhash/sparkhash.h"

#include <math.h>

/* hash (Murmur3, seed 42) and xxhash64 (seed 42): bit by bit as Spark's, over any types. A null
 * leaves the hash as it was; -0.0 hashes as 0.0. */

enum { SEED = 42 };

struct hasher {
    uint64_t (*u32)(uint32_t v, uint64_t seed);
    uint64_t (*u64)(uint64_t v, uint64_t seed);
    uint64_t (*bytes)(const void *data, uint64_t n, uint64_t seed);
};

static uint64_t murmur_u32(uint32_t v, uint64_t seed)
{
    return mr_murmur_u32(v, (uint32_t)seed);
}
static uint64_t murmur_u64(uint64_t v, uint64_t seed)
{
    return mr_murmur_u64(v, (uint32_t)seed);
}
static uint64_t murmur_bytes(const void *data, uint64_t n, uint64_t seed)
{
    return mr_murmur_bytes(data, n, (uint32_t)seed);
}

static const struct hasher murmur = {murmur_u32, murmur_u64, murmur_bytes};
static const struct hasher xxh64 = {mr_xxh64_u32, mr_xxh64_u64, mr_xxh64_bytes};

static inline double same_f64(double v) /* one zero, one NaN */
{
    return v == 0 ? 0.0 : v != v ? (double)NAN : v;
}
static inline float same_f32(float v)
{
    return v == 0 ? 0.0f : v != v ? NAN : v;
}

static uint64_t hash_f64(const struct hasher *h, double v, uint64_t seed)
{
    uint64_t bits;

    v = same_f64(v);
    memcpy(&bits, &v, sizeof bits);
    return h->u64(bits, seed);
}

static uint64_t hash_f32(const struct hasher *h, float v, uint64_t seed)
{
    uint32_t bits;

    v = same_f32(v);
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
    return mr_murmur_bytes(data, n, seed);
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

/* Words are hashed as they are, or as what they stand for: all rows. */
#define AS_WORDS(type, from)                                                                       \
    do {                                                                                           \
        type *to = mr_arena_alloc(call->arena, call->rows * sizeof *to);                           \
        for (uint32_t row = 0; row < call->rows; row++)                                            \
            to[row] = (from);                                                                      \
        return to;                                                                                 \
    } while (0)

static const void *words_of(const struct mr_call *call, const struct mr_column *x)
{
    switch (x->type->kind) {
    case MR_BOOLEAN:
        AS_WORDS(int32_t, mr_bit_get(x->bits, row));
    case MR_TINYINT:
        AS_WORDS(int32_t, x->i8[row]);
    case MR_SMALLINT:
        AS_WORDS(int32_t, x->i16[row]);
    case MR_FLOAT:
        AS_WORDS(float, same_f32(x->f32[row]));
    case MR_DOUBLE:
        AS_WORDS(double, same_f64(x->f64[row]));
    case MR_DECIMAL:
        AS_WORDS(int64_t, (int64_t)x->i128[row]);
    default:
        return x->data;
    }
}

enum shape { NOTHING, WORDS_32, WORDS_64, TEXTS, OTHERS };

static enum shape shape_of(const struct mr_type *type)
{
    switch (type->kind) {
    case MR_VOID:
        return NOTHING;
    case MR_BOOLEAN:
    case MR_TINYINT:
    case MR_SMALLINT:
    case MR_INT:
    case MR_DATE:
    case MR_INTERVAL_YEAR_MONTH:
    case MR_FLOAT:
        return WORDS_32;
    case MR_STRING:
    case MR_BINARY:
        return TEXTS;
    case MR_DECIMAL:
        return type->precision <= 18 ? WORDS_64 : OTHERS;
    case MR_INTERVAL_CALENDAR:
    case MR_ARRAY:
    case MR_MAP:
    case MR_STRUCT:
        return OTHERS;
    default:
        return WORDS_64;
    }
}

/* The hashes of all rows go from column to column. */
#define HASH(name, word)                                                                           \
    static void name##_column(const struct mr_call *call, const struct mr_column *x, word *hashes) \
    {                                                                                              \
        switch (shape_of(x->type)) {                                                               \
        case NOTHING:                                                                              \
            return;                                                                                \
        case WORDS_32:                                                                             \
            mr_sparkhash->name##_u32(hashes, words_of(call, x), x->valid, call->rows);             \
            return;                                                                                \
        case WORDS_64:                                                                             \
            mr_sparkhash->name##_u64(hashes, words_of(call, x), x->valid, call->rows);             \
            return;                                                                                \
        case TEXTS:                                                                                \
            mr_sparkhash->name##_texts(hashes, x->data, x->heaps, x->valid, call->sel, call->n);   \
            return;                                                                                \
        case OTHERS:                                                                               \
            MR_EACH_ROW(call, i, row)                                                              \
            hashes[row] = (word)hash_value(&name, x, row, hashes[row]);                            \
        }                                                                                          \
    }                                                                                              \
    static void name##_columns(const struct mr_call *call, const struct mr_column *args,           \
                               word *hashes)                                                       \
    {                                                                                              \
        for (uint32_t row = 0; row < call->rows; row++)                                            \
            hashes[row] = SEED;                                                                    \
        for (uint32_t k = 0; k < call->expr->args_n; k++)                                          \
            name##_column(call, &args[k], hashes);                                                 \
    }
HASH(murmur, uint32_t)
HASH(xxh64, uint64_t)

MR_BODY(hash)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    murmur_columns(call, args, out->data);
    return MR_OK;
}

MR_BODY(xxhash64)
{
    mr_column_alloc(out, &mr_type_bigint, call->rows, false, call->arena);
    xxh64_columns(call, args, out->data);
    return MR_OK;
}
