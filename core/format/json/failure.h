/* failure.h - the error of mode FAILFAST. */
#pragma once
#include "core/format/json/exact.h"

/* Mode FAILFAST: the record that x parsed last is bad. */
MR_NODISCARD enum mr_status json_failfast(const struct json_exact *x, struct mr_text raw,
                                          bool with_corrupt_column, struct mr_error *err);
