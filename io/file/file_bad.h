/* file_bad.h - where rejected records go: bad_records/epoch-E-H.json, one JSON object a line.
 *
 * Rule     H is a hash of source, file and where the split begins, so an epoch that runs again
 *          writes the same file again, and sources may share a folder.
 *          It is durable before the split is done, thus before the epoch is committed.
 */
#pragma once
#include "core/format/format.h"
#include "io/file/file_source.h"

struct mr_file_bad {
    struct mr_env *env;
    const char *source, *folder; /* folder NULL: only counted */
    struct mr_arena arena;
    struct mr_buffer lines;
    struct mr_file *file;
    uint64_t written;
    int error; /* errno of the first failure */
};

void mr_file_bad_init(struct mr_file_bad *b, struct mr_env *env, const char *source,
                      const char *folder, struct mr_budget *budget, jmp_buf *escape);
void mr_file_bad_add(struct mr_file_bad *b, const struct mr_file_split *split,
                     const struct mr_bad_record *bad, uint64_t base_offset);
/* At the end of the split: all that was added is durable. */
MR_NODISCARD enum mr_status mr_file_bad_finish(struct mr_file_bad *b, struct mr_error *err);
void mr_file_bad_fini(struct mr_file_bad *b);
