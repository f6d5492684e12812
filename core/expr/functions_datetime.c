#include "core/base/time.h"
#include "core/expr/calendar.h"
#include "core/expr/function_state.h"
#include "core/expr/signature.h"
#include "core/expr/writer.h"
#include "core/format/pattern.h"
#include "core/format/value.h"

#include <math.h>

/* Formatting and parsing of times, numbers to times and back, zones. */

struct pattern_state {
    const struct mr_pattern *pattern;
    struct mr_arena arena; /* of the pattern */
    bool is_open;
    char *text;
    uint64_t text_n;
};

_Static_assert(sizeof(struct pattern_state) <= MR_PATTERN_STATE_BYTES, "the table says how much");

void mr_pattern_state_fini(void *state)
{
    struct pattern_state *s = state;

    if (s->is_open)
        mr_arena_fini(&s->arena);
    s->is_open = false;
}

/* The pattern compiled, unless it is the one of the last row. */
static enum mr_status set_pattern(struct mr_call *call, struct mr_text text, bool parsing,
                                  const struct mr_pattern **out)
{
    struct pattern_state *s = call->state;

    if (s->pattern == NULL || !mr_text_equal(text, (struct mr_text){s->text, s->text_n})) {
        enum mr_status status;
        if (s->is_open)
            mr_arena_reset(&s->arena);
        else
            mr_arena_init(&s->arena, call->arena->budget, call->arena->escape);
        s->is_open = true;
        s->pattern = NULL;
        s->text = mr_arena_copy(&s->arena, text.data, text.n);
        s->text_n = text.n;
        status = mr_pattern_compile((struct mr_text){s->text, text.n}, parsing, &s->arena,
                                    &s->pattern, call->err);
        if (status != MR_OK)
            return status;
    }
    *out = s->pattern;
    return MR_OK;
}

static const char default_pattern[] = "yyyy-MM-dd HH:mm:ss";

/* The pattern argument number i of the row, or Spark's default. */
static struct mr_text pattern_at(const struct mr_call *call, const struct mr_column *args,
                                 uint32_t i, uint32_t row)
{
    return call->expr->args_n > i ? mr_column_text(&args[i], row) : mr_text_of(default_pattern);
}

static enum mr_status print(struct mr_call *call, struct mr_text_writer *w, struct mr_buffer *b,
                            uint32_t row, struct mr_text pattern, int64_t us,
                            const struct mr_zone *zone)
{
    const struct mr_pattern *p;
    enum mr_status status = set_pattern(call, pattern, false, &p);

    if (status != MR_OK)
        return status;
    b->n = 0;
    mr_pattern_print(p, us, zone, b);
    mr_text_writer_copy(w, row, mr_buffer_text(b));
    return MR_OK;
}

