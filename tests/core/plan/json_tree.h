/* json_tree.h - JSON text as a tree, for tests that read recorded cases. Escapes other than \uXXXX
 * of ASCII and the usual letters are kept as they are. */
#pragma once
#include "core/mem/arena.h"
#include <assert.h>
#include <stdlib.h>

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_kind kind;
    const char *name; /* in an object */
    const char *text; /* TEXT, NUMBER; "true" */
    struct json *first, *next;
};

struct json_reader {
    const char *at, *end;
    struct mr_arena *arena;
};

static inline void json_blank(struct json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

static inline const char *json_text(struct json_reader *r)
{
    struct mr_buffer b;

    assert(*r->at == '"');
    mr_buffer_init(&b, r->arena);
    for (r->at++; *r->at != '"'; r->at++) {
        char c = *r->at;

        if (c == '\\') {
            r->at++;
            c = *r->at == 'n' ? '\n' : *r->at == 't' ? '\t' : *r->at;
            if (c == 'u') {
                char hex[5] = {r->at[1], r->at[2], r->at[3], r->at[4], 0};
                c = (char)strtol(hex, NULL, 16);
                r->at += 4;
            }
        }
        mr_buffer_append(&b, &c, 1);
    }
    r->at++;
    return mr_arena_copy(r->arena, b.data, b.n);
}

static inline struct json *json_value(struct json_reader *r)
{
    struct json *v = MR_NEW(r->arena, struct json), **last = &v->first;
    char open;

    json_blank(r);
    open = *r->at;
    if (open == '"') {
        v->kind = JSON_TEXT;
        v->text = json_text(r);
    } else if (open == '{' || open == '[') {
        char close = open == '{' ? '}' : ']';

        v->kind = open == '{' ? JSON_OBJECT : JSON_ARRAY;
        r->at++;
        for (json_blank(r); *r->at != close; json_blank(r)) {
            const char *name = NULL;

            if (*r->at == ',') {
                r->at++;
                json_blank(r);
            }
            if (open == '{') {
                name = json_text(r);
                json_blank(r);
                r->at++; /* the colon */
            }
            *last = json_value(r);
            (*last)->name = name;
            last = &(*last)->next;
        }
        r->at++;
    } else {
        const char *from = r->at;

        while (r->at < r->end && strchr(",]} \n", *r->at) == NULL)
            r->at++;
        v->text = mr_arena_copy(r->arena, from, (size_t)(r->at - from));
        v->kind = *from == 'n' ? JSON_NULL : *from == 't' || *from == 'f' ? JSON_BOOL : JSON_NUMBER;
    }
    return v;
}

static inline const struct json *json_get(const struct json *v, const char *name)
{
    if (v == NULL || v->kind != JSON_OBJECT)
        return NULL;
    for (v = v->first; v != NULL; v = v->next)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

static inline const char *json_get_text(const struct json *v, const char *name)
{
    const struct json *x = json_get(v, name);

    return x != NULL ? x->text : NULL;
}

static inline uint32_t json_count(const struct json *v)
{
    uint32_t n = 0;

    for (v = v != NULL ? v->first : NULL; v != NULL; v = v->next)
        n++;
    return n;
}
