#include "kernels/sparkhash/sparkhash.h"

#include <stddef.h>

const struct mr_sparkhash_kernels *const mr_sparkhash_variants[] = {
    &mr_sparkhash_avx512, &mr_sparkhash_avx2, &mr_sparkhash_scalar, NULL};
const struct mr_sparkhash_kernels *mr_sparkhash = &mr_sparkhash_scalar;

void mr_sparkhash_choose(enum mr_isa isa);
void mr_sparkhash_choose(enum mr_isa isa)
{
    mr_sparkhash = isa >= MR_ISA_AVX512 ? &mr_sparkhash_avx512
                   : isa >= MR_ISA_AVX2 ? &mr_sparkhash_avx2
                                        : &mr_sparkhash_scalar;
}
