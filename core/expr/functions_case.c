#include "core/expr/case_table.h"
#include "core/expr/coerce.h"
#include "core/expr/chars.h"
#include "core/expr/writer.h"
#include "core/format/utf8.h"

/* upper, lower, initcap: by Unicode's tables, as Java does; ASCII texts take a short way. */

#define HIGH_BITS UINT64_C(0x8080808080808080)
enum { SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2, GROWTH = 3 };

static uint64_t map_ascii(struct mr_text t, bool upper, char *out)
{
    const char first = upper ? 'a' : 'A';
    const uint64_t ones = HIGH_BITS >> 7;
    uint64_t word, i = 0;

    for (; i + sizeof word <= t.n; i += sizeof word) { /* letters have their high bit in the sum */
        memcpy(&word, t.data + i, sizeof word);
        uint64_t from = word + ones * (uint64_t)(0x80 - first);
        uint64_t beyond = word + ones * (uint64_t)(0x80 - first - 26);
        word ^= (from & ~beyond & HIGH_BITS) >> 2;
        memcpy(out + i, &word, sizeof word);
    }
    for (; i < t.n; i++) {
        char c = t.data[i];
        out[i] = (char)(c ^ ((uint8_t)(c - first) < 26 ? 0x20 : 0));
    }
    return t.n;
}

/* A sigma is final behind a letter and not before one. */
static bool is_final(struct mr_text t, uint64_t at, bool after_letter)
{
    uint32_t bytes;
    uint64_t next = mr_chars_next(t, at);

    return after_letter &&
           (next >= t.n || !mr_case_is_letter(mr_chars_decode(t.data + next, t.n - next, &bytes)));
}

static uint64_t map_text(struct mr_text t, enum mr_case which, bool words, char *out)
{
    bool start = true, after_letter = false;
    uint64_t used = 0;

    for (uint64_t at = 0; at < t.n; at = mr_chars_next(t, at)) {
        uint32_t bytes, mapped[3], n;
        uint32_t c = mr_chars_decode(t.data + at, t.n - at, &bytes);
        enum mr_case how = words ? (start ? MR_CASE_TITLE : MR_CASE_LOWER) : which;
        if (bytes == 1 && c >= 0x80) { /* no UTF-8: stays */
            out[used++] = t.data[at];
            continue;
        }
        n = mr_case_map(how, c, mapped);
        if (c == SIGMA && how == MR_CASE_LOWER && is_final(t, at, after_letter))
            mapped[0] = FINAL_SIGMA;
        for (uint32_t i = 0; i < n; i++)
            used += mr_utf8_put(mapped[i], (uint8_t *)out + used);
        after_letter = mr_case_is_letter(c);
        start = c == ' ';
    }
    return used;
}

static enum mr_status map_column(struct mr_call *call, const struct mr_column *x,
                                 enum mr_case which, bool words, struct mr_column *out)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(x, row);
        char *room;
        if (!words && mr_chars_is_ascii(t)) {
            room = mr_text_writer_room(&w, t.n);
            mr_text_writer_put(&w, row, map_ascii(t, which == MR_CASE_UPPER, room));
        } else {
            room = mr_text_writer_room(&w, t.n * GROWTH);
            mr_text_writer_put(&w, row, map_text(t, which, words, room));
        }
    }
    return MR_OK;
}

MR_BODY(upper)
{
    return map_column(call, args, MR_CASE_UPPER, false, out);
}
MR_BODY(lower)
{
    return map_column(call, args, MR_CASE_LOWER, false, out);
}
/* Words start after blanks; the first letter is a title one, the rest small. Spark lower-cases
 * first, so that a capital I with dot stays as it is in the first place only. */
MR_BODY(initcap)
{
    return map_column(call, args, MR_CASE_TITLE, true, out);
}
