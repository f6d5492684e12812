#include "core/base/bounds.h"
#include "core/run/job_keys.h"

static const struct group {
    const char *title, *text;
} groups[MR_KEY_GROUPS_N] = {
    [MR_KEYS_JOB] = {"The file", "The top of a file is one query, or `queries` with several."},
    [MR_KEYS_QUERY] = {"A query", "At the top of the file, or as an item of `queries`."},
    [MR_KEYS_SOURCE] = {"A source",
                        "`sources: {name: {..}}`. A stream: the query reads what is new."},
    [MR_KEYS_TABLE] =
        {"A table", "`tables: {name: {..}}`. The static side of a join: files or inline rows. "
                    "There are no joins yet, so a table is of use with `millrace sql --job` only."},
    [MR_KEYS_BAD_RECORDS] = {"Bad records", "`bad_records: {..}` of a source."},
    [MR_KEYS_STEP] = {"A step", "An item of `steps`: a view over the sources, tables and steps "
                                "before it; the last one is the query. Exactly one of `sql`, "
                                "`watermark` and `dedup`."},
    [MR_KEYS_WATERMARK] = {"A watermark step", "`watermark: {..}` of a step."},
    [MR_KEYS_DEDUP] = {"A deduplication step", "`dedup: {..}` of a step."},
    [MR_KEYS_SINK] = {"The sink", "`sink: {..}`: where the rows go."},
    [MR_KEYS_TRIGGER] = {"The trigger",
                         "`trigger: {..}`: when an epoch runs; without it as soon as "
                         "there is data. One of:"},
    [MR_KEYS_ENGINE] = {"The engine", "`engine: {..}`, or the content of the file that `--config` "
                                      "names, which wins. It tunes the machine and changes no "
                                      "result."},
};

