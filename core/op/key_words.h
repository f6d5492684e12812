/* key_words.h - grouping keys as a fixed number of 64-bit words, when their types allow it.
 *
 * What     Two keys are equal iff their words are: NULL equals NULL, NaN equals NaN, -0.0 equals
 *          0.0, as in encoded rows. A text takes the two words of its view, so only texts of at
 *          most 12 bytes fit; rows with longer ones are told apart by split and go the way of
 *          encoded rows.
 * Nulls    Values of up to 4 bytes keep the null bit in their own word; a null text has a length of
 *          -1; wider ones share one word of null bits, the last.
 */
#pragma once
#include "core/op/operator.h"
#include "kernels/hash/hash.h"

enum mr_key_form {
    MR_KEY_WINDOW,
    MR_KEY_BIT,
    MR_KEY_NARROW,
    MR_KEY_WIDE,
    MR_KEY_DECIMAL,
    MR_KEY_TEXT
};

struct mr_key_word {
    enum mr_key_form form;
    uint32_t word;     /* first */
    uint32_t null_bit; /* WIDE, DECIMAL: in the word of nulls */
};

struct mr_key_words {
    struct mr_key_word *keys;
    const struct mr_type **types; /* of the key columns */
    uint32_t keys_n, words_n, texts_n;
    uint32_t nulls_word; /* UINT32_MAX: none */
    int64_t pane_us;
};

/* False: these keys don't fit. */
bool mr_key_words_plan(struct mr_key_words *out, const struct mr_node *node, struct mr_arena *a);
/* Whether any of the rows has a text that does not fit. */
bool mr_key_words_has_long(const struct mr_key_words *k, const struct mr_column *keys,
                           const uint32_t *sel, uint32_t n);
/* Rows whose texts are all short go to fit, the others to rest; gives the number of the former. */
uint32_t mr_key_words_split(const struct mr_key_words *k, const struct mr_column *keys,
                            const uint32_t *sel, uint32_t n, uint32_t *fit, uint32_t *rest);
/* words[i * words_n ..) of row sel[i]; starts[i]: its window, for a window key. */
void mr_key_words_pack(const struct mr_key_words *k, const struct mr_column *keys,
                       const int64_t *starts, const uint32_t *sel, uint32_t n, uint64_t *words);
/* Fills keys_n columns of n rows. */
void mr_key_words_unpack(const struct mr_key_words *k, const uint64_t *words, uint32_t n,
                         struct mr_column *columns, struct mr_arena *a);

/* A window column of rows rows: {start, start + size} at the rows sel[i]. */
void mr_window_column(struct mr_column *c, const struct mr_type *type, const int64_t *starts,
                      int64_t window_us, const uint32_t *sel, uint32_t n, uint32_t rows,
                      struct mr_arena *a);
