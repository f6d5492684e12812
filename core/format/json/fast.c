#include "core/format/json/fast.h"

#include "core/base/check.h"
#include "core/format/json/constants.h"
#include "core/format/json/convert.h"
#include "core/format/json/number.h"
#include "core/format/json/skip.h"
#include "core/format/utf8.h"
#include "core/format/value.h"
#include "kernels/lines/lines.h"

const struct json_fast_kernels *const json_fast_variants[] = {&json_fast_avx2, &json_fast_scalar,
                                                              NULL};

const struct json_fast_kernels *json_fast_choose(void)
{
    for (uint32_t i = 0; json_fast_variants[i]; i++)
        if (strcmp(json_fast_variants[i]->isa, mr_lines->isa) == 0)
            return json_fast_variants[i];
    return &json_fast_scalar;
}

#define REPEAT_16(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x
const struct json_constants json_constants = {
    .quotes = {REPEAT_16('"'), REPEAT_16('"')},
    .escapes = {REPEAT_16('\\'), REPEAT_16('\\')},
    .blanks = {REPEAT_16(' '), REPEAT_16(' ')},
    .zeros = {REPEAT_16('0')},
    .nines = {REPEAT_16(9)},
    .align_right = {REPEAT_16(128), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    .first_bytes = {REPEAT_16(255)},
};

/* Stands behind the last member: its prefix, a line end, is that of no member. */
static void no_member(struct json_member *m)
{
    *m = (struct json_member){.prefix = "\n", .prefix_n = 1, .field = JSON_UNKNOWN};
}

void json_fast_init(struct json_fast *f, const struct json_plan *plan, struct mr_arena *a)
{
    *f = (struct json_fast){.plan = plan, .targets_n = plan->root.children_n};
    f->targets = MR_NEW_ARRAY(a, struct json_target, f->targets_n + 1);
    for (uint32_t i = 0; i < f->targets_n; i++)
        f->targets[i].node = &plan->root.children[i];
    uint32_t first = f->targets_n < 64 ? f->targets_n : 64;
    f->all_n = f->targets_n > 64 ? UINT32_MAX : first;
    f->gap = 1;
    f->all = first < 64 ? (UINT64_C(1) << first) - 1 : ~UINT64_C(0);
    f->seen_words = f->targets_n > 64 ? f->targets_n / 64 + 1 : 0;
    f->seen = MR_NEW_ARRAY(a, uint64_t, f->seen_words);
    f->members = MR_NEW_ARRAY(a, struct json_member, JSON_MEMBERS_MAX + 2) + 1;
    no_member(&f->members[0]);
}

void json_fast_begin(struct json_fast *f, struct mr_column *columns, struct mr_heaps *heaps)
{
    for (uint32_t i = 0; i < f->targets_n; i++) {
        f->targets[i].column = &columns[i];
    }
    for (uint32_t i = 0; i < f->members_n; i++)
        if (f->members[i].needed)
            f->members[i].out = columns[f->members[i].field].data;
    f->heaps = heaps;
}

static const uint8_t *skip_blanks(const uint8_t *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* c: the first byte of the value. */
static enum json_step step_of(const struct json_fast *f, uint32_t field, uint8_t c)
{
    bool text = c == '"', number = c == '-' || (c >= '0' && c <= '9');

    if (field == JSON_UNKNOWN)
        return text ? JSON_SKIP_TEXT : number ? JSON_SKIP_NUMBER : JSON_TAKE_OTHER;
    enum mr_kind kind = f->targets[field].node->type->kind;
    if (field >= 64)
        return JSON_TAKE_OTHER;
    if (text)
        return kind == MR_STRING ? JSON_TAKE_STRING
               : kind == MR_TIMESTAMP && f->plan->options.temporal.timestamp == NULL
                   ? JSON_TAKE_TIMESTAMP
                   : JSON_TAKE_OTHER;
    return kind == MR_DOUBLE    ? JSON_TAKE_DOUBLE
           : kind == MR_BIGINT  ? JSON_TAKE_BIGINT
           : kind == MR_INT     ? JSON_TAKE_INT
           : kind == MR_BOOLEAN ? JSON_TAKE_BOOLEAN
                                : JSON_TAKE_OTHER;
}

static void learn(struct json_fast *f, const struct json_member *m, uint32_t at)
{
    memmove(&f->members[at + 1], &f->members[at], sizeof *m * (f->members_n + 1 - at));
    f->members[at] = *m;
    f->members_n++;
    f->learned++;
}

/* The name and colon of the member at p: gives where its value starts, or NULL. */
static const uint8_t *read_name(const uint8_t *p, struct mr_text *name)
{
    const uint8_t *end = *p == '"' ? json_string_end(p + 1) : NULL;

    if (end == NULL || end - p > JSON_NAME_MAX)
        return NULL;
    *name = (struct mr_text){(const char *)p + 1, (uint64_t)(end - p - 1)};
    p = skip_blanks(end + 1);
    return *p == ':' ? skip_blanks(p + 1) : NULL;
}

/* The value at p, behind a prefix that begins at start: what to do with it. */
static const uint8_t *take_member(struct json_fast *f, const uint8_t *start, const uint8_t *p,
                                  struct mr_text name, const struct json_member **at,
                                  struct json_member *found)
{
    bool text = *p == '"';
    uint32_t field = json_plan_find(f->plan, name);
    enum json_step step = step_of(f, field, *p);

    if (field == JSON_UNKNOWN && f->plan->options.rescued_name != NULL)
        return NULL;
    p += text && step != JSON_TAKE_OTHER;
    *found = (struct json_member){.step = step, .field = field};
    if (field < 64) {
        found->needed = 1;
        found->bit = UINT64_C(1) << field;
        found->out = f->targets[field].column->data;
    }
    uint64_t n = (uint64_t)(p - start);
    if (n <= JSON_PREFIX_MAX && f->members_n < JSON_MEMBERS_MAX && f->learned < JSON_LEARN_MAX) {
        memcpy(found->prefix, start, n);
        found->prefix_n = (uint32_t)n;
        learn(f, found, (uint32_t)(*at - f->members));
    } else {
        --*at; /* the loop adds one: members begins one behind the start of its array */
    }
    return p;
}

const uint8_t *json_fast_find(struct json_fast *f, const uint8_t *p, bool first,
                              const struct json_member **at, struct json_member *found)
{
    const uint8_t *start = p;
    struct mr_text name;

    for (const struct json_member *m = *at + 1; m < f->members + f->members_n; m++) {
        if (memcmp(m->prefix, start, m->prefix_n) == 0) {
            *at = m;
            *found = *m;
            return start + m->prefix_n;
        }
    }
    p = skip_blanks(p);
    found->step = JSON_CLOSED;
    if (!first && *p == '}')
        return p;
    if (*p != (first ? '{' : ','))
        return NULL;
    p = skip_blanks(p + 1);
    if (first && *p == '}')
        return p;
    p = read_name(p, &name);
    return p ? take_member(f, start, p, name, at, found) : NULL;
}

bool json_fast_null(struct json_fast *f, uint32_t field, uint32_t row)
{
    struct json_target *t = &f->targets[field];

    mr_bit_clear(t->column->valid, row);
    switch (t->column->type->kind) {
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        memset(&t->column->views[row], 0, sizeof t->column->views[row]);
        break;
    case MR_ARRAY:
    case MR_MAP:
        t->column->offsets[row + 1] = t->column->offsets[row];
        break;
    case MR_STRUCT:
        return false; /* its children need a value too */
    default:
        break;
    }
    return true;
}

bool json_fast_missing(struct json_fast *f, uint64_t seen, uint32_t found, uint32_t row)
{
    if ((uint32_t)__builtin_popcountll(seen) != found)
        return false;
    for (uint64_t rest = f->all & ~seen; rest; rest &= rest - 1)
        if (!json_fast_null(f, (uint32_t)__builtin_ctzll(rest), row))
            return false;
    for (uint32_t i = 64; i < f->targets_n; i++)
        if (!mr_bit_get(f->seen, i) && !json_fast_null(f, i, row))
            return false;
    memset(f->seen, 0, sizeof *f->seen * f->seen_words);
    return true;
}

bool json_fast_day(struct json_day *day, const uint8_t *s)
{
    int32_t days;
    uint32_t rest;

    memcpy(&rest, s + 7, 4);
    if ((s[10] != 'T' && s[10] != ' ') || s[4] != '-' || s[7] != '-' ||
        !mr_value_parse_date((struct mr_text){(const char *)s, 10}, &days))
        return false;
    *day =
        (struct json_day){.text = load_8(s), .rest = rest, .us = days * (int64_t)86400 * 1000000};
    return true;
}

bool json_fast_timestamp(const struct json_fast *f, const uint8_t *s, uint32_t n, int64_t *us)
{
    return mr_temporal_parse_timestamp(&f->plan->options.temporal,
                                       (struct mr_text){(const char *)s, n}, f->heaps->arena, us);
}

/* text: the string without quotes, or the number, or true and false. */
static bool store_token(struct json_fast *f, uint32_t field, uint32_t row, struct mr_text text,
                        uint8_t first)
{
    struct json_target *t = &f->targets[field];
    const struct mr_type *type = t->node->type;
    struct mr_cell v = {0};
    bool good;

    if (first == '"')
        good = json_convert_text(f->plan, type, text, f->heaps->arena, &v);
    else if (type->kind == MR_STRING) {
        v.text = text;
        good = f->plan->options.exact_text || first == 't' || first == 'f';
    } else if (first == 't' || first == 'f') {
        v.i64 = first == 't';
        good = type->kind == MR_BOOLEAN;
    } else {
        bool integer = memchr(text.data, '.', text.n) == NULL &&
                       memchr(text.data, 'e', text.n) == NULL &&
                       memchr(text.data, 'E', text.n) == NULL;
        good = json_convert_number(type, text, integer, &v);
    }
    if (good)
        mr_cell_store(t->column, row, &v, f->heaps);
    return good;
}

/* The text of a string with escapes, in the scratch arena. */
static struct mr_text unescaped(struct json_fast *f, const uint8_t *p, const uint8_t *end)
{
    uint8_t *out = mr_arena_alloc(f->heaps->arena, (size_t)(end - p) + 1);

    return (struct mr_text){(const char *)out, json_unescape(p, end, out)};
}

/* Marks a field behind the first 64; false if it is marked already. */
static bool mark(struct json_fast *f, uint32_t field)
{
    if (field < 64 || field == JSON_UNKNOWN)
        return true;
    bool fresh = !mr_bit_get(f->seen, field);
    mr_bit_set(f->seen, field);
    return fresh;
}

const uint8_t *json_fast_value(struct json_fast *f, const uint8_t *p, uint32_t field, uint32_t row)
{
    uint8_t first = *p;
    bool escaped = false;

    if (!mark(f, field))
        return NULL;
    const uint8_t *end = json_skip_scalar(p, &escaped);

    if (end == NULL) {
        /* Nested: passed over here, or kept as bytes. */
        if (first != '{' && first != '[')
            return NULL;
        bool as_text = field != JSON_UNKNOWN && f->targets[field].node->type->kind == MR_STRING &&
                       f->plan->options.exact_text;
        if (field != JSON_UNKNOWN && !as_text)
            return NULL;
        end = json_skip_nested(p);
        if (end == NULL || field == JSON_UNKNOWN)
            return end;
        struct mr_cell v = {.text = {(const char *)p, (uint64_t)(end - p)}};
        mr_cell_store(f->targets[field].column, row, &v, f->heaps);
        return end;
    }
    if (field == JSON_UNKNOWN)
        return end;
    if (first == 'n')
        return json_fast_null(f, field, row) ? end : NULL;
    if (f->targets[field].node->children_n || f->targets[field].node->type->kind == MR_VOID)
        return NULL;
    struct mr_text text = {(const char *)p, (uint64_t)(end - p)};
    if (first == '"') {
        text = (struct mr_text){text.data + 1, text.n - 2};
        if (escaped)
            text = unescaped(f, p + 1, end - 1);
    }
    return store_token(f, field, row, text, first) ? end : NULL;
}
