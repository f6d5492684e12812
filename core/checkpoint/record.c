#include "core/checkpoint/record.h"

struct reader {
    struct mr_text rest;
    bool is_cut;
};

static void put_i64(struct mr_buffer *out, int64_t value)
{
    mr_buffer_append(out, &value, sizeof value);
}

static void put_u32(struct mr_buffer *out, uint32_t value)
{
    mr_buffer_append(out, &value, sizeof value);
}

static void put_text(struct mr_buffer *out, struct mr_text t)
{
    put_u32(out, t.data ? (uint32_t)t.n : UINT32_MAX);
    if (t.data)
        mr_buffer_append_text(out, t);
}

static void take(struct reader *r, void *value, uint64_t bytes)
{
    r->is_cut = r->is_cut || !mr_text_take(&r->rest, value, bytes);
}

static int64_t take_i64(struct reader *r)
{
    int64_t value = 0;

    take(r, &value, sizeof value);
    return value;
}

static uint32_t take_u32(struct reader *r)
{
    uint32_t value = 0;

    take(r, &value, sizeof value);
    return value;
}

static struct mr_text take_text(struct reader *r)
{
    uint32_t n = take_u32(r);
    struct mr_text text = {NULL, 0};

    if (n != UINT32_MAX)
        r->is_cut = r->is_cut || !mr_text_take_slice(&r->rest, &text, n);
    return text;
}

static struct reader reader_of(struct mr_text bytes)
{
    return (struct reader){bytes, false};
}

void mr_record_put_plan(struct mr_buffer *out, const struct mr_plan_record *plan)
{
    put_i64(out, (int64_t)plan->epoch);
    put_i64(out, plan->time_us);
    put_i64(out, plan->late_us);
    put_i64(out, plan->evict_us);
    put_u32(out, plan->has_data);
    put_u32(out, plan->sources_n);
    for (uint32_t i = 0; i < plan->sources_n; i++) {
        put_text(out, plan->offsets[i]);
        put_text(out, plan->offsets_json[i]);
    }
}

bool mr_record_take_plan(struct mr_text bytes, struct mr_plan_record *plan)
{
    struct reader r = reader_of(bytes);

    *plan = (struct mr_plan_record){0};
    plan->epoch = (uint64_t)take_i64(&r);
    plan->time_us = take_i64(&r);
    plan->late_us = take_i64(&r);
    plan->evict_us = take_i64(&r);
    plan->has_data = take_u32(&r) != 0;
    plan->sources_n = take_u32(&r);
    if (plan->sources_n > MR_SOURCES_MAX)
        return false;
    for (uint32_t i = 0; i < plan->sources_n; i++) {
        plan->offsets[i] = take_text(&r);
        plan->offsets_json[i] = take_text(&r);
    }
    return !r.is_cut && r.rest.n == 0;
}

enum { COMMIT_POLICY_MAX = 1, COMMIT_HAD_DATA = 2 };

void mr_record_put_commit(struct mr_buffer *out, const struct mr_commit *commit)
{
    put_i64(out, (int64_t)commit->epoch);
    put_i64(out, commit->time_us);
    put_i64(out, commit->late_us);
    put_i64(out, commit->evict_us);
    put_i64(out, commit->next_watermark_us);
    put_u32(out, commit->watermarks_n);
    for (uint32_t i = 0; i < commit->watermarks_n; i++)
        put_i64(out, commit->watermarks_us[i]);
    put_u32(out, (commit->watermark_policy_max ? COMMIT_POLICY_MAX : 0) |
                     (commit->had_data ? COMMIT_HAD_DATA : 0));
    put_text(out, commit->prepared);
}

bool mr_record_take_commit(struct mr_text bytes, struct mr_commit *commit)
{
    struct reader r = reader_of(bytes);

    *commit = (struct mr_commit){0};
    commit->epoch = (uint64_t)take_i64(&r);
    commit->time_us = take_i64(&r);
    commit->late_us = take_i64(&r);
    commit->evict_us = take_i64(&r);
    commit->next_watermark_us = take_i64(&r);
    commit->watermarks_n = take_u32(&r);
    if (commit->watermarks_n > MR_WATERMARKS_MAX)
        return false;
    for (uint32_t i = 0; i < commit->watermarks_n; i++)
        commit->watermarks_us[i] = take_i64(&r);
    uint32_t flags = take_u32(&r);
    commit->watermark_policy_max = flags & COMMIT_POLICY_MAX;
    commit->had_data = flags & COMMIT_HAD_DATA;
    commit->prepared = take_text(&r);
    return !r.is_cut && r.rest.n == 0;
}
