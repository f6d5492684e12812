#include "kernels/arith/arith.h"

#include <stddef.h>

const struct mr_arith_kernels *const mr_arith_variants[] = {&mr_arith_avx512, &mr_arith_avx2,
                                                            &mr_arith_scalar, NULL};
const struct mr_arith_kernels *mr_arith = &mr_arith_scalar;

void mr_arith_choose(enum mr_isa isa);
void mr_arith_choose(enum mr_isa isa)
{
    mr_arith = isa == MR_ISA_AVX512 ? &mr_arith_avx512
               : isa == MR_ISA_AVX2 ? &mr_arith_avx2
                                    : &mr_arith_scalar;
}
