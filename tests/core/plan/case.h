/* case.h - a recorded case as a session: sources, tables, steps, conf. */
#pragma once
#include "core/format/ddl.h"
#include "core/plan/plan.h"
#include "core/sql/parser.h"
#include "tests/core/plan/json_tree.h"
#include <stdio.h>

/* A file of tests/conformance, wherever the test runs. */
static inline const char *case_path(const char *name, struct mr_arena *a)
{
    const char *end = strstr(__FILE__, "core/plan/case.h");

    return mr_arena_format(a, "%.*sconformance/%s", (int)(end - __FILE__), __FILE__, name);
}

static inline struct mr_table case_table(const struct json *j, bool streaming, uint32_t index,
                                         struct mr_arena *a)
{
    const struct json *options = json_get(j, "options");
    const char *format = json_get_text(j, "format");
    struct mr_option *list = MR_NEW_ARRAY(a, struct mr_option, json_count(options) + 1);
    struct mr_table t = {.name = j->name,
                         .streaming = streaming,
                         .index = index,
                         .options = list,
                         .format = format ? format : "json"};
    struct mr_error err = {0};

    for (const struct json *o = options ? options->first : NULL; o != NULL; o = o->next)
        list[t.options_n++] = (struct mr_option){o->name, o->text};
    if (json_get_text(j, "schema") == NULL) {
        t.schema = mr_type_struct(a, (struct mr_field[]){{"value", &mr_type_string, true}}, 1);
        t.schema = mr_type_copy(a, t.schema);
    } else if (mr_ddl_parse_columns(mr_text_of(json_get_text(j, "schema")), a, &t.schema, &err) !=
               MR_OK) {
        fprintf(stderr, "%s: %s\n", j->name, err.message);
        abort();
    }
    return t;
}

static inline struct mr_relation *case_read(const char *name, struct mr_arena *a)
{
    struct mr_relation *r = MR_NEW(a, struct mr_relation);

    r->kind = MR_REL_READ;
    r->name = MR_NEW_ARRAY(a, const char *, 1);
    r->name[0] = name;
    r->name_n = 1;
    return r;
}

static inline struct mr_relation *case_step(const struct json *step, struct mr_arena *a,
                                            struct mr_error *err)
{
    const struct json *watermark = json_get(step, "watermark"), *dedup = json_get(step, "dedup");
    struct mr_relation *r = MR_NEW(a, struct mr_relation);
    const struct json *keys = json_get(dedup, "keys");

    if (json_get_text(step, "sql") != NULL)
        return mr_sql_parse_query(mr_text_of(json_get_text(step, "sql")), a, &r, err) == MR_OK
                   ? r
                   : NULL;
    r->input = case_read(json_get_text(watermark ? watermark : dedup, "input"), a);
    if (watermark != NULL) {
        r->kind = MR_REL_WITH_WATERMARK;
        r->delay = json_get_text(watermark, "delay");
        r->watermark = MR_NEW(a, struct mr_ast);
        r->watermark->kind = MR_AST_NAME;
        r->watermark->parts = MR_NEW_ARRAY(a, const char *, 1);
        r->watermark->parts[0] = json_get_text(watermark, "column");
        r->watermark->parts_n = 1;
        return r;
    }
    r->kind = MR_REL_DEDUPLICATE;
    r->columns = MR_NEW_ARRAY(a, const char *, json_count(keys));
    for (const struct json *k = keys ? keys->first : NULL; k != NULL; k = k->next)
        r->columns[r->columns_n++] = k->text;
    r->within_watermark = json_get_text(dedup, "within_watermark") != NULL &&
                          strcmp(json_get_text(dedup, "within_watermark"), "true") == 0;
    return r;
}

/* The session of a case (in the arena), or NULL with the error of a step's text. */
static inline struct mr_session *case_session(const struct json *c, struct mr_arena *a,
                                              struct mr_error *err)
{
    const struct json *sources = json_get(c, "sources"), *tables = json_get(c, "tables");
    const struct json *steps = json_get(c, "steps"), *conf = json_get(c, "conf");
    struct mr_session *s = MR_NEW(a, struct mr_session);
    struct mr_table *t = MR_NEW_ARRAY(a, struct mr_table, json_count(sources) + json_count(tables));
    struct mr_view_definition *v = MR_NEW_ARRAY(a, struct mr_view_definition, json_count(steps));

    s->arena = a;
    mr_conf_init(&s->conf);
    for (const struct json *x = conf ? conf->first : NULL; x != NULL; x = x->next)
        if (mr_conf_set(&s->conf, x->name, x->text, err) != MR_OK)
            return NULL;
    for (const struct json *x = sources ? sources->first : NULL; x != NULL;
         x = x->next, s->tables_n++)
        t[s->tables_n] = case_table(x, true, s->tables_n, a);
    for (const struct json *x = tables ? tables->first : NULL; x != NULL;
         x = x->next, s->tables_n++)
        t[s->tables_n] = case_table(x, false, s->tables_n, a);
    s->tables = t;
    s->views = v;
    for (const struct json *x = steps ? steps->first : NULL; x != NULL; x = x->next) {
        v[s->views_n].name = json_get_text(x, "as");
        v[s->views_n].relation = case_step(x, a, err);
        if (v[s->views_n++].relation == NULL)
            return NULL;
    }
    return s;
}

static inline enum mr_output_mode case_mode(const char *mode)
{
    return strcmp(mode, "append") == 0   ? MR_APPEND
           : strcmp(mode, "update") == 0 ? MR_UPDATE
                                         : MR_COMPLETE;
}

static inline int case_main(int (*check)(struct mr_arena *a, struct mr_arena *paths))
{
    struct mr_arena a, paths;
    jmp_buf escape;
    int result;

    mr_arena_init(&a, NULL, &escape);
    mr_arena_init(&paths, NULL, &escape);
    if (setjmp(escape))
        abort();
    result = check(&a, &paths);
    mr_arena_fini(&a);
    mr_arena_fini(&paths);
    return result;
}