MR_BODY(date_format)
{
    const struct mr_zone *zone =
        args[0].type->kind == MR_TIMESTAMP ? call->context->zone : mr_zone_utc();
    struct mr_text_writer w;
    struct mr_buffer b;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        enum mr_status status =
            print(call, &w, &b, row, mr_column_text(&args[1], row), args[0].i64[row], zone);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

MR_BODY(from_unixtime)
{
    struct mr_text_writer w;
    struct mr_buffer b;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t us;
        enum mr_status status;
        us = (int64_t)((uint64_t)args[0].i64[row] *
                       (uint64_t)MR_US_PER_SECOND); /* may wrap, as there */
        status = print(call, &w, &b, row, pattern_at(call, args, 1, row), us, call->context->zone);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static enum mr_status bad_text(struct mr_call *call, struct mr_text t)
{
    const char *name = call->expr->function->name;

    return MR_FAIL_CONDITION(call->err, MR_QUERY, "CANNOT_PARSE_TIMESTAMP",
                             "Text '%.*s' could not be parsed. Use `try_to_timestamp` to tolerate "
                             "invalid input string and return NULL instead. (%s)",
                             (int)(t.n < 512 ? t.n : 512), t.data, name);
}

/* Text to an instant by the pattern; *null: it does not fit, and nulls says that this is no
 * error. */
static enum mr_status parse(struct mr_call *call, struct mr_text t, struct mr_text pattern,
                            const struct mr_zone *zone, bool nulls, int64_t *us, bool *null)
{
    const struct mr_pattern *p;
    enum mr_status status = set_pattern(call, pattern, true, &p);

    if (status != MR_OK)
        return status;
    *null = !mr_pattern_parse(p, t, zone, us);
    return *null && !nulls && call->context->ansi ? bad_text(call, t) : MR_OK;
}

/* to_timestamp(x[, pattern]): without a pattern it is a cast. */
MR_RESOLVE(to_timestamp)
{
    const char *name = call->function->name;
    bool is_try = strncmp(name, "try_", 4) == 0;
    bool ntz = strstr(name, "_ntz") != NULL, date = strstr(name, "date") != NULL;
    const struct mr_type *type = date  ? &mr_type_date
                                 : ntz ? &mr_type_timestamp_ntz
                                       : &mr_type_timestamp;
    enum mr_kind k = call->args[0]->type->kind;
    enum mr_status status;

    if (call->args_n == 1 || (k != MR_STRING && k != MR_VOID)) {
        struct mr_expr *cast;
        if (call->args_n == 2 && !mr_cast_is_implicit(call->args[0]->type, &mr_type_timestamp))
            return mr_mismatch_argument(r, call, 0, "(\"STRING\" or \"DATE\" or \"TIMESTAMP\")");
        status = mr_cast_make(r, call->args[0], type, is_try, call->place, &cast);
        if (status != MR_OK)
            return status;
        const char *text = call->text;
        *call = *cast;
        call->text = text;
        return MR_OK;
    }
    call->args[0] = mr_coerce(r, call->args[0], &mr_type_string);
    status = mr_coerce_argument(r, call, 1, &mr_type_string, NULL);
    call->type = type;
    call->nullable = is_try || mr_expr_any_nullable(call);
    return status;
}

MR_BODY(to_timestamp)
{
    const char *name = call->expr->function->name;
    bool is_try = strncmp(name, "try_", 4) == 0, date = out->type->kind == MR_DATE;
    bool local = out->type->kind != MR_TIMESTAMP;
    const struct mr_zone *zone = local ? mr_zone_utc() : call->context->zone;

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t us = 0;
        bool null;
        enum mr_status status = parse(call, mr_column_text(&args[0], row),
                                      mr_column_text(&args[1], row), zone, is_try, &us, &null);
        if (status != MR_OK)
            return status;
        if (null)
            mr_column_put_null(out, row, call->rows, call->arena);
        else if (date)
            out->i32[row] = (int32_t)mr_floor_div(us, MR_US_PER_DAY);
        else
            out->i64[row] = us;
    }
    return MR_OK;
}

/* unix_timestamp([x[, pattern]]): texts by the pattern, dates and timestamps as they are. */
MR_RESOLVE(unix_timestamp)
{
    enum mr_status status = MR_OK;

    call->type = &mr_type_bigint;
    if (call->args_n == 0) {
        struct mr_expr *now;
        status = mr_call_make(r, mr_function_find("current_timestamp"), NULL, 0, call->place,
                              call->text, &now);
        call->args[0] = now;
        call->args_n = 1;
        return status;
    }
    if (call->args[0]->type->kind == MR_DATE || call->args[0]->type->kind == MR_TIMESTAMP_NTZ)
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_timestamp);
    else if (call->args[0]->type->kind != MR_TIMESTAMP)
        status = mr_coerce_argument(r, call, 0, &mr_type_string,
                                    "(\"STRING\" or \"DATE\" or \"TIMESTAMP\")");
    if (status == MR_OK && call->args_n > 1)
        status = mr_coerce_argument(r, call, 1, &mr_type_string, NULL);
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

/* Cut toward zero, unlike unix_seconds. */
MR_BODY(unix_timestamp)
{
    mr_column_alloc(out, &mr_type_bigint, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t us;
        bool null = false;
        if (args[0].type->kind == MR_STRING) {
            enum mr_status status =
                parse(call, mr_column_text(&args[0], row), pattern_at(call, args, 1, row),
                      call->context->zone, false, &us, &null);
            if (status != MR_OK)
                return status;
        } else {
            us = args[0].i64[row];
        }
        if (null)
            mr_column_put_null(out, row, call->rows, call->arena);
        else
            out->i64[row] = us / MR_US_PER_SECOND;
    }
    return MR_OK;
}

/* timestamp_seconds, _millis, _micros; unix_seconds, _millis, _micros: the unit is in the name. */
static int64_t unit_us(const struct mr_call *call)
{
    const char *name = call->expr->function->name;

    return strstr(name, "seconds") ? MR_US_PER_SECOND : strstr(name, "millis") ? 1000 : 1;
}

MR_RESOLVE(timestamp_seconds)
{
    const struct mr_type *type = call->args[0]->type;

    call->type = &mr_type_timestamp;
    call->nullable = call->args[0]->nullable;
    if (type->kind == MR_FLOAT || type->kind == MR_DECIMAL)
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_double);
    if (type->kind == MR_FLOAT || type->kind == MR_DOUBLE || type->kind == MR_DECIMAL)
        return MR_OK;
    return mr_coerce_argument(r, call, 0, &mr_type_bigint, "\"NUMERIC\"");
}

