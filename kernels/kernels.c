#include "kernels/kernels.h"

#include <string.h>

#define MR_FAMILY(name) void mr_##name##_choose(enum mr_isa isa);
#include "kernels/families.def"
#undef MR_FAMILY

static const char *const names[] = {"scalar", "avx2", "avx512"};

const char *mr_isa_name(enum mr_isa isa)
{
    return names[isa];
}

enum mr_isa mr_kernels_best(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        return MR_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return MR_ISA_AVX2;
    return MR_ISA_SCALAR;
}

enum mr_status mr_kernels_init(const char *name, struct mr_error *err)
{
    enum mr_isa isa = mr_kernels_best();

    if (name) {
        enum mr_isa wanted = MR_ISA_SCALAR;
        while (wanted <= MR_ISA_AVX512 && strcmp(names[wanted], name) != 0)
            wanted++;
        if (wanted > MR_ISA_AVX512)
            return MR_FAIL(err, MR_USER, 0, "kernels: \"%s\" is none of scalar, avx2, avx512",
                           name);
        if (wanted > isa)
            return MR_FAIL(err, MR_USER, 0, "kernels: this CPU has no %s (best: %s)", name,
                           names[isa]);
        isa = wanted;
    }
#define MR_FAMILY(family) mr_##family##_choose(isa);
#include "kernels/families.def"
#undef MR_FAMILY
    return MR_OK;
}
