/* job_parts.h - what the files that read a job share. */
#pragma once
#include "core/run/job.h"
#include "core/run/job_keys.h"

/* job_values.c: list: a list of rows, each a list. */
MR_NODISCARD enum mr_status mr_job_rows(const struct mr_yaml_file *file, const struct mr_yaml *list,
                                        const struct mr_type *schema, const struct mr_zone *zone,
                                        const struct mr_batch **out, struct mr_error *err);
/* job_tables.c: sources, then tables; streaming ones are numbered. */
MR_NODISCARD enum mr_status mr_job_tables(const struct mr_yaml_file *file,
                                          const struct mr_yaml *query, struct mr_session *session,
                                          struct mr_error *err);
/* names -> options; path, if given, is the first of them. */
MR_NODISCARD enum mr_status mr_job_options(const struct mr_yaml_file *file,
                                           const struct mr_yaml *path,
                                           const struct mr_yaml *options,
                                           const struct mr_option **out, uint32_t *out_n,
                                           struct mr_error *err);
/* "there is no source \"x\"; .." with the known names and the nearest. */
enum mr_status mr_job_unknown_name(const struct mr_yaml_file *file, const struct mr_yaml *node,
                                   const char *what, const char *const *names,
                                   struct mr_error *err);
/* job_steps.c: steps -> views. */
MR_NODISCARD enum mr_status mr_job_steps(const struct mr_yaml_file *file,
                                         const struct mr_yaml *query, struct mr_session *session,
                                         struct mr_error *err);
/* One text or a list -> texts. */
const char **mr_job_texts(struct mr_arena *a, const struct mr_yaml *node, uint32_t *n);
