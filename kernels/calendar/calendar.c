#include "kernels/calendar/calendar.h"

#include <stddef.h>

const struct mr_calendar_kernels *const mr_calendar_variants[] = {&mr_calendar_avx2,
                                                                  &mr_calendar_scalar, NULL};
const struct mr_calendar_kernels *mr_calendar = &mr_calendar_scalar;

void mr_calendar_choose(enum mr_isa isa);
void mr_calendar_choose(enum mr_isa isa)
{
    mr_calendar = isa >= MR_ISA_AVX2 ? &mr_calendar_avx2 : &mr_calendar_scalar;
}
