#include "core/expr/hll.h"
#include "core/expr/hll_library.h"

#include <math.h>

/* The head, all little-endian. Of a sketch with registers, bytes 8 to 15 hold its estimate in the
 * order of arrival: 0 when it is united. */
enum {
    AT_PREAMBLE_INTS = 0,
    AT_VERSION = 1,
    AT_FAMILY = 2,
    AT_LG_K = 3,
    AT_LG_SET = 4,
    AT_FLAGS = 5,
    AT_LIST_COUNT = 6,
    AT_MINIMUM = 6,
    AT_MODE = 7,
    AT_LIST = 8,
    AT_SET_COUNT = 8,
    AT_SET = 12,
    AT_SUM_LOW = 16,
    AT_SUM_HIGH = 24,
    AT_MINIMUM_COUNT = 32,
    AT_REGISTERS = MR_HLL_HEAD_BYTES,
};
enum { VERSION = 1, FAMILY = 7, HLL_8 = 2 << 2, FLAG_EMPTY = 4, FLAG_UNITED = 16 };
enum mode { LIST, SET, REGISTERS };
enum { LG_LIST = 3, LG_SET_MIN = 5, LG_K_OF_SETS = 8, ADDRESS_BITS = 26, RANK_LOW = 32 };

static const uint32_t address_mask = (1u << ADDRESS_BITS) - 1;
static const uint64_t seed = 9001; /* of all sketches, unless one says so */

