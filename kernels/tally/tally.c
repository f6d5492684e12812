#include "kernels/tally/tally.h"

/* Rows that meet in a lane forbid a plain scatter, so there is only this one. */
const struct mr_tally_kernels *const mr_tally_variants[] = {&mr_tally_scalar, 0};
const struct mr_tally_kernels *mr_tally = &mr_tally_scalar;

void mr_tally_choose(enum mr_isa isa);

void mr_tally_choose(enum mr_isa isa)
{
    (void)isa;
    mr_tally = &mr_tally_scalar;
}