/* Within a group in the order of the documentation. */
const struct mr_job_key mr_job_keys[] = {
    {.of = MR_KEYS_JOB,
     .name = "queries",
     .type = MR_KEY_LIST,
     .group = MR_KEYS_QUERY,
     .text =
         "several queries that run in one process, each with its own checkpoint; when one fails "
         "the others go on, and the exit code is 1 when all have ended"},
    {.of = MR_KEYS_JOB,
     .name = "engine",
     .type = MR_KEY_MAP,
     .group = MR_KEYS_ENGINE,
     .text = "the machine: see below"},

    {.of = MR_KEYS_QUERY,
     .name = "name",
     .type = MR_KEY_TEXT,
     .otherwise = "the file's name",
     .text = "the query's name, in progress and metrics"},
    {.of = MR_KEYS_QUERY,
     .name = "sources",
     .type = MR_KEY_NAMED,
     .group = MR_KEYS_SOURCE,
     .is_needed = true,
     .text = "the streams that it reads"},
    {.of = MR_KEYS_QUERY,
     .name = "tables",
     .type = MR_KEY_NAMED,
     .group = MR_KEYS_TABLE,
     .text = "static tables"},
    {.of = MR_KEYS_QUERY,
     .name = "steps",
     .type = MR_KEY_LIST,
     .group = MR_KEYS_STEP,
     .otherwise = "the first source",
     .text = "the query, step by step"},
    {.of = MR_KEYS_QUERY,
     .name = "sink",
     .type = MR_KEY_MAP,
     .group = MR_KEYS_SINK,
     .is_needed = true,
     .text = "where the rows go"},
    {.of = MR_KEYS_QUERY,
     .name = "checkpoint",
     .type = MR_KEY_TEXT,
     .text = "the folder that remembers offsets and state; needed by all sinks but console and "
             "noop"},
    {.of = MR_KEYS_QUERY,
     .name = "trigger",
     .type = MR_KEY_MAP,
     .group = MR_KEYS_TRIGGER,
     .otherwise = "as soon as there is data",
     .text = "when an epoch runs"},
    {.of = MR_KEYS_QUERY,
     .name = "conf",
     .type = MR_KEY_OPTIONS,
     .text = "Spark's settings by their names (`spark.sql.session.timeZone: UTC`)"},

    {.of = MR_KEYS_SOURCE,
     .name = "format",
     .type = MR_KEY_TEXT,
     .is_needed = true,
     .text = "kind of source: json, csv, text, kafka, rate, rate-micro-batch, socket"},
    {.of = MR_KEYS_SOURCE,
     .name = "path",
     .type = MR_KEY_TEXT,
     .text = "of a file source: a folder, a file, or a pattern with `*`, `?`, `[..]`"},
    {.of = MR_KEYS_SOURCE,
     .name = "schema",
     .type = MR_KEY_TEXT,
     .text = "columns, `\"id STRING, at TIMESTAMP\"`; needed by json and csv"},
    {.of = MR_KEYS_SOURCE,
     .name = "options",
     .type = MR_KEY_OPTIONS,
     .text = "the source's and its format's options, named as in Spark"},
    {.of = MR_KEYS_SOURCE,
     .name = "bad_records",
     .type = MR_KEY_MAP,
     .group = MR_KEYS_BAD_RECORDS,
     .text = "where records go that can't be parsed"},

    {.of = MR_KEYS_TABLE,
     .name = "format",
     .type = MR_KEY_TEXT,
     .text = "kind of files: json, csv, text"},
    {.of = MR_KEYS_TABLE,
     .name = "path",
     .type = MR_KEY_TEXT,
     .text = "a folder, a file or a pattern; read again when it changes"},
    {.of = MR_KEYS_TABLE, .name = "schema", .type = MR_KEY_TEXT, .text = "columns, as of a source"},
    {.of = MR_KEYS_TABLE, .name = "options", .type = MR_KEY_OPTIONS, .text = "as of a source"},
    {.of = MR_KEYS_TABLE,
     .name = "rows",
     .type = MR_KEY_ROWS,
     .text = "inline rows instead of files: `[[1, a], [2, null]]`"},

    {.of = MR_KEYS_BAD_RECORDS,
     .name = "path",
     .type = MR_KEY_TEXT,
     .is_needed = true,
     .text = "a folder: each bad record goes there with reason, place and raw text"},

    {.of = MR_KEYS_STEP,
     .name = "as",
     .type = MR_KEY_TEXT,
     .is_needed = true,
     .text = "the view's name"},
    {.of = MR_KEYS_STEP, .name = "sql", .type = MR_KEY_TEXT, .text = "a query in Spark's SQL"},
    {.of = MR_KEYS_STEP,
     .name = "watermark",
     .type = MR_KEY_MAP,
     .group = MR_KEYS_WATERMARK,
     .text = "how late a row may come"},
    {.of = MR_KEYS_STEP,
     .name = "dedup",
     .type = MR_KEY_MAP,
     .group = MR_KEYS_DEDUP,
     .text = "drop duplicates"},

    {.of = MR_KEYS_WATERMARK,
     .name = "input",
     .type = MR_KEY_TEXT,
     .is_needed = true,
     .text = "a source or a step before this one"},
    {.of = MR_KEYS_WATERMARK,
     .name = "column",
     .type = MR_KEY_TEXT,
     .is_needed = true,
     .text = "the event time: a TIMESTAMP column"},
    {.of = MR_KEYS_WATERMARK,
     .name = "delay",
     .type = MR_KEY_INTERVAL,
     .is_needed = true,
     .text = "how far the watermark stays behind the latest event time"},

    {.of = MR_KEYS_DEDUP,
     .name = "input",
     .type = MR_KEY_TEXT,
     .is_needed = true,
     .text = "a source or a step before this one"},
    {.of = MR_KEYS_DEDUP,
     .name = "keys",
     .type = MR_KEY_TEXTS,
     .otherwise = "all columns",
     .text =
         "columns that make two rows the same; with the event time among them state is bounded"},
    {.of = MR_KEYS_DEDUP,
     .name = "within_watermark",
     .type = MR_KEY_BOOLEAN,
     .otherwise = "false",
     .text = "forget a key when the watermark is past its time and the delay"},

    {.of = MR_KEYS_SINK,
     .name = "format",
     .type = MR_KEY_TEXT,
     .is_needed = true,
     .text = "kind of sink: json, csv, text, kafka, console, noop"},
    {.of = MR_KEYS_SINK, .name = "path", .type = MR_KEY_TEXT, .text = "of a file sink: a folder"},
    {.of = MR_KEYS_SINK,
     .name = "options",
     .type = MR_KEY_OPTIONS,
     .text = "the sink's and its format's options, named as in Spark"},
    {.of = MR_KEYS_SINK,
     .name = "output_mode",
     .type = MR_KEY_CHOICE,
     .otherwise = "append",
     .choices = "append, update, complete",
     .text = "which rows an epoch gives"},
    {.of = MR_KEYS_SINK,
     .name = "partition_by",
     .type = MR_KEY_TEXTS,
     .text = "columns whose values make folders"},

    {.of = MR_KEYS_TRIGGER,
     .name = "processing_time",
     .type = MR_KEY_INTERVAL,
     .text = "an epoch at each multiple of this time"},
    {.of = MR_KEYS_TRIGGER,
     .name = "available_now",
     .type = MR_KEY_BOOLEAN,
     .otherwise = "false",
     .text = "what is there now, in epochs within the sources' limits, then end"},
    {.of = MR_KEYS_TRIGGER,
     .name = "once",
     .type = MR_KEY_BOOLEAN,
     .otherwise = "false",
     .text = "one epoch without limits, then end"},

    {.of = MR_KEYS_ENGINE,
     .name = "workers",
     .type = MR_KEY_WHOLE,
     .otherwise = "one per core",
     .min = 0,
     .max = MR_WORKERS_MAX,
     .text = "threads that do the work; 0: one per core"},
    {.of = MR_KEYS_ENGINE,
     .name = "cpus",
     .type = MR_KEY_TEXT,
     .otherwise = "all",
     .text = "cores that may be used: `0-3,8`"},
    {.of = MR_KEYS_ENGINE,
     .name = "pin",
     .type = MR_KEY_BOOLEAN,
     .otherwise = "true",
     .text = "bind each worker to its core"},
    {.of = MR_KEYS_ENGINE,
     .name = "batch_rows",
     .type = MR_KEY_WHOLE,
     .otherwise = "4096",
     .min = 1,
     .max = MR_BATCH_ROWS_MAX,
     .text = "rows that are worked on at a time, at most"},
    {.of = MR_KEYS_ENGINE,
     .name = "ring_slots",
     .type = MR_KEY_WHOLE,
     .otherwise = "8",
     .min = 2,
     .max = MR_RING_MAX / 2,
     .text = "batches under way between two workers, at most"},
    {.of = MR_KEYS_ENGINE,
     .name = "memory_limit",
     .type = MR_KEY_BYTES,
     .otherwise = "3/4 of the machine's",
     .text = "memory of all queries together: `512m`, `4g`"},
    {.of = MR_KEYS_ENGINE,
     .name = "kernels",
     .type = MR_KEY_CHOICE,
     .otherwise = "the best that the CPU has",
     .choices = "scalar, avx2, avx512",
     .text = "instruction set of the inner loops"},
    {.of = MR_KEYS_ENGINE,
     .name = "io",
     .type = MR_KEY_CHOICE,
     .otherwise = "io_uring where it works",
     .choices = "io_uring, syscalls",
     .text = "how files are written and read"},
    {.of = MR_KEYS_ENGINE,
     .name = "durability",
     .type = MR_KEY_CHOICE,
     .otherwise = "epoch",
     .choices = "epoch, interval, none",
     .text =
         "when the checkpoint is synced: each epoch, each second, when a snapshot is complete or "
         "a file of the log full"},
    {.of = MR_KEYS_ENGINE,
     .name = "stall_seconds",
     .type = MR_KEY_WHOLE,
     .otherwise = "10",
     .min = 0,
     .max = 86400,
     .text = "an epoch that stands still for so long is told of, with what it is at; 0: never"},
};

