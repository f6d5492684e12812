/* infer.h - schemas of json.`path` in a statement: inferred from the files, as Spark does. */
#pragma once
#include "core/base/env.h"
#include "core/sql/ast.h"

/* Gives each READ of json.`path` without a schema one. */
MR_NODISCARD enum mr_status mr_infer_schemas(struct mr_relation *relation, struct mr_env *env,
                                             struct mr_arena *a, struct mr_error *err);
