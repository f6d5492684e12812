/* lane.h - which kernels compare the values of a type. Inside core/expr. */
#pragma once
#include "core/batch/type.h"
#include "kernels/select/select.h"

/* MR_LANES_N: none. */
static inline enum mr_lane mr_lane_of(const struct mr_type *type)
{
    switch (type->kind) {
    case MR_TINYINT:
        return MR_LANE_I8;
    case MR_SMALLINT:
        return MR_LANE_I16;
    case MR_INT:
    case MR_DATE:
    case MR_INTERVAL_YEAR_MONTH:
        return MR_LANE_I32;
    case MR_BIGINT:
    case MR_TIMESTAMP:
    case MR_TIMESTAMP_NTZ:
    case MR_INTERVAL_DAY_TIME:
        return MR_LANE_I64;
    case MR_FLOAT:
        return MR_LANE_F32;
    case MR_DOUBLE:
        return MR_LANE_F64;
    default:
        return MR_LANES_N;
    }
}
