#include "core/op/key_words.h"

#include "core/base/check.h"

#include <math.h>

static const uint64_t narrow_null = UINT64_C(1) << 63;

static bool form_of(const struct mr_type *type, enum mr_key_form *form)
{
    switch (type->kind) {
    case MR_BOOLEAN:
        *form = MR_KEY_BIT;
        return true;
    case MR_TINYINT:
    case MR_SMALLINT:
    case MR_INT:
    case MR_DATE:
    case MR_FLOAT:
    case MR_INTERVAL_YEAR_MONTH:
        *form = MR_KEY_NARROW;
        return true;
    case MR_BIGINT:
    case MR_DOUBLE:
    case MR_TIMESTAMP:
    case MR_TIMESTAMP_NTZ:
    case MR_INTERVAL_DAY_TIME:
        *form = MR_KEY_WIDE;
        return true;
    case MR_DECIMAL:
        *form = MR_KEY_DECIMAL;
        return true;
    case MR_STRING:
    case MR_BINARY:
        *form = MR_KEY_TEXT;
        return true;
    default:
        return false;
    }
}

bool mr_key_words_plan(struct mr_key_words *out, const struct mr_node *node, struct mr_arena *a)
{
    uint32_t nulls_n = 0;

    *out = (struct mr_key_words){
        .keys_n = node->keys_n, .nulls_word = UINT32_MAX, .pane_us = node->slide_us};
    out->keys = MR_NEW_ARRAY(a, struct mr_key_word, node->keys_n);
    out->types = MR_NEW_ARRAY(a, const struct mr_type *, node->keys_n);
    for (uint32_t i = 0; i < node->keys_n; i++) {
        struct mr_key_word *key = &out->keys[i];
        out->types[i] = node->output->fields[i].type;
        if (i == node->window_key)
            key->form = MR_KEY_WINDOW;
        else if (!form_of(out->types[i], &key->form))
            return false;
        key->word = out->words_n;
        if (key->form == MR_KEY_WIDE || key->form == MR_KEY_DECIMAL)
            key->null_bit = nulls_n++;
        out->texts_n += key->form == MR_KEY_TEXT;
        out->words_n += key->form == MR_KEY_TEXT || key->form == MR_KEY_DECIMAL ? 2 : 1;
        if (out->words_n > MR_HASH_WORDS_MAX)
            return false;
    }
    if (nulls_n > 0)
        out->nulls_word = out->words_n++;
    return out->words_n > 0 && out->words_n <= MR_HASH_WORDS_MAX;
}

bool mr_key_words_has_long(const struct mr_key_words *k, const struct mr_column *keys,
                           const uint32_t *sel, uint32_t n)
{
    uint32_t room = 0; /* the sign of room left, of all */

    for (uint32_t key = 0; key < k->keys_n; key++) {
        const struct mr_view *views = keys[key].views;
        if (k->keys[key].form != MR_KEY_TEXT)
            continue;
        if (sel == NULL)
            for (uint32_t i = 0; i < n; i++)
                room |= MR_VIEW_INLINE - (uint32_t)views[i].length;
        else
            for (uint32_t i = 0; i < n; i++)
                room |= MR_VIEW_INLINE - (uint32_t)views[sel[i]].length;
    }
    return room >> 31;
}

uint32_t mr_key_words_split(const struct mr_key_words *k, const struct mr_column *keys,
                            const uint32_t *sel, uint32_t n, uint32_t *fit, uint32_t *rest)
{
    uint32_t fit_n = 0, rest_n = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = sel ? sel[i] : i;
        bool fits = true;
        for (uint32_t key = 0; key < k->keys_n; key++)
            if (k->keys[key].form == MR_KEY_TEXT)
                fits &= keys[key].views[row].length <= MR_VIEW_INLINE;
        fit[fit_n] = row;
        rest[rest_n] = row;
        fit_n += fits;
        rest_n += !fits;
    }
    return fit_n;
}

/* Spark's key equality of floats: one NaN, one zero. */
static uint64_t float_bits(float x)
{
    uint32_t bits;

    x = isnan(x) ? NAN : x == 0 ? 0 : x;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t double_bits(double x)
{
    uint64_t bits;

    x = isnan(x) ? (double)NAN : x == 0 ? 0 : x;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t narrow_value(const struct mr_column *c, uint32_t row)
{
    switch (c->type->kind) {
    case MR_BOOLEAN:
        return mr_bit_get(c->bits, row);
    case MR_TINYINT:
        return (uint8_t)c->i8[row];
    case MR_SMALLINT:
        return (uint16_t)c->i16[row];
    case MR_FLOAT:
        return float_bits(c->f32[row]);
    default:
        return (uint32_t)c->i32[row];
    }
}

static void pack_narrow(const struct mr_column *c, const uint32_t *sel, uint32_t n, uint64_t *to,
                        uint32_t width)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = sel ? sel[i] : i;
        to[i * width] = mr_column_is_null(c, row) ? narrow_null : narrow_value(c, row);
    }
}

static void pack_text(const struct mr_column *c, const uint32_t *sel, uint32_t n, uint64_t *to,
                      uint32_t width)
{
    if (c->valid == NULL && sel == NULL) {
        for (uint32_t i = 0; i < n; i++)
            memcpy(to + i * width, &c->views[i], sizeof *c->views);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = sel ? sel[i] : i;
        memcpy(to + i * width, &c->views[row], sizeof *c->views);
        if (mr_column_is_null(c, row)) {
            to[i * width] = UINT64_MAX;
            to[i * width + 1] = 0;
        }
    }
}

