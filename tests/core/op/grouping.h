/* grouping.h - a partial aggregate and the aggregate above it, for tests. */
#pragma once
#include "core/op/partial_aggregate.h"
#include "tests/core/op/aggregates.h"

/* Columns of the input: key, time, value, name, flag. */
enum { KEY, TIME, VALUE, NAME, FLAG };

enum shape { BY_WINDOW_AND_KEY, BY_WINDOW, BY_KEY, BY_TIME, BY_NOTHING };

struct grouping {
    struct op partial, final;
    struct lines lines;
    const struct mr_type *input;
    const struct mr_node *children[1];
};

struct grouping_config {
    enum shape shape;
    enum mr_output_mode mode;
    bool has_watermark, is_batch, has_filter;
    bool is_real;                   /* the functions of core/expr, not those of aggregates.h */
    bool is_one_window;             /* all times of a batch in one window */
    const struct mr_type *key_type; /* of the key column; NULL: STRING */
    uint32_t batch_rows;
    uint32_t groups_max; /* 0: as planned */
};

static inline void grouping_keys(struct grouping *g, const struct grouping_config *c)
{
    struct mr_arena *a = &g->partial.arena;
    struct mr_node *node = &g->partial.node;
    const struct mr_expr **keys = MR_NEW_ARRAY(a, const struct mr_expr *, 2);
    const struct mr_expr *key = column_expr(a, KEY, g->input->fields[KEY].type);
    const struct mr_expr *time = column_expr(a, TIME, &mr_type_timestamp);

    if (c->shape == BY_WINDOW_AND_KEY || c->shape == BY_WINDOW) {
        keys[node->keys_n++] = time;
        node->window_key = 0;
        node->window_us = node->slide_us = 60;
        node->time_rule = c->has_watermark ? MR_TIME_WINDOW_END : MR_TIME_NONE;
    }
    if (c->shape == BY_TIME) {
        keys[node->keys_n++] = time;
        node->time_rule = c->has_watermark ? MR_TIME_COLUMN : MR_TIME_NONE;
    }
    if (c->shape == BY_WINDOW_AND_KEY || c->shape == BY_KEY)
        keys[node->keys_n++] = key;
    node->keys = keys;
    node->mode = c->mode;
    node->batch = c->is_batch;
}

/* count(*), sum(value), max(name) [FILTER (WHERE flag) on the sum]. */
static inline void grouping_aggregates(struct grouping *g, const struct grouping_config *c)
{
    struct mr_arena *a = &g->partial.arena;
    struct mr_node *node = &g->partial.node;
    struct mr_aggregate_item *items = MR_NEW_ARRAY(a, struct mr_aggregate_item, 3);

    items[0] =
        item_of(a, c->is_real ? mr_aggregate_find("count") : &test_count, NULL, &mr_type_bigint);
    items[1] = item_of(a, c->is_real ? mr_aggregate_find("sum") : &test_sum,
                       column_expr(a, VALUE, &mr_type_double), &mr_type_double);
    if (c->has_filter)
        items[1].filter = column_expr(a, FLAG, &mr_type_boolean);
    items[2] = item_of(a, c->is_real ? mr_aggregate_find("max") : &test_last,
                       column_expr(a, NAME, &mr_type_string), &mr_type_string);
    node->aggregates = items;
    node->aggregates_n = 3;
}

static inline const struct mr_type *grouping_key_type(struct grouping *g, uint32_t i,
                                                      const struct mr_type *window)
{
    const struct mr_node *node = &g->partial.node;

    return i == node->window_key ? window : node->keys[i]->type;
}

static inline void grouping_open(struct grouping *g, const struct grouping_config *c)
{
    memset(g, 0, sizeof *g);
    op_init(&g->partial, &g->lines);
    op_init(&g->final, &g->lines);
    struct mr_arena *a = &g->partial.arena;
    struct mr_node *partial = &g->partial.node, *final = &g->final.node;
    g->input = row_type(a, 5, c->key_type ? c->key_type : &mr_type_string, &mr_type_timestamp,
                        &mr_type_double, &mr_type_string, &mr_type_boolean);
    grouping_keys(g, c);
    grouping_aggregates(g, c);
    const struct mr_type *window = row_type(a, 2, &mr_type_timestamp, &mr_type_timestamp);
    const struct mr_type *slots[] = {&mr_type_bigint, &mr_type_double,
                                     c->is_real ? &mr_type_bigint : mr_type_decimal(a, 38, 0),
                                     &mr_type_binary};
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, 6),
                    *results = MR_NEW_ARRAY(a, struct mr_field, 5);
    for (uint32_t i = 0; i < partial->keys_n; i++)
        fields[i] = results[i] = (struct mr_field){"k", grouping_key_type(g, i, window), true};
    for (uint32_t i = 0; i < 4; i++)
        fields[partial->keys_n + i] = (struct mr_field){"s", slots[i], true};
    for (uint32_t i = 0; i < 3; i++)
        results[partial->keys_n + i] =
            (struct mr_field){"r", partial->aggregates[i].call->type, true};
    partial->output = mr_type_struct(a, fields, partial->keys_n + 4);
    g->children[0] = partial;
    *final = *partial;
    final->output = mr_type_struct(a, results, partial->keys_n + 3);
    final->children = g->children;
    final->children_n = 1;
    final->window_key = UINT32_MAX;
    final->exprs = column_exprs(a, final->output);
    final->exprs_n = final->output->fields_n;
    op_open(&g->partial, MR_NODE_PARTIAL_AGGREGATE, c->batch_rows);
    op_open(&g->final, MR_NODE_AGGREGATE, c->batch_rows);
    g->partial.next = &g->final;
    if (c->groups_max) /* the plan is the harness's own copy */
        ((struct mr_partial_plan *)(uintptr_t)g->partial.ctx.plan)->groups_max = c->groups_max;
}

static inline void grouping_close(struct grouping *g)
{
    op_close(&g->final);
    op_close(&g->partial);
    clear_lines(&g->lines);
}

static inline const struct mr_operator_counts *grouping_counts(const struct grouping *g)
{
    return &g->final.ctx.counts;
}
