#include "core/format/cut.h"

#include "kernels/lines/lines.h"

/* Separators of several bytes, none overlapping the one before. */
static uint32_t cut_at_text(struct mr_text separator, const uint8_t *data, uint32_t n,
                            uint32_t *ends, uint32_t max)
{
    uint32_t found = 0, at = 0;

    while (found < max) {
        const uint8_t *hit = memmem(data + at, n - at, separator.data, separator.n);
        if (hit == NULL)
            break;
        ends[found++] = (uint32_t)(hit - data);
        at = (uint32_t)(hit - data) + (uint32_t)separator.n;
    }
    return found;
}

uint32_t mr_cut(const struct mr_cutter *c, const uint8_t *data, uint32_t n, uint32_t *ends,
                uint32_t max)
{
    uint32_t scanned;

    if (c->separator.n == 0)
        return mr_lines->find_ends(ends, max, data, n, &scanned);
    if (c->separator.n == 1)
        return mr_lines->find_byte(ends, max, data, n, (uint8_t)c->separator.data[0], &scanned);
    return cut_at_text(c->separator, data, n, ends, max);
}
