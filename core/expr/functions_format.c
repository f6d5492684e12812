#include "core/base/bounds.h"
#include "core/expr/cast.h"
#include "core/expr/decimal.h"
#include "core/format/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* format_string (Java's Formatter), conv, to_number. */

MR_RESOLVE(format_string)
{
    enum mr_status status = mr_coerce_argument(r, call, 0, &mr_type_string, NULL);

    call->type = &mr_type_string;
    call->nullable = call->args[0]->nullable;
    return status;
}

static enum mr_status bad_format(struct mr_call *call, struct mr_text format)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_PARAMETER_VALUE.FORMAT",
                             "format_string: '%.*s' does not fit its arguments.",
                             (int)(format.n < 512 ? format.n : 512), format.data);
}

static bool integer_of(const struct mr_column *x, uint32_t row, int64_t *v)
{
    switch (x->type->kind) {
    case MR_TINYINT:
        *v = x->i8[row];
        return true;
    case MR_SMALLINT:
        *v = x->i16[row];
        return true;
    case MR_INT:
        *v = x->i32[row];
        return true;
    case MR_BIGINT:
        *v = x->i64[row];
        return true;
    default:
        return false;
    }
}

static bool real_of(const struct mr_column *x, uint32_t row, double *v)
{
    switch (x->type->kind) {
    case MR_FLOAT:
        *v = (double)x->f32[row];
        return true;
    case MR_DOUBLE:
        *v = x->f64[row];
        return true;
    case MR_DECIMAL:
        *v = mr_decimal_to_double(x->i128[row], x->type->scale);
        return true;
    default:
        return false;
    }
}

enum { FLAGS_MAX = 24 };

/* As printf; what is longer than an int counts is too large for a column, too. */
static void print(struct mr_buffer *out, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0)
        mr_arena_exhaust(out->arena);
    vsnprintf((char *)mr_buffer_reserve(out, (uint64_t)n + 1), (size_t)n + 1, format, again);
    va_end(again);
    out->n += (uint64_t)n;
}

/* Java rounds the shortest digits of a double half up: d with so many digits behind the point. */
static uint32_t print_fixed(double d, uint32_t places, char *out)
{
    char shortest[MR_VALUE_TEXT + 1], digits[MR_VALUE_TEXT + 1];
    uint32_t n = mr_value_print_double(fabs(d), shortest), count = 0, at = 0;
    int32_t point = -1, exponent = 0;

    shortest[n] = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (shortest[i] == '.') {
            point = (int32_t)count;
        } else if (shortest[i] == 'E') {
            exponent = atoi(shortest + i + 1);
            break;
        } else {
            digits[count++] = shortest[i];
        }
    }
    point += exponent; /* digits before the point; may be below 0 */
    int32_t kept = point + (int32_t)places;
    if (kept < 0 || (kept == 0 && digits[0] < '5')) {
        count = 0;
    } else if (kept < (int32_t)count) {
        bool up = digits[kept] >= '5';
        count = (uint32_t)kept;
        for (int32_t i = kept - 1; up && i >= 0; i--) {
            up = digits[i] == '9';
            digits[i] = up ? '0' : (char)(digits[i] + 1);
        }
        if (up) {
            memmove(digits + 1, digits, count++);
            digits[0] = '1';
            point++;
        }
    }
    for (int32_t i = 0; i < point; i++)
        out[at++] = i < (int32_t)count ? digits[i] : '0';
    if (at == 0)
        out[at++] = '0';
    if (places > 0)
        out[at++] = '.';
    for (int32_t i = point; i < point + (int32_t)places; i++)
        out[at++] = i >= 0 && i < (int32_t)count ? digits[i] : '0';
    return at;
}

