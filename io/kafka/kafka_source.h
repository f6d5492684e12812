/* kafka_source.h - inside the Kafka source.
 *
 * How      The planner owns one consumer for all workers. Each partition is fetched into a queue
 *          of its own and fetching goes on between epochs; an epoch's split names a partition and
 *          an offset range, and whichever worker takes it empties the queue up to the range's end.
 *          What came beyond the end waits in the partition for the next epoch.
 * Threads  planner: the control thread. A partition's reading side: the worker that has its split;
 *          the hand-over of epochs orders the accesses.
 */
#pragma once
#include "core/op/source.h"
#include "io/kafka/kafka_conf.h"

enum {
    MR_KAFKA_EARLIEST = -2,
    MR_KAFKA_LATEST = -1,
    MR_KAFKA_PARTITIONS_MAX = 4096,
};

enum mr_kafka_subscription { MR_KAFKA_SUBSCRIBE, MR_KAFKA_PATTERN, MR_KAFKA_ASSIGN };
enum mr_kafka_start { /* a later one wins over an earlier one */
                      MR_KAFKA_START_LATEST,
                      MR_KAFKA_START_EARLIEST,
                      MR_KAFKA_START_OFFSETS,
                      MR_KAFKA_START_TIMESTAMPS,
                      MR_KAFKA_START_TIMESTAMP
};

/* A partition in an option, and an offset or a timestamp in ms. */
struct mr_kafka_places {
    struct mr_kafka_place {
        const char *topic;
        int32_t number;
        int64_t value;
    } * items;
    uint32_t n;
};

struct mr_kafka_options {
    enum mr_kafka_subscription subscription;
    const char *topics; /* list or pattern */
    struct mr_kafka_places assigned;
    enum mr_kafka_start start;
    struct mr_kafka_places places; /* offsets or timestamps per partition */
    int64_t start_ms;
    bool latest_if_no_offset; /* startingOffsetsByTimestampStrategy */
    bool fail_on_data_loss, include_headers, read_committed;
    int64_t offsets_max, offsets_min; /* per trigger; 0: none */
    int64_t delay_max_us;
    int64_t retries, retry_ms;
    int64_t ignored; /* numbers that are only checked */
};

/* Memory of what it read: a. */
MR_NODISCARD enum mr_status mr_kafka_options_read(const struct mr_table *table, struct mr_arena *a,
                                                  struct mr_kafka_options *out,
                                                  struct mr_error *err);

/* kafka_json.c. {"topic":[0,1]} */
MR_NODISCARD enum mr_status mr_kafka_read_assigned(const char *json, struct mr_arena *a,
                                                   struct mr_kafka_places *out,
                                                   struct mr_error *err);
/* {"topic":{"0":23}}, no value below min */
MR_NODISCARD enum mr_status mr_kafka_read_places(const char *json, const char *option, int64_t min,
                                                 struct mr_arena *a, struct mr_kafka_places *out,
                                                 struct mr_error *err);

struct mr_kafka_partition {
    char *topic; /* malloc: partitions live as long as the planner */
    int32_t number;
    int64_t at;               /* end of the last planned epoch; -1: not known yet */
    int64_t start, end;       /* the planned epoch's range */
    int64_t latest, earliest; /* as the broker said last */
    bool is_there;            /* in the last metadata */
    /* reading */
    rd_kafka_topic_t *handle; /* NULL: not fetching */
    int64_t next;             /* the next offset to give */
    struct {
        rd_kafka_message_t **all; /* mr_mem_alloc, by offset */
        uint32_t at, n, capacity; /* from at on they are here */
    } kept;       /* came beyond the end of their epoch, before those still queued */
    int64_t eof;  /* the broker had nothing from this offset on */
    bool is_lost; /* next is not there any more, the first offset that is comes */
};

