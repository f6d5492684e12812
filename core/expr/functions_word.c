#include "core/expr/case_table.h"
#include "core/expr/chars.h"
#include "core/expr/coerce.h"
#include "core/expr/function_state.h"
#include "core/expr/writer.h"
#include "core/format/utf8.h"

/* soundex, levenshtein, find_in_set, luhn_check, mask, quote. */

/* The four characters of the code; a text that begins with no letter stays. */
static bool soundex(struct mr_text t, char *code)
{
    static const char digits[] = "01230127022455012623017202"; /* 7: h and w, which part nothing */
    uint32_t n = 0;
    char last = 0;

    for (uint64_t i = 0; i < t.n && n < 4; i++) {
        char c = (char)(t.data[i] >= 'a' && t.data[i] <= 'z' ? t.data[i] - 32 : t.data[i]);
        bool letter = c >= 'A' && c <= 'Z';
        char digit = letter ? digits[c - 'A'] : '0';
        if (n == 0) {
            if (!letter)
                return false;
            code[n++] = c;
        } else if (digit == '7') {
            continue;
        } else if (digit != '0' && digit != last) {
            code[n++] = digit;
        }
        last = digit;
    }
    if (n == 0)
        return false;
    memset(code + n, '0', 4 - n);
    return true;
}

MR_BODY(soundex)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        char code[4];
        mr_text_writer_copy(&w, row, soundex(t, code) ? (struct mr_text){code, 4} : t);
    }
    return MR_OK;
}

static uint32_t *characters(struct mr_text t, struct mr_arena *a, uint32_t *n)
{
    uint32_t *out = mr_arena_alloc(a, (t.n + 1) * sizeof *out), bytes;

    *n = 0;
    for (uint64_t at = 0; at < t.n; at = mr_chars_next(t, at))
        out[(*n)++] = mr_chars_decode(t.data + at, t.n - at, &bytes);
    return out;
}

static uint32_t smaller(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

/* Wagner and Fischer, one row of the table at a time; -1: more than limit. */
static int32_t distance(struct mr_text x, struct mr_text y, int64_t limit, struct mr_arena *a)
{
    uint32_t x_n, y_n, *xs = characters(x, a, &x_n), *ys = characters(y, a, &y_n);
    uint32_t *costs;

    if ((x_n > y_n ? x_n - y_n : y_n - x_n) > limit)
        return -1;
    costs = mr_arena_alloc(a, ((size_t)y_n + 1) * sizeof *costs);
    for (uint32_t k = 0; k <= y_n; k++)
        costs[k] = k;
    for (uint32_t i = 0; i < x_n; i++) {
        uint32_t before = costs[0]++; /* of x[0..i) and y[0..k) */
        uint32_t least = costs[0];
        for (uint32_t k = 0; k < y_n; k++) {
            uint32_t change = before + (xs[i] != ys[k]);
            before = costs[k + 1];
            costs[k + 1] = smaller(change, smaller(before, costs[k]) + 1);
            least = smaller(least, costs[k + 1]);
        }
        if (least > limit) /* rows never have less than the one before */
            return -1;
    }
    return costs[y_n] > limit ? -1 : (int32_t)costs[y_n];
}

/* In the state, not on the stack, so that it is freed when memory runs out. */
_Static_assert(sizeof(struct mr_arena) <= MR_DISTANCE_STATE_BYTES, "as functions.def says");

void mr_distance_state_fini(void *state)
{
    mr_arena_fini(state);
}

/* levenshtein(x, y[, limit]): -1 beyond the limit. */
MR_BODY(levenshtein)
{
    struct mr_arena *scratch = call->state;

    if (scratch->first == NULL)
        mr_arena_init(scratch, call->arena->budget, call->arena->escape);
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t limit = call->expr->args_n > 2 ? args[2].i32[row] : INT64_MAX;
        mr_arena_reset(scratch);
        out->i32[row] =
            distance(mr_column_text(&args[0], row), mr_column_text(&args[1], row), limit, scratch);
    }
    return MR_OK;
}

