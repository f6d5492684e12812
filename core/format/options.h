/* options.h - the options of a format: one table a format, checked before anything is opened.
 *
 * Rules    Names match without case, as in Spark. A name that the table lacks is an error with the
 *          nearest one; so is a value outside its kind.
 */
#pragma once
#include "core/format/format.h"
#include "core/format/pattern.h"

enum mr_option_kind {
    MR_OPTION_TEXT,
    MR_OPTION_BOOLEAN,   /* true, false */
    MR_OPTION_INTEGER,   /* an int */
    MR_OPTION_RATIO,     /* a double above 0 */
    MR_OPTION_CHARACTER, /* at most one character, or its escape */
    MR_OPTION_MODE,      /* PERMISSIVE, DROPMALFORMED, FAILFAST */
    MR_OPTION_ZONE,
    MR_OPTION_PATTERN,  /* of a date or time */
    MR_OPTION_ENCODING, /* UTF-8 */
    MR_OPTION_LOCALE,   /* en and its regions */
    MR_OPTION_QUOTE_HANDLING,
    MR_OPTION_COMPRESSION, /* none, uncompressed: the sink compresses */
};

enum { MR_OPTION_READS = 1, MR_OPTION_WRITES = 2 };

struct mr_option_spec {
    const char *name;
    enum mr_option_kind kind;
    uint32_t use; /* MR_OPTION_READS | MR_OPTION_WRITES */
};

/* specs: sorted by name, ended by a NULL name. */
MR_NODISCARD enum mr_status mr_options_check(const char *format, const struct mr_option_spec *specs,
                                             const struct mr_option *options, uint32_t n,
                                             bool reading, struct mr_error *err);

/* Case does not count. */
bool mr_option_is_known(const struct mr_option_spec *specs, const char *name);

/* For options that were checked. */
bool mr_option_boolean(const struct mr_option *options, uint32_t n, const char *name,
                       bool otherwise);
int64_t mr_option_integer(const struct mr_option *options, uint32_t n, const char *name,
                          int64_t otherwise);
struct mr_text mr_option_text(const struct mr_option *options, uint32_t n, const char *name,
                              struct mr_text otherwise);
/* The zone that the option timeZone names, or otherwise. */
const struct mr_zone *mr_option_zone(const struct mr_option *options, uint32_t n,
                                     const struct mr_zone *otherwise);
/* NULL when the option is not given. */
MR_NODISCARD enum mr_status mr_option_pattern(const struct mr_option *options, uint32_t n,
                                              const char *name, bool parsing, struct mr_arena *a,
                                              const struct mr_pattern **out, struct mr_error *err);

enum mr_mode { MR_MODE_PERMISSIVE, MR_MODE_DROPMALFORMED, MR_MODE_FAILFAST };
enum mr_mode mr_option_mode(const struct mr_option *options, uint32_t n);
