/* What must stay the same over restarts: sources by place, and per stateful operator its kind, its
 * key and value types, and what would give old state another meaning. */
#include "core/base/check.h"
#include "core/base/path.h"
#include "core/run/control.h"
#include "core/run/job_yaml.h"

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
        if (i == 0) {
            char absolute[PATH_MAX];
            mr_path_absolute(value, absolute);
            return mr_arena_format(&q->arena, "FileSource[%s]", absolute);
        }
        return mr_arena_format(&q->arena, "%s[%s=%s]", s->ops->name, places[i], value);
    }
    return s->ops->name;
}

/* Of what may have literals of the query in it. */
static struct mr_text without_secrets(struct mr_query *q, struct mr_text text)
{
    const struct mr_session *s = q->config.session;

    return s ? mr_secrets_hide(s->secrets, s->secrets_n, text, &q->arena) : text;
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
        if (item->aggregate->describe) {
            struct mr_buffer literals;
            mr_buffer_init(&literals, &q->arena);
            item->aggregate->describe(item->call, &literals);
            mr_buffer_append_text(&b, without_secrets(q, mr_buffer_text(&literals)));
        }
    }
    mr_buffer_append(&b, "", 1);
    return (const char *)b.data;
}

/* Names of expressions have the literals in them. */
static const struct mr_type *columns_without_secrets(struct mr_query *q, const struct mr_type *t)
{
    if (t == NULL || q->config.session == NULL || q->config.session->secrets_n == 0)
        return t;
    struct mr_field *fields = MR_NEW_ARRAY(&q->arena, struct mr_field, t->fields_n);
    for (uint32_t i = 0; i < t->fields_n; i++) {
        fields[i] = t->fields[i];
        if (fields[i].name == NULL)
            continue;
        const struct mr_text name = without_secrets(q, mr_text_of(fields[i].name));
        fields[i].name = mr_arena_copy(&q->arena, name.data, name.n);
    }
    return mr_type_struct(&q->arena, fields, t->fields_n);
}

static const struct mr_state_table *tables_of(struct mr_query *q, const struct mr_shape_node *n)
{
    struct mr_state_table *tables = MR_NEW_ARRAY(&q->arena, struct mr_state_table, n->tables_n);

    for (uint32_t i = 0; i < n->tables_n; i++) {
        tables[i] = n->tables[i];
        tables[i].key = columns_without_secrets(q, n->tables[i].key);
        tables[i].value = columns_without_secrets(q, n->tables[i].value);
    }
    return tables;
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
            .tables = tables_of(q, n),
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
