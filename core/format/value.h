/* value.h - single values <-> text, exactly as Spark's CAST does it; used by casts, JSON and CSV.
 *
 * Parse    Gives false when Spark's cast would fail. Blanks at both ends (all bytes <= 0x20) are
 *          already allowed here where the cast allows them.
 * Print    Writes at most MR_VALUE_TEXT bytes, gives how many. No NUL.
 * Source   Double to text: Double.toString of Java 17 (java_digits.h), in its form 1.0E10.
 *          Timestamps: Spark's SparkDateTimeUtils.stringToTimestamp (forms [+-]yyyy*-[m]m-[d]d[T ]
 *          [h]h:[m]m:[s]s.[us][zone id], a time alone means today).
 */
#pragma once
#include "core/base/text.h"
#include "core/base/zone.h"
#include "core/batch/column.h"

enum { MR_VALUE_TEXT = 128 };

bool mr_value_parse_boolean(struct mr_text t, bool *out); /* t true y yes 1 / f false n no 0 */
bool mr_value_parse_integer(struct mr_text t, int64_t min, int64_t max, int64_t *out);
/* The usual case of it: one to eight digits and nothing else. False: look closer. */
bool mr_value_parse_digits(const struct mr_view *v, int64_t *out);
bool mr_value_parse_double(struct mr_text t, double *out); /* also "1d", "1.5f", Infinity, NaN */
bool mr_value_parse_float(struct mr_text t, float *out);
/* Rounds half up to scale; false if it is no number, or needs more than precision digits. */
bool mr_value_parse_decimal(struct mr_text t, uint32_t precision, uint32_t scale, __int128 *out);
bool mr_value_parse_date(struct mr_text t, int32_t *days);
/* now_us is used for a time without a date. */
bool mr_value_parse_timestamp(struct mr_text t, const struct mr_zone *zone, int64_t now_us,
                              int64_t *us);
bool mr_value_parse_timestamp_ntz(struct mr_text t, int64_t *us); /* a zone in the text: false */
/* As CAST(text AS TIMESTAMP_NTZ): a zone in the text is checked and ignored. */
bool mr_value_parse_timestamp_ntz_or_zoned(struct mr_text t, int64_t *us);
/* "10 minutes", "INTERVAL 1 HOUR 30 MINUTES", "1 day 2 hours": Spark's stringToInterval. */
bool mr_value_parse_interval(struct mr_text t, struct mr_calendar_interval *out);
/* An interval of fixed units, months or microseconds: "1 02:03:04.5", or as it is printed,
 * "INTERVAL '1 02:03:04.5' DAY TO SECOND". */
enum mr_units_parsed { MR_UNITS_PARSED, MR_UNITS_UNMATCHED, MR_UNITS_OUT_OF_RANGE };
enum mr_units_parsed mr_value_parse_interval_units(struct mr_text t, const struct mr_type *type,
                                                   int64_t *out);

uint32_t mr_value_print_integer(int64_t v, char *out);
uint32_t mr_value_print_double(double v, char *out);
uint32_t mr_value_print_float(float v, char *out);
uint32_t mr_value_print_decimal(__int128 v, uint32_t scale, char *out); /* plain, all its digits */
/* As Java's BigDecimal.toString, which JSON and CSV writers use: 0E-18, 1.5E-7 below 1e-6. */
uint32_t mr_value_print_decimal_short(__int128 v, uint32_t scale, char *out);
uint32_t mr_value_print_date(int32_t days, char *out); /* 2026-01-01, +10000-.. */
/* 2026-01-01 12:00:00[.f]: trailing zeros of the fraction cut, as CAST(ts AS STRING). */
uint32_t mr_value_print_timestamp(int64_t us, const struct mr_zone *zone, char *out);
uint32_t mr_value_print_timestamp_ntz(int64_t us, char *out);
/* INTERVAL '1 02:03:04' DAY TO SECOND: with the units of the type. */
uint32_t mr_value_print_interval_day_time(int64_t us, const struct mr_type *type, char *out);
uint32_t mr_value_print_interval_year_month(int32_t months, const struct mr_type *type, char *out);
uint32_t mr_value_print_calendar_interval(const struct mr_calendar_interval *v, char *out);
/* The value of a row that is not null, by its type: a number, date, time or interval. */
uint32_t mr_value_print(const struct mr_column *c, uint32_t row, const struct mr_zone *zone,
                        char *out);