static inline uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}
static inline uint64_t finish(uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

static const uint64_t mix_1 = UINT64_C(0x87c37b91114253d5), mix_2 = UINT64_C(0x4cf5ad432745937f);

/* MurmurHash3_x64_128 (Appleby, public domain). */
static void murmur_128(const uint8_t *p, uint64_t n, uint64_t out[2])
{
    uint64_t h1 = seed, h2 = seed, k[2];
    uint64_t i = 0;

    for (; i + 16 <= n; i += 16) {
        memcpy(k, p + i, 16);
        h1 ^= rotate(k[0] * mix_1, 31) * mix_2;
        h1 = (rotate(h1, 27) + h2) * 5 + 0x52dce729;
        h2 ^= rotate(k[1] * mix_2, 33) * mix_1;
        h2 = (rotate(h2, 31) + h1) * 5 + 0x38495ab5;
    }
    k[0] = k[1] = 0;
    memcpy(k, p + i, n - i);
    h2 ^= rotate(k[1] * mix_2, 33) * mix_1;
    h1 ^= rotate(k[0] * mix_1, 31) * mix_2;
    h1 ^= n;
    h2 ^= n;
    h1 += h2;
    h2 += h1;
    h1 = finish(h1);
    h2 = finish(h2);
    out[0] = h1 + h2;
    out[1] = h2 + out[0];
}

uint32_t mr_hll_coupon(const void *data, uint64_t n)
{
    uint64_t hash[2];
    uint32_t zeros;

    murmur_128(data, n, hash);
    zeros = hash[1] ? (uint32_t)__builtin_clzll(hash[1]) : 64;
    return ((zeros > 62 ? 62 : zeros) + 1) << ADDRESS_BITS | ((uint32_t)hash[0] & address_mask);
}

static inline uint32_t load(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return v;
}
static inline void store(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
}

static inline enum mode mode_of(const struct mr_slot_bytes *s)
{
    return (enum mode)(s->data[AT_MODE] & 3);
}

static void start(uint8_t *data, uint32_t lg_k, enum mode mode)
{
    static const uint8_t preamble_ints[] = {[LIST] = 2, [SET] = 3, [REGISTERS] = 10};

    data[AT_PREAMBLE_INTS] = preamble_ints[mode];
    data[AT_VERSION] = VERSION;
    data[AT_FAMILY] = FAMILY;
    data[AT_LG_K] = (uint8_t)lg_k;
    data[AT_MODE] = (uint8_t)(HLL_8 | mode);
}

/* A new content of bytes zeros with a head. */
static uint8_t *renew(const struct mr_aggregate_call *c, struct mr_slot_bytes *s, uint32_t bytes,
                      uint32_t lg_k, enum mode mode)
{
    s->n = 0;
    memset(mr_slot_reserve(c, s, bytes), 0, bytes);
    s->n = bytes;
    start(s->data, lg_k, mode);
    return s->data;
}

/* The place of coupon in a set, or the free one where it belongs. */
static uint8_t *find(uint8_t *set, uint32_t lg_set, uint32_t coupon)
{
    uint32_t mask = (1u << lg_set) - 1, at = coupon & mask;
    uint32_t stride = (coupon & address_mask) >> lg_set | 1;
    uint32_t there;

    while ((there = load(set + 4 * at)) != 0 && there != coupon)
        at = (at + stride) & mask;
    return set + 4 * at;
}

static inline void raise_register(uint8_t *registers, uint32_t lg_k, uint32_t coupon)
{
    uint8_t *r = registers + (coupon & ((1u << lg_k) - 1));
    uint8_t rank = (uint8_t)(coupon >> ADDRESS_BITS);

    *r = rank > *r ? rank : *r;
}

/* The coupons of a list or set as they lie, with gaps of zero; in the arena. */
static uint32_t *coupons(const struct mr_aggregate_call *c, const struct mr_slot_bytes *s,
                         uint32_t *n)
{
    bool list = mode_of(s) == LIST;
    uint32_t *out;

    *n = list ? 1u << LG_LIST : 1u << s->data[AT_LG_SET];
    out = mr_arena_alloc(c->arena, *n * sizeof *out);
    memcpy(out, s->data + (list ? AT_LIST : AT_SET), *n * sizeof *out);
    return out;
}

static void to_registers(const struct mr_aggregate_call *c, struct mr_slot_bytes *s, uint32_t lg_k)
{
    uint32_t n, *all = coupons(c, s, &n);
    uint8_t *data = renew(c, s, AT_REGISTERS + (1u << lg_k), lg_k, REGISTERS);

    data[AT_FLAGS] = FLAG_UNITED;
    for (uint32_t i = 0; i < n; i++)
        if (all[i])
            raise_register(data + AT_REGISTERS, lg_k, all[i]);
}

static void to_set(const struct mr_aggregate_call *c, struct mr_slot_bytes *s, uint32_t lg_k,
                   uint32_t lg_set)
{
    uint32_t n, *all = coupons(c, s, &n), count = 0;
    uint8_t *data = renew(c, s, AT_SET + (4u << lg_set), lg_k, SET);

    data[AT_LG_SET] = (uint8_t)lg_set;
    for (uint32_t i = 0; i < n; i++)
        if (all[i]) {
            store(find(data + AT_SET, lg_set, all[i]), all[i]);
            count++;
        }
    store(data + AT_SET_COUNT, count);
}

static void add_to_list(const struct mr_aggregate_call *c, struct mr_slot_bytes *s, uint32_t lg_k,
                        uint32_t coupon)
{
    uint32_t n = s->data[AT_LIST_COUNT];

    for (uint32_t i = 0; i < n; i++)
        if (load(s->data + AT_LIST + 4 * i) == coupon)
            return;
    store(s->data + AT_LIST + 4 * n, coupon);
    s->data[AT_LIST_COUNT] = (uint8_t)++n;
    if (n == 1u << LG_LIST && lg_k < LG_K_OF_SETS)
        to_registers(c, s, lg_k);
    else if (n == 1u << LG_LIST)
        to_set(c, s, lg_k, LG_SET_MIN);
}

static void add_to_set(const struct mr_aggregate_call *c, struct mr_slot_bytes *s, uint32_t lg_k,
                       uint32_t coupon)
{
    uint32_t lg_set = s->data[AT_LG_SET], n = load(s->data + AT_SET_COUNT);
    uint8_t *place = find(s->data + AT_SET, lg_set, coupon);

    if (load(place) == coupon)
        return;
    store(place, coupon);
    store(s->data + AT_SET_COUNT, ++n);
    if (4 * n <= 3 * (1u << lg_set))
        return;
    if (lg_set == lg_k - 3)
        to_registers(c, s, lg_k);
    else
        to_set(c, s, lg_k, lg_set + 1);
}

void mr_hll_add(const struct mr_aggregate_call *c, struct mr_slot_bytes *sketch, uint32_t lg_k,
                uint32_t coupon)
{
    if (sketch->n == 0)
        renew(c, sketch, AT_LIST + (4u << LG_LIST), lg_k, LIST)[AT_LG_SET] = LG_LIST;
    switch (mode_of(sketch)) {
    case LIST:
        add_to_list(c, sketch, lg_k, coupon);
        break;
    case SET:
        add_to_set(c, sketch, lg_k, coupon);
        break;
    case REGISTERS:
        raise_register(sketch->data + AT_REGISTERS, lg_k, coupon);
        break;
    }
}

static void add_all(const struct mr_aggregate_call *c, struct mr_slot_bytes *sketch, uint32_t lg_k,
                    const uint32_t *all, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (all[i])
            mr_hll_add(c, sketch, lg_k, all[i]);
}

uint32_t mr_hll_lg_k(const void *sketch, uint64_t n)
{
    uint32_t lg_k = n >= AT_LIST ? ((const uint8_t *)sketch)[AT_LG_K] : 0;

    return lg_k >= MR_HLL_LG_K_MIN && lg_k <= MR_HLL_LG_K_MAX ? lg_k : 0;
}

void mr_hll_merge(const struct mr_aggregate_call *c, struct mr_slot_bytes *sketch, uint32_t lg_k,
                  const struct mr_slot_bytes *from)
{
    uint32_t n = 0, *all = NULL;
    uint8_t *to;

    if (from->n == 0)
        return;
    if (mode_of(from) != REGISTERS) {
        all = coupons(c, from, &n);
        add_all(c, sketch, lg_k, all, n);
        return;
    }
    if (sketch->n == 0 || mode_of(sketch) != REGISTERS) {
        if (sketch->n > 0)
            all = coupons(c, sketch, &n);
        mr_slot_replace(c, sketch, from->data, from->n);
        add_all(c, sketch, lg_k, all, n);
        return;
    }
    to = sketch->data + AT_REGISTERS;
    for (uint32_t i = 0; i < 1u << lg_k; i++)
        to[i] = from->data[AT_REGISTERS + i] > to[i] ? from->data[AT_REGISTERS + i] : to[i];
}

/* Sums of 2^-register, apart for the ranks below 32, so that both are exact. */
void mr_hll_sum(uint8_t *data)
{
    uint32_t counts[64] = {0}, minimum = 0, lg_k = data[AT_LG_K];
    double low = 0, high = 0;

    if ((data[AT_MODE] & 3) != REGISTERS || !(data[AT_FLAGS] & FLAG_UNITED))
        return;
    for (uint32_t i = 0; i < 1u << lg_k; i++)
        counts[data[AT_REGISTERS + i] & 63]++;
    for (int rank = 63; rank >= 0; rank--) {
        double sum = ldexp(counts[rank], -rank);
        if (rank < RANK_LOW)
            low += sum;
        else
            high += sum;
        if (counts[rank])
            minimum = (uint32_t)rank;
    }
    memcpy(data + AT_SUM_LOW, &low, sizeof low);
    memcpy(data + AT_SUM_HIGH, &high, sizeof high);
    data[AT_MINIMUM] = (uint8_t)minimum;
    store(data + AT_MINIMUM_COUNT, counts[minimum]);
}

void mr_hll_print(const struct mr_slot_bytes *sketch, uint32_t lg_k, struct mr_buffer *out)
{
    uint8_t empty[AT_LIST + (4 << LG_LIST)] = {[AT_LG_SET] = LG_LIST, [AT_FLAGS] = FLAG_EMPTY};

    if (sketch->n == 0) {
        start(empty, lg_k, LIST);
        mr_buffer_append(out, empty, sizeof empty);
        return;
    }
    mr_buffer_append(out, sketch->data, sketch->n);
    mr_hll_sum((uint8_t *)out->data + out->n - sketch->n);
}
