/* Bytes as a checkpoint's other files: first byte mod 4: a snapshot, metadata, the head, an encoded
 * row. */
#include "core/checkpoint/head.h"
#include "core/checkpoint/metadata.h"
#include "core/checkpoint/snapshot.h"
#include "core/state/row.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum mr_status see(void *arg, const struct mr_chunk *chunk, struct mr_text data,
                          struct mr_error *err)
{
    (void)arg;
    (void)chunk;
    (void)data;
    (void)err;
    return MR_OK;
}

static void read_file(uint32_t kind, const char *folder, const char *path, struct mr_arena *a)
{
    struct mr_env *env;
    struct mr_error err;
    struct mr_metadata metadata;
    struct mr_head head;
    struct mr_text plan;
    bool found;
    struct mr_snapshot_reader reader = {0};

    if (mr_env_open("syscalls", &env, &err) != MR_OK)
        return;
    reader.env = env;
    if (kind == 0)
        (void)!mr_snapshot_read(&reader, folder, 1, a, see, NULL, &err);
    else if (kind == 1)
        (void)!mr_metadata_load(env, path, a, &metadata, &found, &err);
    else
        (void)!mr_head_load(env, path, a, &head, &plan, &found, &err);
    mr_snapshot_reader_fini(&reader);
    env->ops->fini(env);
}

static void decode_row(struct mr_arena *a, struct mr_text row)
{
    const struct mr_field inner[] = {{"s", &mr_type_string, true}, {"d", &mr_type_double, true}};
    const struct mr_type *st = mr_type_struct(a, inner, 2);
    const struct mr_field fields[] = {{"a", mr_type_array(a, st, true), true},
                                      {"m", mr_type_map(a, &mr_type_int, st, true), true},
                                      {"t", &mr_type_timestamp, true}};
    struct mr_column columns[3];
    struct mr_error err;

    (void)!mr_row_decode(mr_type_struct(a, fields, 3), &row, 1, columns, a, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mr_arena arena;
    char folder[64], path[96];

    if (size == 0)
        return 0;
    mr_arena_init(&arena, NULL, NULL);
    if (data[0] % 4 == 3) {
        decode_row(&arena, (struct mr_text){mr_arena_copy(&arena, data + 1, size - 1), size - 1});
        mr_arena_fini(&arena);
        return 0;
    }
    snprintf(folder, sizeof folder, "/dev/shm/mr-fuzz-snapshot-%ld", (long)getpid());
    snprintf(path, sizeof path, "%s/0000000000000001", folder);
    mkdir(folder, 0777);
    FILE *out = fopen(path, "wb");
    if (out && fwrite(data + 1, 1, size - 1, out) == size - 1) {
        fclose(out);
        read_file(data[0] % 4, folder, path, &arena);
    }
    mr_arena_fini(&arena);
    return 0;
}
