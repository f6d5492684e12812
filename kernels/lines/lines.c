#include "kernels/lines/lines.h"

#include <stddef.h>

const struct mr_lines_kernels *const mr_lines_variants[] = {&mr_lines_avx512, &mr_lines_avx2,
                                                            &mr_lines_scalar, NULL};
const struct mr_lines_kernels *mr_lines = &mr_lines_scalar;

void mr_lines_choose(enum mr_isa isa)
{
    mr_lines = mr_lines_variants[MR_ISA_AVX512 - isa];
}
