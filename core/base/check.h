/* check.h - assertions: a false one is a bug of ours and ends the process.
 *
 * MR_ASSERT  always on: arguments, results, once per batch.
 * MR_VERIFY  per row or O(n): only in check builds (-DMR_CHECK).
 */
#pragma once

_Noreturn void mr_check_failed(const char *condition, const char *file, int line);

#define MR_LIKELY(x) __builtin_expect(!!(x), 1)
#define MR_UNLIKELY(x) __builtin_expect(!!(x), 0)
#ifdef MR_COVERAGE /* a branch that only a bug takes is none that tests must take */
#define MR_ASSERT(condition) ((void)sizeof(!(condition)))
#else
#define MR_ASSERT(condition)                                                                       \
    (MR_LIKELY(condition) ? (void)0 : mr_check_failed(#condition, __FILE__, __LINE__))
#endif
#ifdef MR_CHECK
#define MR_VERIFY(condition) MR_ASSERT(condition)
#else
#define MR_VERIFY(condition) ((void)sizeof(!(condition)))
#endif
#define MR_UNREACHABLE() mr_check_failed("unreachable", __FILE__, __LINE__)
