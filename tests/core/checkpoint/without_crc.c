/* A millrace that computes no checksum: test_damage linked with this must fail for each kind of
 * file. */
#include <stdint.h>

uint32_t __wrap_mr_crc32c(uint32_t crc, const void *data, uint64_t bytes);

uint32_t __wrap_mr_crc32c(uint32_t crc, const void *data, uint64_t bytes)
{
    (void)data;
    return crc ^ (uint32_t)bytes;
}
