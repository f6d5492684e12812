/* value_charconv.h - <charconv> of the C++ library behind plain C, for value_double.c only: exact,
 * whatever the locale.
 *
 * Source   libstdc++: Ryu (shortest digits), fast_float (correctly rounded).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Digits of |v| without the point, at least min_digits, and the exponent of the first: v = d.ddd *
 * 10^e. v is finite. Gives how many digits (at most 17). */
uint32_t mr_charconv_digits_f64(double v, char *digits, int32_t *exponent);
uint32_t mr_charconv_digits_f32(float v, char *digits, int32_t *exponent);

/* [-]digits[.digits][e[+-]digits], hex: without 0x and with p. All n bytes must be used. Too large
 * or too small for the type: overflow is set and out untouched. */
bool mr_charconv_parse_f64(const char *data, uint64_t n, bool hex, double *out, bool *overflow);
bool mr_charconv_parse_f32(const char *data, uint64_t n, bool hex, float *out, bool *overflow);

#ifdef __cplusplus
}
#endif
