/* hash.h - Spark's hashes of one value, for functions and for sketches. */
#pragma once
#include "core/batch/column.h"

/* A null gives the seed. */
uint64_t mr_hash_xxh64(const struct mr_column *c, uint32_t row, uint64_t seed);
/* Spark's Murmur3 of bytes. */
uint32_t mr_hash_murmur(const void *data, uint64_t n, uint32_t seed);
