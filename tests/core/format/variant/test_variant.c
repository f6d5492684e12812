#include "core/format/json/reader.h"
#include "core/format/variant/variant.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct fixture {
    struct mr_arena a;
    struct mr_variant_builder b;
    struct json_reader reader;
    struct json_options options;
};

static struct fixture *begin(void)
{
    static struct fixture f;

    f = (struct fixture){0};
    mr_arena_init(&f.a, NULL, NULL);
    mr_variant_builder_init(&f.b, &f.a);
    json_reader_init(&f.reader, &f.options, &f.a);
    f.reader.keep_surrogates = true;
    return &f;
}

/* The bytes of a JSON text, or none. */
static struct mr_text parse(struct fixture *f, struct mr_text json)
{
    const uint8_t *data = (const uint8_t *)mr_arena_copy(&f->a, json.data, json.n);
    struct mr_buffer out;

    mr_buffer_init(&out, &f->a);
    mr_variant_begin(&f->b);
    json_reader_begin(&f->reader, data, data + json.n, &f->a);
    if (json_reader_next(&f->reader) == JSON_ERROR || !mr_variant_read_json(&f->b, &f->reader) ||
        !mr_variant_finish(&f->b, &out))
        return (struct mr_text){0};
    return mr_buffer_text(&out);
}

static void expect_json(struct fixture *f, struct mr_text bytes, const char *want)
{
    struct mr_buffer out;

    mr_buffer_init(&out, &f->a);
    mr_variant_print(mr_variant_of(bytes), mr_zone_utc(), &out);
    mr_buffer_append(&out, "", 1);
    assert_string_equal((const char *)out.data, want);
}

/* As Spark writes them. */
static void test_bytes(void **state)
{
    static const struct {
        const char *json;
        const char *bytes;
        uint64_t n;
    } cases[] = {
        {"1", "\x01\x00\x00\x0c\x01", 5},
        {"\"a\"",
         "\x01\x00\x00\x05"
         "a",
         5},
        {"1.50", "\x01\x00\x00\x20\x02\x96\x00\x00\x00", 9},
        {"{\"b\":1,\"a\":[1.5]}",
         "\x01\x02\x00\x01\x02"
         "ba"
         "\x02\x02\x01\x00\x02\x00\x0c\x0c\x01\x03\x01\x00\x06\x20\x01"
         "\x0f\x00\x00\x00",
         26},
    };
    struct fixture *f = begin();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mr_text got = parse(f, mr_text_of(cases[i].json));
        assert_int_equal(got.n, cases[i].n);
        assert_memory_equal(got.data, cases[i].bytes, cases[i].n);
    }
    mr_arena_fini(&f->a);
}

static void test_members(void **state)
{
    struct fixture *f = begin();
    struct mr_text bytes = parse(f, MR_TEXT("{\"z\":[1,{\"k\":\"v\"}],\"a\":null,\"y\":-1e3}"));
    struct mr_variant v = mr_variant_of(bytes), found, inner;
    struct mr_text name;
    struct mr_buffer copy;

    (void)state;
    assert_int_equal(mr_variant_read(v).kind, MR_VARIANT_OBJECT);
    assert_int_equal(mr_variant_read(v).members_n, 3);
    mr_variant_member(v, 2, &name);
    assert_true(mr_text_equal(name, MR_TEXT("z")));
    assert_false(mr_variant_find(v, MR_TEXT("b"), &found));
    assert_true(mr_variant_find(v, MR_TEXT("a"), &found));
    assert_int_equal(mr_variant_read(found).kind, MR_VARIANT_NULL);
    assert_true(mr_variant_find(v, MR_TEXT("y"), &found));
    assert_true(mr_variant_read(found).f64 == -1000);
    assert_true(mr_variant_find(v, MR_TEXT("z"), &found));
    inner = mr_variant_member(found, 1, NULL);
    assert_true(mr_variant_find(inner, MR_TEXT("k"), &found));
    assert_true(mr_text_equal(mr_variant_read(found).text, MR_TEXT("v")));

    mr_buffer_init(&copy, &f->a);
    mr_variant_copy(inner, &copy); /* no more than its own bytes */
    expect_json(f, mr_buffer_text(&copy), "{\"k\":\"v\"}");
    assert_true(copy.n < bytes.n);
    mr_variant_begin(&f->b);
    mr_variant_put_variant(&f->b, v);
    copy.n = 0;
    assert_true(mr_variant_finish(&f->b, &copy));
    expect_json(f, mr_buffer_text(&copy), "{\"a\":null,\"y\":-1000.0,\"z\":[1,{\"k\":\"v\"}]}");
    mr_arena_fini(&f->a);
}

/* More than 255 members, names and values of each width of offsets. */
static void test_large(void **state)
{
    struct fixture *f = begin();
    struct mr_buffer json;
    struct mr_variant v, found;
    enum { MEMBERS = 70000 };

    (void)state;
    mr_buffer_init(&json, &f->a);
    for (uint32_t i = 0; i < MEMBERS; i++)
        mr_buffer_append_format(&json, "%s\"name%u\":[%u,\"%070u\"]", i ? "," : "{", i, i, i);
    mr_buffer_append(&json, "}", 1);
    v = mr_variant_of(parse(f, mr_buffer_text(&json)));
    assert_int_equal(mr_variant_read(v).members_n, MEMBERS);
    for (uint32_t i = 0; i < MEMBERS; i += 997) {
        const char *name = mr_arena_format(&f->a, "name%u", i);
        assert_true(mr_variant_find(v, mr_text_of(name), &found));
        assert_int_equal(mr_variant_read(mr_variant_member(found, 0, NULL)).i64, i);
        assert_int_equal(mr_variant_read(mr_variant_member(found, 1, NULL)).text.n, 70);
    }
    mr_arena_fini(&f->a);
}

static void test_malformed(void **state)
{
    static const char *const bad[] = {"",    " ",           "{",   "[1,]",  "{\"a\":1",
                                      "tru", "[01]",        "NaN", "{a:1}", "{\"a\":1,\"a\":2}",
                                      "'x'", "\"\\ud83d\"", "]",   "1.",    "{\"a\" 1}"};
    struct fixture *f = begin();

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_null(parse(f, mr_text_of(bad[i])).data);
    mr_arena_fini(&f->a);
}

/* Cut anywhere, or with any byte changed, a reader stays within the bytes. */
static void test_broken_bytes(void **state)
{
    struct fixture *f = begin();
    struct mr_text bytes = parse(f, MR_TEXT("{\"aa\":[1,2.5,\"x\",{\"b\":1e3}],\"c\":\"y\"}"));
    struct mr_buffer out;

    (void)state;
    mr_buffer_init(&out, &f->a);
    for (uint64_t n = 0; n < bytes.n; n++) {
        out.n = 0;
        mr_variant_print(mr_variant_of((struct mr_text){bytes.data, n}), mr_zone_utc(), &out);
    }
    for (uint64_t at = 0; at < bytes.n; at++)
        for (uint32_t value = 0; value < 256; value += 5) {
            char *copy = mr_arena_copy(&f->a, bytes.data, bytes.n);
            struct mr_variant found;
            copy[at] = (char)value;
            struct mr_variant v = mr_variant_of((struct mr_text){copy, bytes.n});
            mr_variant_find(v, MR_TEXT("c"), &found);
            out.n = 0;
            mr_variant_copy(v, &out);
        }
    mr_arena_fini(&f->a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),        cmocka_unit_test(test_members),
        cmocka_unit_test(test_large),        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_broken_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
