#include "core/plan/plan.h"

#include "core/plan/analyzer.h"
#include "core/plan/planner.h"
#include "core/sql/parser.h"

/* The relation that is asked for: the last step, or the first source. */
static const struct mr_relation *relation_of(const struct mr_session *session,
                                             const struct mr_plan_request *request)
{
    struct mr_relation *read;

    if (request->relation != NULL)
        return request->relation;
    if (session->views_n > 0)
        return session->views[session->views_n - 1].relation;
    read = MR_NEW(session->arena, struct mr_relation);
    read->kind = MR_REL_READ;
    read->name = MR_NEW_ARRAY(session->arena, const char *, 1);
    for (uint32_t i = session->tables_n; i-- > 0;)
        if (session->tables[i].streaming || read->name_n == 0) {
            read->name[0] = session->tables[i].name;
            read->name_n = 1;
            read->place = session->tables[i].place;
        }
    return read->name_n > 0 ? read : NULL;
}

static bool analyze(const struct mr_session *session, const struct mr_plan_request *request,
                    const struct mr_relation *relation, struct mr_error *err,
                    struct mr_logical **plan, uint32_t *next_id)
{
    struct mr_analyzer an = {
        .arena = session->arena,
        .session = session,
        .err = err,
        .resolve = {session->arena, session->conf.ansi, session->conf.zone, err},
        .next_id = 1,
        .views_n = session->views_n};

    if (request->relation == NULL && session->views_n > 0)
        an.views_n = session->views_n - 1;
    *plan = mr_analyze(&an, relation, NULL);
    *next_id = an.next_id;
    return *plan != NULL;
}

/* Stateful nodes are numbered from the sink end: in pre-order, as Spark lists them. */
static void number(struct mr_planner *p, uint32_t id, struct mr_physical_plan *plan)
{
    struct mr_node *node = p->nodes[id];

    if (node->is_stateful) {
        node->stateful_index = plan->stateful_n++;
        plan->needs_no_data_batches |= node->kind == MR_NODE_AGGREGATE
                                           ? plan->mode != MR_COMPLETE
                                           : node->kind != MR_NODE_GLOBAL_LIMIT;
    }
    node->text = mr_node_text(node, p->arena);
    for (uint32_t i = 0; i < node->children_n; i++)
        number(p, node->children[i]->id, plan);
}

static struct mr_physical_plan *physical(struct mr_planner *p, struct mr_logical *logical,
                                         const struct mr_attribute *output)
{
    struct mr_planned result = mr_plan_node(p, logical);
    struct mr_physical_plan *plan = MR_NEW(p->arena, struct mr_physical_plan);
    const struct mr_node **nodes, *child = result.node;
    struct mr_node *sink;

    if (result.node == NULL)
        return NULL;
    sink = mr_node_new(p, MR_NODE_SINK, &child, 1);
    sink->output = mr_row_type(p, output, result.columns_n);
    plan->root = sink;
    plan->mode = p->request->mode;
    number(p, sink->id, plan);
    nodes = MR_NEW_ARRAY(p->arena, const struct mr_node *, p->nodes_n);
    for (uint32_t i = 0; i < p->nodes_n; i++)
        nodes[i] = p->nodes[i];
    plan->nodes = nodes;
    plan->nodes_n = p->nodes_n;
    plan->watermarks_n = p->watermarks_n;
    if (plan->watermarks_n == 0)
        plan->needs_no_data_batches = false;
    return plan;
}

static void print_logical(struct mr_arena *a, const struct mr_logical *plan, struct mr_text *out)
{
    struct mr_buffer b;

    mr_buffer_init(&b, a);
    mr_logical_print(plan, &b);
    *out = mr_buffer_text(&b);
}

enum mr_status mr_plan_query(const struct mr_session *session,
                             const struct mr_plan_request *request, struct mr_physical_plan **out,
                             struct mr_plan_texts *texts, struct mr_error *err)
{
    const struct mr_relation *relation = relation_of(session, request);
    struct mr_error own = {0};
    struct mr_rewriter rewriter = {session->arena, session, &own, 0, request->streaming};
    struct mr_planner planner = {.arena = session->arena, .err = &own, .request = request};
    struct mr_plan_texts ignored;
    struct mr_logical *plan;
    struct mr_buffer b;

    if (texts == NULL)
        texts = &ignored;
    *texts = (struct mr_plan_texts){MR_TEXT(""), MR_TEXT(""), MR_TEXT(""), MR_TEXT("")};
    *out = NULL;
    if (relation == NULL)
        return MR_FAIL(err, MR_USER, 0, "the query has no sources and no steps");
    mr_buffer_init(&b, session->arena);
    mr_relation_print(relation, &b);
    texts->unresolved = mr_buffer_text(&b);
    if (!analyze(session, request, relation, &own, &plan, &rewriter.next_id))
        goto failed;
    print_logical(session->arena, plan, &texts->analyzed);
    if (mr_stream_rules_check(plan, request->streaming, request->mode, &session->conf, &own) !=
            MR_OK ||
        mr_rewrite(&rewriter, &plan) != MR_OK)
        goto failed;
    print_logical(session->arena, plan, &texts->optimized);
    *out = physical(&planner, plan, plan->output);
    if (*out == NULL)
        goto failed;
    mr_buffer_init(&b, session->arena);
    mr_physical_print(*out, &b);
    texts->physical = mr_buffer_text(&b);
    return MR_OK;
failed:
    MR_ASSERT(own.status != MR_OK);
    if (err != NULL) {
        if (own.file[0] == '\0')
            memcpy(own.file, err->file, sizeof own.file);
        *err = own;
    }
    return own.status;
}
