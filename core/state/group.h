/* group.h - 16 tags of an index compared at once. Internal to core/state.
 *
 * What     Masks of 16 bits, bit i for tag i of an aligned group.
 */
#pragma once
#include <stdint.h>
#include <string.h>

enum { MR_INDEX_GROUP = 16 };

#ifdef __SSE2__
#include <emmintrin.h>

static inline uint32_t mr_group_equal(const uint8_t *tags, uint8_t tag)
{
    __m128i group = _mm_load_si128((const __m128i *)(const void *)tags);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(group, _mm_set1_epi8((char)tag)));
}
static inline uint32_t mr_group_full(const uint8_t *tags) /* the top bit of a tag says so */
{
    return (uint32_t)_mm_movemask_epi8(_mm_load_si128((const __m128i *)(const void *)tags));
}

#else

static inline uint32_t mr_group_equal(const uint8_t *tags, uint8_t tag)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < MR_INDEX_GROUP; i++)
        mask |= (uint32_t)(tags[i] == tag) << i;
    return mask;
}
static inline uint32_t mr_group_full(const uint8_t *tags)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < MR_INDEX_GROUP; i++)
        mask |= (uint32_t)(tags[i] >> 7) << i;
    return mask;
}

#endif

static inline uint32_t mr_group_empty(const uint8_t *tags)
{
    return ~mr_group_full(tags) & 0xffff;
}