MR_BODY(timestamp_unit)
{
    int64_t unit = unit_us(call);

    mr_column_alloc(out, &mr_type_timestamp, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        if (args[0].type->kind == MR_DOUBLE) {
            double us = args[0].f64[row] * 1e6;
            if (!isfinite(args[0].f64[row]))
                mr_column_put_null(out, row, call->rows, call->arena);
            else if (fabs(us) >= 0x1p63)
                out->i64[row] = us < 0 ? INT64_MIN : INT64_MAX;
            else
                out->i64[row] = (int64_t)us;
        } else if (__builtin_mul_overflow(args[0].i64[row], unit, &out->i64[row])) {
            return MR_FAIL_CONDITION(
                call->err, MR_QUERY, "ARITHMETIC_OVERFLOW",
                "long overflow. If necessary set \"spark.sql.ansi.enabled\" to "
                "\"false\" to bypass this error.");
        }
    }
    return MR_OK;
}

/* A division by a constant is a multiplication. */
#define DIVIDE(unit)                                                                               \
    for (uint32_t row = 0; row < rows; row++)                                                      \
        to[row] = mr_floor_div(us[row], (unit));                                                   \
    break

MR_BODY(unix_unit)
{
    const int64_t *us = args[0].i64;
    const uint32_t rows = call->rows;
    int64_t *to;

    mr_column_alloc(out, &mr_type_bigint, rows, false, call->arena);
    to = out->i64;
    switch (unit_us(call)) {
    case MR_US_PER_SECOND:
        DIVIDE(MR_US_PER_SECOND);
    case 1000:
        DIVIDE(1000);
    default:
        memcpy(to, us, rows * sizeof *to);
    }
    return MR_OK;
}

MR_BODY(unix_date)
{
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i32[row] = args[0].i32[row];
    return MR_OK;
}

static enum mr_status find_zone(struct mr_call *call, struct mr_text name,
                                const struct mr_zone **zone)
{
    *zone = mr_zone_find(name);
    if (*zone)
        return MR_OK;
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_TIMEZONE",
                             "The timezone: %.*s is invalid. The timezone must be either a "
                             "region-based zone ID or a zone offset.",
                             (int)name.n, name.data);
}

/* The wall clock of the zone, taken as if it were UTC; and back. */
static enum mr_status shift_zone(struct mr_call *call, const struct mr_column *args, bool from_utc,
                                 struct mr_column *out)
{
    mr_column_alloc(out, &mr_type_timestamp, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        const struct mr_zone *zone;
        enum mr_status status = find_zone(call, mr_column_text(&args[1], row), &zone);
        if (status != MR_OK)
            return status;
        out->i64[row] = from_utc ? mr_zone_to_local(zone, args[0].i64[row])
                                 : mr_zone_to_utc(zone, args[0].i64[row]);
    }
    return MR_OK;
}

MR_BODY(from_utc_timestamp)
{
    return shift_zone(call, args, true, out);
}
MR_BODY(to_utc_timestamp)
{
    return shift_zone(call, args, false, out);
}

/* convert_timezone([from, ]to, local time). */
MR_RESOLVE(convert_timezone)
{
    uint32_t n = call->args_n;
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i + 1 < n && status == MR_OK; i++)
        status = mr_coerce_argument(r, call, i, &mr_type_string, NULL);
    if (status == MR_OK && call->args[n - 1]->type->kind == MR_TIMESTAMP)
        call->args[n - 1] = mr_coerce(r, call->args[n - 1], &mr_type_timestamp_ntz);
    else if (status == MR_OK)
        status = mr_coerce_argument(r, call, n - 1, &mr_type_timestamp_ntz, NULL);
    call->type = &mr_type_timestamp_ntz;
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

MR_BODY(convert_timezone)
{
    uint32_t n = call->expr->args_n;

    mr_column_alloc(out, &mr_type_timestamp_ntz, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        const struct mr_zone *from = call->context->zone, *to;
        enum mr_status status = MR_OK;
        if (n == 3)
            status = find_zone(call, mr_column_text(&args[0], row), &from);
        if (status == MR_OK)
            status = find_zone(call, mr_column_text(&args[n - 2], row), &to);
        if (status != MR_OK)
            return status;
        out->i64[row] = mr_zone_to_local(to, mr_zone_to_utc(from, args[n - 1].i64[row]));
    }
    return MR_OK;
}
