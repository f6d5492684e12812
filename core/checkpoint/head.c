#include "core/checkpoint/head.h"

#include "core/checkpoint/crc32c.h"
#include "core/checkpoint/small_file.h"

enum mr_status mr_head_load(struct mr_env *env, const char *path, struct mr_arena *a,
                            struct mr_head *head, struct mr_text *plan, bool *found,
                            struct mr_error *err)
{
    struct mr_text data;
    struct mr_head h;

    *head = (struct mr_head){0};
    *plan = (struct mr_text){NULL, 0};
    enum mr_status status = mr_small_file_read(env, path, a, &data, found, err);
    if (status != MR_OK || data.n < sizeof h)
        return status;
    memcpy(&h, data.data, sizeof h);
    if (h.magic != MR_HEAD_MAGIC || h.plan_bytes > data.n - sizeof h ||
        h.crc != mr_crc32c(0, data.data + 8, sizeof h - 8 + h.plan_bytes))
        return MR_OK;
    *head = h;
    if (h.plan_bytes)
        *plan = (struct mr_text){data.data + sizeof h, h.plan_bytes};
    return MR_OK;
}

enum mr_status mr_head_save(struct mr_env *env, struct mr_file *file, const char *path,
                            struct mr_blocks *blocks, uint64_t durable, uint64_t published,
                            struct mr_text plan, struct mr_error *err)
{
    struct mr_head h = {
        .magic = MR_HEAD_MAGIC, .durable = durable, .published = published, .plan_bytes = plan.n};

    blocks->n = 0;
    enum mr_status status = mr_blocks_reserve(blocks, sizeof h + plan.n, err);
    if (status != MR_OK)
        return status;
    mr_blocks_append(blocks, &h, sizeof h);
    mr_blocks_append(blocks, plan.data, plan.n);
    h.crc = mr_crc32c(0, blocks->data + 8, blocks->n - 8);
    memcpy(blocks->data, &h, sizeof h);
    int64_t n = env->ops->write(file, blocks->data, blocks->n, 0);
    return n < 0 ? MR_FAIL(err, MR_IO, (int)-n, "checkpoint: write %s", path) : MR_OK;
}
