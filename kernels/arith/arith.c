#include "kernels/arith/arith.h"

#include <stddef.h>

/* No AVX-512 variant: 8 % over AVX2, taken over all loops (bench/kernels.md), at the price of a
 * slower clock. */
const struct mr_arith_kernels *const mr_arith_variants[] = {&mr_arith_avx2, &mr_arith_scalar, NULL};
const struct mr_arith_kernels *mr_arith = &mr_arith_scalar;

void mr_arith_choose(enum mr_isa isa);
void mr_arith_choose(enum mr_isa isa)
{
    mr_arith = isa >= MR_ISA_AVX2 ? &mr_arith_avx2 : &mr_arith_scalar;
}
