#include "io/options.h"

#include "core/base/check.h"
#include "core/base/time.h"
#include "core/format/value.h"

enum { KNOWN_MAX = 64, NAME_BYTES = 64 };

/* The name before the colon. */
static struct mr_text name_of(const char *known)
{
    return (struct mr_text){known, strcspn(known, ":")};
}

static bool is_known(struct mr_text name, struct mr_text known)
{
    if (known.data[known.n - 1] == '*') {
        known.n--;
        name.n = name.n < known.n ? name.n : known.n;
    }
    return mr_text_equal_ignoring_case(name, known);
}

enum mr_status mr_io_options_check(const struct mr_option *options, uint32_t n,
                                   const char *const *known, const char *what, struct mr_error *err)
{
    char names[KNOWN_MAX][NAME_BYTES];
    const char *list[KNOWN_MAX];
    uint32_t known_n = 0;

    for (; known[known_n]; known_n++) {
        struct mr_text name = name_of(known[known_n]);
        MR_ASSERT(known_n < KNOWN_MAX && name.n < NAME_BYTES);
        memcpy(names[known_n], name.data, name.n);
        names[known_n][name.n] = '\0';
        list[known_n] = names[known_n];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < known_n && !is_known(mr_text_of(options[i].name), mr_text_of(list[k])))
            k++;
        if (k < known_n)
            continue;
        const char *nearest = mr_error_nearest(options[i].name, list, known_n);
        return MR_FAIL(err, MR_USER, 0, "%s: there is no option \"%s\"%s%s%s", what,
                       options[i].name, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                       nearest ? "\"?" : "");
    }
    return MR_OK;
}

enum mr_status mr_io_option_integer(const struct mr_option *options, uint32_t n, const char *name,
                                    int64_t otherwise, int64_t min, int64_t max, int64_t *value,
                                    struct mr_error *err)
{
    const char *text = mr_option_get(options, n, name);

    *value = otherwise;
    if (text == NULL)
        return MR_OK;
    if (!mr_value_parse_integer(mr_text_of(text), min, max, value))
        return MR_FAIL(err, MR_USER, 0, "option %s: \"%s\" is no whole number in [%lld, %lld]",
                       name, text, (long long)min, (long long)max);
    return MR_OK;
}

enum mr_status mr_io_option_boolean(const struct mr_option *options, uint32_t n, const char *name,
                                    bool otherwise, bool *value, struct mr_error *err)
{
    const char *text = mr_option_get(options, n, name);

    *value = otherwise;
    if (text == NULL)
        return MR_OK;
    struct mr_text t = mr_text_of(text);
    if (mr_text_equal_ignoring_case(t, MR_TEXT("true")))
        *value = true;
    else if (mr_text_equal_ignoring_case(t, MR_TEXT("false")))
        *value = false;
    else
        return MR_FAIL(err, MR_USER, 0, "option %s: \"%s\" is none of true, false", name, text);
    return MR_OK;
}

bool mr_io_parse_duration(struct mr_text text, int64_t bare_us, int64_t *us)
{
    const struct {
        const char *unit;
        int64_t us;
    } units[] = {
        {"", bare_us},
        {"us", 1},
        {"ms", 1000},
        {"s", MR_US_PER_SECOND},
        {"m", MR_US_PER_MINUTE},
        {"min", MR_US_PER_MINUTE},
        {"h", MR_US_PER_HOUR},
        {"d", MR_US_PER_DAY},
    };
    struct mr_text t = mr_text_trim(text);
    struct mr_calendar_interval interval;
    uint64_t digits = 0;
    int64_t number, days_us;

    while (digits < t.n && t.data[digits] >= '0' && t.data[digits] <= '9')
        digits++;
    struct mr_text unit = mr_text_trim((struct mr_text){t.data + digits, t.n - digits});
    if (mr_value_parse_integer((struct mr_text){t.data, digits}, 0, INT64_MAX, &number))
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (units[i].us && mr_text_equal_ignoring_case(unit, mr_text_of(units[i].unit)))
                return !__builtin_mul_overflow(number, units[i].us, us);
    if (!mr_value_parse_interval(t, &interval) || interval.months != 0 ||
        __builtin_mul_overflow((int64_t)interval.days, MR_US_PER_DAY, &days_us) ||
        __builtin_add_overflow(days_us, interval.us, us))
        return false;
    return *us >= 0;
}

enum mr_status mr_io_option_seconds(const struct mr_option *options, uint32_t n, const char *name,
                                    int64_t otherwise, int64_t *value, struct mr_error *err)
{
    const char *text = mr_option_get(options, n, name);
    int64_t us;

    *value = otherwise;
    if (text == NULL)
        return MR_OK;
    if (!mr_io_parse_duration(mr_text_of(text), MR_US_PER_SECOND, &us))
        return MR_FAIL(err, MR_USER, 0, "option %s: \"%s\" is no time like 5s, 10m, 1h", name,
                       text);
    *value = us / MR_US_PER_SECOND;
    return MR_OK;
}
