#include "core/expr/coerce.h"
#include "core/expr/writer.h"

/* base64, unbase64, to_binary. */

MR_BODY(unhex); /* to_binary's other format */

static const char base64_symbols[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static uint64_t encode_base64(struct mr_text t, char *out)
{
    const uint8_t *in = (const uint8_t *)t.data;
    uint64_t i = 0, at = 0;

    for (; i + 3 <= t.n; i += 3, at += 4) {
        const uint32_t bits = (uint32_t)in[i] << 16 | (uint32_t)in[i + 1] << 8 | in[i + 2];
        out[at] = base64_symbols[bits >> 18];
        out[at + 1] = base64_symbols[bits >> 12 & 63];
        out[at + 2] = base64_symbols[bits >> 6 & 63];
        out[at + 3] = base64_symbols[bits & 63];
    }
    if (i < t.n) {
        const bool two = i + 2 == t.n;
        const uint32_t bits = (uint32_t)in[i] << 16 | (two ? (uint32_t)in[i + 1] << 8 : 0);
        out[at] = base64_symbols[bits >> 18];
        out[at + 1] = base64_symbols[bits >> 12 & 63];
        out[at + 2] = two ? base64_symbols[bits >> 6 & 63] : '=';
        out[at + 3] = '=';
        at += 4;
    }
    return at;
}

/* As MIME: lines of 76 characters. */
enum { BASE64_LINE_BYTES = 57 };

MR_BODY(base64)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        char *room = mr_text_writer_room(&w, (t.n + 2) / 3 * 4 + t.n / BASE64_LINE_BYTES * 2);
        uint64_t at = 0;
        while (t.n > BASE64_LINE_BYTES) {
            at += encode_base64((struct mr_text){t.data, BASE64_LINE_BYTES}, room + at);
            room[at++] = '\r';
            room[at++] = '\n';
            t = (struct mr_text){t.data + BASE64_LINE_BYTES, t.n - BASE64_LINE_BYTES};
        }
        at += encode_base64(t, room + at);
        mr_text_writer_put(&w, row, at);
    }
    return MR_OK;
}

/* What each character stands for, and one more; 0: none. */
static const uint8_t base64_values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

static inline int32_t base64_value(uint8_t c)
{
    return base64_values[c] - 1;
}

/* Four symbols as three bytes, as long as there are such; gives how many symbols. */
static uint64_t decode_units(struct mr_text t, char *out)
{
    const uint8_t *in = (const uint8_t *)t.data;
    uint64_t i = 0;

    for (; i + 4 <= t.n; i += 4, out += 3) {
        int32_t a = base64_value(in[i]), b = base64_value(in[i + 1]);
        int32_t c = base64_value(in[i + 2]), d = base64_value(in[i + 3]);
        if ((a | b | c | d) < 0)
            break;
        uint32_t bits = (uint32_t)(a << 18 | b << 12 | c << 6 | d);
        out[0] = (char)(bits >> 16);
        out[1] = (char)(bits >> 8);
        out[2] = (char)bits;
    }
    return i;
}

/* As Java's decoder of MIME: characters outside the alphabet are skipped, '=' fills up the last
 * four and nothing follows. False: a unit that is not whole. */
static bool decode_base64(struct mr_text t, char *out, uint64_t *n)
{
    uint32_t bits = 0, have = 0;
    uint64_t i = decode_units(t, out);

    *n = i / 4 * 3;
    for (; i < t.n && t.data[i] != '='; i++) {
        int32_t v = base64_value((uint8_t)t.data[i]);
        if (v < 0)
            continue;
        bits = bits << 6 | (uint32_t)v;
        have += 6;
        if (have == 24) {
            for (; have > 0; have -= 8)
                out[(*n)++] = (char)(bits >> (have - 8));
        }
    }
    if (have == 6 || (i < t.n && have == 0) ||
        (i < t.n && have == 12 && (i + 1 == t.n || t.data[++i] != '=')))
        return false;
    for (; have >= 8; have -= 8)
        out[(*n)++] = (char)(bits >> (have - 8));
    while (++i < t.n)
        if (base64_value((uint8_t)t.data[i]) >= 0 || t.data[i] == '=')
            return false;
    return true;
}

