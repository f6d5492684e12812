#include "core/format/json/infer.h"

#include "core/base/bounds.h"
#include "core/base/check.h"
#include "core/format/json/reader.h"

struct shape_field;

struct shape { /* what was seen at one place; MR_VOID: nothing but null */
    enum mr_kind kind;
    uint32_t digits; /* DECIMAL */
    struct shape *element;
    struct shape_field *fields; /* sorted by name */
    uint32_t fields_n, fields_capacity;
};

struct shape_field {
    struct mr_text name;
    struct shape shape;
};

struct mr_json_inference {
    struct mr_arena *arena, scratch;
    struct json_options options;
    struct json_reader reader;
    struct shape root;
    bool corrupt;
};

enum mr_status mr_json_infer_open(struct mr_arena *a, struct mr_json_inference **out,
                                  struct mr_error *err)
{
    static const struct mr_type nothing = {.kind = MR_STRUCT};
    struct mr_json_inference *in = MR_NEW(a, struct mr_json_inference);
    const struct mr_decoder_config config = {
        .schema = &nothing, .full_schema = &nothing, .zone = mr_zone_utc(), .batch_rows = 1};
    enum mr_status status = json_options_read(&config, a, &in->options, err);

    in->arena = a;
    mr_arena_init(&in->scratch, a->budget, a->escape);
    in->root.kind = MR_STRUCT;
    json_reader_init(&in->reader, &in->options, a);
    *out = in;
    return status;
}

static struct shape *field_of(struct mr_json_inference *in, struct shape *s, struct mr_text name)
{
    uint32_t low = 0, high = s->fields_n;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = mr_text_compare(s->fields[middle].name, name);
        if (order == 0)
            return &s->fields[middle].shape;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (s->fields_n == s->fields_capacity) {
        uint32_t capacity = s->fields_capacity ? s->fields_capacity * 2 : 8;
        struct shape_field *grown = MR_NEW_ARRAY(in->arena, struct shape_field, capacity);
        if (s->fields_n)
            memcpy(grown, s->fields, s->fields_n * sizeof *grown);
        s->fields = grown;
        s->fields_capacity = capacity;
    }
    memmove(s->fields + low + 1, s->fields + low, (s->fields_n - low) * sizeof *s->fields);
    s->fields[low] = (struct shape_field){
        .name = {mr_arena_copy(in->arena, name.data, name.n), name.n}, .shape = {.kind = MR_VOID}};
    s->fields_n++;
    return &s->fields[low].shape;
}

static bool is_number(enum mr_kind kind)
{
    return kind == MR_BIGINT || kind == MR_DECIMAL || kind == MR_DOUBLE;
}

/* The kind that holds both what was seen and the new value. */
static void widen(struct shape *s, enum mr_kind kind, uint32_t digits)
{
    if (s->kind == MR_VOID || s->kind == kind) {
        s->kind = kind;
        s->digits = digits > s->digits ? digits : s->digits;
    } else if (is_number(s->kind) && is_number(kind)) {
        s->kind = s->kind == MR_DOUBLE || kind == MR_DOUBLE ? MR_DOUBLE : MR_DECIMAL;
        s->digits = digits > s->digits ? digits : s->digits;
        if (s->kind == MR_DECIMAL && s->digits < 20)
            s->digits = 20; /* what holds every BIGINT */
    } else {
        s->kind = MR_STRING;
    }
}

static void widen_integer(struct shape *s, struct mr_text t)
{
    uint32_t digits = (uint32_t)t.n - (t.n > 0 && t.data[0] == '-');
    int64_t value = 0;
    bool fits = digits <= 19;

    for (uint64_t i = t.data[0] == '-'; fits && i < t.n; i++)
        fits = !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_sub_overflow(value, t.data[i] - '0', &value);
    fits = fits && (t.data[0] == '-' || value != INT64_MIN); /* counted downwards */
    if (fits)
        widen(s, MR_BIGINT, 0);
    else
        widen(s, digits <= MR_DECIMAL_DIGITS ? MR_DECIMAL : MR_DOUBLE, digits);
}

static bool observe(struct mr_json_inference *in, struct shape *s, uint32_t depth);

static bool observe_object(struct mr_json_inference *in, struct shape *s, uint32_t depth)
{
    struct json_reader *r = &in->reader;
    enum json_token token;

    while ((token = json_reader_next(r)) == JSON_FIELD_NAME) {
        struct shape *field = field_of(in, s, *json_reader_name(r));
        json_reader_next(r);
        if (!observe(in, field, depth + 1))
            return false;
    }
    return token == JSON_END_OBJECT;
}

