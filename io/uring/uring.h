/* uring.h - files by io_uring: pre-reads that overlap, durable appends as one linked chain.
 *
 * Threads  A ring per env, an env per thread.
 */
#pragma once
#include "core/base/env.h"

/* NULL, and why filled, where io_uring is denied or too old. */
struct mr_env *mr_uring_open(char *why, uint64_t why_bytes);
