/* pattern.h - Java's DateTimeFormatter patterns as Spark takes them, compiled once.
 *
 * Errors   A letter that Spark refuses is an error of the query, found at compile
 *          (INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION and its like).
 */
#pragma once
#include "core/base/error.h"
#include "core/base/time.h"
#include "core/base/zone.h"
#include "core/mem/arena.h"

struct mr_pattern;

MR_NODISCARD enum mr_status mr_pattern_compile(struct mr_text pattern, bool parsing,
                                               struct mr_arena *a, const struct mr_pattern **out,
                                               struct mr_error *err);
/* Missing parts: 1970-01-01 00:00:00; a zone in the text wins over zone. */
bool mr_pattern_parse(const struct mr_pattern *p, struct mr_text t, const struct mr_zone *zone,
                      int64_t *us);
/* local civil time and the instant (for zone names) -> text, appended. */
void mr_pattern_print(const struct mr_pattern *p, int64_t us, const struct mr_zone *zone,
                      struct mr_buffer *out);
