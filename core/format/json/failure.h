/* failure.h - errors of the query that JSON input causes, with Spark's conditions. */
#pragma once
#include "core/format/json/exact.h"

/* Mode FAILFAST: the record that x parsed last is bad. */
MR_NODISCARD enum mr_status json_failfast(const struct json_exact *x, struct mr_text raw,
                                          bool with_corrupt_column, struct mr_error *err);
/* The corrupt column must be a nullable STRING and, of a file, not all that the query reads. */
MR_NODISCARD enum mr_status json_check_corrupt_column(const struct mr_decoder_config *config,
                                                      const char *name, bool file,
                                                      struct mr_error *err);
