#include "core/expr/json_find.h"

#include "core/format/json/plan.h"
#include "core/format/json/skip.h"

struct find {
    const struct mr_json_step *steps;
    uint32_t n;
    const uint8_t *found, *end; /* the value */
    bool escaped;
};

/* All of these give the byte behind; NULL: refused. Line ends are refused, because the text ends by
 * one. */

static const uint8_t *pass_blanks(const uint8_t *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

static const uint8_t *pass_value(const uint8_t *p, bool *escaped)
{
    return *p == '{' || *p == '[' ? json_skip_nested(p) : json_skip_scalar(p, escaped);
}

static const uint8_t *find_value(struct find *f, const uint8_t *p, uint32_t at);

/* "name" : what stands before a value. */
static const uint8_t *pass_name(const uint8_t *p, struct mr_text *name)
{
    const uint8_t *start = p + 1, *end = *p == '"' ? json_string_end(start) : NULL;

    if (end == NULL || end - start > JSON_NAME_MAX)
        return NULL;
    *name = (struct mr_text){(const char *)start, (uint64_t)(end - start)};
    p = pass_blanks(end + 1);
    return *p == ':' ? pass_blanks(p + 1) : NULL;
}

static const uint8_t *find_member(struct find *f, const uint8_t *p, uint32_t at)
{
    struct mr_text name;
    bool escaped;

    p = pass_name(p, &name);
    if (p == NULL)
        return NULL;
    if (f->found == NULL && *p != 'n' && mr_text_equal(name, f->steps[at].name)) /* not null */
        return find_value(f, p, at + 1);
    return pass_value(p, &escaped);
}

/* The value at p, behind at steps; as deep as there are steps. */
static const uint8_t *find_value(struct find *f, const uint8_t *p, uint32_t at)
{
    const bool object = *p == '{';
    const uint8_t close = object ? '}' : ']';
    bool escaped = false;

    if (at == f->n) {
        f->found = p;
        f->end = pass_value(p, &f->escaped);
        return f->end;
    }
    if ((!object && *p != '[') || object != (f->steps[at].kind == MR_JSON_NAME))
        return pass_value(p, &escaped);
    p = pass_blanks(p + 1);
    if (*p == close)
        return p + 1;
    for (uint64_t index = 0;; index++) {
        if (object)
            p = find_member(f, p, at);
        else if (f->found == NULL && index == f->steps[at].index)
            p = find_value(f, p, at + 1);
        else
            p = pass_value(p, &escaped);
        if (p == NULL)
            return NULL;
        p = pass_blanks(p);
        if (*p != ',')
            return *p == close ? p + 1 : NULL;
        p = pass_blanks(p + 1);
    }
}

static bool is_integer(const uint8_t *p, const uint8_t *end)
{
    for (p += *p == '-'; p < end; p++)
        if (!mr_is_digit((char)*p))
            return false;
    return true;
}

/* What stands at p..end; false: a value of another kind. */
static bool take_value(const uint8_t *p, const uint8_t *end, bool escaped, struct mr_text *value)
{
    const bool quoted = *p == '"';

    *value = (struct mr_text){(const char *)p + quoted, (uint64_t)(end - p) - 2 * (uint64_t)quoted};
    return quoted ? !escaped : *p == 't' || *p == 'f' || is_integer(p, end);
}

enum mr_json_found mr_json_find(const uint8_t *text, const struct mr_json_step *steps, uint32_t n,
                                struct mr_text *value)
{
    struct find f = {.steps = steps, .n = n};
    const uint8_t *p = pass_blanks(text);

    if ((*p != '{' && *p != '[') || find_value(&f, p, 0) == NULL)
        return MR_JSON_REFUSED;
    if (f.found == NULL)
        return MR_JSON_NOTHING;
    return take_value(f.found, f.end, f.escaped, value) ? MR_JSON_HERE : MR_JSON_ELSE;
}

enum mr_json_found mr_json_find_members(const uint8_t *text, const struct mr_text *names,
                                        uint32_t n, struct mr_text *values)
{
    enum mr_json_found found = MR_JSON_HERE;
    const uint8_t *p = pass_blanks(text);

    memset(values, 0, n * sizeof *values);
    if (*p != '{')
        return MR_JSON_REFUSED;
    p = pass_blanks(p + 1);
    if (*p == '}')
        return found;
    for (;;) {
        struct mr_text name;
        bool escaped = false;
        const uint8_t *from = pass_name(p, &name);
        p = from ? pass_value(from, &escaped) : NULL;
        if (p == NULL)
            return MR_JSON_REFUSED;
        for (uint32_t i = 0; i < n; i++)
            if (names[i].data && mr_text_equal(name, names[i]) && *from != 'n' &&
                !take_value(from, p, escaped, &values[i]))
                found = MR_JSON_ELSE;
        p = pass_blanks(p);
        if (*p != ',')
            return *p == '}' ? found : MR_JSON_REFUSED;
        p = pass_blanks(p + 1);
    }
}