static void pack_wide(const struct mr_column *c, const uint32_t *sel, uint32_t n, uint64_t *to,
                      uint64_t *nulls, uint32_t width, uint64_t null_bit)
{
    const uint32_t words_n = c->type->kind == MR_DECIMAL ? 2 : 1;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = sel ? sel[i] : i;
        const bool is_null = mr_column_is_null(c, row);
        nulls[i * width] |= is_null ? null_bit : 0;
        if (is_null)
            memset(to + i * width, 0, words_n * sizeof *to);
        else if (words_n == 2)
            memcpy(to + i * width, &c->i128[row], sizeof *c->i128);
        else if (c->type->kind == MR_DOUBLE)
            to[i * width] = double_bits(c->f64[row]);
        else
            to[i * width] = (uint64_t)c->i64[row];
    }
}

void mr_key_words_pack(const struct mr_key_words *k, const struct mr_column *keys,
                       const int64_t *starts, const uint32_t *sel, uint32_t n, uint64_t *words)
{
    const uint32_t width = k->words_n;
    uint64_t *nulls = k->nulls_word == UINT32_MAX ? NULL : words + k->nulls_word;

    for (uint32_t i = 0; nulls && i < n; i++)
        nulls[i * width] = 0;
    for (uint32_t key = 0; key < k->keys_n; key++) {
        const struct mr_column *c = &keys[key];
        uint64_t *to = words + k->keys[key].word;
        switch (k->keys[key].form) {
        case MR_KEY_WINDOW:
            for (uint32_t i = 0; i < n; i++)
                to[i * width] = (uint64_t)starts[i];
            break;
        case MR_KEY_BIT:
        case MR_KEY_NARROW:
            pack_narrow(c, sel, n, to, width);
            break;
        case MR_KEY_WIDE:
        case MR_KEY_DECIMAL:
            pack_wide(c, sel, n, to, nulls, width, UINT64_C(1) << k->keys[key].null_bit);
            break;
        case MR_KEY_TEXT:
            pack_text(c, sel, n, to, width);
            break;
        }
    }
}

static void narrow_store(struct mr_column *c, uint32_t row, uint64_t value)
{
    switch (c->type->kind) {
    case MR_BOOLEAN:
        mr_bit_put(c->bits, row, value & 1);
        return;
    case MR_TINYINT:
        c->i8[row] = (int8_t)value;
        return;
    case MR_SMALLINT:
        c->i16[row] = (int16_t)value;
        return;
    default: /* INT, DATE, FLOAT, months: four bytes */
        c->i32[row] = (int32_t)value;
    }
}

static void unpack_key(const struct mr_key_word *key, const uint64_t *from, const uint64_t *nulls,
                       uint32_t width, uint32_t n, struct mr_column *c)
{
    const uint64_t null_bit = UINT64_C(1) << key->null_bit;

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t *word = from + (uint64_t)i * width;
        bool is_null = false;
        if (key->form == MR_KEY_TEXT) {
            is_null = word[0] == UINT64_MAX;
            memcpy(&c->views[i], word, sizeof *c->views);
            if (is_null)
                mr_view_set(&c->views[i], "", 0, 0, 0);
        } else if (key->form == MR_KEY_BIT || key->form == MR_KEY_NARROW) {
            is_null = word[0] == narrow_null;
            narrow_store(c, i, word[0]);
        } else {
            is_null = (nulls[(uint64_t)i * width] & null_bit) != 0;
            if (key->form == MR_KEY_DECIMAL)
                memcpy(&c->i128[i], word, sizeof *c->i128);
            else
                c->i64[i] = (int64_t)word[0];
        }
        if (is_null)
            mr_bit_clear(c->valid, i);
    }
}

void mr_key_words_unpack(const struct mr_key_words *k, const uint64_t *words, uint32_t n,
                         struct mr_column *columns, struct mr_arena *a)
{
    const uint64_t *nulls = k->nulls_word == UINT32_MAX ? NULL : words + k->nulls_word;

    for (uint32_t key = 0; key < k->keys_n; key++) {
        const uint64_t *from = words + k->keys[key].word;
        if (k->keys[key].form != MR_KEY_WINDOW) {
            mr_column_alloc(&columns[key], k->types[key], n, true, a);
            unpack_key(&k->keys[key], from, nulls, k->words_n, n, &columns[key]);
            continue;
        }
        int64_t *starts = mr_arena_alloc(a, sizeof *starts * (n + 1));
        for (uint32_t i = 0; i < n; i++)
            starts[i] = (int64_t)from[(uint64_t)i * k->words_n];
        mr_window_column(&columns[key], k->types[key], starts, k->pane_us, NULL, n, n, a);
    }
}

void mr_window_column(struct mr_column *c, const struct mr_type *type, const int64_t *starts,
                      int64_t window_us, const uint32_t *sel, uint32_t n, uint32_t rows,
                      struct mr_arena *a)
{
    MR_ASSERT(type->kind == MR_STRUCT && type->fields_n == 2);
    mr_column_alloc(c, type, rows, false, a);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = sel ? sel[i] : i;
        c->children[0].i64[row] = starts[i];
        c->children[1].i64[row] = starts[i] + window_us;
    }
}
