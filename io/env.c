#include "core/base/env.h"

#include "io/fault/fault.h"
#include "io/posix/posix.h"
#include "io/uring/uring.h"
#include <stdlib.h>
#include <string.h>

#ifdef MR_TEST_SWITCHES
static enum mr_status with_faults(struct mr_env **env, struct mr_error *err)
{
    const char *schedule = getenv("MILLRACE_FAULT");
    struct mr_env *wrapped = schedule ? mr_fault_open(*env, schedule) : *env;

    if (wrapped == NULL) {
        (*env)->ops->fini(*env);
        return MR_FAIL(err, MR_USER, 0, "MILLRACE_FAULT=%s is no schedule", schedule);
    }
    *env = wrapped;
    return MR_OK;
}
#else
static enum mr_status with_faults(struct mr_env **env, struct mr_error *err)
{
    (void)env;
    (void)err;
    return MR_OK;
}
#endif

enum mr_status mr_env_open(const char *back_end, struct mr_env **out, struct mr_error *err)
{
    char reason[MR_POSIX_WHY_BYTES] = "syscalls are asked for";

    if (back_end && strcmp(back_end, "io_uring") != 0 && strcmp(back_end, "syscalls") != 0)
        return MR_FAIL(err, MR_USER, 0, "io: \"%s\" is none of io_uring, syscalls", back_end);
    if (back_end == NULL || strcmp(back_end, "io_uring") == 0) {
        *out = mr_uring_open(reason, sizeof reason);
        if (*out)
            return with_faults(out, err);
        if (back_end)
            return MR_FAIL(err, MR_IO, 0, "io: io_uring is asked for, but denied: %s", reason);
    }
    struct mr_posix_env *posix = mr_posix_env_new(reason);
    if (posix == NULL)
        return MR_FAIL(err, MR_MEMORY, 0, "io: no memory");
    *out = &posix->env;
    return with_faults(out, err);
}
