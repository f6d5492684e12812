/* map.h - building maps under Spark's rules for keys. Inside core/expr. */
#pragma once
#include "core/expr/cast.h"

/* Adds an entry to the map being written, whose first key is number from of the keys: a null key
 * and one that is there already fail. */
MR_NODISCARD enum mr_status mr_map_put(struct mr_call *call, struct mr_list_writer *w,
                                       uint32_t from, const struct mr_column *key, uint32_t key_row,
                                       const struct mr_column *value, uint32_t value_row);
