/* metadata.h - the file that says whose checkpoint a folder is. Internal to core/checkpoint.
 *
 * Form     Lines "key value", the last one the CRC of those before. Types without field names,
 *          with ? (may be null) or ! (may not) behind each; the name of a field after a blank is
 *          only for people.
 */
#pragma once
#include "core/checkpoint/checkpoint.h"

enum { MR_CHECKPOINT_VERSION = 1 };

struct mr_metadata_table {
    struct mr_text name, slots;
    const struct mr_text *keys, *values; /* "bigint? k" */
    uint32_t keys_n, values_n;
};
struct mr_metadata_operator {
    struct mr_text name, detail;
    const struct mr_metadata_table *tables;
    uint32_t tables_n;
};
struct mr_metadata {
    uint32_t version;
    const char *id, *code, *mode, *sink; /* sink NULL: not known */
    const struct mr_text *sources;
    uint32_t sources_n;
    const struct mr_metadata_operator *operators;
    uint32_t operators_n;
};

/* What a query would have; id is borrowed. */
void mr_metadata_of(const struct mr_fingerprint *f, const char *id, struct mr_arena *a,
                    struct mr_metadata *out);
/* MR_OK and *found false when the file is not there. */
MR_NODISCARD enum mr_status mr_metadata_load(struct mr_env *env, const char *path,
                                             struct mr_arena *a, struct mr_metadata *out,
                                             bool *found, struct mr_error *err);
MR_NODISCARD enum mr_status mr_metadata_save(struct mr_env *env, const char *path,
                                             const struct mr_metadata *m, struct mr_arena *a,
                                             struct mr_error *err);
void mr_metadata_print(const struct mr_metadata *m, struct mr_buffer *out);
/* Whether now may go on with what stored left behind: MR_USER with Spark's condition and the
 * difference. */
MR_NODISCARD enum mr_status mr_metadata_compare(const struct mr_metadata *stored,
                                                const struct mr_metadata *now, const char *path,
                                                struct mr_arena *a, struct mr_error *err);
