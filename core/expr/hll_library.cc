#include "core/expr/hll_library.h"

#include <cstring>
#include <hll.hpp>

/* Whatever it throws is about the bytes it was given. */
template <typename F> static bool guarded(F f)
{
    try {
        f();
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

static datasketches::hll_sketch read(const void *sketch, uint64_t n)
{
    if (n < 8)
        throw std::out_of_range("shorter than a head");
    return datasketches::hll_sketch::deserialize(sketch, n);
}

bool mr_hll_is_there(void)
{
    return true;
}

bool mr_hll_is_sketch(const void *sketch, uint64_t n)
{
    return guarded([&] { read(sketch, n); });
}

bool mr_hll_estimate(const void *sketch, uint64_t n, double *out)
{
    return guarded([&] { *out = read(sketch, n).get_estimate(); });
}

bool mr_hll_unite(uint32_t lg_k, const void *a, uint64_t a_n, const void *b, uint64_t b_n,
                  uint8_t *out, uint32_t *out_n)
{
    return guarded([&] {
        datasketches::hll_union both(static_cast<uint8_t>(lg_k));
        both.update(read(a, a_n));
        if (b != nullptr)
            both.update(read(b, b_n));
        auto bytes = both.get_result(datasketches::HLL_8).serialize_updatable();
        if (bytes.size() > MR_HLL_HEAD_BYTES + (size_t(1) << lg_k)) /* a set keeps its room */
            throw std::out_of_range("a set with more room than registers take");
        std::memcpy(out, bytes.data(), bytes.size());
        *out_n = static_cast<uint32_t>(bytes.size());
    });
}