struct mr_kafka_planner {
    const struct mr_source_config *config;
    struct mr_kafka_options options;
    rd_kafka_t *client;
    struct mr_kafka_reports reports;
    struct mr_kafka_partition **partitions; /* sorted by topic, number */
    uint32_t partitions_n;
    bool is_new;   /* nothing was ever planned: starting options count */
    bool is_begun; /* an epoch is durable: where it began need not be remembered */
    bool frozen;
    int64_t metadata_us, last_trigger_us; /* INT64_MIN: never */
    uint64_t epoch;
    struct mr_arena arena; /* of the planned epoch's texts */
    struct mr_buffer json, bytes;
    struct mr_kafka_split {
        struct mr_kafka_partition *partition;
        struct mr_kafka_planner *planner;
        int64_t start, end;
    } * splits;
    uint32_t splits_n;
};

/* kafka_source.c. Before its client is closed. */
void mr_kafka_drop_kept(struct mr_kafka_partition *x);
/* kafka_cluster.c. Which partitions there are, when that is due; latest and earliest of each. */
MR_NODISCARD enum mr_status mr_kafka_look(struct mr_kafka_planner *p, struct mr_error *err);
/* Offsets for a spec (MR_KAFKA_EARLIEST, MR_KAFKA_LATEST or a timestamp in ms per partition) into
 * out, by index; -1 where a timestamp has no offset. */
MR_NODISCARD enum mr_status mr_kafka_list_offsets(struct mr_kafka_planner *p, const int64_t *specs,
                                                  int64_t *out, struct mr_error *err);
struct mr_kafka_partition *mr_kafka_partition_find(const struct mr_kafka_planner *p,
                                                   const char *topic, int32_t number);
/* Makes it when it is not there; NULL: there are too many. */
struct mr_kafka_partition *mr_kafka_partition_for(struct mr_kafka_planner *p, const char *topic,
                                                  int32_t number);

/* kafka_json.c. options.places -> out by partition; they must be those that are there. */
MR_NODISCARD enum mr_status mr_kafka_resolve(struct mr_kafka_planner *p, const char *option,
                                             int64_t *out, struct mr_error *err);
void mr_kafka_print_offsets(const struct mr_kafka_planner *p, struct mr_buffer *out);

enum mr_status mr_kafka_planner_open(void *planner, const struct mr_source_config *config,
                                     struct mr_error *err);
void mr_kafka_planner_close(void *planner);
enum mr_status mr_kafka_plan(void *planner, uint64_t epoch, enum mr_source_limit limit,
                             struct mr_offsets *to, bool *has_new, struct mr_error *err);
enum mr_status mr_kafka_freeze(void *planner, struct mr_error *err);
enum mr_status mr_kafka_adopt(void *planner, uint64_t epoch, struct mr_text bytes,
                              struct mr_error *err);
enum mr_status mr_kafka_committed(void *planner, uint64_t epoch, struct mr_error *err);
void mr_kafka_save(void *planner, struct mr_buffer *out);
enum mr_status mr_kafka_load(void *planner, struct mr_text saved, struct mr_error *err);
enum mr_status mr_kafka_splits(void *planner, uint32_t *n, struct mr_error *err);
struct mr_text mr_kafka_split(void *planner, uint32_t i);
void mr_kafka_metrics(void *planner, struct mr_buffer *out);

struct mr_kafka_reader {
    const struct mr_source_config *config;
    struct mr_kafka_split split;
    struct mr_arena scratch;
    rd_kafka_message_t **messages; /* of one batch */
    uint32_t held_n;               /* of them: not given back yet */
    bool is_open;
};
enum mr_status mr_kafka_reader_open(void *reader, const struct mr_source_config *config,
                                    struct mr_error *err);
void mr_kafka_reader_close(void *reader);
enum mr_status mr_kafka_open_split(void *reader, struct mr_text split, struct mr_error *err);
enum mr_step mr_kafka_pull(void *reader, struct mr_batch *out, struct mr_source_counts *counts,
                           struct mr_error *err);
/* The messages as columns of the reader's schema: kafka_columns.c. */
void mr_kafka_columns(const struct mr_type *schema, rd_kafka_message_t *const *messages, uint32_t n,
                      struct mr_arena *a, struct mr_batch *out);
extern const char *const mr_kafka_source_options[]; /* "name: what it does", NULL-ended */
const struct mr_type *mr_kafka_schema(const struct mr_option *options, uint32_t n,
                                      struct mr_arena *a);

extern const struct mr_source_ops mr_source_kafka;
extern const struct mr_sink_ops mr_sink_kafka;
