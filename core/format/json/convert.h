/* convert.h - JSON tokens of scalar types -> values, by the rules of Spark's JacksonParser.
 *
 * Use      The fast and the exact path share it, so that they can't differ in what a value means.
 */
#pragma once
#include "core/format/cell.h"
#include "core/format/json/plan.h"

/* False when Spark would not take that token for the type. */
bool json_convert_text(const struct json_plan *plan, const struct mr_type *type, struct mr_text t,
                       struct mr_arena *scratch, struct mr_cell *out);
/* integer: the token has neither dot nor exponent. A number for STRING is not converted here. */
bool json_convert_number(const struct mr_type *type, struct mr_text t, bool integer,
                         struct mr_cell *out);
