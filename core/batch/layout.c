#include "core/batch/layout.h"

static inline uint64_t low_mask(uint32_t n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

/* n <= 64 bits from at on, in the low bits; a second word is read only when it holds some of them.
 */
static inline uint64_t read_bits(const uint64_t *bits, uint32_t at, uint32_t n)
{
    uint32_t shift = at & 63;
    uint64_t word = bits[at >> 6] >> shift;

    if (shift + n > 64)
        word |= bits[(at >> 6) + 1] << (64 - shift);
    return word & low_mask(n);
}

void mr_layout_copy_bits(uint64_t *to, uint32_t to_at, const uint64_t *from, uint32_t from_at,
                         uint32_t n)
{
    while (n > 0) {
        uint32_t shift = to_at & 63, take = 64 - shift < n ? 64 - shift : n;
        uint64_t *word = &to[to_at >> 6];
        *word = (*word & ~(low_mask(take) << shift)) | read_bits(from, from_at, take) << shift;
        to_at += take;
        from_at += take;
        n -= take;
    }
}

void mr_layout_fill_bits(uint64_t *to, uint32_t at, uint32_t n, bool value)
{
    while (n > 0) {
        uint32_t shift = at & 63, take = 64 - shift < n ? 64 - shift : n;
        uint64_t mask = low_mask(take) << shift;
        to[at >> 6] = value ? to[at >> 6] | mask : to[at >> 6] & ~mask;
        at += take;
        n -= take;
    }
}

bool mr_layout_all_set(const uint64_t *bits, uint32_t at, uint32_t n)
{
    while (n > 0) {
        uint32_t take = n < 64 ? n : 64;
        if (read_bits(bits, at, take) != low_mask(take))
            return false;
        at += take;
        n -= take;
    }
    return true;
}
