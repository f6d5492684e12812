#include "core/base/check.h"
#include "core/run/control.h"

static enum mr_status check_source(const struct mr_table *table, const struct mr_source_ops **out,
                                   struct mr_error *err)
{
    const struct mr_source_ops *ops = mr_source_find(table->format);

    if (ops == NULL) {
        const char *const *names = mr_source_names();
        uint32_t n = 0;
        while (names[n])
            n++;
        const char *nearest = mr_error_nearest(table->format, names, n);
        return MR_FAIL_CONDITION(err, MR_USER, "DATA_SOURCE_NOT_FOUND",
                                 "source \"%s\": there is no format \"%s\"%s%s%s", table->name,
                                 table->format, nearest ? "; did you mean \"" : "",
                                 nearest ? nearest : "", nearest ? "\"?" : "");
    }
    *out = ops;
    return ops->check ? ops->check(table, err) : MR_OK;
}

enum mr_status mr_sources_check(struct mr_query *q, struct mr_error *err)
{
    q->sources = MR_NEW_ARRAY(&q->arena, struct mr_query_source, q->shape.sources_n);
    q->splits = MR_NEW_ARRAY(&q->arena, struct mr_split_counter, q->shape.leaves_n);
    for (uint32_t i = 0; i < q->shape.sources_n; i++) {
        struct mr_query_source *s = &q->sources[i];
        const struct mr_table *table = q->shape.tables[i];
        enum mr_status status = check_source(table, &s->ops, err);
        if (status != MR_OK)
            return status;
        if (!table->streaming && !q->config.batch)
            return MR_FAIL(err, MR_UNSUPPORTED, 0, "table \"%s\": a stream can't read it",
                           table->name);
        s->config = (struct mr_source_config){
            .table = table,
            .schema = table->schema,
            .env = q->env,
            .arena = &q->arena,
            .zone = q->config.session ? q->config.session->conf.zone : mr_zone_utc(),
            .batch_rows = q->engine->config.batch_rows,
            .workers = q->workers,
            .stop = &q->stop,
        };
    }
    return MR_OK;
}

enum mr_status mr_sources_open(struct mr_query *q, struct mr_error *err)
{
    for (uint32_t i = 0; i < q->shape.sources_n; i++) {
        struct mr_query_source *s = &q->sources[i];
        s->planner = mr_arena_zero(&q->arena, s->ops->planner_size ? s->ops->planner_size : 1);
        s->opened = true;
        enum mr_status status = s->ops->planner_open(s->planner, &s->config, err);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

void mr_sources_close(struct mr_query *q)
{
    for (uint32_t i = 0; q->sources && i < q->shape.sources_n; i++)
        if (q->sources[i].opened)
            q->sources[i].ops->planner_close(q->sources[i].planner);
}

static struct mr_text copy_text(struct mr_arena *a, struct mr_text t)
{
    return t.data ? (struct mr_text){mr_arena_copy(a, t.data, t.n), t.n} : t;
}

/* Offsets of the epoch before stay readable: progress of the last epoch may still show them. */
static struct mr_arena *turn_plans(struct mr_query *q)
{
    q->plan_at ^= 1;
    struct mr_arena *a = &q->plans[q->plan_at];
    mr_arena_reset(a);
    for (uint32_t i = 0; i < q->shape.sources_n; i++)
        q->sources[i].start_json = copy_text(a, q->sources[i].end_json);
    return a;
}

enum mr_status mr_sources_plan(struct mr_query *q, uint64_t epoch, bool *any, struct mr_error *err)
{
    struct mr_arena *a = turn_plans(q);

    *any = false;
    for (uint32_t i = 0; i < q->shape.sources_n; i++) {
        struct mr_query_source *s = &q->sources[i];
        struct mr_offsets to = {0};
        mr_query_at(q, MR_AT_SOURCE, i);
        enum mr_status status = s->ops->plan(s->planner, epoch, q->limit, &to, &s->has_new, err);
        if (status != MR_OK)
            return status;
        s->end_json = to.json.data ? copy_text(a, to.json) : s->start_json;
        s->bytes = s->has_new || to.keep ? copy_text(a, to.bytes) : (struct mr_text){NULL, 0};
        q->begins |= to.keep;
        if (s->has_new && s->bytes.data == NULL)
            s->bytes = MR_TEXT("");
        *any |= s->has_new;
    }
    return MR_OK;
}

enum mr_status mr_sources_adopt(struct mr_query *q, const struct mr_plan_record *plan,
                                struct mr_error *err)
{
    struct mr_arena *a = turn_plans(q);

    if (plan->sources_n != q->shape.sources_n)
        return MR_FAIL(err, MR_USER, 0,
                       "there are %u sources in the checkpoint and %u in the query now",
                       plan->sources_n, q->shape.sources_n);
    for (uint32_t i = 0; i < plan->sources_n; i++) {
        struct mr_query_source *s = &q->sources[i];
        s->has_new = plan->offsets[i].data != NULL;
        s->bytes = copy_text(a, plan->offsets[i]);
        s->end_json =
            plan->offsets_json[i].data ? copy_text(a, plan->offsets_json[i]) : s->start_json;
        if (!s->has_new)
            continue;
        enum mr_status status = s->ops->adopt(s->planner, plan->epoch, plan->offsets[i], err);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

enum mr_status mr_sources_split(struct mr_query *q, bool has_data, struct mr_error *err)
{
    for (uint32_t i = 0; i < q->shape.sources_n; i++) {
        struct mr_query_source *s = &q->sources[i];
        s->splits_n = 0;
        if (!has_data || !s->has_new)
            continue;
        uint32_t n = 0;
        mr_query_at(q, MR_AT_SOURCE, i);
        enum mr_status status = s->ops->splits(s->planner, &n, err);
        if (status != MR_OK)
            return status;
        s->splits = MR_NEW_ARRAY(&q->scratch, struct mr_text, n);
        for (uint32_t k = 0; k < n; k++)
            s->splits[k] = copy_text(&q->scratch, s->ops->split(s->planner, k));
        s->splits_n = n;
    }
    for (uint32_t i = 0; i < q->shape.leaves_n; i++)
        atomic_store_explicit(&q->splits[i].next, 0, memory_order_relaxed);
    return MR_OK;
}

enum mr_status mr_sources_committed(struct mr_query *q, uint64_t epoch, struct mr_error *err)
{
    for (uint32_t i = 0; i < q->shape.sources_n; i++) {
        struct mr_query_source *s = &q->sources[i];
        if (s->ops->committed == NULL)
            continue;
        mr_query_at(q, MR_AT_SOURCE, i);
        enum mr_status status = s->ops->committed(s->planner, epoch, err);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

void mr_sources_record(const struct mr_query *q, struct mr_plan_record *plan)
{
    plan->sources_n = q->shape.sources_n;
    for (uint32_t i = 0; i < q->shape.sources_n; i++) {
        plan->offsets[i] = q->sources[i].bytes;
        plan->offsets_json[i] = q->sources[i].end_json;
    }
}
