/* partial_aggregate.h - the parts of the partial aggregate: plan, choice of rows, groups, updates.
 * Internal.
 *
 * Path     choose_rows: keys, windows, late rows. find_groups: the group of each row. update: one
 *          loop per aggregate. drain: groups -> output.
 */
#pragma once
#include "core/op/accumulators.h"
#include "core/op/group_table.h"
#include "core/op/key_words.h"

enum { MR_NO_EXPR = UINT32_MAX, MR_FEW_GROUPS = 512 };

/* Aggregates that have a loop of their own, over group numbers. */
enum mr_fold { MR_FOLD_ANY, MR_FOLD_COUNT, MR_FOLD_SUM_F64 };

struct mr_partial_plan {
    struct mr_accumulators acc;
    struct mr_key_words words; /* if has_words */
    bool has_words;
    uint32_t view_key; /* the only key beside the window, a text; MR_NO_EXPR: none such */
    const struct mr_type *key_type; /* STRUCT of the keys */
    const struct mr_expr **exprs;   /* keys, then arguments and filters */
    uint32_t exprs_n;
    uint32_t *args_at;   /* by aggregate: its first argument in exprs */
    uint32_t *filter_at; /* MR_NO_EXPR: none */
    enum mr_fold *folds;
    bool has_folds, has_filters;
    uint32_t args_max;   /* of one aggregate */
    uint32_t groups_max; /* beyond it the table is given away */
};

enum { MR_WORDS_TABLE, MR_ENCODED_TABLE, MR_PARTIAL_TABLES };

struct mr_partial_state {
    struct mr_eval *eval;
    struct mr_arena arena, out_arena; /* of the input batch, of the output batch */
    struct mr_arena bytes;            /* of BYTES slots in the tables */
    bool is_open;
    struct mr_group_table tables[MR_PARTIAL_TABLES];
    uint64_t rows_in;   /* since the tables were empty */
    uint64_t pass_rows; /* still to pass */
    bool is_draining;
    uint32_t drained[MR_PARTIAL_TABLES]; /* groups given away */

    struct mr_group_cache *cache;
    bool cache_has_window; /* its ids are of the window that starts at cache_start */
    int64_t cache_start;
    uint32_t cache_rest; /* batches to go without it, because it missed much */

    struct mr_column *keys, *args, *out_columns;
    union mr_slot **groups; /* by row: its group's first slot */
    union mr_slot **slots;  /* batch_rows */
    union mr_slot **same;   /* the first same_n of batch_rows: one slot */
    uint32_t same_n;
    uint32_t *sel, *fit, *rest, *filtered, *ids, *misses, *lookup;
    int64_t *starts;
    uint64_t *words, *hashes;
    struct mr_text *texts;
    uint32_t *counts; /* lanes of few groups */
    double *sums;
};

/* The rows of a batch that are to be grouped. */
struct mr_partial_rows {
    struct mr_batch batch; /* the input, these rows selected */
    uint32_t n;
    const uint32_t *sel;
    bool is_one_window; /* all in the window that starts at start; else s->starts says */
    int64_t start;
    bool has_ids; /* s->ids, all of the table of words; else s->groups */
};

enum mr_status mr_partial_plan(void *plan, const struct mr_node *node, struct mr_arena *a,
                               struct mr_error *err);

/* Evaluates the keys and leaves the rows that count in r. */
enum mr_status mr_partial_choose_rows(struct mr_ctx *ctx, const struct mr_batch *in,
                                      struct mr_partial_rows *r);
/* Turns the time column of a window key into the window. */
void mr_partial_make_window(struct mr_ctx *ctx, const struct mr_partial_rows *r);
void mr_partial_find_groups(struct mr_ctx *ctx, struct mr_partial_rows *r);
void mr_partial_forget_cache(struct mr_partial_state *s);
/* Folds the rows of r into their groups; BYTES grow in owner. */
enum mr_status mr_partial_update(struct mr_ctx *ctx, const struct mr_partial_rows *r,
                                 struct mr_arena *owner);
