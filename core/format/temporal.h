/* temporal.h - dates and times in texts, by the options dateFormat, timestampFormat,
 * timestampNTZFormat, timeZone and enableDateTimeParsingFallback, which JSON and CSV share.
 *
 * Rules    Without a pattern a text is read as a cast reads it. With one, only the pattern counts,
 *          unless the fallback is asked for.
 */
#pragma once
#include "core/format/options.h"

struct mr_temporal {
    const struct mr_zone *zone;
    const struct mr_pattern *timestamp, *timestamp_ntz, *date; /* or NULL */
    bool timestamp_fallback, date_fallback;
    int64_t now_us; /* the day of a time without a date; mr_temporal_init leaves 0 */
};

MR_NODISCARD enum mr_status mr_temporal_init(struct mr_temporal *t, const struct mr_option *options,
                                             uint32_t n, const struct mr_zone *zone, bool parsing,
                                             struct mr_arena *a, struct mr_error *err);

bool mr_temporal_parse_timestamp(const struct mr_temporal *t, struct mr_text text,
                                 struct mr_arena *scratch, int64_t *us);
bool mr_temporal_parse_timestamp_ntz(const struct mr_temporal *t, struct mr_text text, int64_t *us);
bool mr_temporal_parse_date(const struct mr_temporal *t, struct mr_text text,
                            struct mr_arena *scratch, int64_t *days);
/* Days counted in the Julian calendar before 1582-10-15 -> days of the same date in the Gregorian
 * one. */
int64_t mr_temporal_rebase_days(int64_t days);

/* Appended; without a pattern as ISO 8601, a TIMESTAMP with "Z" or its offset. */
enum mr_temporal_style { MR_TEMPORAL_MILLISECONDS, MR_TEMPORAL_MICROSECONDS };
void mr_temporal_print_timestamp(const struct mr_temporal *t, int64_t us,
                                 enum mr_temporal_style style, struct mr_buffer *out);
void mr_temporal_print_timestamp_ntz(const struct mr_temporal *t, int64_t us,
                                     struct mr_buffer *out);
void mr_temporal_print_date(const struct mr_temporal *t, int32_t days, struct mr_buffer *out);
