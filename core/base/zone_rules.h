/* zone_rules.h - cctz behind plain C, for zone.c only: the rules of one named zone.
 *
 * Units    Seconds; utc_s since the epoch, local_s the same count of the local clock.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mr_zone_rules;

/* NULL: no such file, or no memory. */
struct mr_zone_rules *mr_zone_rules_load(const char *name);
void mr_zone_rules_free(struct mr_zone_rules *rules); /* NULL is allowed */
/* The first change of the clock after after_s; false: none. */
bool mr_zone_rules_next(const struct mr_zone_rules *rules, int64_t after_s, int64_t *at_s);
int32_t mr_zone_rules_offset(const struct mr_zone_rules *rules, int64_t utc_s);
/* Gap and overlap: with the offset that held before the change. */
int64_t mr_zone_rules_to_utc(const struct mr_zone_rules *rules, int64_t local_s);
void mr_zone_rules_abbreviation(const struct mr_zone_rules *rules, int64_t utc_s, char *text,
                                uint32_t text_bytes);

#ifdef __cplusplus
}
#endif
