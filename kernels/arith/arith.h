/* arith.h - whole columns added, subtracted, multiplied.
 *
 * What     All rows 0..n-1 are computed, wrapping. Integer kernels tell whether any row overflowed;
 *          the caller then looks for the first selected row that did (garbage in rows that are null
 *          or not selected may say so too, which costs only that look).
 */
#pragma once
#include "kernels/kernels.h"
#include <stdbool.h>

enum mr_arith_op { MR_ADD, MR_SUBTRACT, MR_MULTIPLY, MR_ARITH_OPS_N };

typedef bool mr_arith_i32(int32_t *out, const int32_t *x, const int32_t *y, uint32_t n);
typedef bool mr_arith_i64(int64_t *out, const int64_t *x, const int64_t *y, uint32_t n);
typedef void mr_arith_i128(__int128 *out, const __int128 *x, const __int128 *y, uint32_t n);
typedef void mr_arith_f64(double *out, const double *x, const double *y, uint32_t n);

typedef bool mr_arith_whole(int64_t *out, const double *x, uint32_t n);
typedef bool mr_arith_quotient(double *out, const double *x, const double *y, uint32_t n);

struct mr_arith_kernels {
    const char *isa;
    mr_arith_i32 *i32[MR_ARITH_OPS_N];
    mr_arith_i64 *i64[MR_ARITH_OPS_N];
    mr_arith_f64 *f64[MR_ARITH_OPS_N];
    mr_arith_i128 *i128[MR_ARITH_OPS_N]; /* does not tell of overflows */
    /* The same with the one value y[0]. */
    mr_arith_i32 *i32_by[MR_ARITH_OPS_N];
    mr_arith_i64 *i64_by[MR_ARITH_OPS_N];
    mr_arith_f64 *f64_by[MR_ARITH_OPS_N];
    /* The rest of x / y, with the sign of x; true: some y is 0. */
    mr_arith_i32 *rest_i32, *rest_i32_by;
    /* Quotients; true: some y is 0. */
    mr_arith_quotient *quotient_f64, *quotient_f64_by;
    void (*sqrt_f64)(double *out, const double *x, uint32_t n);
    /* Without its sign; true: some x is the least value, which stays as it is. */
    bool (*abs_i32)(int32_t *out, const int32_t *x, uint32_t n);
    bool (*abs_i64)(int64_t *out, const int64_t *x, uint32_t n);
    /* The whole number below or above; true: some x is NaN or beyond 2^51, and has nonsense. */
    mr_arith_whole *floor_f64, *ceil_f64;
    /* *sum += x[i] for the rows whose bit in valid (NULL: all) is set; true: it overflowed. */
    bool (*sum_i64)(const int64_t *x, const uint64_t *valid, uint32_t n, int64_t *sum);
    bool (*sum_i32)(const int32_t *x, const uint64_t *valid, uint32_t n, int64_t *sum);
    /* The sum itself, wrapping. */
    __int128 (*sum_i128)(const __int128 *x, const uint64_t *valid, uint32_t n);
};
extern const struct mr_arith_kernels mr_arith_scalar, mr_arith_avx2;
extern const struct mr_arith_kernels *const mr_arith_variants[]; /* best first, scalar, NULL */
extern const struct mr_arith_kernels *mr_arith;
