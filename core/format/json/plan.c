#include "core/format/json/plan.h"

#include "core/base/bounds.h"
#include "core/base/check.h"

static uint32_t name_hash(struct mr_text name)
{
    uint64_t h = name.n * UINT64_C(0x9e3779b97f4a7c15);

    for (uint64_t i = 0; i < name.n; i++)
        h = (h ^ (uint8_t)name.data[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

static void index_names(struct json_node *node, struct mr_arena *a)
{
    uint32_t slots = 4;

    while (slots < node->children_n * 2)
        slots *= 2;
    node->slots = MR_NEW_ARRAY(a, uint32_t, slots);
    node->slots_mask = slots - 1;
    for (uint32_t i = 0; i < node->children_n; i++) {
        struct mr_text name = mr_text_of(node->type->fields[i].name);
        uint32_t at = name_hash(name) & node->slots_mask;
        while (node->slots[at] &&
               !mr_text_equal(mr_text_of(node->type->fields[node->slots[at] - 1].name), name))
            at = (at + 1) & node->slots_mask;
        node->slots[at] = i + 1;
    }
}

void json_node_init(struct json_node *node, const struct mr_type *type, struct mr_arena *a)
{
    *node = (struct json_node){.type = type, .children_n = type->fields_n};
    if (type->fields_n) {
        node->children = MR_NEW_ARRAY(a, struct json_node, type->fields_n);
        for (uint32_t i = 0; i < type->fields_n; i++)
            json_node_init(&node->children[i], type->fields[i].type, a);
    }
    if (type->kind == MR_STRUCT)
        index_names(node, a);
}

uint32_t json_node_find(const struct json_node *node, struct mr_text name)
{
    for (uint32_t at = name_hash(name) & node->slots_mask; node->slots[at];
         at = (at + 1) & node->slots_mask) {
        uint32_t i = node->slots[at] - 1;
        if (mr_text_equal(mr_text_of(node->type->fields[i].name), name))
            return i;
    }
    return UINT32_MAX;
}

void json_plan_init(struct json_plan *plan, const struct mr_type *root, struct mr_arena *a)
{
    const char *name = plan->options.rescued_name;

    json_node_init(&plan->root, root, a);
    plan->rescued = name != NULL ? json_node_find(&plan->root, mr_text_of(name)) : UINT32_MAX;
}

uint32_t json_plan_find(const struct json_plan *plan, struct mr_text name)
{
    uint32_t i = json_node_find(&plan->root, name);

    return i == plan->rescued ? UINT32_MAX : i;
}
