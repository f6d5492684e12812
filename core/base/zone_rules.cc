#include "core/base/zone_rules.h"

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>
#include <cstdio>
#include <new>

struct mr_zone_rules {
    cctz::time_zone zone;
};

static cctz::time_point<cctz::seconds> point(int64_t utc_s)
{
    return cctz::time_point<cctz::seconds>(cctz::seconds(utc_s));
}

struct mr_zone_rules *mr_zone_rules_load(const char *name)
{
    cctz::time_zone zone;

    if (!cctz::load_time_zone(name, &zone))
        return nullptr;
    return new (std::nothrow) mr_zone_rules{zone};
}

void mr_zone_rules_free(struct mr_zone_rules *rules)
{
    delete rules;
}

bool mr_zone_rules_next(const struct mr_zone_rules *rules, int64_t after_s, int64_t *at_s)
{
    cctz::time_zone::civil_transition change;

    if (!rules->zone.next_transition(point(after_s), &change))
        return false;
    *at_s = rules->zone.lookup(change.to).trans.time_since_epoch().count();
    return true;
}

int32_t mr_zone_rules_offset(const struct mr_zone_rules *rules, int64_t utc_s)
{
    return rules->zone.lookup(point(utc_s)).offset;
}

int64_t mr_zone_rules_to_utc(const struct mr_zone_rules *rules, int64_t local_s)
{
    return rules->zone.lookup(cctz::civil_second() + local_s).pre.time_since_epoch().count();
}

void mr_zone_rules_abbreviation(const struct mr_zone_rules *rules, int64_t utc_s, char *text,
                                uint32_t text_bytes)
{
    std::snprintf(text, text_bytes, "%s", rules->zone.lookup(point(utc_s)).abbr);
}
