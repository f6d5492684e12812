#include "core/base/env.h"

#include "io/fault/fault.h"
#include "io/posix/posix.h"
#include "io/uring/uring.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef MR_TEST_SWITCHES
/* A global, against the rule: faults are counted over all envs of the process. */
static struct mr_fault *process_faults;
static pthread_once_t process_faults_read = PTHREAD_ONCE_INIT;

static void read_process_faults(void)
{
    const char *schedule = getenv("MILLRACE_FAULT");

    process_faults = mr_fault_new(schedule ? schedule : "", getenv("MILLRACE_FAULT_TRACE"));
}

static enum mr_status with_faults(struct mr_env **env, struct mr_error *err)
{
    if (getenv("MILLRACE_FAULT") == NULL && getenv("MILLRACE_FAULT_TRACE") == NULL)
        return MR_OK;
    pthread_once(&process_faults_read, read_process_faults);
    struct mr_env *wrapped = process_faults ? mr_fault_wrap(*env, process_faults) : NULL;
    if (wrapped == NULL) {
        (*env)->ops->fini(*env);
        return MR_FAIL(err, MR_USER, 0, "MILLRACE_FAULT is no schedule (see io/fault/fault.h)");
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
