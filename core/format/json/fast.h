/* fast.h - the fast path: one line with one object of known fields, parsed straight into columns.
 *
 * How      The fields of a record mostly come in the order of the record before, with the same
 *          bytes between the values. So each member learned keeps those bytes (comma, blanks, key,
 *          colon): one SIMD compare checks them all, and the value follows. A member that does not
 *          fit is found by name and learned.
 * Checks   Every byte up to the closing brace is validated, also in fields that are not needed.
 *          What is not certain to be taken by Spark (see README.md) makes the line fail: the exact
 *          path decides.
 * Threads  One per decoder. The table of variants is constant.
 */
#pragma once
#include "core/format/heaps.h"
#include "core/format/json/plan.h"
#include "kernels/kernels.h"

enum { JSON_PREFIX_MAX = 64, JSON_MEMBERS_MAX = 256, JSON_LEARN_MAX = 4096 };

/* What to do with a value. Text steps start behind the opening quote: it is part of the prefix. */
enum json_step {
    JSON_SKIP_TEXT,
    JSON_TAKE_STRING,
    JSON_TAKE_TIMESTAMP,
    JSON_SKIP_NUMBER,
    JSON_TAKE_DOUBLE,
    JSON_TAKE_BIGINT,
    JSON_TAKE_INT,
    JSON_TAKE_BOOLEAN,
    JSON_TAKE_OTHER, /* or skip */
    JSON_CLOSED,     /* no member: the end of the object */
};

#define JSON_UNKNOWN UINT32_MAX

struct json_member {
    uint8_t prefix[JSON_PREFIX_MAX]; /* from the end of the value before up to this value */
    uint32_t prefix_n;
    enum json_step step;
    uint32_t field;  /* JSON_UNKNOWN: not needed */
    uint32_t needed; /* 1 if bit is set */
    uint64_t bit;    /* of its field, if that is needed and one of the first 64 */
    void *out;       /* the data of its column */
};

/* Where values of one field go. Rows are zero and valid before a line is parsed. */
struct json_target {
    const struct json_node *node;
    struct mr_column *column;
};

/* The last date seen: events of one time mostly share it. */
struct json_day {
    uint64_t text; /* "2026-01-" */
    uint32_t rest; /* "-02T" */
    int64_t us;
};

struct json_fast {
    const struct json_plan *plan;
    struct json_target *targets; /* plan->root.children_n */
    uint32_t targets_n;
    uint64_t all;        /* bits of the first 64 fields */
    uint32_t all_n;      /* how many they are; with more than 64 no number, so that it fits none */
    uint32_t seen_words; /* for the fields after those, which are rarely so many: slower */
    uint64_t *seen;      /* clear between lines */
    struct json_member *members;
    uint32_t members_n, learned;
    struct mr_heaps *heaps;
    struct json_day day;
    uint32_t gap; /* bytes between a line and the next */
};

struct json_fast_kernels {
    const char *isa;
    /* Parses lines, the first at data + *start, line i ending before the \n or \r at ends[i], into
     * rows from *row on, as long as they fit the fast path; blank ones give no row. Gives how many
     * lines are done and moves *start and *row. The next line, if rows are left, needs the exact
     * path. */
    uint32_t (*lines)(struct json_fast *f, const uint8_t *data, uint32_t *start,
                      const uint32_t *ends, uint32_t n, uint32_t *row, uint32_t rows_max);
};

extern const struct json_fast_kernels json_fast_scalar, json_fast_avx2;
extern const struct json_fast_kernels *const json_fast_variants[]; /* best first, scalar, NULL */
/* The variant that mr_kernels_init chose for the other kernels. */
const struct json_fast_kernels *json_fast_choose(void);

void json_fast_init(struct json_fast *f, const struct json_plan *plan, struct mr_arena *a);
/* columns: one per field of the plan, room for rows; the values of all rows are not null yet. */
void json_fast_begin(struct json_fast *f, struct mr_column *columns, struct mr_heaps *heaps);

/* The slow steps that the variants share; all give NULL when the exact path must decide. */
/* Finds and learns the member at p, which is not *at: gives where its value (for a text step: the
 * text) starts, fills *found, and sets *at to the member before the one to expect next. At the end
 * of the object: gives the brace, and JSON_CLOSED. */
const uint8_t *json_fast_find(struct json_fast *f, const uint8_t *p, bool first,
                              const struct json_member **at, struct json_member *found);
/* Any value, needed or not, of which the specialised code does not know better. */
const uint8_t *json_fast_value(struct json_fast *f, const uint8_t *p, uint32_t field, uint32_t row);
/* Timestamp texts of other than the usual form. */
bool json_fast_timestamp(const struct json_fast *f, const uint8_t *s, uint32_t n, int64_t *us);
bool json_fast_day(struct json_day *day, const uint8_t *s);
/* False: the exact path must do it. */
bool json_fast_null(struct json_fast *f, uint32_t field, uint32_t row);
/* Nulls for the fields that are not there. seen: bits of the first 64, found: how often one of them
 * came. False if one came twice: the last one wins, unless it is bad. */
bool json_fast_missing(struct json_fast *f, uint64_t seen, uint32_t found, uint32_t row);
