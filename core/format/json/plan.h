/* plan.h - what a JSON decoder or parser was asked for, compiled once: options and the tree of
 * types.
 *
 * Threads  Immutable after open.
 */
#pragma once
#include "core/format/format.h"
#include "core/format/temporal.h"

/* Jackson's limits as Spark leaves them. */
enum { JSON_DEPTH_MAX = 1000, JSON_NUMBER_MAX = 1000, JSON_NAME_MAX = 50000 };

struct json_options {
    enum mr_mode mode;
    bool comments, unquoted_names, single_quotes, leading_zeros, non_numeric, any_escape;
    bool control_chars;
    bool multi_line;
    /* File source: a number or nested value in a STRING keeps its bytes. from_json: it is written
     * anew. */
    bool exact_text;
    bool from_characters;  /* from_json: Jackson reads characters there, and bytes in files */
    bool array_as_structs; /* file source: an array at the root gives one row an element */
    const char *corrupt_name;
    const char *rescued_name;      /* NULL: nothing is rescued */
    struct mr_text line_separator; /* empty: \n, \r, \r\n */
    struct mr_temporal temporal;
    bool zone_is_utc;
};

struct json_node {
    const struct mr_type *type;
    struct json_node *children; /* type->fields_n */
    uint32_t children_n;
    /* STRUCT: names -> index + 1, open addressing; later of equal names wins */
    uint32_t *slots;
    uint32_t slots_mask;
};

struct json_plan {
    struct json_options options;
    struct json_node root; /* without the corrupt column */
    uint32_t rescued;      /* field of root; UINT32_MAX: none */
};

void json_node_init(struct json_node *node, const struct mr_type *type, struct mr_arena *a);
/* Sets root, and finds the rescued column in it. */
void json_plan_init(struct json_plan *plan, const struct mr_type *root, struct mr_arena *a);
/* Index of the field of that name; UINT32_MAX: none. */
uint32_t json_node_find(const struct json_node *node, struct mr_text name);
/* The same for root, where the rescued column is no field of a record. */
uint32_t json_plan_find(const struct json_plan *plan, struct mr_text name);

/* Reads options that check_options has passed. */
MR_NODISCARD enum mr_status json_options_read(const struct mr_decoder_config *config,
                                              struct mr_arena *a, struct json_options *out,
                                              struct mr_error *err);
