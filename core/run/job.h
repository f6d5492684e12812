/* job.h - the job file: YAML -> sessions and queries.
 *
 * How      libyaml events, one table of keys (name, type, default, text) from which the parser,
 *          --help and the nearest-name hints come. Every error has file, line, column. ${env:NAME}
 *          and ${file:path} are read here; values that came from them are never printed.
 */
#pragma once
#include "core/run/query.h"

struct mr_job_query {
    const char *name;
    struct mr_session session;
    struct mr_sink_config sink;
    const char *checkpoint;
    enum mr_trigger_kind trigger;
    int64_t trigger_us;
    struct mr_place sink_place, checkpoint_place;
};

struct mr_yaml_file;

struct mr_job {
    const char *path;
    const struct mr_yaml_file *file; /* as read; knows the secrets */
    struct mr_job_query *queries;
    uint32_t queries_n;
    struct mr_engine_config engine;
};

/* Reads, checks keys and values, fills the schemas that formats have of their own and parses the
 * SQL of the steps; makes nothing. Places in the trees are those in the file. */
MR_NODISCARD enum mr_status mr_job_load(const char *path, const char *config_path,
                                        struct mr_arena *a, struct mr_job **out,
                                        struct mr_error *err);
/* What ${..} stood for becomes "***" in the message. Errors of load and plan are clean already. */
void mr_job_hide_secrets(const struct mr_job *job, struct mr_error *err);
/* The same for any text, as the plans of explain. */
struct mr_text mr_job_hide_in_text(const struct mr_job *job, struct mr_text text,
                                   struct mr_arena *a);

/* job_paths.c: what a file source reads must be there. */
MR_NODISCARD enum mr_status mr_job_check_path(const struct mr_job *job,
                                              const struct mr_table *table, struct mr_error *err);
/* Where files are written: what names it in the message. */
MR_NODISCARD enum mr_status mr_job_check_target(const char *what, const char *path,
                                                struct mr_error *err);
/* And is not among what the query reads. */
MR_NODISCARD enum mr_status mr_job_check_apart(const char *what, const char *path,
                                               const struct mr_physical_plan *plan,
                                               struct mr_error *err);
/* And is not among the files of the sink, a folder, where a reader would find it. */
MR_NODISCARD enum mr_status mr_job_check_among(const char *what, const char *path, const char *sink,
                                               struct mr_error *err);
/* Where a file source's cleanSource=archive moves files to, or NULL. */
const char *mr_job_archive(const struct mr_table *t);
/* Queries that feed each other in a circle, or clean what another source of the job reads. query:
 * which one. */
MR_NODISCARD enum mr_status mr_job_check_queries(const struct mr_job *job, uint32_t *query,
                                                 struct mr_error *err);
/* Files go only when their epoch is durable. */
MR_NODISCARD enum mr_status mr_job_check_durability(const struct mr_job *job, struct mr_error *err);
/* Whether two folders are one, whatever they are called. */
bool mr_job_same_folder(const char *a, const char *b);
/* Adds the columns to the tables' schemas that their sources find, now and for format.`path`
 * later. */
MR_NODISCARD enum mr_status mr_session_complete(struct mr_session *session, struct mr_error *err);
/* Plans a query: analysis, streaming rules, source and sink checks. */
MR_NODISCARD enum mr_status mr_job_plan(const struct mr_job *job, const struct mr_job_query *query,
                                        uint32_t workers, struct mr_physical_plan **plan,
                                        struct mr_plan_texts *texts, struct mr_error *err);
