#include "kernels/lines/lines.h"

static uint32_t find_ends(uint32_t *out, uint32_t max, const uint8_t *data, uint32_t n,
                          uint32_t *scanned)
{
    uint32_t found = 0, i = 0;

    for (; i < n && found < max; i++)
        if (data[i] == '\n' || data[i] == '\r')
            out[found++] = i;
    *scanned = i;
    return found;
}

static uint32_t find_byte(uint32_t *out, uint32_t max, const uint8_t *data, uint32_t n,
                          uint8_t byte, uint32_t *scanned)
{
    uint32_t found = 0, i = 0;

    for (; i < n && found < max; i++)
        if (data[i] == byte)
            out[found++] = i;
    *scanned = i;
    return found;
}

const struct mr_lines_kernels mr_lines_scalar = {
    .isa = "scalar", .find_ends = find_ends, .find_byte = find_byte};
