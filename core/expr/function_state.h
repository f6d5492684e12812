/* function_state.h - bytes of state per worker and call site that functions.def asks for; the
 * bodies check that their state fits.
 */
#pragma once

enum {
    MR_PATTERN_STATE_BYTES = 128, /* a compiled pattern of times */
    MR_CSV_STATE_BYTES = 192,     /* a CSV parser */
    MR_JSON_STATE_BYTES = 192,    /* a JSON parser */
    MR_REGEXP_STATE_BYTES = 8,
    MR_RANDOM_STATE_BYTES = 16,
    MR_DISTANCE_STATE_BYTES = 56, /* an arena */
};

void mr_pattern_state_fini(void *state);
void mr_csv_state_fini(void *state);
void mr_json_state_fini(void *state);
void mr_distance_state_fini(void *state);
