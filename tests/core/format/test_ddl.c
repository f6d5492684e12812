#include "core/format/ddl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct mr_arena arena;
static jmp_buf escape;

static int set_up(void **state)
{
    (void)state;
    mr_arena_init(&arena, NULL, &escape);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mr_arena_fini(&arena);
    return 0;
}

static const char *printed(const struct mr_type *type, bool sql)
{
    struct mr_buffer b;

    mr_buffer_init(&b, &arena);
    if (sql)
        mr_type_print_sql(type, &b);
    else
        mr_type_print(type, &b);
    mr_buffer_append(&b, "", 1);
    return (const char *)b.data;
}

static void columns(void **state)
{
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"a INT", "struct<a:int>"},
        {"event_id STRING, amount DOUBLE ,event_ts TIMESTAMP",
         "struct<event_id:string,amount:double,event_ts:timestamp>"},
        {"a byte, b short, c integer, d long, e real, f numeric(5), g dec(5,2), h decimal",
         "struct<a:tinyint,b:smallint,c:int,d:bigint,e:float,f:decimal(5,0),g:decimal(5,2),"
         "h:decimal(10,0)>"},
        {"c timestamp_ltz, d timestamp_ntz, e void, f binary",
         "struct<c:timestamp,d:timestamp_ntz,e:void,f:binary>"},
        {"s STRUCT<x: INT, y: STRUCT<z: STRING>>, n INT",
         "struct<s:struct<x:int,y:struct<z:string>>,n:int>"},
        {"a ARRAY<ARRAY<MAP<STRING,DECIMAL(38,18)>>>",
         "struct<a:array<array<map<string,decimal(38,18)>>>>"},
        {"`x y` INT, `a``b` INT, `` INT, 1a INT, d\xc3\xa4 INT",
         "struct<x y:int,a`b:int,:int,1a:int,d\xc3\xa4:int>"},
        {"a INTERVAL DAY TO SECOND, b interval year to month, c INTERVAL HOUR, d INTERVAL, e DATE",
         "struct<a:interval day to second,b:interval year to month,c:interval hour,d:interval,"
         "e:date>"},
        {"a: INT, s STRUCT<>, date DATE, int INT\n", "struct<a:int,s:struct<>,date:date,int:int>"},
        {"a INT COMMENT 'it''s, a \\' comment', b INT NOT NULL COMMENT \"x\"",
         "struct<a:int,b:int>"},
    };
    struct mr_error err;
    const struct mr_type *type;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(mr_ddl_parse_columns(mr_text_of(cases[i].text), &arena, &type, &err),
                         MR_OK);
        assert_string_equal(printed(type, false), cases[i].printed);
    }
    assert_int_equal(mr_ddl_parse_columns(MR_TEXT("a INT NOT NULL, s STRUCT<`x y`: INT NOT NULL>"),
                                          &arena, &type, &err),
                     MR_OK);
    assert_false(type->fields[0].nullable);
    assert_true(type->fields[1].nullable);
    assert_string_equal(printed(type, true),
                        "STRUCT<a: INT NOT NULL, s: STRUCT<`x y`: INT NOT NULL>>");
}

static void types(void **state)
{
    struct mr_error err;
    const struct mr_type *type;
    uint64_t used;

    (void)state;
    assert_int_equal(
        mr_ddl_parse_type(MR_TEXT(" DECIMAL ( 10 , 2 ) ) AS x"), &arena, &type, &used, &err),
        MR_OK);
    assert_int_equal(used, 19);
    assert_int_equal(type->precision, 10);
    assert_int_equal(mr_ddl_parse_type(MR_TEXT("INTERVAL ) AS x"), &arena, &type, &used, &err),
                     MR_OK);
    assert_int_equal(used, 8);
    assert_int_equal(type->kind, MR_INTERVAL_CALENDAR);
    assert_int_equal(mr_ddl_parse_schema(MR_TEXT(" ARRAY<INT> "), &arena, &type, &err), MR_OK);
    assert_int_equal(type->kind, MR_ARRAY);
    assert_int_equal(mr_ddl_parse_schema(MR_TEXT("a INT"), &arena, &type, &err), MR_OK);
    assert_int_equal(type->kind, MR_STRUCT);
    assert_int_equal(mr_ddl_parse_schema(MR_TEXT("int INT"), &arena, &type, &err), MR_OK);
    assert_int_equal(type->kind, MR_STRUCT);
}

static void errors(void **state)
{
    static const struct {
        const char *text, *condition;
        uint32_t line, column;
    } cases[] = {
        {"", "PARSE_SYNTAX_ERROR", 1, 1},
        {"a", "PARSE_SYNTAX_ERROR", 1, 2},
        {"a INT,", "PARSE_SYNTAX_ERROR", 1, 7},
        {"a INT b", "PARSE_SYNTAX_ERROR", 1, 7},
        {"a INT,\n  b INTT", "UNSUPPORTED_DATATYPE", 2, 5},
        {"a ARRAY", "INCOMPLETE_TYPE_DEFINITION.ARRAY", 1, 8},
        {"a MAP<INT>", "PARSE_SYNTAX_ERROR", 1, 10},
        {"a STRUCT<x INT", "PARSE_SYNTAX_ERROR", 1, 15},
        {"a ARRAY<INT", "PARSE_SYNTAX_ERROR", 1, 12},
        {"a DECIMAL(39)", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", 1, 10},
        {"a DECIMAL(5,6)", "_LEGACY_ERROR_TEMP_1228", 1, 10},
        {"a DECIMAL(x)", "PARSE_SYNTAX_ERROR", 1, 11},
        {"a VARCHAR", "DATATYPE_MISSING_SIZE", 1, 10},
        {"a VARCHAR(10)", "UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING", 1, 14},
        {"b char ( 3 )", "UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING", 1, 13},
        {"a TIME", "UNSUPPORTED_TIME_TYPE", 1, 3},
        {"123 INT", "PARSE_SYNTAX_ERROR", 1, 1},
        {"`a INT", "PARSE_SYNTAX_ERROR", 1, 1},
        {"a INT NOT", "PARSE_SYNTAX_ERROR", 1, 10},
        {"a INT COMMENT 'x", "PARSE_SYNTAX_ERROR", 1, 15},
        {"a INTERVAL DAY TO MONTH", "PARSE_SYNTAX_ERROR", 1, 24},
        {"a INT; b INT", "PARSE_SYNTAX_ERROR", 1, 6},
    };
    const struct mr_type *type;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mr_error err = {0};
        assert_int_equal(mr_ddl_parse_columns(mr_text_of(cases[i].text), &arena, &type, &err),
                         MR_USER);
        assert_string_equal(err.condition, cases[i].condition);
        if (err.line != cases[i].line || err.column != cases[i].column)
            fail_msg("%s: %u:%u", cases[i].text, err.line, err.column);
    }
    struct mr_error err = {0};
    assert_int_equal(mr_ddl_parse_columns(MR_TEXT("a STIRNG"), &arena, &type, &err), MR_USER);
    assert_non_null(strstr(err.message, "\"string\""));
}

static void depth_is_limited(void **state)
{
    char text[4096] = "a ";
    struct mr_error err = {0};
    const struct mr_type *type;

    (void)state;
    for (uint32_t i = 0; i < 500; i++)
        memcpy(text + 2 + i * 6, "ARRAY<", 7);
    assert_int_equal(mr_ddl_parse_columns(mr_text_of(text), &arena, &type, &err), MR_USER);
    assert_non_null(strstr(err.message, "nested deeper"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_is_limited, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