MR_BODY(unbase64)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_binary, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        uint64_t n;
        if (!decode_base64(t, mr_text_writer_room(&w, t.n), &n))
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "IllegalArgumentException",
                                     "unbase64: \"%.*s\" is no Base64: its last unit is not whole",
                                     (int)(t.n < 512 ? t.n : 512), t.data);
        mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}

/* to_binary(t[, format]): hex, utf-8 or base64. What other functions do is left to them. */
MR_RESOLVE(to_binary)
{
    struct mr_text format = MR_TEXT("hex");
    enum mr_status status = mr_coerce_argument(r, call, 0, &mr_type_string, NULL);

    if (status == MR_OK && call->args_n > 1)
        status = mr_require_literal(r, call, 1, "fmt");
    if (status != MR_OK)
        return status;
    if (call->args_n > 1 && call->args[1]->type->kind == MR_STRING &&
        !mr_column_is_null(call->args[1]->value, 0))
        format = mr_column_text(call->args[1]->value, 0);
    else if (call->args_n > 1)
        format = mr_expr_is_null_literal(call->args[1]) ? (struct mr_text){0} : MR_TEXT("?");
    call->args_n = 1;
    call->type = &mr_type_binary;
    call->nullable = call->args[0]->nullable;
    if (format.data == NULL) {
        call->args[0] = mr_expr_literal_null(r->arena, &mr_type_string);
    } else if (mr_text_equal_ignoring_case(format, MR_TEXT("base64"))) {
        call->args_n = 2; /* tells the body */
    } else if (mr_text_equal_ignoring_case(format, MR_TEXT("utf-8")) ||
               mr_text_equal_ignoring_case(format, MR_TEXT("utf8"))) {
        call->function = mr_function_find("encode");
        call->args[1] = mr_expr_literal_text(r->arena, MR_TEXT("UTF-8"));
        call->args_n = 2;
    } else if (!mr_text_equal_ignoring_case(format, MR_TEXT("hex"))) {
        return mr_mismatch(r, call, "INVALID_ARG_VALUE",
                           "The `fmt` value must be case-insensitive \"hex\", \"utf-8\", "
                           "\"utf8\" or \"base64\".");
    }
    return MR_OK;
}

/* Stricter than unbase64: blanks only before '=', which must fill up the last four if it is
 * there. */
static bool is_base64(struct mr_text t)
{
    uint64_t symbols = 0, fill = 0;

    for (uint64_t i = 0; i < t.n; i++) {
        uint8_t c = (uint8_t)t.data[i];
        bool blank = c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
        if (c == '=')
            fill++;
        else if (fill > 0 || (base64_value(c) < 0 && !blank))
            return false;
        else
            symbols += !blank;
    }
    return fill > 0 ? symbols % 4 >= 2 && symbols % 4 + fill == 4 : symbols % 4 != 1;
}

static enum mr_status malformed(struct mr_call *call, struct mr_text t, const char *format)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "CONVERSION_INVALID_INPUT",
                             "The value '%.*s' ('%s') cannot be converted to \"BINARY\" "
                             "because it is malformed.",
                             (int)(t.n < 512 ? t.n : 512), t.data, format);
}

MR_BODY(to_binary)
{
    bool base64 = call->expr->args_n > 1;
    enum mr_status status = MR_OK;

    if (base64) {
        MR_EACH_ROW(call, i, row)
        {
            if (!is_base64(mr_column_text(&args[0], row)))
                return malformed(call, mr_column_text(&args[0], row), "BASE64");
        }
        return mr_fn_unbase64(call, args, out);
    }
    status = mr_fn_unhex(call, args, out);
    MR_EACH_ROW(call, i, row)
    {
        if (status == MR_OK && mr_column_is_null(out, row))
            return malformed(call, mr_column_text(&args[0], row), "HEX");
    }
    return status;
}
