#include "core/base/zone_name.h"

#include "core/base/zone.h"
#include <stdio.h>

enum { OFFSET_S_MAX = 18 * 3600 };

/* Java's ZoneId.SHORT_IDS. */
static const struct {
    char from[4];
    const char *to;
} short_ids[] = {
    {"ACT", "Australia/Darwin"},
    {"AET", "Australia/Sydney"},
    {"AGT", "America/Argentina/Buenos_Aires"},
    {"ART", "Africa/Cairo"},
    {"AST", "America/Anchorage"},
    {"BET", "America/Sao_Paulo"},
    {"BST", "Asia/Dhaka"},
    {"CAT", "Africa/Harare"},
    {"CNT", "America/St_Johns"},
    {"CST", "America/Chicago"},
    {"CTT", "Asia/Shanghai"},
    {"EAT", "Africa/Addis_Ababa"},
    {"ECT", "Europe/Paris"},
    {"EST", "-05:00"},
    {"HST", "-10:00"},
    {"IET", "America/Indiana/Indianapolis"},
    {"IST", "Asia/Kolkata"},
    {"JST", "Asia/Tokyo"},
    {"MIT", "Pacific/Apia"},
    {"MST", "-07:00"},
    {"NET", "Asia/Yerevan"},
    {"NST", "Pacific/Auckland"},
    {"PLT", "Asia/Karachi"},
    {"PNT", "America/Phoenix"},
    {"PRT", "America/Puerto_Rico"},
    {"PST", "America/Los_Angeles"},
    {"SST", "Pacific/Guadalcanal"},
    {"VST", "Asia/Ho_Chi_Minh"},
};

static struct mr_text expand_short_id(struct mr_text t)
{
    for (size_t i = 0; t.n == 3 && i < sizeof short_ids / sizeof short_ids[0]; i++)
        if (memcmp(short_ids[i].from, t.data, 3) == 0)
            return mr_text_of(short_ids[i].to);
    return t;
}

/* Up to two digits at *at; gives how many. */
static uint32_t read_digits(struct mr_text t, uint64_t *at, int32_t *value)
{
    uint32_t n = 0;

    *value = 0;
    while (n < 2 && *at < t.n && t.data[*at] >= '0' && t.data[*at] <= '9') {
        *value = *value * 10 + (t.data[*at] - '0');
        ++*at;
        n++;
    }
    return n;
}

/* +h, +hh, +hhmm, +hhmmss, +h:mm, +hh:m, +hh:mm, +hh:mm:ss: Java's forms and the two of old Spark.
 */
static bool parse_signed(struct mr_text t, int32_t *seconds)
{
    int32_t parts[3] = {0, 0, 0};
    uint64_t at = 1;
    bool colons = false;

    if (t.n < 2 || (t.data[0] != '+' && t.data[0] != '-'))
        return false;
    uint32_t hour_digits = read_digits(t, &at, &parts[0]);
    if (hour_digits == 0)
        return false;
    for (uint32_t i = 1; i < 3 && at < t.n; i++) {
        bool colon = t.data[at] == ':';
        if (i == 1)
            colons = colon;
        if (colon != colons || (!colons && hour_digits != 2))
            return false;
        at += colon;
        uint32_t n = read_digits(t, &at, &parts[i]);
        bool one_minute_digit = i == 1 && n == 1 && colons && hour_digits == 2 && at == t.n;
        if ((n != 2 && !one_minute_digit) || parts[i] > 59)
            return false;
    }
    int32_t sum = parts[0] * 3600 + parts[1] * 60 + parts[2];
    if (at != t.n || sum > OFFSET_S_MAX)
        return false;
    *seconds = t.data[0] == '-' ? -sum : sum;
    return true;
}

/* "UTC", "GMT" or "UT" at the start, alone or before a sign: its length, else 0. */
static uint64_t prefix_length(struct mr_text t)
{
    static const char *const prefixes[] = {"UTC", "GMT", "UT"};

    for (size_t i = 0; i < 3; i++) {
        uint64_t n = strlen(prefixes[i]);
        if (t.n >= n && memcmp(t.data, prefixes[i], n) == 0 &&
            (t.n == n || t.data[n] == '+' || t.data[n] == '-'))
            return n;
    }
    return 0;
}

static bool parse_offset(struct mr_text t, uint64_t *prefix_n, int32_t *seconds)
{
    *prefix_n = prefix_length(t);
    *seconds = 0;
    if (t.n == 1 && t.data[0] == 'Z')
        return true;
    if (*prefix_n > 0 && *prefix_n == t.n)
        return true;
    return parse_signed((struct mr_text){t.data + *prefix_n, t.n - *prefix_n}, seconds);
}

bool mr_zone_parse_offset(struct mr_text name, int32_t *seconds)
{
    uint64_t prefix_n;

    return parse_offset(expand_short_id(name), &prefix_n, seconds);
}

static void print_offset(struct zone_name *out, struct mr_text prefix)
{
    int32_t s = out->offset_s < 0 ? -out->offset_s : out->offset_s;
    char tail[16] = "";

    if (s % 60 != 0)
        snprintf(tail, sizeof tail, ":%02d", s % 60);
    if (s == 0)
        snprintf(out->id, sizeof out->id, "%.*s", prefix.n ? (int)prefix.n : 1,
                 prefix.n ? prefix.data : "Z");
    else
        snprintf(out->id, sizeof out->id, "%.*s%c%02d:%02d%s", (int)prefix.n, prefix.data,
                 out->offset_s < 0 ? '-' : '+', s / 3600, s / 60 % 60, tail);
}

static bool is_region(struct mr_text t)
{
    for (uint64_t i = 0; i < t.n; i++) {
        char c = t.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool more = (c >= '0' && c <= '9') || strchr("~/_+-", c) != NULL;
        if (c == '\0' || !(letter || (i > 0 && more)))
            return false;
    }
    return t.n >= 2;
}

bool mr_zone_name_parse(struct mr_text text, struct zone_name *out)
{
    struct mr_text t = expand_short_id(text);
    uint64_t prefix_n;

    if (t.n == 0 || t.n >= ZONE_NAME_BYTES)
        return false;
    out->is_offset = parse_offset(t, &prefix_n, &out->offset_s);
    if (out->is_offset) {
        print_offset(out, (struct mr_text){t.data, prefix_n});
        return true;
    }
    if (!is_region(t))
        return false;
    memcpy(out->id, t.data, t.n);
    out->id[t.n] = '\0';
    return true;
}
