/* The fast path and the exact path must agree on every line: generated ones, and ones with
 * mistakes. */
#include "tests/core/format/decoding.h"

#define SCHEMA                                                                                     \
    "a INT, b STRING, c DOUBLE, d TIMESTAMP, e DECIMAL(10,2), f BIGINT, g BOOLEAN, h DATE, "       \
    "i ARRAY<INT>, j STRUCT<x: INT>, k FLOAT, l BINARY, _corrupt_record STRING"

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 11) % n;
}

#define PICK(list) list[draw(sizeof list / sizeof *list)]

static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g",       "h",
                                    "i", "j", "k", "l", "z", "A", "\\u0061", "a name that is long"};
static const char *const values[] = {
    "1",
    "-1",
    "0",
    "-0",
    "007",
    "1.",
    "1.5",
    "-2.25",
    "1e5",
    "1E-3",
    "1e400",
    "123456789012345678901234567890",
    "2147483648",
    "-2147483648",
    "9223372036854775807",
    "0.1",
    "12345678.12345678",
    "1234567890123456",
    "-0.0",
    "true",
    "false",
    "null",
    "tru",
    "nullx",
    "NaN",
    "-Infinity",
    "\"\"",
    "\"x\"",
    "\"true\"",
    "\"1\"",
    "\"1.5\"",
    "\"NaN\"",
    "\"Infinity\"",
    "\"AQID\"",
    "\"AQ\"",
    "\"exactly12byt\"",
    "\"longer than a view holds\"",
    "\"\\n\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "\"\\x\"",
    "\"\xc3\xa9\xe6\x97\xa5\"",
    "\"\xff\"",
    "\"a text that has more than sixty-four bytes in it, so that it needs two loads or more\"",
    "\"2026-01-02T03:04:05Z\"",
    "\"2026-01-02T03:04:05.123Z\"",
    "\"2026-01-02 03:04:05.1\"",
    "\"2026-01-02T24:04:05Z\"",
    "\"2026-13-02T03:04:05Z\"",
    "\"2026-01-02T03:04:05.1234567Z\"",
    "\"2026-01-02T03:04:05+02:00\"",
    "\"2026-01-02\"",
    "\"12:00:00\"",
    "1767323045",
    "[1,2]",
    "[]",
    "[1,\"x\"]",
    "{\"x\":1}",
    "{}",
    "{\"x\":[{}]}",
    "[[[[1]]],{\"q\":\"\\\"\"}]",
    "{\"x\":1,}",
    "[1 2]",
    "'single'"};

static void add(char *line, const char *text)
{
    strcat(line, text);
}

static void generate(char *line)
{
    static const char *const blanks[] = {"", "", "", "", " ", "\t"};
    uint32_t n = draw(8);

    line[0] = '\0';
    add(line, "{");
    for (uint32_t i = 0; i < n; i++) {
        add(line, i ? "," : "");
        add(line, PICK(blanks));
        add(line, "\"");
        add(line, PICK(names));
        add(line, "\":");
        add(line, PICK(blanks));
        add(line, PICK(values));
    }
    add(line, PICK(blanks));
    add(line, "}");
    if (draw(16) == 0)
        add(line, " tail");
}

/* Like records of one source: the same fields, now and then one more or less. */
static void generate_regular(char *line)
{
    static const char *const texts[] = {"\"x\"", "\"a long text, longer\"", "\"\\\"\"", "null"};
    static const char *const numbers[] = {"1", "-20", "3.25", "null", "1e3", "\"no\"", "77777777"};
    static const char *const times[] = {"\"2026-01-02T03:04:05Z\"", "\"2026-01-03T03:04:05.5Z\"",
                                        "\"2026-01-02\"", "null"};
    line[0] = '\0';
    add(line, "{\"b\":");
    add(line, PICK(texts));
    add(line, draw(8) ? ",\"z\":\"skipped\",\"a\":" : ",\"a\":");
    add(line, PICK(numbers));
    add(line, ",\"d\":");
    add(line, PICK(times));
    add(line, ",\"y\": 12.5,\"c\": ");
    add(line, PICK(numbers));
    add(line, draw(8) ? "}" : ",\"f\":12}");
}

static void mutate(char *line)
{
    static const char bytes[] = "{}[]\",:\\ 01-+.eE'/tfnu\t\x01\xc3\xff";
    size_t n = strlen(line);
    size_t at = n ? draw((uint32_t)n) : 0;

    if (n && draw(2))
        line[at] = bytes[draw(sizeof bytes - 1)];
    else if (n && draw(2))
        memmove(line + at, line + at + 1, n - at);
    else
        line[at] = '\0';
}

