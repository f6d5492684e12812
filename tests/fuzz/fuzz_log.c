/* Bytes as the log's: first byte even: a whole segment; odd: the records of a group whose CRC is
 * right, and each of them as a record of state. */
#include "core/checkpoint/log.h"
#include "core/state/state.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void scan_segment(const uint8_t *data, size_t size)
{
    struct mr_log_scan scan = {0};
    struct mr_env *env;
    struct mr_arena arena;
    struct mr_text payload;
    struct mr_error err;
    char folder[64], path[96];

    snprintf(folder, sizeof folder, "/dev/shm/mr-fuzz-log-%ld", (long)getpid());
    snprintf(path, sizeof path, "%s/0000000000000001", folder);
    mkdir(folder, 0777);
    FILE *out = fopen(path, "wb");
    if (out == NULL || fwrite(data, 1, size, out) != size)
        return;
    fclose(out);
    if (mr_env_open("syscalls", &env, &err) != MR_OK)
        return;
    mr_arena_init(&arena, NULL, NULL);
    scan.env = env;
    scan.path = folder;
    scan.arena = &arena;
    if (mr_log_scan(&scan, 0, &err) == MR_OK) {
        for (uint64_t i = 0; i < scan.groups_n; i++) {
            if (mr_log_read(&scan, i, &payload, &err) != MR_OK)
                break;
        }
    }
    mr_log_scan_fini(&scan);
    mr_arena_fini(&arena);
    env->ops->fini(env);
}

static bool owns_even(void *arg, uint32_t partition)
{
    (void)arg;
    return partition % 2 == 0;
}

static void apply_state(struct mr_text record)
{
    static const enum mr_slot_kind slots[] = {MR_SLOT_I64, MR_SLOT_BYTES, MR_SLOT_I128};
    static const struct mr_state_table table = {
        .name = "fuzz", .slots_n = 3, .slots = slots, .bucket_us = 1000};
    struct mr_state_config config = {.table = &table};
    struct mr_state *state;
    struct mr_error err;

    if (mr_state_open(&config, &state, &err) != MR_OK)
        return;
    if (mr_state_apply(state, record, owns_even, NULL, &err) == MR_OK)
        (void)mr_state_evict(state, 0, NULL, NULL);
    mr_state_close(state);
}

static void take_records(const uint8_t *data, size_t size)
{
    struct mr_arena arena;
    struct mr_record record;
    struct mr_text payload, one;
    struct mr_plan_record plan;
    struct mr_commit commit;
    bool ok;

    mr_arena_init(&arena, NULL, NULL); /* with readable bytes behind the copy */
    payload = (struct mr_text){mr_arena_copy(&arena, data, size), size};
    apply_state(payload);
    while (mr_log_next(&payload, &record, &one, &ok)) {
        (void)!mr_record_take_plan(one, &plan);
        (void)!mr_record_take_commit(one, &commit);
        apply_state(one);
    }
    mr_arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 2 == 0)
        scan_segment(data + 1, size - 1);
    else
        take_records(data + 1, size - 1);
    return 0;
}
