/* crc32c.h - the CRC of all that a checkpoint stores: Castagnoli's polynomial, by SSE4.2 where it
 * is there.
 */
#pragma once
#include <stdint.h>

/* Of data behind what crc is of; 0 begins. */
uint32_t mr_crc32c(uint32_t crc, const void *data, uint64_t bytes);
/* The same without SSE4.2. */
uint32_t mr_crc32c_by_table(uint32_t crc, const void *data, uint64_t bytes);
