/* small_file.h - a file that is read in one piece. Internal to core/checkpoint. */
#pragma once
#include "core/base/env.h"
#include "core/mem/arena.h"

/* *found false: it is not there, *out is empty. */
MR_NODISCARD enum mr_status mr_small_file_read(struct mr_env *env, const char *path,
                                               struct mr_arena *a, struct mr_text *out, bool *found,
                                               struct mr_error *err);
