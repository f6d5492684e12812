/* decimal.h - exact decimals: 128-bit unscaled values, up to 38 digits, HALF_UP as Java's
 * BigDecimal.
 */
#pragma once
#include "core/batch/type.h"

__int128 mr_decimal_power(uint32_t exponent); /* 10^exponent, exponent <= 38 */
bool mr_decimal_fits(__int128 v, uint32_t precision);
/* False when the result needs more than precision digits. */
bool mr_decimal_rescale(__int128 v, uint32_t from_scale, uint32_t to_scale, uint32_t precision,
                        __int128 *out);
bool mr_decimal_add(__int128 x, uint32_t x_scale, __int128 y, uint32_t y_scale, uint32_t precision,
                    uint32_t scale, __int128 *out);
bool mr_decimal_multiply(__int128 x, __int128 y, uint32_t product_scale, uint32_t precision,
                         uint32_t scale, __int128 *out);
/* y is not 0. */
bool mr_decimal_divide(__int128 x, uint32_t x_scale, __int128 y, uint32_t y_scale,
                       uint32_t precision, uint32_t scale, __int128 *out);
/* The whole part of x / y; y is not 0. False: no int64_t. */
bool mr_decimal_quotient(__int128 x, uint32_t x_scale, __int128 y, uint32_t y_scale, int64_t *out);
/* What is left of x, with its sign; of mr_decimal_modulo: with that of y, if y is positive. */
bool mr_decimal_remainder(__int128 x, uint32_t x_scale, __int128 y, uint32_t y_scale,
                          uint32_t precision, uint32_t scale, __int128 *out);
bool mr_decimal_modulo(__int128 x, uint32_t x_scale, __int128 y, uint32_t y_scale,
                       uint32_t precision, uint32_t scale, __int128 *out);
double mr_decimal_to_double(__int128 v, uint32_t scale);
/* As BigDecimal(Double.toString(v)), rounded to scale; false: too large, NaN or infinite. */
bool mr_decimal_from_double(double v, uint32_t precision, uint32_t scale, __int128 *out);
