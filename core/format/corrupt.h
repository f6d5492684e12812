/* corrupt.h - what JSON and CSV share about bad records: the corrupt column and mode FAILFAST. */
#pragma once
#include "core/format/format.h"

/* The corrupt column must be a nullable STRING and, of a file, not all that the query reads. */
MR_NODISCARD enum mr_status mr_corrupt_check(const struct mr_decoder_config *config,
                                             const char *name, bool file, struct mr_error *err);
/* row: the bad row as Spark prints it, [1,null,x]. condition NULL: the usual one. */
MR_NODISCARD enum mr_status mr_corrupt_failfast(const char *condition, struct mr_text row,
                                                const char *reason, struct mr_error *err);
