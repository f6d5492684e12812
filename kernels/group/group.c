#include "kernels/group/group.h"

/* No AVX-512 variant: a group of tags is 16 bytes, and masks in registers of their own took 5 %
 * longer than AVX2. */
const struct mr_group_kernels *const mr_group_variants[] = {&mr_group_avx2, &mr_group_scalar, 0};
const struct mr_group_kernels *mr_group = &mr_group_scalar;

void mr_group_choose(enum mr_isa isa);

void mr_group_choose(enum mr_isa isa)
{
    mr_group = isa >= MR_ISA_AVX2 ? &mr_group_avx2 : &mr_group_scalar;
}
