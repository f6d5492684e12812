/* zone.h - time zones: IANA names, offsets ("+02:00", "UTC+2", "GMT-8") and "Z", as Java's ZoneId.
 *
 * Source   cctz over the system's zone files.
 * Gap      A local time that does not exist moves forward by the gap's length. Overlap: the earlier
 *          offset. As java.time has it.
 * Speed    Offsets of 1970 to 2100 are found by an index of 12-day buckets, without a search; UTC
 *          and fixed offsets are one addition.
 * Names    As Spark takes them: also "+2:00" and Java's short ids (PST, JST). Case counts.
 * Threads  A zone is immutable after open, shared by all. Never closed (there are few: at most
 *          MR_ZONES_MAX).
 */
#pragma once
#include "core/base/error.h"
#include "core/base/text.h"

struct mr_zone;

MR_NODISCARD enum mr_status mr_zone_open(struct mr_text name, const struct mr_zone **zone,
                                         struct mr_error *err);
/* NULL when there is no such zone: for values, where that is no error of the query. */
const struct mr_zone *mr_zone_find(struct mr_text name);
const struct mr_zone *mr_zone_utc(void);
const char *mr_zone_name(const struct mr_zone *zone); /* Java's id: "UTC+02:00" for "UTC+2" */
/* An offset by its text alone, no zone made: "Z", "UTC", "+2", "-08:00", "GMT+5:30". False for
 * others. */
bool mr_zone_parse_offset(struct mr_text name, int32_t *seconds);
/* Microseconds since the epoch <-> local microseconds. */
int64_t mr_zone_to_local(const struct mr_zone *zone, int64_t utc_us);
void mr_zone_rows_to_local(const struct mr_zone *zone, int64_t *local_us, const int64_t *utc_us,
                           uint32_t n);
int64_t mr_zone_to_utc(const struct mr_zone *zone, int64_t local_us);
/* "CET", "-03": the short name at that instant. Fills text. */
void mr_zone_abbreviation(const struct mr_zone *zone, int64_t utc_us, char *text,
                          uint32_t text_bytes);
