#include "core/format/java_digits.h"
#include "core/format/value.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void booleans(void **state)
{
    static const char *const yes[] = {"true", "T", "yes", "y", " 1 ", "TRUE", "\tYes\n"};
    static const char *const no[] = {"FALSE", "f", "no", "n", "0"};
    static const char *const bad[] = {"on", "2", "", " ", "tru", "truee", "10"};
    bool b;

    (void)state;
    for (size_t i = 0; i < COUNT(yes); i++)
        assert_true(mr_value_parse_boolean(mr_text_of(yes[i]), &b) && b);
    for (size_t i = 0; i < COUNT(no); i++)
        assert_true(mr_value_parse_boolean(mr_text_of(no[i]), &b) && !b);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(mr_value_parse_boolean(mr_text_of(bad[i]), &b));
}

static void integers(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"12", 12},
                {" 12 ", 12},
                {"+5", 5},
                {"-0", 0},
                {"007", 7},
                {"00000000000000000000000000012", 12},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"1.5",
                                      "1e3",
                                      "0x1F",
                                      "",
                                      " ",
                                      "1_000",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "-",
                                      "+",
                                      "1 2",
                                      "--1",
                                      "99999999999999999999"};
    char text[32];
    int64_t v;

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_true(mr_value_parse_integer(mr_text_of(good[i].text), INT64_MIN, INT64_MAX, &v));
        assert_int_equal(v, good[i].value);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(mr_value_parse_integer(mr_text_of(bad[i]), INT64_MIN, INT64_MAX, &v));
    assert_true(mr_value_parse_integer(MR_TEXT("127"), INT8_MIN, INT8_MAX, &v));
    assert_false(mr_value_parse_integer(MR_TEXT("128"), INT8_MIN, INT8_MAX, &v));
    assert_false(mr_value_parse_integer(MR_TEXT("-129"), INT8_MIN, INT8_MAX, &v));

    uint64_t x = 88172645463325252;
    for (uint32_t i = 0; i < 100000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        int64_t want = (int64_t)x >> (i % 64);
        char expected[32];
        uint32_t n = mr_value_print_integer(want, text);
        snprintf(expected, sizeof expected, "%ld", want);
        text[n] = '\0';
        assert_string_equal(text, expected);
        assert_true(mr_value_parse_integer((struct mr_text){text, n}, INT64_MIN, INT64_MAX, &v));
        assert_int_equal(v, want);
    }
}

static void doubles_as_text(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {{1.0, "1.0"},
                 {0.1, "0.1"},
                 {1e7, "1.0E7"},
                 {123456789.125, "1.23456789125E8"},
                 {0.001, "0.001"},
                 {0.0001, "1.0E-4"},
                 {0.0, "0.0"},
                 {-0.0, "-0.0"},
                 {1e21, "1.0E21"},
                 {5e-324, "4.9E-324"},
                 {1e23, "9.999999999999999E22"},
                 {2e23, "1.9999999999999998E23"},
                 {4611686018427387904.0, "4.6116860184273879E18"},
                 {9223372036854775808.0, "9.223372036854776E18"},
                 {2e-323, "2.0E-323"},
                 {1.7976931348623157e308, "1.7976931348623157E308"},
                 {100, "100.0"},
                 {9999999, "9999999.0"},
                 {9007199254740993.0, "9.007199254740992E15"},
                 {1234567.891, "1234567.891"},
                 {-0.25, "-0.25"},
                 {(double)NAN, "NaN"},
                 {(double)INFINITY, "Infinity"},
                 {-(double)INFINITY, "-Infinity"},
                 {(double)0.0001f, "9.999999747378752E-5"}};
    static const struct {
        float v;
        const char *text;
    } floats[] = {{1.0f, "1.0"},
                  {0.1f, "0.1"},
                  {1e7f, "1.0E7"},
                  {16777216.0f, "1.6777216E7"},
                  {1e10f, "1.0E10"},
                  {1e-45f, "1.4E-45"},
                  {3.4028235e38f, "3.4028235E38"},
                  {1234567.0f, "1234567.0"},
                  {0.0001f, "1.0E-4"},
                  {2147483648.0f, "2.14748365E9"},
                  {-0.0f, "-0.0"},
                  {NAN, "NaN"}};
    char text[MR_VALUE_TEXT];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        text[mr_value_print_double(cases[i].v, text)] = '\0';
        assert_string_equal(text, cases[i].text);
    }
    for (size_t i = 0; i < COUNT(floats); i++) {
        text[mr_value_print_float(floats[i].v, text)] = '\0';
        assert_string_equal(text, floats[i].text);
    }
}

