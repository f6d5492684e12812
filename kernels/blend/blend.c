#include "kernels/blend/blend.h"

#include <stddef.h>

const struct mr_blend_kernels *const mr_blend_variants[] = {&mr_blend_avx2, &mr_blend_scalar, NULL};
const struct mr_blend_kernels *mr_blend = &mr_blend_scalar;

void mr_blend_choose(enum mr_isa isa);
void mr_blend_choose(enum mr_isa isa)
{
    mr_blend = isa >= MR_ISA_AVX2 ? &mr_blend_avx2 : &mr_blend_scalar;
}
