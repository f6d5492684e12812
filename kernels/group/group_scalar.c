#include "kernels/group/group.h"

static inline uint32_t tags_equal(const uint8_t *tags, uint8_t tag)
{
    uint32_t mask = 0;

    for (uint32_t i = 0; i < MR_GROUP_TAGS; i++)
        mask |= (uint32_t)(tags[i] == tag) << i;
    return mask;
}

static inline uint32_t tags_empty(const uint8_t *tags)
{
    return tags_equal(tags, 0);
}

#include "kernels/group/find.h"

const struct mr_group_kernels mr_group_scalar = {.isa = "scalar",
                                                 .find_cached = find_cached,
                                                 .find_words = find_words,
                                                 .find_bytes = find_bytes};
