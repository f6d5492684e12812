#include "kernels/lines/lines.h"

#include <stddef.h>

/* No AVX-512 variant: with 512-bit vectors the rest of the work on the same core became a quarter
 * slower (Cascade Lake, 229 against 175 clocks for a line of 122 bytes, JSON parsing included). */
const struct mr_lines_kernels *const mr_lines_variants[] = {&mr_lines_avx2, &mr_lines_scalar, NULL};
const struct mr_lines_kernels *mr_lines = &mr_lines_scalar;

void mr_lines_choose(enum mr_isa isa)
{
    mr_lines = isa >= MR_ISA_AVX2 ? &mr_lines_avx2 : &mr_lines_scalar;
}
