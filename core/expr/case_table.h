/* case_table.h - upper, lower and title case of one code point; the place in a word is the
 * caller's. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum mr_case { MR_CASE_UPPER, MR_CASE_LOWER, MR_CASE_TITLE };

/* Gives how many code points out has: 1 to 3. */
uint32_t mr_case_map(enum mr_case which, uint32_t c, uint32_t out[3]);
bool mr_case_is_letter(uint32_t c); /* it has an upper or a lower case */
