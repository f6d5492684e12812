#include "core/batch/type.h"

#include "core/base/bounds.h"
#include "core/base/check.h"
#include <stdio.h>

static const struct {
    const char *name;
    uint32_t bytes;
} kinds[] = {
#define X(kind, name, bytes) {name, bytes},
    MR_KINDS(X)
#undef X
};

const struct mr_type mr_type_void = {.kind = MR_VOID};
const struct mr_type mr_type_boolean = {.kind = MR_BOOLEAN};
const struct mr_type mr_type_tinyint = {.kind = MR_TINYINT};
const struct mr_type mr_type_smallint = {.kind = MR_SMALLINT};
const struct mr_type mr_type_int = {.kind = MR_INT};
const struct mr_type mr_type_bigint = {.kind = MR_BIGINT};
const struct mr_type mr_type_float = {.kind = MR_FLOAT};
const struct mr_type mr_type_double = {.kind = MR_DOUBLE};
const struct mr_type mr_type_string = {.kind = MR_STRING};
const struct mr_type mr_type_binary = {.kind = MR_BINARY};
const struct mr_type mr_type_date = {.kind = MR_DATE};
const struct mr_type mr_type_timestamp = {.kind = MR_TIMESTAMP};
const struct mr_type mr_type_timestamp_ntz = {.kind = MR_TIMESTAMP_NTZ};
const struct mr_type mr_type_interval_year_month = {.kind = MR_INTERVAL_YEAR_MONTH, .scale = 1};
const struct mr_type mr_type_interval_day_time = {.kind = MR_INTERVAL_DAY_TIME, .scale = 3};
const struct mr_type mr_type_interval_calendar = {.kind = MR_INTERVAL_CALENDAR};
const struct mr_type mr_type_variant = {.kind = MR_VARIANT};

static struct mr_type *new_type(struct mr_arena *a, enum mr_kind kind)
{
    struct mr_type *t = MR_NEW(a, struct mr_type);

    t->kind = kind;
    return t;
}

const struct mr_type *mr_type_decimal(struct mr_arena *a, uint32_t precision, uint32_t scale)
{
    MR_ASSERT(precision >= 1 && precision <= MR_DECIMAL_DIGITS && scale <= precision);
    struct mr_type *t = new_type(a, MR_DECIMAL);

    t->precision = (uint8_t)precision;
    t->scale = (uint8_t)scale;
    return t;
}

const struct mr_type *mr_type_array(struct mr_arena *a, const struct mr_type *element,
                                    bool contains_null)
{
    struct mr_type *t = new_type(a, MR_ARRAY);
    struct mr_field *f = MR_NEW_ARRAY(a, struct mr_field, 1);

    f[0] = (struct mr_field){"element", element, contains_null};
    t->fields = f;
    t->fields_n = 1;
    return t;
}

const struct mr_type *mr_type_map(struct mr_arena *a, const struct mr_type *key,
                                  const struct mr_type *value, bool value_contains_null)
{
    struct mr_type *t = new_type(a, MR_MAP);
    struct mr_field *f = MR_NEW_ARRAY(a, struct mr_field, 2);

    f[0] = (struct mr_field){"key", key, false};
    f[1] = (struct mr_field){"value", value, value_contains_null};
    t->fields = f;
    t->fields_n = 2;
    return t;
}

const struct mr_type *mr_type_struct(struct mr_arena *a, const struct mr_field *fields, uint32_t n)
{
    struct mr_type *t = new_type(a, MR_STRUCT);

    t->fields = fields;
    t->fields_n = n;
    return t;
}

const struct mr_type *mr_type_copy(struct mr_arena *a, const struct mr_type *type)
{
    struct mr_type *t = MR_NEW(a, struct mr_type);

    *t = *type;
    if (type->fields_n > 0) {
        struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, type->fields_n);
        for (uint32_t i = 0; i < type->fields_n; i++) {
            const struct mr_field *f = &type->fields[i];
            fields[i] = (struct mr_field){mr_arena_copy(a, f->name, strlen(f->name)),
                                          mr_type_copy(a, f->type), f->nullable};
        }
        t->fields = fields;
    }
    return t;
}

static bool equal(const struct mr_type *a, const struct mr_type *b, bool nullability)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->fields_n != b->fields_n)
        return false;
    if (a->precision != b->precision ||
        a->scale != b->scale) /* of a decimal, or an interval's units */
        return false;
    for (uint32_t i = 0; i < a->fields_n; i++) {
        const struct mr_field *f = &a->fields[i], *g = &b->fields[i];
        if (a->kind == MR_STRUCT && strcmp(f->name, g->name) != 0)
            return false;
        if (nullability && f->nullable != g->nullable)
            return false;
        if (!equal(f->type, g->type, nullability))
            return false;
    }
    return true;
}