/* %f and what is no number, laid out by the flags and width; else as printf does. */
static void print_real(struct mr_buffer *out, char *flags, char letter, double d)
{
    char text[800], suffix[2] = {letter, 0}, sign[2] = {0};
    const char *f = flags + 1;
    bool left = false, zero = false, plus = false, blank = false;
    uint32_t n, width, places = 6;

    if (isfinite(d) && (letter | 32) != 'f') {
        strcat(flags, suffix);
        print(out, flags, d);
        return;
    }
    for (; *f && strchr("-0+ #", *f); f++) {
        left |= *f == '-';
        zero |= *f == '0';
        plus |= *f == '+';
        blank |= *f == ' ';
    }
    char *after;
    width = (uint32_t)strtoul(f, &after, 10);
    f = after;
    if (*f == '.')
        places = (uint32_t)strtoul(f + 1, NULL, 10);
    places = places > 400 ? 400 : places;
    n = isfinite(d) ? print_fixed(d, places, text)
                    : (uint32_t)sprintf(text, "%s", isnan(d) ? "NaN" : "Infinity");
    sign[0] = isnan(d) ? 0 : signbit(d) ? '-' : plus ? '+' : blank ? ' ' : 0;
    uint32_t used = n + (sign[0] != 0), pad = width > used ? width - used : 0;
    zero = zero && isfinite(d);
    for (uint32_t i = 0; !left && !zero && i < pad; i++)
        mr_buffer_append(out, " ", 1);
    mr_buffer_append(out, sign, sign[0] != 0);
    for (uint32_t i = 0; zero && i < pad; i++)
        mr_buffer_append(out, "0", 1);
    mr_buffer_append(out, text, n);
    for (uint32_t i = 0; left && i < pad; i++)
        mr_buffer_append(out, " ", 1);
}

/* Java's formatter sees times and intervals as the numbers that Spark holds. */
static void print_any(struct mr_call *call, const struct mr_column *x, uint32_t row,
                      struct mr_buffer *out)
{
    if (x->type->kind < MR_DATE || x->type->kind > MR_INTERVAL_DAY_TIME)
        mr_cast_print(x, row, call->context, out);
    else
        mr_buffer_append_format(out, "%lld",
                                mr_type_value_bytes(x->type) == sizeof x->i32[row]
                                    ? (long long)x->i32[row]
                                    : (long long)x->i64[row]);
}

/* %-8.2s of a text: width and precision count characters. */
static void append_padded(struct mr_buffer *out, const char *flags, struct mr_text t)
{
    const char *point = strchr(flags, '.'), *digits = flags + strspn(flags, "%-#+ 0");
    uint64_t width = strtoul(digits, NULL, 10), places = point ? strtoul(point + 1, NULL, 10) : t.n;
    uint64_t end = 0, chars = 0;

    for (; end < t.n; end++) {
        bool begins = ((unsigned char)t.data[end] & 0xc0) != 0x80;
        if (begins && chars == places)
            break;
        chars += begins;
    }
    t.n = end;
    if (strchr(flags, '-'))
        mr_buffer_append_text(out, t);
    for (uint64_t i = chars; i < width; i++)
        mr_buffer_append(out, " ", 1);
    if (!strchr(flags, '-'))
        mr_buffer_append_text(out, t);
}

/* One conversion of one argument. flags: "%-08.2", without the letter. */
static bool format_one(struct mr_call *call, const struct mr_column *x, uint32_t row, char *flags,
                       char letter, struct mr_buffer *out)
{
    char lower = (char)(letter | 32);
    int64_t v;
    double d;

    if (lower == 's' || mr_column_is_null(x, row) || lower == 'b') {
        struct mr_buffer value;
        mr_buffer_init(&value, call->arena);
        if (mr_column_is_null(x, row))
            mr_buffer_append_text(&value, lower == 'b' ? MR_TEXT("false") : MR_TEXT("null"));
        else
            print_any(call, x, row, &value);
        append_padded(out, flags, mr_buffer_text(&value));
    } else if ((lower == 'd' || lower == 'x' || lower == 'o' || lower == 'c') &&
               integer_of(x, row, &v)) {
        if (lower == 'c') {
            strcat(flags, "c");
            print(out, flags, (int)v);
        } else {
            char suffix[4] = {'l', 'l', letter, 0};
            if (lower != 'd' && x->type->kind != MR_BIGINT)
                v = (uint32_t)v;
            strcat(flags, suffix);
            print(out, flags, (long long)v);
        }
    } else if ((lower == 'f' || lower == 'e' || lower == 'g') && real_of(x, row, &d)) {
        print_real(out, flags, letter, d);
    } else {
        return false;
    }
    return true;
}

