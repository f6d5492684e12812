/* options.h - options of sources and sinks: names checked against a list, numbers within bounds. */
#pragma once
#include "core/format/format.h"

/* Every option must be one of known (sorted, NULL-ended, "name: what it means", "name*" for all
 * that begin so); case is ignored. what: "source \"t\"", for the error. */
MR_NODISCARD enum mr_status mr_io_options_check(const struct mr_option *options, uint32_t n,
                                                const char *const *known, const char *what,
                                                struct mr_error *err);
/* Fills *value, with otherwise when the option is not there. */
MR_NODISCARD enum mr_status mr_io_option_integer(const struct mr_option *options, uint32_t n,
                                                 const char *name, int64_t otherwise, int64_t min,
                                                 int64_t max, int64_t *value, struct mr_error *err);
MR_NODISCARD enum mr_status mr_io_option_boolean(const struct mr_option *options, uint32_t n,
                                                 const char *name, bool otherwise, bool *value,
                                                 struct mr_error *err);
/* Spark's time texts: "5s", "10 m", "1h", "2d", "100ms", "10 minutes"; a number alone counts
 * bare_us each, 0: it needs a unit. False: none, negative, or beyond 64 bits. */
MR_NODISCARD bool mr_io_parse_duration(struct mr_text text, int64_t bare_us, int64_t *us);
/* A number alone: seconds. In whole seconds. */
MR_NODISCARD enum mr_status mr_io_option_seconds(const struct mr_option *options, uint32_t n,
                                                 const char *name, int64_t otherwise,
                                                 int64_t *value, struct mr_error *err);
