#include "core/base/check.h"
#include "core/format/pattern_item.h"

struct compiler {
    struct mr_text pattern;
    bool parsing, has_era;
    struct mr_arena *arena;
    struct mr_error *err;
    struct pattern_item items[PATTERN_ITEMS_MAX];
    uint32_t items_n;
    uint32_t open[PATTERN_OPTIONAL_MAX]; /* optional sections not yet ended */
    uint32_t open_n;
    int32_t number; /* the number that later ones may touch; -1: none */
};

/* ---- refusing ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Would Java's old SimpleDateFormat take it? Then Spark says that the meaning has changed. */
static bool old_format_accepts(struct mr_text pattern)
{
    bool quoted = false;

    for (uint64_t i = 0; i < pattern.n; i++) {
        char c = pattern.data[i];
        if (c == '\'')
            quoted = !quoted;
        else if (!quoted && is_letter(c) && strchr("GyYMLwWDdFEuaHkKhmsSzZX", c) == NULL)
            return false;
    }
    return !quoted;
}

/* condition: for a pattern that the old format does not take either. */
static enum mr_status refuse(struct compiler *c, const char *condition, const char *why)
{
    int n = (int)c->pattern.n;

    if (old_format_accepts(c->pattern))
        return MR_FAIL_CONDITION(c->err, MR_USER,
                                 "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION",
                                 "Fail to recognize '%.*s' pattern in the DateTimeFormatter: %s.",
                                 n, c->pattern.data, why);
    return MR_FAIL_CONDITION(c->err, MR_USER, condition,
                             "Fail to recognize '%.*s' pattern in the DateTimeFormatter: %s.", n,
                             c->pattern.data, why);
}

static enum mr_status refuse_letter(struct compiler *c, const char *condition, const char *why,
                                    char letter)
{
    return refuse(c, condition, mr_arena_format(c->arena, why, letter));
}

static const char *const no_condition = "INVALID_DATETIME_PATTERN.WITH_SUGGESTION";

/* The letters that Spark takes away from java.time, and its lengths. */
static enum mr_status check_letters(struct compiler *c)
{
    bool quoted = false;
    uint32_t run = 0;

    for (uint64_t i = 0; i < c->pattern.n; i++) {
        char letter = c->pattern.data[i];
        run = i > 0 && c->pattern.data[i - 1] == letter ? run + 1 : 1;
        if (letter == '\'')
            quoted = !quoted;
        if (quoted || !is_letter(letter))
            continue;
        if (strchr("YWwuec", letter))
            return refuse_letter(c,
                                 "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_WEEK_BASED_PATTERN",
                                 "week-based letters are not supported: %c", letter);
        if (strchr("ABnNp", letter) || (c->parsing && strchr("EFqQ", letter)))
            return refuse_letter(
                c, "INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER",
                c->parsing ? "illegal letter for parsing: %c" : "illegal letter: %c", letter);
        if ((run == 5 && strchr("GMLEQq", letter)) || (run == 7 && letter == 'y'))
            return refuse_letter(c, "INVALID_DATETIME_PATTERN.LENGTH", "too many letters: %c",
                                 letter);
        c->has_era = c->has_era || letter == 'G';
    }
    return MR_OK;
}

/* ---- items ---- */

static enum mr_status add(struct compiler *c, struct pattern_item item)
{
    if (c->items_n == PATTERN_ITEMS_MAX)
        return refuse(c, no_condition, "it has too many parts");
    c->items[c->items_n++] = item;
    c->number = -1;
    return MR_OK;
}

static enum mr_status add_number(struct compiler *c, enum pattern_kind kind,
                                 enum pattern_field field, uint32_t min, uint32_t max,
                                 enum pattern_sign sign)
{
    int32_t first = c->number;
    bool fixed = min == max && sign == SIGN_NOT_NEGATIVE;
    enum mr_status status = add(
        c,
        (struct pattern_item){.kind = kind, .field = field, .min = min, .max = max, .sign = sign});