/* %[index$][flags][width][.precision]letter, %% and %n. */
static bool format_row(struct mr_call *call, const struct mr_column *args, uint32_t row,
                       struct mr_text f, struct mr_buffer *out)
{
    uint32_t next = 1;

    for (uint64_t at = 0; at < f.n;) {
        char flags[FLAGS_MAX + 4] = "%";
        uint32_t used = 1, argument;
        uint64_t k = at + 1, digits = 0;
        if (f.data[at] != '%') {
            mr_buffer_append(out, &f.data[at++], 1);
            continue;
        }
        while (k + digits < f.n && f.data[k + digits] >= '0' && f.data[k + digits] <= '9')
            digits++;
        argument = next;
        if (digits > 0 && digits < 4 && k + digits < f.n && f.data[k + digits] == '$') {
            argument = 0;
            for (uint64_t i = 0; i < digits; i++)
                argument = argument * 10 + (uint32_t)(f.data[k + i] - '0');
            k += digits + 1;
        }
        while (k < f.n && strchr("-#+ 0.123456789", f.data[k]) != NULL && used < FLAGS_MAX)
            flags[used++] = f.data[k++];
        if (k == f.n)
            return false;
        at = k + 1;
        if (f.data[k] == '%' || f.data[k] == 'n') {
            mr_buffer_append(out, f.data[k] == '%' ? "%" : "\n", 1);
            continue;
        }
        next += argument == next;
        if (argument == 0 || argument >= call->expr->args_n ||
            !format_one(call, &args[argument], row, flags, f.data[k], out))
            return false;
    }
    return true;
}

MR_BODY(format_string)
{
    struct mr_text_writer w;
    struct mr_buffer b;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        if (mr_column_is_null(&args[0], row)) {
            mr_text_writer_null(&w, row, call->rows);
            continue;
        }
        b.n = 0;
        if (!format_row(call, args, row, mr_column_text(&args[0], row), &b))
            return bad_format(call, mr_column_text(&args[0], row));
        mr_text_writer_copy(&w, row, mr_buffer_text(&b));
    }
    return MR_OK;
}

static int32_t digit_of(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'z' ? (c | 32) - 'a' + 10
                                                : 99;
}

/* The digits of t as far as they are of the base; too many give all ones, as in Hive. */
static bool read_base(struct mr_text t, uint32_t base, uint64_t *v, bool *negative, bool *overflow)
{
    uint64_t at = 0;

    *v = 0;
    *overflow = false;
    *negative = t.n > 0 && t.data[0] == '-';
    for (at = *negative; at < t.n && digit_of(t.data[at]) < (int32_t)base; at++)
        if (__builtin_mul_overflow(*v, base, v) ||
            __builtin_add_overflow(*v, (uint64_t)digit_of(t.data[at]), v)) {
            *v = UINT64_MAX;
            *overflow = true;
            break;
        }
    return t.n > 0;
}

/* conv(t, from, to): the bases are 2 to 36; a negative to makes it signed. */
MR_BODY(conv)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int32_t from = args[1].i32[row], to = args[2].i32[row];
        uint32_t base = (uint32_t)(to < 0 ? -(int64_t)to : to), n = 0;
        char text[72];
        uint64_t v;
        bool negative, overflow = false, minus = false;
        if (from < 2 || from > 36 || base < 2 || base > 36 ||
            !read_base(mr_text_trim(mr_column_text(&args[0], row)), (uint32_t)from, &v, &negative,
                       &overflow)) {
            mr_text_writer_null(&w, row, call->rows);
            continue;
        }
        if (overflow && call->context->ansi)
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "ARITHMETIC_OVERFLOW",
                                     "Overflow in function conv(). If necessary set "
                                     "\"spark.sql.ansi.enabled\" to \"false\" to bypass this "
                                     "error.");
        if (negative && to > 0)
            v = (int64_t)v < 0 ? UINT64_MAX : -v;
        else if (to < 0 && (negative || (int64_t)v < 0)) {
            minus = true;
            v = negative && (int64_t)v >= 0 ? v : -v;
        }
        do
            text[sizeof text - ++n] = digits[v % base];
        while (v /= base);
        if (minus)
            text[sizeof text - ++n] = '-';
        mr_text_writer_copy(&w, row, (struct mr_text){text + sizeof text - n, n});
    }
    return MR_OK;
}

