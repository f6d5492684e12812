/* json_tree.h - a JSON text as a tree, for functions that look at any part of it. Inside core/expr.
 *
 * Limits   JSON_DEPTH_MAX levels; the tree is built and walked without recursion on the data,
 *          except that writing and paths go down at most MR_JSON_TREE_DEPTH levels: deeper texts
 *          count as malformed.
 */
#pragma once
#include "core/format/json/reader.h"

enum { MR_JSON_TREE_DEPTH = 200 };

struct json_tree {
    enum json_token kind; /* START_OBJECT, START_ARRAY, STRING, INTEGER, FLOAT, TRUE, FALSE, NULL */
    struct mr_text name;  /* of a member */
    struct mr_text text;  /* STRING, INTEGER, FLOAT */
    struct json_tree *first, *last, *next;
};

struct mr_json_trees {
    struct json_options options;
    struct json_reader reader;
    struct mr_arena *keep;
    struct json_tree_chunk *first, *current; /* nodes, for one text after the other */
    uint32_t used;                           /* of current */
};

void mr_json_trees_init(struct mr_json_trees *t, struct mr_arena *keep);
/* The first value of the text; what follows is not looked at. NULL: malformed, or nothing there.
 * Valid until the next one is read; borrows the text; what stands for escapes goes to a. */
struct json_tree *mr_json_tree_read(struct mr_json_trees *t, struct mr_text text,
                                    struct mr_arena *a);
/* The first token of a text, for those who go by tokens to the value that they want. */
enum json_token mr_json_trees_begin(struct mr_json_trees *t, struct mr_text text,
                                    struct mr_arena *a);
/* The value that begins with the reader's token, as by mr_json_tree_read. */
struct json_tree *mr_json_tree_here(struct mr_json_trees *t);
/* As Jackson writes what it copies: numbers with a fraction anew. */
void mr_json_tree_write(const struct json_tree *x, struct mr_buffer *out);
