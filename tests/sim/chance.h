/* chance.h - numbers that follow from a seed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct chance {
    uint64_t state;
};

static inline uint64_t chance_next(struct chance *c)
{
    uint64_t x = c->state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* In [0, n). */
static inline uint64_t chance_below(struct chance *c, uint64_t n)
{
    return chance_next(c) % n;
}

/* In [from, to]. */
static inline uint32_t chance_between(struct chance *c, uint32_t from, uint32_t to)
{
    return from + (uint32_t)chance_below(c, to - from + 1);
}

static inline bool chance_one_in(struct chance *c, uint32_t n)
{
    return chance_below(c, n) == 0;
}
