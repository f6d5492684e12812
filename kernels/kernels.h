/* kernels.h - SIMD loops, chosen once at start.
 *
 * What     A family (kernels/<family>/) has one table of functions per instruction set: scalar
 *          (the reference, plain C), avx2, avx512 where they gain at least 10 %. Loops are pure:
 *          plain pointers, no batch, no context, no allocation, any n, MR_PAD_BYTES readable
 *          behind inputs.
 * Choice   mr_kernels_init sets each family's pointer to the best variant that this CPU has, or to
 *          the one that the config forces. Call it before the first use of any kernel.
 * To add   kernels/<family>/<family>.h, .c, _scalar.c, _avx2.c, _avx512.c and one line in
 *          families.def.
 */
#pragma once
#include "core/base/error.h"
#include <stdint.h>

enum mr_isa { MR_ISA_SCALAR, MR_ISA_AVX2, MR_ISA_AVX512 };

/* name: "scalar", "avx2", "avx512" or NULL for the best. MR_USER when this CPU lacks it. */
MR_NODISCARD enum mr_status mr_kernels_init(const char *name, struct mr_error *err);
enum mr_isa mr_kernels_best(void); /* what this CPU has */
const char *mr_isa_name(enum mr_isa isa);
