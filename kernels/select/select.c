#include "kernels/select/select.h"

#include <stddef.h>

const struct mr_select_kernels *const mr_select_variants[] = {&mr_select_avx512, &mr_select_avx2,
                                                              &mr_select_scalar, NULL};
const struct mr_select_kernels *mr_select = &mr_select_scalar;

void mr_select_choose(enum mr_isa isa);
void mr_select_choose(enum mr_isa isa)
{
    mr_select = isa == MR_ISA_AVX512 ? &mr_select_avx512
                : isa == MR_ISA_AVX2 ? &mr_select_avx2
                                     : &mr_select_scalar;
}
