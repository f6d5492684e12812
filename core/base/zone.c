#include "core/base/zone.h"

#include "core/base/bounds.h"
#include "core/base/check.h"
#include "core/base/time.h"
#include "core/base/zone_name.h"
#include "core/base/zone_rules.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PERIODS_MAX = 512, /* of one clock offset; the zone files have up to 240 until 2037 */
    BUCKET_SHIFT = 40, /* 2^40 us: 12.7 days */
    BUCKETS = 3800,    /* from 1970 on: to 2102 */
    REGISTRY_BUCKETS = 1024,
};

/* The clock was at offset_us from utc_us, or by the local clock from local_us, to the next period.
 */
struct period {
    int64_t utc_us, local_us, offset_us;
};

/* All periods until end_us; for later instants the rules are asked. */
struct table {
    int64_t end_us;
    uint32_t periods_n;
    /* The period at the start of each bucket, by either clock. */
    uint16_t utc_index[BUCKETS], local_index[BUCKETS];
    struct period periods[PERIODS_MAX];
};

struct mr_zone {
    struct mr_zone *next; /* of the registry's bucket */
    char name[ZONE_NAME_BYTES];
    int64_t offset_us;           /* of a zone without rules */
    struct mr_zone_rules *rules; /* and its table, or NULL */
    struct table *table;
};

/* Zones are looked up by name from any thread, while they are few and live for ever: so this list
 * of the process only grows. It is the one exception to the rule against globals in this folder. */
static _Atomic(struct mr_zone *) registry[REGISTRY_BUCKETS];
static atomic_uint registry_n;

static const struct mr_zone utc = {.name = "UTC"};

const struct mr_zone *mr_zone_utc(void)
{
    return &utc;
}

const char *mr_zone_name(const struct mr_zone *zone)
{
    return zone->name;
}

/* ---- making ---- */

static void fill_periods(struct table *t, const struct mr_zone_rules *rules)
{
    int64_t after_s = INT64_MIN, at_s,
            end_s = ((int64_t)BUCKETS << BUCKET_SHIFT) / MR_US_PER_SECOND;
    int64_t before = mr_zone_rules_offset(rules, INT64_MIN / MR_US_PER_SECOND) * MR_US_PER_SECOND;

    t->periods[0] = (struct period){INT64_MIN, INT64_MIN, before};
    t->periods_n = 1;
    t->end_us = end_s * MR_US_PER_SECOND;
    while (mr_zone_rules_next(rules, after_s, &at_s) && at_s < end_s) {
        after_s = at_s;
        int64_t offset = mr_zone_rules_offset(rules, at_s) * MR_US_PER_SECOND;
        if (offset == before)
            continue;
        int64_t utc_us = at_s * MR_US_PER_SECOND;
        if (t->periods_n == PERIODS_MAX) {
            t->end_us = utc_us;
            return;
        }
        /* Gap and overlap belong to the period before: the new one starts behind both. */
        t->periods[t->periods_n++] =
            (struct period){utc_us, utc_us + (offset > before ? offset : before), offset};
        before = offset;
    }
}

static void fill_index(struct table *t)
{
    uint16_t by_utc = 0, by_local = 0;

    for (uint32_t b = 0; b < BUCKETS; b++) {
        int64_t start = (int64_t)b << BUCKET_SHIFT;
        while (by_utc + 1u < t->periods_n && t->periods[by_utc + 1].utc_us <= start)
            by_utc++;
        while (by_local + 1u < t->periods_n && t->periods[by_local + 1].local_us <= start)
            by_local++;
        t->utc_index[b] = by_utc;
        t->local_index[b] = by_local;
    }
}

/* A file of the system's zones that Java knows too. Looked at first: cctz remembers every name that
 * it was ever asked for. */
static bool region_exists(const char *name)
{
    static const char *const others[] = {"posix/",    "right/",     "Factory",
                                         "localtime", "posixrules", "leap"};
    const char *dir = getenv("TZDIR");
    char path[512];

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return false;
    snprintf(path, sizeof path, "%s/%s", dir && *dir ? dir : "/usr/share/zoneinfo", name);
    return access(path, R_OK) == 0;
}

static void unmake(struct mr_zone *z)
{
    if (z) {
        mr_zone_rules_free(z->rules);
        free(z->table);
        free(z);
    }
}

static struct mr_zone *make(const struct zone_name *name)
{
    if (atomic_load_explicit(&registry_n, memory_order_relaxed) >= MR_ZONES_MAX ||
        (!name->is_offset && !region_exists(name->id)))
        return NULL;
    struct mr_zone *z = calloc(1, sizeof *z);
    if (z == NULL)
        return NULL;
    memcpy(z->name, name->id, sizeof z->name);
    if (name->is_offset) {
        z->offset_us = name->offset_s * MR_US_PER_SECOND;
        return z;
    }
    z->rules = mr_zone_rules_load(name->id);
    z->table = calloc(1, sizeof *z->table);
    if (z->rules == NULL || z->table == NULL) {
        unmake(z);
        return NULL;
    }
    fill_periods(z->table, z->rules);
    fill_index(z->table);
    return z;
}

static uint32_t hash_name(const char *name)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return h % REGISTRY_BUCKETS;
}