static char *generate_lines(uint32_t lines, size_t *n)
{
    static char text[1 << 20];
    char line[4096];
    size_t used = 0;

    for (uint32_t i = 0; i < lines; i++) {
        if (draw(3) == 0)
            generate(line);
        else
            generate_regular(line);
        if (draw(4) == 0)
            mutate(line);
        size_t length = strlen(line);
        assert_true(used + length + 2 < sizeof text);
        memcpy(text + used, line, length);
        used += length;
        text[used++] = draw(32) ? '\n' : '\r';
    }
    *n = used;
    return text;
}

static void expect_same(const struct decoding *a, const struct decoding *b, struct mr_text text)
{
    struct decoded out_a, out_b;

    decode_text(a, text, &out_a);
    decode_text(b, text, &out_b);
    assert_int_equal(out_a.status, MR_OK);
    assert_int_equal(out_b.status, MR_OK);
    assert_string_equal((const char *)out_a.rows.data, (const char *)out_b.rows.data);
    assert_int_equal(out_a.bad_n, out_b.bad_n);
    assert_int_equal(out_a.bad_offset, out_b.bad_offset);
    decoded_free(&out_a);
    decoded_free(&out_b);
}

static void test_paths_agree(void **state)
{
    static const char *const needed[] = {SCHEMA, "c DOUBLE, d TIMESTAMP", "b STRING, z STRING",
                                         "a INT",
                                         "i ARRAY<INT>, j STRUCT<x: INT>, k FLOAT, l BINARY"};
    struct mr_error err;

    (void)state;
    for (int isa = MR_ISA_SCALAR; isa <= (int)mr_kernels_best(); isa++) {
        assert_int_equal(mr_kernels_init(mr_isa_name((enum mr_isa)isa), &err), MR_OK);
        for (uint32_t round = 0; round < 40; round++) {
            struct decoding fast = {.format = "json", .schema = SCHEMA}, exact = fast;
            size_t n;
            seed = 88172645463325252 + round;
            char *text = generate_lines(200, &n);
            fast.needed = exact.needed = needed[round % 5];
            if (round % 5 == 2)
                fast.schema = exact.schema = "b STRING, z STRING";
            exact.exact = true;
            expect_same(&fast, &exact, (struct mr_text){text, n});
        }
    }
}

static void test_every_split(void **state)
{
    struct decoding whole = {.format = "json", .schema = SCHEMA}, pieces = whole;
    size_t n;

    (void)state;
    seed = 42;
    char *text = generate_lines(12, &n);
    for (uint64_t piece = 1; piece < n; piece += 1 + piece / 16) {
        pieces.piece = piece;
        pieces.batch_rows = 1 + (uint32_t)piece % 3;
        expect_same(&whole, &pieces, (struct mr_text){text, n});
    }
}

/* More columns than one word of bits, and columns of one name in other forms. */
static void test_many_columns(void **state)
{
    static char schema[8192], text[16384];
    struct decoding fast = {.format = "json", .schema = schema}, exact = fast;

    (void)state;
    for (uint32_t i = 0; i < 150; i++)
        sprintf(schema + strlen(schema), "%sc%u %s", i ? ", " : "", i, i % 2 ? "INT" : "STRING");
    for (uint32_t line = 0; line < 4; line++) {
        strcat(text, "{");
        for (uint32_t i = line == 2; i < 150u - line; i++)
            sprintf(text + strlen(text), "%s\"c%u\":%u", i > (line == 2) ? "," : "",
                    line == 3 && i == 90 ? 89 : i, i);
        strcat(text, "}\n");
    }
    exact.exact = true;
    expect_same(&fast, &exact, mr_text_of(text));
}

static void test_deep_nesting(void **state)
{
    enum { DEPTH = 200000 };
    static char text[DEPTH * 2 + 64];
    struct decoding in = {.format = "json", .schema = "a INT, b STRING"};
    struct decoded out;

    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        char *to = text + sprintf(text, "%s", kind ? "{\"a\":1,\"b\":" : "{\"a\":1,\"z\":");
        for (uint32_t i = 0; i < DEPTH; i++)
            *to++ = '[';
        *to++ = '\n';
        decode_text(&in, (struct mr_text){text, (uint64_t)(to - text)}, &out);
        assert_int_equal(out.status, MR_OK);
        assert_int_equal(out.bad_n, 1);
        decoded_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_agree),
        cmocka_unit_test(test_every_split),
        cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_deep_nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
