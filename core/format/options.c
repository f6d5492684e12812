#include "core/format/options.h"

#include "core/base/check.h"
#include "core/format/value.h"
#include <stdio.h>

const char *mr_option_get(const struct mr_option *options, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(options[i].name), mr_text_of(name)))
            return options[i].value;
    return NULL;
}

static bool is_one_of(const char *value, const char *const *names)
{
    for (; *names; names++)
        if (mr_text_equal_ignoring_case(mr_text_of(value), mr_text_of(*names)))
            return true;
    return false;
}

static const char *const modes[] = {"PERMISSIVE", "DROPMALFORMED", "FAILFAST", NULL};
static const char *const booleans[] = {"true", "false", NULL};
static const char *const encodings[] = {"UTF-8", "UTF8", "US-ASCII", NULL};
static const char *const quote_handlings[] = {"STOP_AT_CLOSING_QUOTE", "BACK_TO_DELIMITER",
                                              "STOP_AT_DELIMITER",     "SKIP_VALUE",
                                              "RAISE_ERROR",           NULL};
static const char *const compressions[] = {"none", "uncompressed", "gzip", "zstd", NULL};

/* One character, or one of the escapes \t \r \n \b \f \" \' \\ \0 \u0000, or none. */
static bool is_character(const char *value)
{
    size_t n = strlen(value);

    if (value[0] == '\\' && n == 2)
        return strchr("trnbf\"'\\0", value[1]) != NULL;
    return n <= 1 || strcmp(value, "\\u0000") == 0;
}

static bool is_locale(const char *value)
{
    return (value[0] | 0x20) == 'e' && (value[1] | 0x20) == 'n' &&
           (value[2] == '\0' || value[2] == '-' || value[2] == '_');
}

static bool is_ratio(const char *value)
{
    double x;

    return mr_value_parse_double(mr_text_of(value), &x) && x > 0;
}

static bool is_integer(const char *value)
{
    int64_t x;

    return mr_value_parse_integer(mr_text_of(value), INT32_MIN, INT32_MAX, &x);
}

/* What is allowed, or NULL: the value is good. Patterns are checked when they are compiled. */
static const char *allowed_instead(enum mr_option_kind kind, const char *value)
{
    switch (kind) {
    case MR_OPTION_BOOLEAN:
        return is_one_of(value, booleans) ? NULL : "true or false";
    case MR_OPTION_INTEGER:
        return is_integer(value) ? NULL : "an integer";
    case MR_OPTION_RATIO:
        return is_ratio(value) ? NULL : "a number above 0";
    case MR_OPTION_CHARACTER:
        return is_character(value) ? NULL : "one character";
    case MR_OPTION_ZONE:
        return mr_zone_find(mr_text_of(value)) ? NULL : "a time zone, as Europe/Berlin or +02:00";
    case MR_OPTION_ENCODING:
        return is_one_of(value, encodings) ? NULL : "UTF-8 (other encodings are not supported)";
    case MR_OPTION_LOCALE:
        return is_locale(value) ? NULL : "en or en-US (other locales are not supported)";
    case MR_OPTION_QUOTE_HANDLING:
        return is_one_of(value, quote_handlings)
                   ? NULL
                   : "STOP_AT_CLOSING_QUOTE, BACK_TO_DELIMITER, STOP_AT_DELIMITER, SKIP_VALUE or "
                     "RAISE_ERROR";
    case MR_OPTION_COMPRESSION:
        return is_one_of(value, compressions) ? NULL : "none, gzip or zstd";
    case MR_OPTION_TEXT:
    case MR_OPTION_PATTERN:
    case MR_OPTION_MODE: /* Spark takes an unknown mode as PERMISSIVE; we don't */
        return kind != MR_OPTION_MODE || is_one_of(value, modes)
                   ? NULL
                   : "PERMISSIVE, DROPMALFORMED or FAILFAST";
    }
    MR_UNREACHABLE();
}