bool mr_type_equal(const struct mr_type *a, const struct mr_type *b)
{
    return equal(a, b, false);
}

bool mr_type_equal_with_nullability(const struct mr_type *a, const struct mr_type *b)
{
    return equal(a, b, true);
}

bool mr_type_has(const struct mr_type *type, enum mr_kind kind)
{
    if (type->kind == kind)
        return true;
    for (uint32_t i = 0; i < type->fields_n; i++)
        if (mr_type_has(type->fields[i].type, kind))
            return true;
    return false;
}

bool mr_type_is_orderable(const struct mr_type *type)
{
    return !mr_type_has(type, MR_MAP) && !mr_type_has(type, MR_INTERVAL_CALENDAR) &&
           !mr_type_has(type, MR_VARIANT);
}

uint32_t mr_type_value_bytes(const struct mr_type *type)
{
    return kinds[type->kind].bytes;
}

static void append_lower(struct mr_buffer *out, const char *s)
{
    size_t n = strlen(s);
    uint8_t *at = mr_buffer_reserve(out, n);

    for (size_t i = 0; i < n; i++)
        at[i] = (uint8_t)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] + ('a' - 'A') : s[i]);
    out->n += n;
}

static void append_string(struct mr_buffer *out, const char *s)
{
    mr_buffer_append(out, s, strlen(s));
}

/* "INTERVAL DAY TO HOUR": an interval with its units, other kinds as they are. */
static const char *kind_name(const struct mr_type *type, char *text, size_t text_bytes)
{
    static const char *const units[2][4] = {{"YEAR", "MONTH"}, {"DAY", "HOUR", "MINUTE", "SECOND"}};

    if (type->kind != MR_INTERVAL_YEAR_MONTH && type->kind != MR_INTERVAL_DAY_TIME)
        return kinds[type->kind].name;
    const char *const *of = units[type->kind == MR_INTERVAL_DAY_TIME];
    if (type->precision == type->scale)
        snprintf(text, text_bytes, "INTERVAL %s", of[type->precision]);
    else
        snprintf(text, text_bytes, "INTERVAL %s TO %s", of[type->precision], of[type->scale]);
    return text;
}

void mr_type_print(const struct mr_type *type, struct mr_buffer *out)
{
    char text[32];

    append_lower(out, kind_name(type, text, sizeof text));
    if (type->kind == MR_DECIMAL)
        mr_buffer_append_format(out, "(%u,%u)", type->precision, type->scale);
    if (type->kind < MR_ARRAY)
        return;
    append_string(out, "<");
    for (uint32_t i = 0; i < type->fields_n; i++) {
        if (i > 0)
            append_string(out, ",");
        if (type->kind == MR_STRUCT) {
            append_string(out, type->fields[i].name);
            append_string(out, ":");
        }
        mr_type_print(type->fields[i].type, out);
    }
    append_string(out, ">");
}

void mr_type_print_name(const char *name, struct mr_buffer *out)
{
    bool plain = name[0] != '\0' && !(name[0] >= '0' && name[0] <= '9');

    for (const char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == '_'))
            plain = false;
    if (plain) {
        append_string(out, name);
        return;
    }
    append_string(out, "`");
    for (const char *c = name; *c; c++) {
        if (*c == '`')
            append_string(out, "`");
        mr_buffer_append(out, c, 1);
    }
    append_string(out, "`");
}

void mr_type_print_sql(const struct mr_type *type, struct mr_buffer *out)
{
    char text[32];

    append_string(out, kind_name(type, text, sizeof text));
    if (type->kind == MR_DECIMAL)
        mr_buffer_append_format(out, "(%u,%u)", type->precision, type->scale);
    if (type->kind < MR_ARRAY)
        return;
    append_string(out, "<");
    for (uint32_t i = 0; i < type->fields_n; i++) {
        if (i > 0)
            append_string(out, ", ");
        if (type->kind == MR_STRUCT) {
            mr_type_print_name(type->fields[i].name, out);
            append_string(out, ": ");
        }
        mr_type_print_sql(type->fields[i].type, out);
        if (type->kind == MR_STRUCT && !type->fields[i].nullable)
            append_string(out, " NOT NULL");
    }
    append_string(out, ">");
}
