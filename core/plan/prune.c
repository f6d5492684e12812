/* prune.c - columns that nobody needs are left out, from the root down to the sources.
 *
 * Why      It decides what stateful operators see: dropDuplicates whose event time is not needed
 *          above does not get it, and so drops no late rows; an aggregate that nobody reads has no
 *          state.
 */
#include "core/plan/logical.h"

#include "core/base/check.h"
#include "core/format/format.h"

static struct mr_logical *prune(struct mr_rewriter *r, struct mr_logical *node,
                                struct mr_ids *need);

static struct mr_ids copy_ids(struct mr_rewriter *r, const struct mr_ids *ids)
{
    struct mr_ids out = mr_ids_new(r->arena, ids->n);

    mr_copy_items(out.bits, ids->bits, mr_bit_words(ids->n) * sizeof *ids->bits);
    return out;
}

static void add_all(struct mr_ids *need, const struct mr_logical *node)
{
    for (uint32_t i = 0; i < node->output_n; i++)
        mr_ids_add(need, node->output[i].id);
}

static bool prune_child(struct mr_rewriter *r, struct mr_logical *node, uint32_t i,
                        struct mr_ids *need)
{
    node->children[i] = prune(r, node->children[i], need);
    return node->children[i] != NULL;
}

/* What the children have now, in their order, with what node knows of each column. */
static void follow_children(struct mr_rewriter *r, struct mr_logical *node)
{
    struct mr_attribute *output;
    uint32_t n = 0, room = 0;

    for (uint32_t i = 0; i < node->children_n; i++)
        room += node->children[i]->output_n;
    output = MR_NEW_ARRAY(r->arena, struct mr_attribute, room);
    for (uint32_t i = 0; i < node->children_n; i++)
        for (uint32_t k = 0; k < node->children[i]->output_n; k++) {
            const struct mr_attribute *a =
                mr_attribute_find(node->output, node->output_n, node->children[i]->output[k].id);
            if (a != NULL)
                output[n++] = *a;
        }
    node->output = output;
    node->output_n = n;
}

/* Drops outputs that are not needed, and their exprs (rows of them, one for each output). */
static void keep_needed(struct mr_rewriter *r, struct mr_logical *node, const struct mr_ids *need,
                        uint32_t rows)
{
    struct mr_attribute *output = MR_NEW_ARRAY(r->arena, struct mr_attribute, node->output_n);
    struct mr_expr **exprs = MR_NEW_ARRAY(r->arena, struct mr_expr *, node->exprs_n);
    uint32_t n = 0, at = 0;

    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = 0; i < node->output_n; i++)
            if (mr_ids_has(need, node->output[i].id))
                exprs[at++] = node->exprs[row * node->output_n + i];
    for (uint32_t i = 0; i < node->output_n; i++)
        if (mr_ids_has(need, node->output[i].id))
            output[n++] = node->output[i];
    node->output = output;
    node->output_n = n;
    node->exprs = exprs;
    node->exprs_n = at;
}

/* node with exactly the columns of list, in that order. */
static struct mr_logical *exactly(struct mr_rewriter *r, struct mr_logical *node,
                                  const struct mr_attribute *list, uint32_t n)
{
    bool same = node->output_n == n;

    for (uint32_t i = 0; same && i < n; i++)
        same = node->output[i].id == list[i].id;
    return same ? node : mr_logical_narrow(r->arena, node, list, n);
}

/* The rescued column is needed: what it holds depends on which columns there are, so all are
 * read. */
static bool rescues(const struct mr_logical *node, const struct mr_ids *need)
{
    const char *name =
        mr_option_get(node->table->options, node->table->options_n, "rescuedDataColumn");

    for (uint32_t i = 0; name != NULL && i < node->output_n; i++)
        if (strcmp(node->output[i].name, name) == 0)
            return mr_ids_has(need, node->output[i].id);
    return false;
}

