#include "kernels/view/view.h"

#include <stddef.h>

const struct mr_view_kernels *const mr_view_variants[] = {&mr_view_avx2, &mr_view_scalar, NULL};
const struct mr_view_kernels *mr_view = &mr_view_scalar;

void mr_view_choose(enum mr_isa isa);
void mr_view_choose(enum mr_isa isa)
{
    mr_view = isa >= MR_ISA_AVX2 ? &mr_view_avx2 : &mr_view_scalar;
}
