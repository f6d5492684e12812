/* Any bytes as a job file: no crash, and an error says where. */
#include "core/base/check.h"
#include "core/mem/mem.h"
#include "core/run/job.h"
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static void load(const char *path)
{
    jmp_buf escape;
    struct mr_budget budget;
    struct mr_arena a;
    struct mr_job *job;
    struct mr_error err = {0};

    mr_budget_init(&budget, "fuzz", NULL, 256 << 20);
    mr_arena_init(&a, &budget, &escape);
    if (setjmp(escape) == 0 && mr_job_load(path, NULL, &a, &job, &err))
        MR_ASSERT(err.status == MR_USER && err.line > 0 && err.message[0]);
    mr_arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[64];

    snprintf(path, sizeof path, "/dev/shm/mr-fuzz-job-%d", (int)getpid());
    FILE *f = fopen(path, "wb");
    MR_ASSERT(f != NULL);
    fwrite(data, 1, n, f);
    fclose(f);
    load(path);
    unlink(path);
    return 0;
}
