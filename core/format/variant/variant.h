/* variant.h - a value of any type in bytes, in the binary format that Spark and Parquet call
 * Variant.
 *
 * Column   A VARIANT's view holds the dictionary of member names, then the value. A part of a value
 *          is the same dictionary and a slice, so taking it out copies no more than its bytes.
 * Order    Members are sorted by name as Java compares texts; their values stand in the order of
 *          the input.
 * Bytes    Readers never go beyond the bytes given: what points outside reads as null.
 * Limits   MR_VARIANT_BYTES_MAX bytes, JSON_DEPTH_MAX levels.
 */
#pragma once
#include "core/base/zone.h"
#include "core/mem/arena.h"

enum { MR_VARIANT_BYTES_MAX = 128 * 1024 * 1024, MR_VARIANT_DEPTH_MAX = 1000 };

enum mr_variant_kind {
    MR_VARIANT_NULL,
    MR_VARIANT_BOOLEAN,
    MR_VARIANT_INTEGER,
    MR_VARIANT_DECIMAL,
    MR_VARIANT_DOUBLE,
    MR_VARIANT_FLOAT,
    MR_VARIANT_STRING,
    MR_VARIANT_BINARY,
    MR_VARIANT_DATE,
    MR_VARIANT_TIMESTAMP,
    MR_VARIANT_TIMESTAMP_NTZ,
    MR_VARIANT_ARRAY,
    MR_VARIANT_OBJECT,
};

struct mr_variant {
    struct mr_text names, value;
};

struct mr_variant_value { /* decoded, but for what an array or object holds */
    enum mr_variant_kind kind;
    uint32_t members_n; /* ARRAY, OBJECT */
    uint32_t scale;     /* DECIMAL, without zeros at its end */
    union {
        int64_t i64; /* BOOLEAN, INTEGER, dates and times */
        double f64;
        float f32;
        __int128 i128;
        struct mr_text text;
    };
};

/* Of a column's bytes. */
struct mr_variant mr_variant_of(struct mr_text bytes);
struct mr_variant_value mr_variant_read(struct mr_variant v);
/* Of an ARRAY or OBJECT, i < members_n; name may be NULL. */
struct mr_variant mr_variant_member(struct mr_variant v, uint32_t i, struct mr_text *name);
/* Of an OBJECT; false: it has no such member. */
bool mr_variant_find(struct mr_variant v, struct mr_text name, struct mr_variant *out);
/* Appends the bytes for a column. */
void mr_variant_copy(struct mr_variant v, struct mr_buffer *out);
/* Number of digits, at least 1. */
uint32_t mr_variant_precision(__int128 decimal);

/* As to_json writes it. */
void mr_variant_print(struct mr_variant v, const struct mr_zone *zone, struct mr_buffer *out);

struct mr_variant_entry {
    struct mr_text name;
    uint32_t id;
    uint64_t offset; /* of its value, from the first one of its level */
};
struct mr_variant_level {
    bool object;
    uint32_t first; /* its first entry */
    uint64_t start;
};

/* Builds one value after the other; memory is used again. */
struct mr_variant_builder {
    struct mr_arena *arena;
    struct mr_buffer value;
    struct mr_text *names; /* the dictionary, and a table of slots over it: id + 1 */
    uint32_t names_n, names_capacity, *slots, slots_mask;
    uint64_t names_bytes;
    struct mr_variant_entry *entries;
    uint32_t entries_n, entries_capacity;
    struct mr_variant_level *levels;
    uint32_t depth;
    struct mr_variant *walked; /* levels of a variant that is taken over, and where in each */
    uint32_t *next;
    struct mr_text duplicate; /* the name that an object has twice, when close failed */
};

void mr_variant_builder_init(struct mr_variant_builder *b, struct mr_arena *a);
void mr_variant_begin(struct mr_variant_builder *b);
/* One value: of the root, or behind a name or an item. */
void mr_variant_put_null(struct mr_variant_builder *b);
void mr_variant_put_boolean(struct mr_variant_builder *b, bool value);
void mr_variant_put_integer(struct mr_variant_builder *b, int64_t value);
void mr_variant_put_decimal(struct mr_variant_builder *b, __int128 value, uint32_t scale);
void mr_variant_put_double(struct mr_variant_builder *b, double value);
void mr_variant_put_float(struct mr_variant_builder *b, float value);
void mr_variant_put_text(struct mr_variant_builder *b, struct mr_text t);
void mr_variant_put_binary(struct mr_variant_builder *b, struct mr_text t);
/* DATE, TIMESTAMP, TIMESTAMP_NTZ */
void mr_variant_put_time(struct mr_variant_builder *b, enum mr_variant_kind kind, int64_t value);
/* Another variant, its names taken over. */
void mr_variant_put_variant(struct mr_variant_builder *b, struct mr_variant v);
/* False: too deep. */
bool mr_variant_open(struct mr_variant_builder *b, bool object);
void mr_variant_name(struct mr_variant_builder *b, struct mr_text name); /* borrows until finish */
void mr_variant_item(struct mr_variant_builder *b);
bool mr_variant_close(struct mr_variant_builder *b); /* false: a name stands twice */
/* Appends the bytes for a column; false: above MR_VARIANT_BYTES_MAX. */
bool mr_variant_finish(struct mr_variant_builder *b, struct mr_buffer *out);

/* The value at the reader's token, to its end. False: malformed, or a duplicate. */
struct json_reader;
bool mr_variant_read_json(struct mr_variant_builder *b, struct json_reader *r);
