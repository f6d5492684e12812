/* job_keys.h - every key of the job file, in one table: from it come the checks, the allowed names
 * in errors and docs/job-file.md.
 */
#pragma once
#include "core/run/job_yaml.h"

enum mr_key_group {
    MR_KEYS_JOB,   /* the file's top: also all of MR_KEYS_QUERY */
    MR_KEYS_QUERY, /* the top, or an item of queries */
    MR_KEYS_SOURCE,
    MR_KEYS_TABLE,
    MR_KEYS_BAD_RECORDS,
    MR_KEYS_STEP,
    MR_KEYS_WATERMARK,
    MR_KEYS_DEDUP,
    MR_KEYS_SINK,
    MR_KEYS_TRIGGER,
    MR_KEYS_ENGINE,
    MR_KEY_GROUPS_N,
};

enum mr_key_type {
    MR_KEY_TEXT,
    MR_KEY_WHOLE, /* within min and max */
    MR_KEY_BOOLEAN,
    MR_KEY_CHOICE,   /* one of choices */
    MR_KEY_BYTES,    /* 512m */
    MR_KEY_INTERVAL, /* 30 seconds */
    MR_KEY_TEXTS,    /* one text or a list of them */
    MR_KEY_OPTIONS,  /* names with values */
    MR_KEY_ROWS,     /* a list of lists */
    MR_KEY_MAP,      /* keys of group */
    MR_KEY_NAMED,    /* names, each with keys of group */
    MR_KEY_LIST,     /* items with keys of group */
};

struct mr_job_key {
    enum mr_key_group of;
    const char *name;
    enum mr_key_type type;
    const char *otherwise; /* default, for people; NULL: none */
    const char *text;
    enum mr_key_group group; /* MAP, NAMED, LIST */
    int64_t min, max;        /* WHOLE */
    const char *choices;     /* CHOICE: "append, update, complete" */
    bool is_needed;
};

/* job_key_table.c */
extern const struct mr_job_key mr_job_keys[];
extern const uint32_t mr_job_keys_n;

/* Names, types, bounds and choices of the whole tree below map. */
MR_NODISCARD enum mr_status mr_job_keys_check(const struct mr_yaml_file *file,
                                              const struct mr_yaml *map, enum mr_key_group of,
                                              struct mr_error *err);
/* Values that passed the check. Those of a missing node are otherwise. */
int64_t mr_job_whole(const struct mr_yaml *node, int64_t otherwise);
bool mr_job_boolean(const struct mr_yaml *node, bool otherwise);
const char *mr_job_text(const struct mr_yaml *node, const char *otherwise);
int64_t mr_job_bytes(const struct mr_yaml *node, int64_t otherwise);
/* The reference of the job file, as Markdown. */
void mr_job_keys_print(struct mr_buffer *out);
