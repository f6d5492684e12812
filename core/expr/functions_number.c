#include "core/expr/coerce.h"
#include "core/expr/decimal.h"
#include "core/expr/writer.h"
#include "core/format/value.h"
#include "core/format/value_charconv.h"

#include <math.h>
#include <stdio.h>

/* format_number(x, digits): as Java's DecimalFormat with "#,##0.00": rounded half to even by the
 * exact value, groups of three. */

enum { DIGITS_MAX = 1 << 16 };

MR_RESOLVE(format_number)
{
    enum mr_status status;

    if (call->args[0]->type->kind == MR_VOID)
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_double);
    if (!mr_type_is_numeric(call->args[0]->type))
        return mr_mismatch_argument(r, call, 0, "\"NUMERIC\"");
    if (call->args[1]->type->kind == MR_STRING)
        return MR_FAIL_CONDITION(r->err, MR_USER, "UNSUPPORTED_FEATURE",
                                 "format_number with a pattern is not supported: give the number "
                                 "of digits behind the point.");
    status = mr_coerce_argument(r, call, 1, &mr_type_int, NULL);
    call->type = &mr_type_string;
    call->nullable = true;
    return status;
}

static void append_zeros(struct mr_buffer *b, uint64_t n)
{
    memset(mr_buffer_reserve(b, n), '0', n);
    b->n += n;
}

/* |v| with digits behind the point: its shortest digits where there is room for them, as Java's. */
static void print_real(double v, uint32_t digits, struct mr_buffer *b)
{
    char text[MR_VALUE_TEXT];
    int32_t exponent;
    uint32_t n = mr_charconv_digits_f64(v, text, &exponent), at = 0;

    if (v == 0)
        exponent = 0;
    if ((int64_t)n - 1 - exponent > digits) {
        uint64_t room = digits + 400u;
        b->n += (uint64_t)snprintf((char *)mr_buffer_reserve(b, room), room, "%.*f", (int)digits,
                                   fabs(v));
        return;
    }
    for (int64_t place = exponent < 0 ? 0 : exponent; place >= -(int64_t)digits; place--) {
        bool is_digit = place <= exponent && at < n;
        if (place == -1)
            mr_buffer_append(b, ".", 1);
        mr_buffer_append(b, is_digit ? &text[at] : "0", 1);
        at += is_digit;
    }
}

static void print_decimal(__int128 v, uint32_t scale, uint32_t digits, struct mr_buffer *b)
{
    char text[MR_VALUE_TEXT];
    uint32_t kept = digits < scale ? digits : scale;

    v = v < 0 ? -v : v;
    if (kept < scale) {
        __int128 power = mr_decimal_power(scale - kept), rest = v % power;
        v /= power;
        if (rest > power - rest || (rest == power - rest && v % 2 != 0))
            v++;
    }
    mr_buffer_append(b, text, mr_value_print_decimal(v, kept, text));
    if (kept < digits) {
        mr_buffer_append(b, ".", kept == 0);
        append_zeros(b, digits - kept);
    }
}

/* Without its sign; true: it has one. */
static bool print_number(const struct mr_column *x, uint32_t row, uint32_t digits,
                         struct mr_buffer *b)
{
    __int128 v;
    double d;

    switch (x->type->kind) {
    case MR_FLOAT:
    case MR_DOUBLE:
        d = x->type->kind == MR_FLOAT ? (double)x->f32[row] : x->f64[row];
        if (isnan(d))
            mr_buffer_append_text(b, MR_TEXT("NaN"));
        else if (isinf(d))
            mr_buffer_append_text(b, MR_TEXT("\xe2\x88\x9e"));
        else
            print_real(d, digits, b);
        return signbit(d) && !isnan(d);
    case MR_DECIMAL:
        v = x->i128[row];
        print_decimal(v, x->type->scale, digits, b);
        return v < 0;
    default:
        v = x->type->kind == MR_TINYINT    ? x->i8[row]
            : x->type->kind == MR_SMALLINT ? x->i16[row]
            : x->type->kind == MR_INT      ? x->i32[row]
                                           : x->i64[row];
        print_decimal(v, 0, digits, b);
        return v < 0;
    }
}

MR_BODY(format_number)
{
    struct mr_text_writer w;
    struct mr_buffer b;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int32_t digits = args[1].i32[row];
        uint64_t whole = 0, n = 0;
        if (digits < 0) {
            mr_text_writer_null(&w, row, call->rows);
            continue;
        }
        if (digits > DIGITS_MAX)
            return mr_call_argument_error(call, "d", digits);
        b.n = 0;
        bool negative = print_number(&args[0], row, (uint32_t)digits, &b);
        while (whole < b.n && b.data[whole] >= '0' && b.data[whole] <= '9')
            whole++;
        char *room = mr_text_writer_room(&w, b.n + b.n / 3 + 2);
        if (negative)
            room[n++] = '-';
        for (uint64_t k = 0; k < b.n; k++) {
            if (k > 0 && k < whole && (whole - k) % 3 == 0)
                room[n++] = ',';
            room[n++] = (char)b.data[k];
        }
        mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}