/* bin(n): the bits, from the first that is set. */
MR_BODY(bin)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint64_t v = (uint64_t)args[0].i64[row];
        uint32_t n = v ? 64 - (uint32_t)__builtin_clzll(v) : 1;
        char *room = mr_text_writer_room(&w, n);
        for (uint32_t k = 0; k < n; k++)
            room[k] = (char)('0' + (v >> (n - 1 - k) & 1));
        mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}

/* to_number(t, format): 9 and 0 digits, "." or D the point, "," groups, $, S the sign. */
MR_RESOLVE(to_number)
{
    enum mr_status status = mr_coerce_argument(r, call, 0, &mr_type_string, NULL);
    uint32_t whole = 0, fraction = 0;
    bool point = false;
    struct mr_text f;

    if (status == MR_OK)
        status = mr_require_literal(r, call, 1, "format");
    if (status != MR_OK)
        return status;
    f = mr_column_text(call->args[1]->value, 0);
    for (uint64_t i = 0; i < f.n; i++) {
        char c = f.data[i];
        point = point || c == '.' || c == 'D';
        whole += !point && (c == '9' || c == '0');
        fraction += point && (c == '9' || c == '0');
    }
    if (whole + fraction == 0 || whole + fraction > MR_DECIMAL_DIGITS)
        return mr_mismatch(r, call, "INVALID_FORMAT.MISMATCH_INPUT",
                           "the format '%.*s' has no digits or too many.", (int)f.n, f.data);
    call->type = mr_type_decimal(r->arena, whole + fraction, fraction);
    call->nullable = strncmp(call->function->name, "try_", 4) == 0 || call->args[0]->nullable;
    return MR_OK;
}

/* Walks text and format from the point to both sides: signs and $ first, then digits. */
static bool read_number(struct mr_text t, struct mr_text f, uint32_t scale, __int128 *out)
{
    uint32_t room[2] = {0, scale}, have[2] = {0, 0};
    bool negative = false, point = false;
    __int128 v = 0;

    for (uint64_t i = 0; i < f.n && f.data[i] != '.' && f.data[i] != 'D'; i++)
        room[0] += f.data[i] == '9' || f.data[i] == '0';
    t = mr_text_trim(t);
    for (uint64_t i = 0; i < t.n; i++) {
        char c = t.data[i];
        bool edge = i == 0 || i + 1 == t.n || (i == 1 && (t.data[0] == '-' || t.data[0] == '+'));
        if (c >= '0' && c <= '9') {
            v = v * 10 + (c - '0');
            if (++have[point] > room[point])
                return false;
        } else if (c == '.' && !point && scale > 0) {
            point = true;
        } else if (c == ',' && !point && memchr(f.data, ',', f.n)) {
            continue;
        } else if ((c == '-' || c == '+') && edge && memchr(f.data, 'S', f.n)) {
            negative = negative || c == '-';
        } else if (!(c == '$' && edge && memchr(f.data, '$', f.n))) {
            return false;
        }
    }
    for (; have[1] < scale; have[1]++)
        v *= 10;
    *out = negative ? -v : v;
    return have[0] > 0 || point;
}

MR_BODY(to_number)
{
    bool is_try = strncmp(call->expr->function->name, "try_", 4) == 0;

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row), f = mr_column_text(&args[1], row);
        if (read_number(t, f, out->type->scale, &out->i128[row]))
            continue;
        if (!is_try)
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_FORMAT.MISMATCH_INPUT",
                                     "The format is invalid: '%.*s'. The input \"STRING\" '%.*s' "
                                     "does not match the format.",
                                     (int)f.n, f.data, (int)(t.n < 512 ? t.n : 512), t.data);
        mr_column_put_null(out, row, call->rows, call->arena);
    }
    return MR_OK;
}
