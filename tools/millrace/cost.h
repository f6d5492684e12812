/* cost.h - explain --cost: what each operator of a job costs, on the job's own data. */
#pragma once
#include "core/run/job.h"

/* Runs every query of the job over what there is, or for so many seconds (0: what there is),
 * without its sink and checkpoint, and prints its plan with the counters. */
MR_NODISCARD enum mr_status mr_cost_show(const struct mr_job *job, uint32_t seconds,
                                         struct mr_arena *a, struct mr_error *err);