static struct mr_logical *prune_source(struct mr_rewriter *r, struct mr_logical *node,
                                       const struct mr_ids *need)
{
    const struct mr_table *t = node->table;
    const char *corrupt = mr_option_get(t->options, t->options_n, "columnNameOfCorruptRecord");
    bool may_be_corrupt =
        t->format != NULL && (strcmp(t->format, "json") == 0 || strcmp(t->format, "csv") == 0);
    struct mr_attribute *output = MR_NEW_ARRAY(r->arena, struct mr_attribute, node->output_n);
    uint32_t n = 0, first = 0;

    if (corrupt == NULL)
        corrupt = "_corrupt_record";
    for (uint32_t i = 0; i < node->output_n; i++)
        if (mr_ids_has(need, node->output[i].id))
            output[n++] = node->output[i];
    if (n == 1 && may_be_corrupt && node->output_n > 1 && strcmp(output[0].name, corrupt) == 0) {
        (void)MR_FAIL_CONDITION(
            r->err, MR_USER, "UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN",
            "The feature is not supported: Queries from raw JSON/CSV files are "
            "disallowed when the referenced columns only include the internal corrupt "
            "record column `%s`.",
            corrupt);
        return NULL;
    }
    if (rescues(node, need))
        return exactly(r, node, output, n);
    if (n == 0 && node->output_n > 0) { /* rows are counted by some column */
        if (node->output_n > 1 && strcmp(node->output[0].name, corrupt) == 0)
            first = 1;
        output[n++] = node->output[first];
    }
    node->output = output;
    node->output_n = n;
    return node;
}

/* A constant is no key, unless it is the only one (then no rows give no group). */
static void drop_constant_keys(struct mr_logical *node)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < node->groups_n; i++) {
        if (node->groups[i]->kind == MR_EXPR_LITERAL && (n > 0 || i + 1 < node->groups_n))
            continue;
        node->groups[n] = node->groups[i];
        node->group_attributes[n++] = node->group_attributes[i];
    }
    node->groups_n = n;
}

static struct mr_logical *prune_aggregate(struct mr_rewriter *r, struct mr_logical *node,
                                          const struct mr_ids *need)
{
    struct mr_ids used = mr_ids_new(r->arena, r->next_id), below = mr_ids_new(r->arena, r->next_id);
    struct mr_logical_aggregate *kept =
        MR_NEW_ARRAY(r->arena, struct mr_logical_aggregate, node->aggregates_n);
    uint32_t n = 0;

    drop_constant_keys(node);
    keep_needed(r, node, need, 1);
    for (uint32_t i = 0; i < node->exprs_n; i++)
        mr_ids_add_expr(&used, node->exprs[i]);
    for (uint32_t i = 0; i < node->aggregates_n; i++) {
        const struct mr_logical_aggregate *x = &node->aggregates[i];

        if (!mr_ids_has(&used, x->attribute.id))
            continue;
        mr_ids_add_expr(&below, x->call);
        if (x->filter != NULL)
            mr_ids_add_expr(&below, x->filter);
        kept[n++] = *x;
    }
    node->aggregates = kept;
    node->aggregates_n = n;
    for (uint32_t i = 0; i < node->groups_n; i++)
        mr_ids_add_expr(&below, node->groups[i]);
    return prune_child(r, node, 0, &below) ? node : NULL;
}

static struct mr_logical *prune_deduplicate(struct mr_rewriter *r, struct mr_logical *node,
                                            struct mr_ids *need)
{
    struct mr_attribute *keep;
    uint32_t n = 0;

    for (uint32_t i = 0; i < node->keys_n; i++)
        mr_ids_add(need, node->keys[i]);
    for (uint32_t i = 0; node->within && i < node->output_n; i++)
        if (node->output[i].event_time)
            mr_ids_add(need, node->output[i].id);
    keep = MR_NEW_ARRAY(r->arena, struct mr_attribute, node->output_n);
    for (uint32_t i = 0; i < node->output_n; i++)
        if (mr_ids_has(need, node->output[i].id))
            keep[n++] = node->output[i];
    struct mr_ids below = copy_ids(r, need);
    if (!prune_child(r, node, 0, &below))
        return NULL;
    node->children[0] = exactly(r, node->children[0], keep, n);
    node->output = keep;
    node->output_n = n;
    return node;
}

static struct mr_logical *prune_union(struct mr_rewriter *r, struct mr_logical *node,
                                      const struct mr_ids *need)
{
    struct mr_attribute *output = MR_NEW_ARRAY(r->arena, struct mr_attribute, node->output_n);
    uint32_t n = 0;

    for (uint32_t k = 0; k < node->children_n; k++) {
        const struct mr_logical *child = node->children[k];
        struct mr_ids below = mr_ids_new(r->arena, r->next_id);
        struct mr_attribute *keep = MR_NEW_ARRAY(r->arena, struct mr_attribute, node->output_n);

        n = 0;
        for (uint32_t i = 0; i < node->output_n; i++)
            if (mr_ids_has(need, node->output[i].id)) {
                mr_ids_add(&below, child->output[i].id);
                keep[n] = child->output[i];
                output[n++] = node->output[i];
            }
        if (!prune_child(r, node, k, &below))
            return NULL;
        node->children[k] = exactly(r, node->children[k], keep, n);
    }
    node->output = output;
    node->output_n = n;
    return node;
}

