/* path.c - v:name[0]['x']: a part of a variant, which becomes variant_get(v, '$.name[0][\'x\']') AS
 * x: the last name of the path names it. */
#include "core/sql/parse.h"

/* Gives the name between quotes, or NULL. */
static const char *parse_bracket(struct mr_parser *p, struct mr_buffer *path)
{
    const struct mr_token *t;
    const char *name = NULL;

    mr_parse_expect_symbol(p, "[");
    t = mr_parse_peek(p, 0);
    if (t->kind == MR_TOKEN_STRING) {
        struct mr_text value = {t->text.data + 1, t->text.n - 2}; /* escapes stay, as in Spark */
        if (t->text.data[0] == 'r' || t->text.data[0] == 'R')
            value = mr_sql_unquote_string(t->text, p->arena);
        name = mr_arena_copy(p->arena, value.data, value.n);
        const char quote = strchr(name, '\'') ? '"' : '\''; /* paths know no escapes */
        mr_buffer_append_format(path, "[%c%s%c]", quote, name, quote);
    } else {
        if (t->kind != MR_TOKEN_INTEGER)
            mr_parse_fail(p, "a name between quotes or a number");
        mr_buffer_append_format(path, "[%.*s]", (int)t->text.n, t->text.data);
    }
    mr_parse_next(p);
    mr_parse_expect_symbol(p, "]");
    return name;
}

struct mr_ast *mr_parse_variant_path(struct mr_parser *p, struct mr_ast *x)
{
    struct mr_place place = mr_parse_place(p);
    bool is_name = !mr_parse_is_symbol(p, 0, "[");
    struct mr_name_list names = {0};
    struct mr_buffer path;

    mr_buffer_init(&path, p->arena);
    mr_buffer_append(&path, "$", 1);
    do {
        const char *name;
        if (is_name) {
            name = mr_parse_name(p);
            mr_buffer_append(&path, ".", 1);
            mr_buffer_append_text(&path, mr_text_of(name));
        } else {
            name = parse_bracket(p, &path);
        }
        if (name) {
            names.n = 0;
            mr_name_list_push(p, &names, name);
        }
        is_name = mr_parse_take_symbol(p, ".");
    } while (!p->failed && (is_name || mr_parse_is_symbol(p, 0, "[")));
    x = mr_parse_call_2(p, x->place, "variant_get", x,
                        mr_parse_literal_text(p, place, mr_buffer_text(&path)));
    return names.n ? mr_parse_alias_node(p, x, &names) : x;
}
