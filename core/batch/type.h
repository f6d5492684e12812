/* type.h - Spark's data types.
 *
 * Owner    Types are immutable and live as long as the arena they were made in; the simple ones are
 *          constants. Compare with mr_type_equal, never by address.
 */
#pragma once
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/mem/arena.h"

/* kind, SQL name, DDL name is the lower-case SQL name, bytes per value in a column (0: see
 * column.h) */
#define MR_KINDS(X)                                                                                \
    X(MR_VOID, "VOID", 0)                                                                          \
    X(MR_BOOLEAN, "BOOLEAN", 0) /* one bit a row */                                                \
    X(MR_TINYINT, "TINYINT", 1)                                                                    \
    X(MR_SMALLINT, "SMALLINT", 2)                                                                  \
    X(MR_INT, "INT", 4)                                                                            \
    X(MR_BIGINT, "BIGINT", 8)                                                                      \
    X(MR_FLOAT, "FLOAT", 4)                                                                        \
    X(MR_DOUBLE, "DOUBLE", 8)                                                                      \
    X(MR_DECIMAL, "DECIMAL", 16)            /* unscaled, 128 bits, whatever the precision */       \
    X(MR_STRING, "STRING", 16)              /* struct mr_view, UTF-8 */                            \
    X(MR_BINARY, "BINARY", 16)              /* struct mr_view */                                   \
    X(MR_DATE, "DATE", 4)                   /* days since 1970-01-01 */                            \
    X(MR_TIMESTAMP, "TIMESTAMP", 8)         /* microseconds since the epoch, UTC */                \
    X(MR_TIMESTAMP_NTZ, "TIMESTAMP_NTZ", 8) /* local microseconds */                               \
    X(MR_INTERVAL_YEAR_MONTH, "INTERVAL YEAR TO MONTH", 4) /* months */                            \
    X(MR_INTERVAL_DAY_TIME, "INTERVAL DAY TO SECOND", 8)   /* microseconds */                      \
    X(MR_INTERVAL_CALENDAR, "INTERVAL", 16)                /* struct mr_calendar_interval */       \
    X(MR_VARIANT, "VARIANT", 16)                           /* struct mr_view of format/variant */  \
    X(MR_ARRAY, "ARRAY", 4)                                /* offsets, rows + 1 of them */         \
    X(MR_MAP, "MAP", 4) /* offsets, rows + 1 of them; children key and value */                    \
    X(MR_STRUCT, "STRUCT", 0)

enum mr_kind {
#define X(kind, name, bytes) kind,
    MR_KINDS(X)
#undef X
        MR_KINDS_N
};

struct mr_calendar_interval {
    int32_t months, days;
    int64_t us;
};

struct mr_type;
struct mr_field {
    const char *name;
    const struct mr_type *type;
    bool nullable;
};

struct mr_type {
    enum mr_kind kind;
    uint8_t precision, scale; /* DECIMAL. INTERVAL_YEAR_MONTH: first and last unit, 0 YEAR, 1 MONTH;
                                 INTERVAL_DAY_TIME: 0 DAY, 1 HOUR, 2 MINUTE, 3 SECOND (printing) */
    uint32_t fields_n;        /* STRUCT: its fields; ARRAY: 1, the element; MAP: 2, key and value */
    const struct mr_field *fields;
};

extern const struct mr_type mr_type_void, mr_type_boolean, mr_type_tinyint, mr_type_smallint,
    mr_type_int, mr_type_bigint, mr_type_float, mr_type_double, mr_type_string, mr_type_binary,
    mr_type_date, mr_type_timestamp, mr_type_timestamp_ntz, mr_type_interval_year_month,
    mr_type_interval_day_time, mr_type_interval_calendar, mr_type_variant;

const struct mr_type *mr_type_decimal(struct mr_arena *a, uint32_t precision, uint32_t scale);
const struct mr_type *mr_type_array(struct mr_arena *a, const struct mr_type *element,
                                    bool contains_null);
const struct mr_type *mr_type_map(struct mr_arena *a, const struct mr_type *key,
                                  const struct mr_type *value, bool value_contains_null);
/* Borrows fields: they must live as long as a. */
const struct mr_type *mr_type_struct(struct mr_arena *a, const struct mr_field *fields, uint32_t n);
const struct mr_type *mr_type_copy(struct mr_arena *a, const struct mr_type *type);

/* Kinds, precision of decimals, field names and, if asked, nullability; not the units of
 * intervals. */
bool mr_type_equal(const struct mr_type *a, const struct mr_type *b);
bool mr_type_equal_with_nullability(const struct mr_type *a, const struct mr_type *b);
bool mr_type_has(const struct mr_type *type, enum mr_kind kind); /* it, or one inside */
bool mr_type_is_orderable(const struct mr_type *type);           /* can be compared and sorted */
uint32_t mr_type_value_bytes(const struct mr_type *type);        /* the table above */
static inline bool mr_type_is_views(const struct mr_type *t)     /* a column of struct mr_view */
{
    return t->kind == MR_STRING || t->kind == MR_BINARY || t->kind == MR_VARIANT;
}
static inline bool mr_type_is_integer(const struct mr_type *t)
{
    return t->kind >= MR_TINYINT && t->kind <= MR_BIGINT;
}
static inline bool mr_type_is_numeric(const struct mr_type *t)
{
    return t->kind >= MR_TINYINT && t->kind <= MR_DECIMAL;
}
/* An interval of months or of microseconds, with units. */
static inline bool mr_type_is_units(const struct mr_type *t)
{
    return t->kind == MR_INTERVAL_YEAR_MONTH || t->kind == MR_INTERVAL_DAY_TIME;
}
static inline bool mr_type_is_time(const struct mr_type *t) /* a point in time */
{
    return t->kind == MR_DATE || t->kind == MR_TIMESTAMP || t->kind == MR_TIMESTAMP_NTZ;
}

/* As Spark prints it in errors and typeof(upper case false): struct<a:int,b:decimal(10,2)>. */
void mr_type_print(const struct mr_type *type, struct mr_buffer *out);
/* As Spark prints it in error messages: "STRUCT<a: INT, b: DECIMAL(10,2)>", without the quotes. */
void mr_type_print_sql(const struct mr_type *type, struct mr_buffer *out);
/* A name that SQL would not take as it is stands in backquotes, which are doubled inside. */
void mr_type_print_name(const char *name, struct mr_buffer *out);