    if (status != MR_OK)
        return status;
    c->number = (int32_t)c->items_n - 1;
    if (first >= 0 && fixed) {
        c->items[first].later_digits += (int32_t)max;
        c->items[c->items_n - 1].later_digits = -1;
        c->number = first;
    } else if (first >= 0) {
        c->items[first].later_digits = -1;
    }
    return MR_OK;
}

static enum mr_status add_literal(struct compiler *c, const char *data, uint64_t n)
{
    return add(c, (struct pattern_item){.kind = ITEM_LITERAL, .literal = {data, n}});
}

static enum mr_status add_text(struct compiler *c, enum pattern_field field, bool full)
{
    return add(
        c, (struct pattern_item){.kind = full ? ITEM_FULL_TEXT : ITEM_SHORT_TEXT, .field = field});
}

static enum mr_status add_offset(struct compiler *c, enum pattern_offset offset, const char *zero)
{
    return add(c, (struct pattern_item){.kind = ITEM_OFFSET, .offset = offset, .zero = zero});
}

static enum mr_status too_many(struct compiler *c, char letter)
{
    return refuse_letter(c, no_condition, "wrong number of pattern letters: %c", letter);
}

static enum mr_status add_year(struct compiler *c, uint32_t count)
{
    enum pattern_field field = c->has_era ? FIELD_YEAR_OF_ERA : FIELD_YEAR;

    if (count == 2)
        return add_number(c, ITEM_TWO_DIGIT_YEAR, field, 2, 2, SIGN_NOT_NEGATIVE);
    return add_number(c, ITEM_NUMBER, field, count, 19, count < 4 ? SIGN_NORMAL : SIGN_EXCEEDS_PAD);
}

/* M, L, Q, q: 1 and 2 letters are numbers, 3 and 4 names. */
static enum mr_status add_number_or_text(struct compiler *c, enum pattern_field field,
                                         uint32_t count)
{
    if (count == 1)
        return add_number(c, ITEM_NUMBER, field, 1, 19, SIGN_NORMAL);
    if (count == 2)
        return add_number(c, ITEM_NUMBER, field, 2, 2, SIGN_NOT_NEGATIVE);
    return add_text(c, field, count == 4);
}

/* d, h, H, k, K, m, s: one letter any width, two letters two digits. */
static enum mr_status add_small_number(struct compiler *c, enum pattern_field field, char letter,
                                       uint32_t count)
{
    if (count == 1)
        return add_number(c, ITEM_NUMBER, field, 1, 19, SIGN_NORMAL);
    if (count == 2)
        return add_number(c, ITEM_NUMBER, field, 2, 2, SIGN_NOT_NEGATIVE);
    return too_many(c, letter);
}

static enum mr_status add_day_of_year(struct compiler *c, uint32_t count)
{
    if (count == 1)
        return add_number(c, ITEM_NUMBER, FIELD_DAY_OF_YEAR, 1, 19, SIGN_NORMAL);
    if (count > 3)
        return too_many(c, 'D');
    return add_number(c, ITEM_NUMBER, FIELD_DAY_OF_YEAR, count, 3, SIGN_NOT_NEGATIVE);
}

static enum mr_status add_fraction(struct compiler *c, uint32_t count)
{
    if (count > 9)
        return refuse(c, no_condition, "a fraction has at most nine digits");
    return add(c, (struct pattern_item){.kind = ITEM_FRACTION,
                                        .field = FIELD_NANO,
                                        .min = c->parsing ? 1 : count,
                                        .max = count});
}

/* X, x, Z and O. */
static enum mr_status add_offset_letters(struct compiler *c, char letter, uint32_t count)
{
    static const enum pattern_offset forms[] = {OFFSET_HHmm, OFFSET_HHMM, OFFSET_HH_MM,
                                                OFFSET_HHMMss, OFFSET_HH_MM_ss};
    bool full = count == 4;

