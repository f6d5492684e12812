/* java_digits.h - which digits Java 17 prints of a floating point number.
 *
 * Why      Spark 4 runs on Java 17, whose Double.toString is older than the shortest-digits rule
 *          (Java 19): it keeps more digits of whole numbers above the mantissa (2^62 is
 *          4.6116860184273879E18), and of numbers that lie on the border of what reads back (2e23
 *          is 1.9999999999999998E23).
 * How      Steele and White (1990) with exact arithmetic, in the borders and shortcuts that Java
 *          has.
 */
#pragma once
#include <stdint.h>

enum { JAVA_DIGITS_MAX = 24 };

/* v is finite, not 0; the sign does not count. Digits without trailing zeros, v = d.ddd *
 * 10^exponent; gives how many. */
uint32_t mr_java_digits_f64(double v, char *digits, int32_t *exponent);
uint32_t mr_java_digits_f32(float v, char *digits, int32_t *exponent);