static const struct mr_option_spec *find_spec(const struct mr_option_spec *specs, const char *name)
{
    for (; specs->name; specs++)
        if (mr_text_equal_ignoring_case(mr_text_of(specs->name), mr_text_of(name)))
            return specs;
    return NULL;
}

bool mr_option_is_known(const struct mr_option_spec *specs, const char *name)
{
    return find_spec(specs, name) != NULL;
}

static enum mr_status unknown_option(const char *format, const struct mr_option_spec *specs,
                                     uint32_t use, const char *name, struct mr_error *err)
{
    enum { NAMES_MAX = 64 };
    const char *names[NAMES_MAX] = {0};
    uint32_t n = 0;
    char list[MR_ERROR_MESSAGE / 2];
    int used = 0;

    for (; specs->name; specs++) {
        if ((specs->use & use) == 0)
            continue;
        MR_ASSERT(n < NAMES_MAX);
        names[n++] = specs->name;
        int more = snprintf(list + used, sizeof list - (size_t)used, "%s%s", used ? ", " : "",
                            specs->name);
        if (more > 0 && (size_t)(used + more) < sizeof list)
            used += more;
    }
    list[used] = '\0';
    const char *nearest = mr_error_nearest(name, names, n);
    return MR_FAIL(err, MR_USER, 0, "%s has no option \"%s\"%s%s%s; it has: %s", format, name,
                   nearest ? " (did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?)" : "", n ? list : "none");
}

enum mr_status mr_options_check(const char *format, const struct mr_option_spec *specs,
                                const struct mr_option *options, uint32_t n, bool reading,
                                struct mr_error *err)
{
    uint32_t use = reading ? MR_OPTION_READS : MR_OPTION_WRITES;

    for (uint32_t i = 0; i < n; i++) {
        const struct mr_option_spec *spec = find_spec(specs, options[i].name);
        if (spec == NULL)
            return unknown_option(format, specs, use, options[i].name, err);
        const char *allowed = allowed_instead(spec->kind, options[i].value);
        if (allowed)
            return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                     "%s option %s is \"%s\"; it must be %s", format, spec->name,
                                     options[i].value, allowed);
    }
    return MR_OK;
}

bool mr_option_boolean(const struct mr_option *options, uint32_t n, const char *name,
                       bool otherwise)
{
    const char *value = mr_option_get(options, n, name);

    return value ? mr_text_equal_ignoring_case(mr_text_of(value), MR_TEXT("true")) : otherwise;
}

int64_t mr_option_integer(const struct mr_option *options, uint32_t n, const char *name,
                          int64_t otherwise)
{
    const char *value = mr_option_get(options, n, name);
    int64_t x = otherwise;

    if (value && !mr_value_parse_integer(mr_text_of(value), INT32_MIN, INT32_MAX, &x))
        return otherwise;
    return x;
}

struct mr_text mr_option_text(const struct mr_option *options, uint32_t n, const char *name,
                              struct mr_text otherwise)
{
    const char *value = mr_option_get(options, n, name);

    return value ? mr_text_of(value) : otherwise;
}

const struct mr_zone *mr_option_zone(const struct mr_option *options, uint32_t n,
                                     const struct mr_zone *otherwise)
{
    const char *value = mr_option_get(options, n, "timeZone");
    const struct mr_zone *zone = value ? mr_zone_find(mr_text_of(value)) : NULL;

    return zone ? zone : otherwise;
}

enum mr_status mr_option_pattern(const struct mr_option *options, uint32_t n, const char *name,
                                 bool parsing, struct mr_arena *a, const struct mr_pattern **out,
                                 struct mr_error *err)
{
    const char *value = mr_option_get(options, n, name);

    *out = NULL;
    return value ? mr_pattern_compile(mr_text_of(value), parsing, a, out, err) : MR_OK;
}

enum mr_mode mr_option_mode(const struct mr_option *options, uint32_t n)
{
    const char *value = mr_option_get(options, n, "mode");

    for (uint32_t i = 0; value && modes[i]; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(value), mr_text_of(modes[i])))
            return (enum mr_mode)i;
    return MR_MODE_PERMISSIVE;
}
