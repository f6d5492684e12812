/* session.h - what a query is analyzed against: conf, zone, views, sources and tables.
 *
 * Owner    The session's arena holds everything; the job (core/run/job.h) or the C API fills it.
 */
#pragma once
#include "core/format/format.h"
#include "core/sql/ast.h"

/* A readable thing: a streaming source, a static table of a file format, or inline rows. */
struct mr_table {
    const char *name;
    bool streaming;
    const char *format;              /* "kafka", "json", .. */
    const struct mr_type *schema;    /* STRUCT */
    const struct mr_option *options; /* path among them */
    uint32_t options_n;
    uint32_t index;              /* number of the source in the job: its place in the checkpoint */
    const struct mr_batch *rows; /* inline rows, or NULL */
    const char *bad_records;     /* folder for rejected records, or NULL */
    bool is_inferred;      /* schema: from the data, so that folder names overrule its types */
    const bool *in_folder; /* by column of schema: it stands in folder names; NULL: none does */
    struct mr_place place;
};

/* A step of the job file: a named unresolved plan. */
struct mr_view_definition {
    const char *name;
    struct mr_relation *relation;
};

/* Spark's names; core/plan/conf.c has one row for each that is known, with default and bounds. */
struct mr_conf {
    bool ansi;                  /* spark.sql.ansi.enabled */
    const struct mr_zone *zone; /* spark.sql.session.timeZone */
    bool no_data_batches;       /* spark.sql.streaming.noDataMicroBatches.enabled */
    bool watermark_policy_max;  /* spark.sql.streaming.multipleWatermarkPolicy */
    bool check_correctness;     /* spark.sql.streaming.statefulOperator.checkCorrectness.enabled */
    uint32_t min_batches_to_retain; /* checked, without effect: old batches are never needed */
    bool case_sensitive;            /* spark.sql.caseSensitive */
    bool infer_partition_types;     /* spark.sql.sources.partitionColumnTypeInference.enabled */
};

struct mr_session {
    struct mr_arena *arena;
    struct mr_conf conf;
    const struct mr_table *tables;
    uint32_t tables_n;
    const struct mr_view_definition *views; /* a view sees those before it */
    uint32_t views_n;
    const char *views_path;     /* the file that their places are in, or NULL */
    const char *const *secrets; /* that stand in no name which is stored */
    uint32_t secrets_n;
    int64_t now_us; /* for folding at analysis in batch queries */
    /* Adds the columns to a table's schema that its source finds where it reads. NULL: none
     * does. */
    enum mr_status (*complete_schema)(struct mr_table *table, const struct mr_conf *conf,
                                      struct mr_arena *a, struct mr_error *err);
};

void mr_conf_init(struct mr_conf *conf);
/* Unknown name or bad value: MR_USER, with the nearest known name. Known but without effect here
 * (spark.sql.shuffle.partitions): accepted. */
MR_NODISCARD enum mr_status mr_conf_set(struct mr_conf *conf, const char *name, const char *value,
                                        struct mr_error *err);