/* The place of a word in a list between commas, from 1; 0: it is not there, or holds a comma. */
MR_BODY(find_in_set)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text word = mr_column_text(&args[0], row), set = mr_column_text(&args[1], row);
        int32_t place = 1, found = 0;
        uint64_t from = 0;
        for (uint64_t at = 0; at <= set.n && found == 0; at++) {
            if (at < set.n && set.data[at] != ',')
                continue;
            if (mr_text_equal((struct mr_text){set.data + from, at - from}, word))
                found = place;
            from = at + 1;
            place++;
        }
        out->i32[row] = word.n && memchr(word.data, ',', word.n) ? 0 : found;
    }
    return MR_OK;
}

static bool luhn(struct mr_text t)
{
    int sum = 0;

    for (uint64_t i = 0; i < t.n; i++) {
        int digit = t.data[t.n - 1 - i] - '0';
        if (digit < 0 || digit > 9)
            return false;
        digit *= i % 2 ? 2 : 1;
        sum += digit % 10 + digit / 10;
    }
    return t.n > 0 && sum % 10 == 0;
}

MR_BODY(luhn_check)
{
    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    mr_bit_put(out->bits, row, luhn(mr_column_text(&args[0], row)));
    return MR_OK;
}

MR_BODY(quote)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        char *room = mr_text_writer_room(&w, 2 * t.n + 2);
        uint64_t n = 0;
        room[n++] = '\'';
        for (uint64_t at = 0; at < t.n; at++) {
            if (t.data[at] == '\'')
                room[n++] = '\\';
            room[n++] = t.data[at];
        }
        room[n++] = '\'';
        mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}

enum mask_kind { MASK_UPPER, MASK_LOWER, MASK_DIGIT, MASK_OTHER, MASKS_N };

MR_RESOLVE(mask)
{
    for (uint32_t i = 0; i < call->args_n; i++) {
        enum mr_status status = mr_coerce_argument(r, call, i, &mr_type_string, NULL);
        if (status == MR_OK && i > 0)
            status = mr_require_literal(r, call, i, "replacement");
        if (status != MR_OK)
            return status;
        const struct mr_column *x = i > 0 ? call->args[i]->value : NULL;
        if (x && !mr_column_is_null(x, 0) && mr_chars_length(mr_column_text(x, 0)) != 1)
            return mr_mismatch(r, call, "INPUT_SIZE_NOT_ONE", "Length of argument %u should be 1.",
                               i + 1);
    }
    call->type = &mr_type_string;
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}

static enum mask_kind mask_kind_of(uint32_t c)
{
    uint32_t mapped[3];

    if (c >= '0' && c <= '9')
        return MASK_DIGIT;
    if (mr_case_map(MR_CASE_LOWER, c, mapped) != 1 || mapped[0] != c)
        return MASK_UPPER;
    return mr_case_map(MR_CASE_UPPER, c, mapped) != 1 || mapped[0] != c ? MASK_LOWER : MASK_OTHER;
}

/* mask(t[, upper[, lower[, digit[, other]]]]): NULL keeps the character. */
MR_BODY(mask)
{
    struct mr_text with[MASKS_N] = {MR_TEXT("X"), MR_TEXT("x"), MR_TEXT("n"), {0}};
    struct mr_text_writer w;

    for (uint32_t i = 1; i < call->expr->args_n; i++) {
        const struct mr_column *x = call->expr->args[i]->value;
        with[i - 1] = mr_column_is_null(x, 0) ? (struct mr_text){0} : mr_column_text(x, 0);
    }
    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        char *room;
        uint64_t n = 0;
        if (mr_column_is_null(&args[0], row)) {
            mr_text_writer_null(&w, row, call->rows);
            continue;
        }
        room = mr_text_writer_room(&w, t.n * 4);
        for (uint64_t at = 0, next; at < t.n; at = next) {
            uint32_t bytes;
            next = mr_chars_next(t, at);
            struct mr_text c = with[mask_kind_of(mr_chars_decode(t.data + at, t.n - at, &bytes))];
            if (c.data == NULL)
                c = (struct mr_text){t.data + at, next - at};
            memcpy(room + n, c.data, c.n);
            n += c.n;
        }
        mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}