    if (letter == 'O' ? count != 1 && count != 4 : count > 5)
        return too_many(c, letter);
    if (letter == 'O' || (letter == 'Z' && count == 4))
        return add(
            c, (struct pattern_item){.kind = full ? ITEM_FULL_GMT_OFFSET : ITEM_SHORT_GMT_OFFSET});
    if (letter == 'Z')
        return count < 4 ? add_offset(c, OFFSET_HHMM, "+0000")
                         : add_offset(c, OFFSET_HH_MM_ss, "Z");
    if (letter == 'X')
        return add_offset(c, forms[count - 1], "Z");
    return add_offset(c, forms[count - 1],
                      count == 1       ? "+00"
                      : count % 2 == 0 ? "+0000"
                                       : "+00:00");
}

static enum mr_status add_zone_letters(struct compiler *c, char letter, uint32_t count)
{
    if (letter == 'V')
        return count == 2 ? add(c, (struct pattern_item){.kind = ITEM_ZONE_ID}) : too_many(c, 'V');
    if (letter == 'z' && count <= 3)
        return add(c, (struct pattern_item){.kind = ITEM_ZONE_NAME});
    if (count > 4 || (letter == 'v' && count != 1 && count != 4))
        return too_many(c, letter);
    return MR_FAIL(c->err, MR_UNSUPPORTED, 0,
                   "pattern '%.*s': long and generic zone names (%c) are not supported; "
                   "use z or VV",
                   (int)c->pattern.n, c->pattern.data, letter);
}

static enum mr_status add_letters(struct compiler *c, char letter, uint32_t count)
{
    switch (letter) {
    case 'G':
        return add_text(c, FIELD_ERA, count == 4);
    case 'y':
        return add_year(c, count);
    case 'M':
    case 'L':
        return add_number_or_text(c, FIELD_MONTH, count);
    case 'Q':
    case 'q':
        return add_number_or_text(c, FIELD_QUARTER, count);
    case 'E':
        return add_text(c, FIELD_WEEKDAY, count == 4);
    case 'a':
        return count == 1 ? add_text(c, FIELD_AMPM, false) : too_many(c, letter);
    case 'D':
        return add_day_of_year(c, count);
    case 'F':
        return count == 1 ? add_number(c, ITEM_NUMBER, FIELD_ALIGNED_WEEKDAY, 1, 19, SIGN_NORMAL)
                          : too_many(c, letter);
    case 'd':
        return add_small_number(c, FIELD_DAY, letter, count);
    case 'H':
        return add_small_number(c, FIELD_HOUR, letter, count);
    case 'k':
        return add_small_number(c, FIELD_CLOCK_HOUR, letter, count);
    case 'K':
        return add_small_number(c, FIELD_HALF_HOUR, letter, count);
    case 'h':
        return add_small_number(c, FIELD_CLOCK_HALF_HOUR, letter, count);
    case 'm':
        return add_small_number(c, FIELD_MINUTE, letter, count);
    case 's':
        return add_small_number(c, FIELD_SECOND, letter, count);
    case 'S':
        return add_fraction(c, count);
    case 'X':
    case 'x':
    case 'Z':
    case 'O':
        return add_offset_letters(c, letter, count);
    case 'V':
    case 'v':
    case 'z':
        return add_zone_letters(c, letter, count);
    default:
        return refuse_letter(c, no_condition, "unknown pattern letter: %c", letter);
    }
}

/* ---- signs ---- */

static enum mr_status begin_optional(struct compiler *c)
{
    if (c->open_n == PATTERN_OPTIONAL_MAX)
        return refuse(c, no_condition, "too many optional sections in each other");
    c->open[c->open_n++] = c->items_n;
    return add(c, (struct pattern_item){.kind = ITEM_OPTIONAL_BEGIN});
}

