/* pattern_item.h - a compiled pattern, for pattern_*.c only.
 *
 * How      A list of items, run from left to right; an optional section is a pair of items that
 *          know each other. Numbers that touch share digits as in java.time: the first of them
 *          leaves to the fixed ones behind it what these need.
 */
#pragma once
#include "core/format/pattern.h"

enum pattern_field {
    FIELD_ERA,
    FIELD_YEAR,        /* with sign, 0 is 1 BC */
    FIELD_YEAR_OF_ERA, /* from 1 */
    FIELD_QUARTER,
    FIELD_MONTH,
    FIELD_DAY,
    FIELD_DAY_OF_YEAR,
    FIELD_WEEKDAY,         /* 1: Monday */
    FIELD_ALIGNED_WEEKDAY, /* F, 1-7: as if the month began on a Monday (Java 17) */
    FIELD_AMPM,            /* 0: AM */
    FIELD_HOUR,            /* H 0-23 */
    FIELD_CLOCK_HOUR,      /* k 1-24 */
    FIELD_HALF_HOUR,       /* K 0-11 */
    FIELD_CLOCK_HALF_HOUR, /* h 1-12 */
    FIELD_MINUTE,
    FIELD_SECOND,
    FIELD_NANO,
    FIELD_OFFSET, /* seconds */
    FIELDS_N
};

enum pattern_kind {
    ITEM_LITERAL,
    ITEM_NUMBER,
    ITEM_TWO_DIGIT_YEAR, /* 2000 to 2099 */
    ITEM_FRACTION,
    ITEM_SHORT_TEXT,
    ITEM_FULL_TEXT,
    ITEM_OFFSET,
    ITEM_SHORT_GMT_OFFSET, /* GMT+8 */
    ITEM_FULL_GMT_OFFSET,  /* GMT+08:00 */
    ITEM_ZONE_ID,
    ITEM_ZONE_NAME,
    ITEM_OPTIONAL_BEGIN,
    ITEM_OPTIONAL_END,
};

/* Which signs a number takes, and whether it is padded: java.time.format.SignStyle. */
enum pattern_sign { SIGN_NORMAL, SIGN_NOT_NEGATIVE, SIGN_EXCEEDS_PAD };

/* Which parts of an offset are there, and with colons. */
enum pattern_offset {
    OFFSET_HHmm, /* minutes when not 0 */
    OFFSET_HHMM,
    OFFSET_HH_MM,  /* with colons */
    OFFSET_HHMMss, /* seconds when not 0 */
    OFFSET_HH_MM_ss,
};

struct pattern_item {
    enum pattern_kind kind;
    enum pattern_field field;
    enum pattern_sign sign;
    uint32_t min, max;    /* digits */
    int32_t later_digits; /* digits that fixed numbers right behind need; -1: fixed itself */
    enum pattern_offset offset;
    const char *zero; /* text of the offset 0 */
    struct mr_text literal;
    uint32_t partner; /* OPTIONAL_BEGIN: index of its end */
};

enum { PATTERN_ITEMS_MAX = 128, PATTERN_OPTIONAL_MAX = 16, PATTERN_BYTES_MAX = 1024 };

struct mr_pattern {
    struct pattern_item *items;
    uint32_t items_n;
    uint32_t bytes_max; /* of what it prints */
};

/* The names of a field in English, index from 0; how many. */
const char *const *mr_pattern_names(enum pattern_field field, bool full, uint32_t *n);
