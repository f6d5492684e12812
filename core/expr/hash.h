/* hash.h - Spark's xxhash64 of one value, for functions and for approx_count_distinct. */
#pragma once
#include "core/batch/column.h"

/* A null gives the seed. */
uint64_t mr_hash_xxh64(const struct mr_column *c, uint32_t row, uint64_t seed);
