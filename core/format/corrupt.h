/* corrupt.h - what JSON and CSV share about bad records: the corrupt column, the rescued column and
 * mode FAILFAST.
 *
 * Rescued  With the option rescuedDataColumn a value that has no column, or does not fit its
 *          column, makes no record bad: that STRING column of the schema holds such values, as the
 *          text of a JSON object.
 */
#pragma once
#include "core/format/cell.h"
#include "core/format/format.h"

/* The corrupt column must be a nullable STRING and, of a file, not all that the query reads. */
MR_NODISCARD enum mr_status mr_corrupt_check(const struct mr_decoder_config *config,
                                             const char *name, bool file, struct mr_error *err);
/* The rescued column must be a nullable STRING of the schema, and another one than the corrupt
 * column. name NULL: no such option. */
MR_NODISCARD enum mr_status mr_rescued_check(const struct mr_decoder_config *config,
                                             const char *name, const char *corrupt_name,
                                             struct mr_error *err);
/* Appends a member to the object that members will become. value: JSON. */
void mr_rescued_add(struct mr_buffer *members, struct mr_text name, struct mr_text value);
/* The object, or null. */
struct mr_cell mr_rescued_cell(struct mr_buffer *members);
/* row: the bad row as Spark prints it, [1,null,x]. condition NULL: the usual one. */
MR_NODISCARD enum mr_status mr_corrupt_failfast(const char *condition, struct mr_text row,
                                                const char *reason, struct mr_error *err);