static void text_as_doubles(void **state)
{
    static const struct {
        const char *text;
        double v;
    } good[] = {{"12", 12},
                {" 12 ", 12},
                {"+5", 5},
                {"1.5", 1.5},
                {"1e3", 1000},
                {"1E-3", 0.001},
                {"1.5f", 1.5},
                {"1d", 1},
                {"1e2D", 100},
                {".5", 0.5},
                {"5.", 5},
                {"-inf", -(double)INFINITY},
                {"Infinity", (double)INFINITY},
                {"+infinity", (double)INFINITY},
                {"1e999", (double)INFINITY},
                {"-1e999", -(double)INFINITY},
                {"1e-999", 0},
                {"0e999", 0},
                {"0.000000000000000000000000000000000001e40", 1e4},
                {"123456789012345678901234567890", 123456789012345678901234567890.0},
                {"0x1.8p3", 12},
                {"0x1Fp0", 31},
                {"-0x.8p1d", -1},
                {"179769313486231580793e289", (double)INFINITY},
                {"9007199254740993", 9007199254740992.0},
                {"4.9E-324", 5e-324},
                {"2.2250738585072011e-308", 2.2250738585072011e-308}};
    static const char *const bad[] = {"",    " ",    "0x1F", "1_000", "e5",       "1e",   "1e+",
                                      ".",   "1.5.", "1,5",  "1ff",   "d",        "- 1",  "--1",
                                      "-+1", "1 2",  "nano", "0xp1",  "0xnan(p)", "-nan", "1e5.0"};
    double d;

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_true(mr_value_parse_double(mr_text_of(good[i].text), &d));
        assert_memory_equal(&d, &good[i].v, sizeof d);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(mr_value_parse_double(mr_text_of(bad[i]), &d));
    assert_true(mr_value_parse_double(MR_TEXT("-0"), &d) && signbit(d));
    assert_true(mr_value_parse_double(MR_TEXT("nAn"), &d) && isnan(d));
    assert_true(mr_value_parse_double(MR_TEXT("-NaN"), &d) && isnan(d));
}

/* Random bits, random short decimals: same as the C library, and back. */
static void doubles_round_trip(void **state)
{
    uint64_t x = 88172645463325252;
    char text[MR_VALUE_TEXT];

    (void)state;
    for (uint32_t i = 0; i < 200000; i++) {
        double v, back;
        float f, f_back;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        if (i % 2) {
            memcpy(&v, &x, sizeof v);
            if (!isfinite(v))
                continue;
            uint32_t n = mr_value_print_double(v, text);
            assert_true(mr_value_parse_double((struct mr_text){text, n}, &back));
            assert_memory_equal(&v, &back, sizeof v);
            memcpy(&f, &x, sizeof f);
            if (!isfinite(f))
                continue;
            n = mr_value_print_float(f, text);
            assert_true(mr_value_parse_float((struct mr_text){text, n}, &f_back));
            assert_memory_equal(&f, &f_back, sizeof f);
        } else {
            int n = snprintf(text, sizeof text, "%ld.%0*lue%d", (int64_t)(x >> 40), (int)(x % 17),
                             x % 1000003, (int)(x % 61) - 30);
            assert_true(mr_value_parse_double((struct mr_text){text, (uint64_t)n}, &back));
            v = strtod(text, NULL);
            assert_memory_equal(&v, &back, sizeof v);
            assert_true(mr_value_parse_float((struct mr_text){text, (uint64_t)n}, &f_back));
            f = strtof(text, NULL);
            assert_memory_equal(&f, &f_back, sizeof f);
        }
    }
}

/* Few digits take other ways than many: all of them against the C library. */
static void short_doubles(void **state)
{
    char text[MR_VALUE_TEXT], expected[MR_VALUE_TEXT];

    (void)state;
    for (uint32_t i = 0; i < 400000; i++) {
        uint32_t v = i * 2654435761u;
        int n = snprintf(text, sizeof text, "%s%u.%0*u", i % 3 ? "" : "-", v % 100000 >> (i % 17),
                         (int)(i % 5), v >> 8 & ((1u << (3 * (i % 5))) - 1));
        double back, want = strtod(text, NULL);
        assert_true(mr_value_parse_double((struct mr_text){text, (uint64_t)n}, &back));
        assert_memory_equal(&back, &want, sizeof back);
        uint32_t printed = mr_value_print_double(back, text);
        assert_true(mr_value_parse_double((struct mr_text){text, printed}, &back));
        assert_memory_equal(&back, &want, sizeof back);
        text[printed] = '\0';
        if (fabs(want) < 1e-3 || fabs(want) >= 1e7)
            continue;
        for (int digits = 1; digits <= 17; digits++) { /* the first that reads back */
            snprintf(expected, sizeof expected, "%.*g", digits, want);
            if (strtod(expected, NULL) == want)
                break;
        }
        if (strchr(expected, 'e') == NULL) {
            if (strchr(expected, '.') == NULL)
                strcat(expected, ".0");
            assert_string_equal(text, expected);
        }
    }
}

