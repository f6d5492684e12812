#include "kernels/window/window.h"

const struct mr_window_kernels *const mr_window_variants[] = {&mr_window_avx512, &mr_window_scalar,
                                                              0};
const struct mr_window_kernels *mr_window = &mr_window_scalar;

void mr_window_choose(enum mr_isa isa);

void mr_window_choose(enum mr_isa isa)
{
    mr_window = isa >= MR_ISA_AVX512 ? &mr_window_avx512 : &mr_window_scalar;
}
