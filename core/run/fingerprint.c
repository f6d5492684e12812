/* What must stay the same over restarts: sources by place, and per stateful operator its kind, its
 * key and value types, and what would give old state another meaning. */
#include "core/base/check.h"
#include "core/run/control.h"

static const char *const mode_names[] = {"append", "update", "complete"};

/* Where a source reads from; how (its format, its limits) may change. */
static const char *describe_source(struct mr_query *q, const struct mr_query_source *s)
{
    static const char *const places[] = {"path", "subscribe", "subscribePattern", "assign", "host"};
    const struct mr_table *table = s->config.table;

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *value = mr_option_get(table->options, table->options_n, places[i]);
        if (value == NULL)
            continue;
        if (i == 0)
            return mr_arena_format(&q->arena, "FileSource[%s]", value);
        return mr_arena_format(&q->arena, "%s[%s=%s]", s->ops->name, places[i], value);
    }
    return s->ops->name;
}

static const char *describe_operator(struct mr_query *q, const struct mr_node *n)
{
    struct mr_buffer b;

    mr_buffer_init(&b, &q->arena);
    if (n->window_us > 0)
        mr_buffer_append_format(&b, "window %lld us, slide %lld us, start %lld us",
                                (long long)n->window_us, (long long)n->slide_us,
                                (long long)n->offset_us);
    for (uint32_t i = 0; i < n->aggregates_n; i++) {
        const struct mr_aggregate_item *item = &n->aggregates[i];
        mr_buffer_append_format(&b, "%s%s", b.n ? ", " : "", item->aggregate->name);
        if (item->aggregate->describe)
            item->aggregate->describe(item->call, &b);
    }
    mr_buffer_append(&b, "", 1);
    return (const char *)b.data;
}

void mr_fingerprint_make(struct mr_query *q, struct mr_fingerprint *out)
{
    uint32_t sources_n = q->shape.sources_n, operators_n = q->shape.stateful_n;
    const char **sources = MR_NEW_ARRAY(&q->arena, const char *, sources_n);
    struct mr_fingerprint_operator *operators =
        MR_NEW_ARRAY(&q->arena, struct mr_fingerprint_operator, operators_n);

    for (uint32_t i = 0; i < sources_n; i++)
        sources[i] = describe_source(q, &q->sources[i]);
    for (uint32_t i = 0; i < operators_n; i++) {
        const struct mr_shape_node *n = &q->shape.nodes[q->shape.stateful[i]];
        operators[i] = (struct mr_fingerprint_operator){
            .name = mr_node_name(n->node->kind),
            .tables = n->tables,
            .tables_n = n->tables_n,
            .detail = describe_operator(q, n->node),
        };
    }
    *out = (struct mr_fingerprint){
        .sources_n = sources_n,
        .sources = sources,
        .operators_n = operators_n,
        .operators = operators,
        .mode = mode_names[q->shape.plan->mode],
        .sink = q->config.sink_ops->name,
    };
}