static enum mr_status end_optional(struct compiler *c)
{
    if (c->open_n == 0)
        return refuse(c, no_condition, "it has ] without [");
    c->items[c->open[--c->open_n]].partner = c->items_n;
    return add(c, (struct pattern_item){.kind = ITEM_OPTIONAL_END});
}

/* From a quote at *at to its end; '' is a quote. */
static enum mr_status add_quoted(struct compiler *c, uint64_t *at)
{
    char *text = mr_arena_alloc(c->arena, c->pattern.n);
    uint64_t n = 0, i = *at + 1;

    for (; i < c->pattern.n; i++) {
        if (c->pattern.data[i] == '\'') {
            if (i + 1 == c->pattern.n || c->pattern.data[i + 1] != '\'')
                break;
            i++;
        }
        text[n++] = c->pattern.data[i];
    }
    if (i == c->pattern.n)
        return refuse(c, no_condition, "a quoted text has no end");
    *at = i + 1;
    if (n == 0)
        text[n++] = '\'';
    return add_literal(c, text, n);
}

static enum mr_status compile(struct compiler *c)
{
    enum mr_status status = check_letters(c);
    uint64_t at = 0;

    while (status == MR_OK && at < c->pattern.n) {
        char letter = c->pattern.data[at];
        if (is_letter(letter)) {
            uint64_t end = at + 1;
            while (end < c->pattern.n && c->pattern.data[end] == letter)
                end++;
            status = add_letters(c, letter, (uint32_t)(end - at));
            at = end;
        } else if (letter == '\'') {
            status = add_quoted(c, &at);
        } else if (letter == '[') {
            status = begin_optional(c);
            at++;
        } else if (letter == ']') {
            status = end_optional(c);
            at++;
        } else if (letter == '{' || letter == '}' || letter == '#') {
            status = refuse_letter(c, no_condition, "reserved character: %c", letter);
        } else {
            status = add_literal(c, c->pattern.data + at, 1);
            at++;
        }
    }
    while (status == MR_OK && c->open_n > 0)
        status = end_optional(c);
    return status;
}

enum { NUMBER_BYTES = 21, TEXT_BYTES = 16, OFFSET_BYTES = 16, ZONE_BYTES = 64 };

static uint32_t bytes_max(const struct pattern_item *item)
{
    switch (item->kind) {
    case ITEM_LITERAL:
        return (uint32_t)item->literal.n;
    case ITEM_NUMBER:
    case ITEM_TWO_DIGIT_YEAR:
    case ITEM_FRACTION:
        return NUMBER_BYTES;
    case ITEM_SHORT_TEXT:
    case ITEM_FULL_TEXT:
        return TEXT_BYTES;
    case ITEM_OFFSET:
    case ITEM_SHORT_GMT_OFFSET:
    case ITEM_FULL_GMT_OFFSET:
        return OFFSET_BYTES;
    case ITEM_ZONE_ID:
    case ITEM_ZONE_NAME:
        return ZONE_BYTES;
    default:
        return 0;
    }
}

enum mr_status mr_pattern_compile(struct mr_text pattern, bool parsing, struct mr_arena *a,
                                  const struct mr_pattern **out, struct mr_error *err)
{
    if (pattern.n > PATTERN_BYTES_MAX)
        return MR_FAIL(err, MR_USER, 0, "a datetime pattern has at most %d bytes",
                       PATTERN_BYTES_MAX);
    struct compiler *c = MR_NEW(a, struct compiler);
    c->pattern = (struct mr_text){mr_arena_copy(a, pattern.data, pattern.n), pattern.n};
    c->parsing = parsing;
    c->arena = a;
    c->err = err;
    c->number = -1;
    enum mr_status status = compile(c);
    if (status != MR_OK)
        return status;
    struct mr_pattern *p = MR_NEW(a, struct mr_pattern);
    p->items = c->items;
    p->items_n = c->items_n;
    for (uint32_t i = 0; i < c->items_n; i++)
        p->bytes_max += bytes_max(&c->items[i]);
    *out = p;
    return MR_OK;
}
