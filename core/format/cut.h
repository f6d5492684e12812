/* cut.h - cuts bytes into records at line ends or at a separator of the user's.
 *
 * Rules    Without a separator a record ends at \n, \r or \r\n, as Hadoop's line reader has it: the
 *          caller takes \r and \n as one where an empty record would matter (mr_cut_gap).
 */
#pragma once
#include "core/base/text.h"
#include <stdbool.h>
#include <stdint.h>

struct mr_cutter {
    struct mr_text separator; /* empty: line ends */
};

/* Where records end in data[0..n): positions of separators, at most max of them (ends has room for
 * max + MR_LINES_SLACK). Fewer than max: there are no more. */
uint32_t mr_cut(const struct mr_cutter *c, const uint8_t *data, uint32_t n, uint32_t *ends,
                uint32_t max);

/* Bytes of the separator at end, of which n - end are there: \r\n is one. 0: more bytes must
 * tell. */
static inline uint32_t mr_cut_gap(const struct mr_cutter *c, const uint8_t *data, uint32_t n,
                                  uint32_t end, bool at_end)
{
    if (c->separator.n)
        return (uint32_t)c->separator.n;
    if (data[end] == '\n')
        return 1;
    if (end + 1 == n)
        return at_end ? 1 : 0;
    return data[end + 1] == '\n' ? 2 : 1;
}
