/* job_yaml.h - a YAML file as a tree in which everything knows where it stood.
 *
 * How      libyaml's events, one document, no anchors. JSON is YAML.
 * Owner    The tree lies in the arena.
 * Errors   MR_USER with file, line and column.
 */
#pragma once
#include "core/expr/expr.h"

enum mr_yaml_kind { MR_YAML_SCALAR, MR_YAML_LIST, MR_YAML_MAP };

enum mr_yaml_style {
    MR_YAML_PLAIN, /* only such a scalar may be null */
    MR_YAML_SINGLE,
    MR_YAML_DOUBLE,
    MR_YAML_LITERAL,
    MR_YAML_FOLDED
};

struct mr_yaml {
    enum mr_yaml_kind kind;
    struct mr_place place;
    /* SCALAR */
    struct mr_text text; /* NUL-ended */
    enum mr_yaml_style style;
    bool is_resolved; /* ${..} or $${ was in it: not the file's text */
    bool is_secret;   /* the former: never shown */
    /* LIST, MAP */
    struct mr_yaml **items; /* LIST: the items. MAP: the values */
    struct mr_yaml **keys;  /* MAP: scalars, no two alike */
    uint32_t n;
};

struct mr_yaml_file {
    const char *path;
    struct mr_text text;
    struct mr_arena *arena;
    struct mr_yaml *root;
    const char **secrets; /* values that ${..} stood for, of 4 bytes or more */
    uint32_t secrets_n, secrets_capacity;
};

/* Reads the file and resolves ${env:NAME} and ${file:path}; "$${" stands for "${". */
MR_NODISCARD enum mr_status mr_yaml_read(const char *path, struct mr_arena *a,
                                         struct mr_yaml_file *out, struct mr_error *err);
/* The same for text in memory; path is for errors. */
MR_NODISCARD enum mr_status mr_yaml_parse(struct mr_text text, const char *path, struct mr_arena *a,
                                          struct mr_yaml_file *out, struct mr_error *err);
/* The value of a map's key, or NULL; map may be NULL. */
const struct mr_yaml *mr_yaml_get(const struct mr_yaml *map, const char *key);
bool mr_yaml_is_null(const struct mr_yaml *node); /* null, ~ or nothing, without quotes */
const char *mr_yaml_kind_name(const struct mr_yaml *node);

/* Fails with the file and the place of node. */
enum mr_status mr_yaml_fail(const struct mr_yaml_file *file, const struct mr_yaml *node,
                            struct mr_error *err, const char *format, ...) MR_PRINTF(4, 5);

/* job_secret.c: secrets in a text, in an error, become "***". */
struct mr_text mr_secrets_hide(const char *const *secrets, uint32_t secrets_n, struct mr_text text,
                               struct mr_arena *a);
void mr_yaml_hide_secrets(const struct mr_yaml_file *file, struct mr_error *err);
/* Resolves ${..} in a scalar. */
MR_NODISCARD enum mr_status mr_yaml_resolve(struct mr_yaml_file *file, struct mr_yaml *scalar,
                                            struct mr_error *err);
/* job_place.c: where each byte of a scalar's text stood, and its end: places[0..text.n]. */
const struct mr_place *mr_yaml_places(const struct mr_yaml_file *file,
                                      const struct mr_yaml *scalar);
/* A whole file, NUL-ended, at most bytes_max. */
MR_NODISCARD enum mr_status mr_yaml_read_file(const char *path, uint64_t bytes_max,
                                              struct mr_arena *a, struct mr_text *out,
                                              struct mr_error *err);