const uint32_t mr_job_keys_n = sizeof mr_job_keys / sizeof mr_job_keys[0];

static void print_type(const struct mr_job_key *key, struct mr_buffer *out)
{
    static const char *const names[] = {
        [MR_KEY_TEXT] = "text",           [MR_KEY_WHOLE] = "whole number",
        [MR_KEY_BOOLEAN] = "true, false", [MR_KEY_CHOICE] = "",
        [MR_KEY_BYTES] = "bytes",         [MR_KEY_INTERVAL] = "interval",
        [MR_KEY_TEXTS] = "texts",         [MR_KEY_OPTIONS] = "names with values",
        [MR_KEY_ROWS] = "rows",           [MR_KEY_MAP] = "map",
        [MR_KEY_NAMED] = "map by name",   [MR_KEY_LIST] = "list",
    };

    if (key->type == MR_KEY_CHOICE)
        mr_buffer_append_format(out, "%s", key->choices);
    else if (key->type == MR_KEY_WHOLE)
        mr_buffer_append_format(out, "%s, %lld to %lld", names[key->type], (long long)key->min,
                                (long long)key->max);
    else
        mr_buffer_append_format(out, "%s", names[key->type]);
}

void mr_job_keys_print(struct mr_buffer *out)
{
    for (uint32_t g = 0; g < MR_KEY_GROUPS_N; g++) {
        mr_buffer_append_format(out,
                                "## %s\n\n%s\n\n| key | value | default | meaning |\n"
                                "|---|---|---|---|\n",
                                groups[g].title, groups[g].text);
        for (uint32_t i = 0; i < mr_job_keys_n; i++) {
            if (mr_job_keys[i].of != g)
                continue;
            mr_buffer_append_format(out, "| `%s` | ", mr_job_keys[i].name);
            print_type(&mr_job_keys[i], out);
            mr_buffer_append_format(out, " | %s | %s |\n",
                                    mr_job_keys[i].is_needed   ? "needed"
                                    : mr_job_keys[i].otherwise ? mr_job_keys[i].otherwise
                                                               : "",
                                    mr_job_keys[i].text);
        }
        mr_buffer_append_format(out, "\n");
    }
}