static bool observe_array(struct mr_json_inference *in, struct shape *s, uint32_t depth)
{
    struct json_reader *r = &in->reader;
    enum json_token token;

    if (s->element == NULL)
        s->element = MR_NEW(in->arena, struct shape);
    while ((token = json_reader_next(r)) != JSON_END_ARRAY) {
        if (token == JSON_END || token == JSON_ERROR || !observe(in, s->element, depth + 1))
            return false;
    }
    return true;
}

/* The value whose first token was read. False: the record is no JSON. */
static bool observe(struct mr_json_inference *in, struct shape *s, uint32_t depth)
{
    struct json_reader *r = &in->reader;
    enum mr_kind before = s->kind;

    switch (r->token) {
    case JSON_START_OBJECT:
    case JSON_START_ARRAY: {
        bool object = r->token == JSON_START_OBJECT;
        widen(s, object ? MR_STRUCT : MR_ARRAY, 0);
        if (s->kind == MR_STRING || depth >= MR_DEPTH_MAX) {
            s->kind = MR_STRING;
            return json_reader_skip(r);
        }
        return object ? observe_object(in, s, depth) : observe_array(in, s, depth);
    }
    case JSON_STRING:
        widen(s, MR_STRING, 0);
        return json_reader_finish(r);
    case JSON_INTEGER:
        widen_integer(s, r->text);
        return true;
    case JSON_FLOAT:
        widen(s, MR_DOUBLE, 0);
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        widen(s, MR_BOOLEAN, 0);
        return true;
    case JSON_NULL:
        s->kind = before;
        return true;
    default:
        return false;
    }
}

void mr_json_infer_record(struct mr_json_inference *in, struct mr_text record)
{
    struct mr_text text = mr_text_trim(record);

    if (text.n == 0)
        return;
    mr_arena_reset(&in->scratch);
    json_reader_begin(&in->reader, (const uint8_t *)text.data, (const uint8_t *)text.data + text.n,
                      &in->scratch);
    if (json_reader_next(&in->reader) != JSON_START_OBJECT || !observe_object(in, &in->root, 0))
        in->corrupt = true;
}

static void print_shape(const struct shape *s, struct mr_buffer *out);

static void print_fields(const struct shape *s, const char *between, struct mr_buffer *out)
{
    for (uint32_t i = 0; i < s->fields_n; i++) {
        const struct shape_field *f = &s->fields[i];
        mr_buffer_append_text(out, i ? MR_TEXT(", `") : MR_TEXT("`"));
        for (uint64_t c = 0; c < f->name.n; c++) {
            if (f->name.data[c] == '`')
                mr_buffer_append_text(out, MR_TEXT("`"));
            mr_buffer_append(out, &f->name.data[c], 1);
        }
        mr_buffer_append_format(out, "`%s ", between);
        print_shape(&f->shape, out);
    }
}

static void print_shape(const struct shape *s, struct mr_buffer *out)
{
    switch (s->kind) {
    case MR_STRUCT:
        mr_buffer_append_text(out, MR_TEXT("STRUCT<"));
        print_fields(s, ":", out);
        mr_buffer_append_text(out, MR_TEXT(">"));
        return;
    case MR_ARRAY:
        mr_buffer_append_text(out, MR_TEXT("ARRAY<"));
        print_shape(s->element, out);
        mr_buffer_append_text(out, MR_TEXT(">"));
        return;
    case MR_DECIMAL:
        mr_buffer_append_format(out, "DECIMAL(%u,0)", s->digits);
        return;
    case MR_BIGINT:
        mr_buffer_append_text(out, MR_TEXT("BIGINT"));
        return;
    case MR_DOUBLE:
        mr_buffer_append_text(out, MR_TEXT("DOUBLE"));
        return;
    case MR_BOOLEAN:
        mr_buffer_append_text(out, MR_TEXT("BOOLEAN"));
        return;
    default:
        mr_buffer_append_text(out, MR_TEXT("STRING"));
    }
}

bool mr_json_infer_finish(const struct mr_json_inference *in, struct mr_buffer *ddl)
{
    if (in->root.fields_n == 0 && !in->corrupt)
        return false;
    if (in->corrupt)
        mr_buffer_append_format(ddl, "`_corrupt_record` STRING%s", in->root.fields_n ? ", " : "");
    print_fields(&in->root, "", ddl);
    return true;
}
