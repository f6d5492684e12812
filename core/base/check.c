#include "core/base/check.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void mr_check_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "millrace: bug: assertion failed at %s:%d: %s\n", file, line, condition);
    fflush(stderr);
    abort();
}