static struct mr_logical *prune_generate(struct mr_rewriter *r, struct mr_logical *node,
                                         const struct mr_ids *need)
{
    uint32_t own = node->output_n - node->children[0]->output_n, kept = 0;
    const struct mr_attribute *generated = node->output + node->children[0]->output_n;
    struct mr_ids below = copy_ids(r, need);
    struct mr_attribute *output;

    mr_ids_add_expr(&below, node->exprs[0]);
    output = MR_NEW_ARRAY(r->arena, struct mr_attribute, node->output_n);
    if (!prune_child(r, node, 0, &below))
        return NULL;
    for (uint32_t i = 0; i < node->children[0]->output_n; i++) {
        const struct mr_attribute *a = &node->children[0]->output[i];
        const struct mr_attribute *was = mr_attribute_find(node->output, node->output_n, a->id);

        if (mr_ids_has(need, a->id))
            output[kept++] = was != NULL ? *was : *a;
    }
    mr_copy_items(output + kept, generated, own * sizeof *output);
    node->output = output;
    node->output_n = kept + own;
    return node;
}

/* FILTER, SORT, LIMIT, WATERMARK..: what is needed above, and what they look at. */
static struct mr_logical *prune_passing(struct mr_rewriter *r, struct mr_logical *node,
                                        struct mr_ids *need)
{
    for (uint32_t i = 0; i < node->exprs_n; i++)
        mr_ids_add_expr(need, node->exprs[i]);
    for (uint32_t i = 0; i < node->keys_n; i++)
        mr_ids_add(need, node->keys[i]);
    for (uint32_t i = 0; i < node->children_n; i++) {
        struct mr_ids below = copy_ids(r, need);

        if (!prune_child(r, node, i, &below))
            return NULL;
    }
    follow_children(r, node);
    return node;
}

static struct mr_logical *prune(struct mr_rewriter *r, struct mr_logical *node, struct mr_ids *need)
{
    struct mr_ids below;

    switch (node->kind) {
    case MR_LOGICAL_SOURCE:
        return prune_source(r, node, need);
    case MR_LOGICAL_VALUES:
        keep_needed(r, node, need, node->rows_n);
        return node;
    case MR_LOGICAL_PROJECT:
    case MR_LOGICAL_EXPAND:
        keep_needed(r, node, need, node->kind == MR_LOGICAL_EXPAND ? node->rows_n : 1);
        below = mr_ids_new(r->arena, r->next_id);
        for (uint32_t i = 0; i < node->exprs_n; i++)
            mr_ids_add_expr(&below, node->exprs[i]);
        return prune_child(r, node, 0, &below) ? node : NULL;
    case MR_LOGICAL_AGGREGATE:
        return prune_aggregate(r, node, need);
    case MR_LOGICAL_DEDUPLICATE:
        return prune_deduplicate(r, node, need);
    case MR_LOGICAL_UNION:
        return prune_union(r, node, need);
    case MR_LOGICAL_GENERATE:
        return prune_generate(r, node, need);
    case MR_LOGICAL_FILTER:
    case MR_LOGICAL_WATERMARK:
    case MR_LOGICAL_SORT:
    case MR_LOGICAL_LIMIT:
    case MR_LOGICAL_OFFSET:
    case MR_LOGICAL_JOIN:
        return prune_passing(r, node, need);
    default:
        break;
    }
    for (uint32_t i = 0; i < node->children_n; i++) {
        below = mr_ids_new(r->arena, r->next_id);
        add_all(&below, node->children[i]);
        if (!prune_child(r, node, i, &below))
            return NULL;
    }
    return node;
}

struct mr_logical *mr_prune(struct mr_rewriter *r, struct mr_logical *plan)
{
    struct mr_ids need = mr_ids_new(r->arena, r->next_id);
    struct mr_attribute *output = plan->output;
    uint32_t n = plan->output_n;

    add_all(&need, plan);
    plan = prune(r, plan, &need);
    return plan != NULL ? exactly(r, plan, output, n) : NULL;
}
