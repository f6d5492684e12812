#include "kernels/hash/hash.h"

const struct mr_hash_kernels *const mr_hash_variants[] = {&mr_hash_avx512, &mr_hash_scalar, 0};
const struct mr_hash_kernels *mr_hash = &mr_hash_scalar;

void mr_hash_choose(enum mr_isa isa);

void mr_hash_choose(enum mr_isa isa)
{
    mr_hash = isa >= MR_ISA_AVX512 ? &mr_hash_avx512 : &mr_hash_scalar;
}