static struct mr_zone *find_in(struct mr_zone *list, const char *name)
{
    while (list && strcmp(list->name, name) != 0)
        list = list->next;
    return list;
}

const struct mr_zone *mr_zone_find(struct mr_text text)
{
    struct zone_name name;

    if (mr_text_equal(text, MR_TEXT("UTC")))
        return &utc;
    if (!mr_zone_name_parse(text, &name))
        return NULL;
    _Atomic(struct mr_zone *) *bucket = &registry[hash_name(name.id)];
    /* acquire: pairs with the release below, which publishes a finished zone. */
    struct mr_zone *first = atomic_load_explicit(bucket, memory_order_acquire);
    struct mr_zone *z = find_in(first, name.id), *made = NULL;
    while (z == NULL) {
        if (made == NULL && (made = make(&name)) == NULL)
            return NULL;
        made->next = first;
        if (atomic_compare_exchange_weak_explicit(bucket, &first, made, memory_order_release,
                                                  memory_order_acquire)) {
            atomic_fetch_add_explicit(&registry_n, 1, memory_order_relaxed);
            return made;
        }
        z = find_in(first, name.id); /* another thread may have made the same */
    }
    unmake(made);
    return z;
}

enum mr_status mr_zone_open(struct mr_text name, const struct mr_zone **zone, struct mr_error *err)
{
    *zone = mr_zone_find(name);
    if (*zone == NULL)
        return MR_FAIL_CONDITION(err, MR_USER, "INVALID_CONF_VALUE.TIME_ZONE",
                                 "Cannot resolve the given timezone \"%.*s\": a name as "
                                 "Europe/Berlin or an offset as +02:00 is needed.",
                                 (int)(name.n < 128 ? name.n : 128), name.data);
    return MR_OK;
}

/* ---- using ---- */

/* The last period that starts at or before us, by either clock. */
static inline const struct period *period_by_utc(const struct table *t, int64_t us)
{
    uint32_t low = 0, high = t->periods_n;

    if (MR_LIKELY(us >= 0 && us >> BUCKET_SHIFT < BUCKETS)) {
        low = t->utc_index[us >> BUCKET_SHIFT];
        while (low + 1 < high && t->periods[low + 1].utc_us <= us)
            low++;
        return &t->periods[low];
    }
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (t->periods[middle].utc_us <= us)
            low = middle;
        else
            high = middle;
    }
    return &t->periods[low];
}

static inline const struct period *period_by_local(const struct table *t, int64_t us)
{
    uint32_t low = 0, high = t->periods_n;

    if (MR_LIKELY(us >= 0 && us >> BUCKET_SHIFT < BUCKETS)) {
        low = t->local_index[us >> BUCKET_SHIFT];
        while (low + 1 < high && t->periods[low + 1].local_us <= us)
            low++;
        return &t->periods[low];
    }
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (t->periods[middle].local_us <= us)
            low = middle;
        else
            high = middle;
    }
    return &t->periods[low];
}

/* At the ends of the range the sum wraps around. */
static inline int64_t add(int64_t us, int64_t offset_us)
{
    return (int64_t)((uint64_t)us + (uint64_t)offset_us);
}

int64_t mr_zone_to_local(const struct mr_zone *zone, int64_t utc_us)
{
    if (zone->rules == NULL)
        return add(utc_us, zone->offset_us);
    if (MR_UNLIKELY(utc_us >= zone->table->end_us)) {
        int64_t s = mr_floor_div(utc_us, MR_US_PER_SECOND);
        return add(utc_us, mr_zone_rules_offset(zone->rules, s) * MR_US_PER_SECOND);
    }
    return add(utc_us, period_by_utc(zone->table, utc_us)->offset_us);
}

void mr_zone_rows_to_local(const struct mr_zone *zone, int64_t *local_us, const int64_t *utc_us,
                           uint32_t n)
{
    const int64_t offset_us = zone->offset_us;

    if (zone->rules)
        for (uint32_t i = 0; i < n; i++)
            local_us[i] = mr_zone_to_local(zone, utc_us[i]);
    else
        for (uint32_t i = 0; i < n; i++)
            local_us[i] = add(utc_us[i], offset_us);
}

int64_t mr_zone_to_utc(const struct mr_zone *zone, int64_t local_us)
{
    if (zone->rules == NULL)
        return add(local_us, -zone->offset_us);
    /* A day of slack: the last change may lie between the two clocks. */
    if (MR_UNLIKELY(local_us >= zone->table->end_us - MR_US_PER_DAY)) {
        int64_t s = mr_floor_div(local_us, MR_US_PER_SECOND);
        int64_t offset_s = s - mr_zone_rules_to_utc(zone->rules, s);
        return add(local_us, -offset_s * MR_US_PER_SECOND);
    }
    return add(local_us, -period_by_local(zone->table, local_us)->offset_us);
}

void mr_zone_abbreviation(const struct mr_zone *zone, int64_t utc_us, char *text,
                          uint32_t text_bytes)
{
    if (zone->rules)
        mr_zone_rules_abbreviation(zone->rules, mr_floor_div(utc_us, MR_US_PER_SECOND), text,
                                   text_bytes);
    else
        snprintf(text, text_bytes, "%s", zone->name);
}
