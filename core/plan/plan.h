/* plan.h - unresolved plan -> physical plan, in named stages, each printable.
 *
 * Path     analyze (names, types, Spark's error conditions) -> streaming rules (what Spark rejects
 *          in which mode, in Spark's order) -> Spark's result-changing rewrites -> cost-only
 *          optimizer (projection and filter into the source) -> physical plan.
 */
#pragma once
#include "core/plan/physical.h"

struct mr_plan_request {
    const struct mr_relation *relation; /* NULL: the last view, or the first source */
    bool streaming;                     /* false: a batch query */
    enum mr_output_mode mode;
    uint32_t workers; /* 1: no exchange */
};

struct mr_plan_texts { /* for explain; "" where it was not reached */
    struct mr_text unresolved, analyzed, optimized, physical;
};

MR_NODISCARD enum mr_status mr_plan_query(const struct mr_session *session,
                                          const struct mr_plan_request *request,
                                          struct mr_physical_plan **out,
                                          struct mr_plan_texts *texts, struct mr_error *err);
void mr_physical_print(const struct mr_physical_plan *plan, struct mr_buffer *out);