/* The digits of text and its exponent, as java_digits.h has them. */
static uint32_t digits_of(char *text, uint32_t n, char *digits, int32_t *exponent)
{
    text[n] = '\0';
    const char *e = memchr(text, 'E', n);
    uint32_t end = e ? (uint32_t)(e - text) : n, count = 0, point = end;

    for (uint32_t i = 0; i < end; i++)
        if (text[i] == '.')
            point = i;
    *exponent = (e ? atoi(e + 1) : 0) + (int32_t)point - 1;
    for (uint32_t i = 0; i < end; i++) {
        if (text[i] == '.')
            continue;
        if (count == 0 && text[i] == '0')
            --*exponent;
        else
            digits[count++] = text[i];
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return count;
}

/* The short cuts to Ryu and to one division give what Java's own way gives, for all sizes of
 * numbers. */
static void digits_as_java_has_them(void **state)
{
    uint64_t x = 88172645463325252;

    (void)state;
    for (uint32_t i = 0; i < 60000; i++) {
        char text[MR_VALUE_TEXT] = "", expected[JAVA_DIGITS_MAX], found[MR_VALUE_TEXT];
        int32_t exponent, found_exponent;
        double v;
        float f;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint64_t bits = x & INT64_MAX;
        if (i % 4 == 1) /* near 1, whole numbers among them */
            bits = (bits & ((UINT64_C(1) << 52) - 1)) | (1000 + (bits >> 52) % 90) << 52;
        if (i % 4 == 2) /* few bits */
            bits &= ~((UINT64_C(1) << i % 53) - 1);
        if (i % 8 == 6) /* few bits, near 1 */
            bits = (bits & ((UINT64_C(1) << 52) - 1)) | (1000 + (bits >> 52) % 90) << 52;
        memcpy(&v, &bits, sizeof v);
        if (i % 4 == 3)
            v = (double)(x % 1000007) * pow(10, (int)(x >> 40 & 31) - 16);
        f = (float)v;
        if (v != 0 && isfinite(v)) {
            expected[mr_java_digits_f64(v, expected, &exponent)] = '\0';
            digits_of(text, mr_value_print_double(v, text), found, &found_exponent);
            assert_string_equal(found, expected);
            assert_int_equal(found_exponent, exponent);
        }
        if (f != 0 && isfinite(f)) {
            expected[mr_java_digits_f32(f, expected, &exponent)] = '\0';
            digits_of(text, mr_value_print_float(f, text), found, &found_exponent);
            assert_string_equal(found, expected);
            assert_int_equal(found_exponent, exponent);
        }
    }
}

static void decimals(void **state)
{
    static const struct {
        const char *text;
        uint32_t precision, scale;
        const char *printed; /* NULL: refused */
    } cases[] = {
        {"-0", 10, 2, "0.00"},
        {".5", 10, 2, "0.50"},
        {"1e3", 10, 2, "1000.00"},
        {" 12 ", 10, 2, "12.00"},
        {"5.", 10, 2, "5.00"},
        {"1.005", 10, 2, "1.01"},
        {"-1.005", 10, 2, "-1.01"},
        {"1.0049999", 10, 2, "1.00"},
        {"99999999.994", 10, 2, "99999999.99"},
        {"99999999.995", 10, 2, NULL},
        {"2147483648", 10, 2, NULL},
        {"1e-400", 10, 2, "0.00"},
        {"0.005", 3, 2, "0.01"},
        {"0.0049", 3, 2, "0.00"},
        {"99999999999999999999999999999999999999", 38, 0, "99999999999999999999999999999999999999"},
        {"-99999999999999999999999999999999999999.4", 38, 0,
         "-99999999999999999999999999999999999999"},
        {"99999999999999999999999999999999999999.5", 38, 0, NULL},
        {"0.12345678901234567890123456789012345678", 38, 38,
         "0.12345678901234567890123456789012345678"},
        {"1e38", 38, 0, NULL},
        {"123e-2", 38, 18, "1.230000000000000000"},
        {"0000000000000000000000000000000000000000000001", 38, 0, "1"},
        {"1.5f", 10, 2, NULL},
        {"NaN", 10, 2, NULL},
        {"", 10, 2, NULL},
        {"1e", 10, 2, NULL},
        {"1e99999999999", 10, 2, NULL},
        {"0x10", 10, 2, NULL},
        {"1 2", 10, 2, NULL},
    };
    static const struct {
        int64_t v;
        uint32_t scale;
        const char *text;
    } shorts[] = {{0, 18, "0E-18"}, {0, 6, "0.000000"}, {15, 8, "1.5E-7"}, {1, 6, "0.000001"},
                  {-1, 7, "-1E-7"}, {123, 2, "1.23"},   {123, 0, "123"}};
    char text[MR_VALUE_TEXT];
    __int128 v;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool ok = mr_value_parse_decimal(mr_text_of(cases[i].text), cases[i].precision,
                                         cases[i].scale, &v);
        assert_int_equal(ok, cases[i].printed != NULL);
        if (!ok)
            continue;
        text[mr_value_print_decimal(v, cases[i].scale, text)] = '\0';
        assert_string_equal(text, cases[i].printed);
    }
    for (size_t i = 0; i < COUNT(shorts); i++) {
        text[mr_value_print_decimal_short(shorts[i].v, shorts[i].scale, text)] = '\0';
        assert_string_equal(text, shorts[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(booleans),
        cmocka_unit_test(integers),
        cmocka_unit_test(doubles_as_text),
        cmocka_unit_test(text_as_doubles),
        cmocka_unit_test(doubles_round_trip),
        cmocka_unit_test(short_doubles),
        cmocka_unit_test(digits_as_java_has_them),
        cmocka_unit_test(decimals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
