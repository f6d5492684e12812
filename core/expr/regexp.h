/* regexp.h - regular expressions by PCRE2 with its JIT, one pattern kept compiled per call site.
 *
 * Limits   Matching gives up after MATCH_LIMIT steps, so that no pattern takes for ever: the row
 *          fails.
 * Owner    The state holds PCRE2's memory; state_fini frees it.
 */
#pragma once
#include "core/expr/coerce.h"

struct mr_regexp;

struct mr_regexp_state {
    struct mr_regexp *current; /* of the last pattern seen */
};

/* Compiles pattern unless it is the current one. INVALID_PARAMETER_VALUE.PATTERN. */
MR_NODISCARD enum mr_status mr_regexp_set(struct mr_call *call, struct mr_text pattern,
                                          struct mr_regexp **out);
/* First match at or after byte from: spans[2 * g], spans[2 * g + 1] for group g; UINT64_MAX: unset.
 * *found false: none. */
MR_NODISCARD enum mr_status mr_regexp_match(struct mr_call *call, struct mr_regexp *x,
                                            struct mr_text t, uint64_t from, bool *found,
                                            const uint64_t **spans);
uint32_t mr_regexp_groups(const struct mr_regexp *x); /* without the whole match */
int32_t mr_regexp_group_named(const struct mr_regexp *x, struct mr_text name); /* -1: none */
void mr_regexp_free(void *state);
