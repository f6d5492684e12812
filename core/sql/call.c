/* call.c - function calls: plain ones, those with a syntax of their own, and what may follow:
 * WITHIN GROUP, FILTER, IGNORE NULLS, OVER. */
#include "core/sql/parse.h"

static const char *const units[] = {"YEAR",   "QUARTER",     "MONTH",       "WEEK",
                                    "DAY",    "DAYOFYEAR",   "HOUR",        "MINUTE",
                                    "SECOND", "MILLISECOND", "MICROSECOND", NULL};

static bool is_in(const char *name, const char *const *names)
{
    for (uint32_t i = 0; names[i]; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(name), mr_text_of(names[i])))
            return true;
    return false;
}

static const char *upper_copy(struct mr_parser *p, const char *s)
{
    char *copy = mr_arena_copy(p->arena, s, strlen(s));

    for (char *c = copy; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - ('a' - 'A'));
    return copy;
}

static struct mr_ast *text_node(struct mr_parser *p, struct mr_place place, const char *s)
{
    return mr_parse_literal_text(p, place, mr_text_of(s));
}

/* EXTRACT(field FROM x) */
static void parse_extract(struct mr_parser *p, struct mr_ast_list *args)
{
    struct mr_place place = mr_parse_place(p);

    mr_ast_list_push(p, args, text_node(p, place, mr_parse_name(p)));
    mr_parse_expect_word(p, "FROM");
    mr_ast_list_push(p, args, mr_parse_value(p));
}

/* TRIM([BOTH | LEADING | TRAILING] [characters] FROM x), or plain arguments. Gives the function's
 * name. */
static const char *parse_trim(struct mr_parser *p, const char *name, struct mr_ast_list *args)
{
    static const char *const sides[] = {"BOTH", "LEADING", "TRAILING", NULL};

    if (mr_parse_is_word_in(p, 0, sides) && !mr_parse_is_symbol(p, 1, ")") &&
        !mr_parse_is_symbol(p, 1, ",")) {
        name = mr_parse_is_word(p, 0, "LEADING")    ? "ltrim"
               : mr_parse_is_word(p, 0, "TRAILING") ? "rtrim"
                                                    : "trim";
        mr_parse_next(p);
        if (!mr_parse_is_word(p, 0, "FROM"))
            mr_ast_list_push(p, args, mr_parse_value(p));
        mr_parse_expect_word(p, "FROM");
        mr_ast_list_push(p, args, mr_parse_value(p));
        return name;
    }
    mr_ast_list_push(p, args, mr_parse_value(p));
    if (mr_parse_take_word(p, "FROM"))
        mr_ast_list_push(p, args, mr_parse_value(p));
    return name;
}

/* OVERLAY(x PLACING y FROM p [FOR n]), SUBSTRING(x FROM p [FOR n]), POSITION(a IN b): the first
 * argument was read. */
static void parse_worded_arguments(struct mr_parser *p, const char *name, struct mr_ast_list *args)
{
    bool is_overlay = is_in(name, (const char *const[]){"OVERLAY", NULL});

    if (is_in(name, (const char *const[]){"POSITION", NULL})) {
        if (mr_parse_take_word(p, "IN"))
            mr_ast_list_push(p, args, mr_parse_value(p));
        return;
    }
    if (is_overlay && mr_parse_take_word(p, "PLACING"))
        mr_ast_list_push(p, args, mr_parse_value(p));
    if (mr_parse_take_word(p, "FROM")) {
        mr_ast_list_push(p, args, mr_parse_value(p));
        if (mr_parse_take_word(p, "FOR"))
            mr_ast_list_push(p, args, mr_parse_value(p));
    }
}

static struct mr_ast *parse_argument(struct mr_parser *p)
{
    struct mr_place place = mr_parse_place(p);

    if (!mr_parse_is_name(p, 0) || !mr_parse_is_symbol(p, 1, "=>"))
        return mr_parse_expression(p);
    struct mr_ast *x = mr_parse_node(p, MR_AST_PARAMETER, place);
    x->name = mr_parse_name(p);
    mr_parse_expect_symbol(p, "=>");
    x->args = MR_NEW_ARRAY(p->arena, struct mr_ast *, 1);
    x->args[0] = mr_parse_expression(p);
    x->args_n = 1;
    return mr_parse_finish(p, x);
}

static bool take_nulls_option(struct mr_parser *p, bool *ignore)
{
    if (mr_parse_take_words(p, "IGNORE", "NULLS"))
        *ignore = true;
    else if (!mr_parse_take_words(p, "RESPECT", "NULLS"))
        return false;
    return true;
}

/* Gives the name of the function that the syntax stands for. */
static const char *parse_arguments(struct mr_parser *p, const char *name, bool is_plain,
                                   struct mr_ast *call, struct mr_ast_list *args)
{
    static const char *const worded[] = {"POSITION", "SUBSTRING", "SUBSTR", "OVERLAY", NULL};

    if (is_plain && is_in(name, (const char *const[]){"EXTRACT", NULL}) && mr_parse_is_name(p, 0) &&
        mr_parse_is_word(p, 1, "FROM")) {
        parse_extract(p, args);
    } else if (is_plain && is_in(name, (const char *const[]){"TRIM", NULL})) {
        name = parse_trim(p, name, args);
    } else if (is_plain && is_in(name, worded) && !mr_parse_is_symbol(p, 1, "=>")) {
        mr_ast_list_push(p, args, mr_parse_value(p));
        parse_worded_arguments(p, name, args);
    } else if (is_plain && is_in(name, (const char *const[]){"STRUCT", NULL})) {
        mr_ast_list_push(p, args, mr_parse_named_expression(p));
        while (mr_parse_take_symbol(p, ","))
            mr_ast_list_push(p, args, mr_parse_named_expression(p));
        return name;
    } else {
        call->distinct = mr_parse_take_word(p, "DISTINCT");
        if (!call->distinct && !mr_parse_is_symbol(p, 1, ")") && !mr_parse_is_symbol(p, 1, ","))
            mr_parse_take_word(p, "ALL");
        mr_ast_list_push(p, args, parse_argument(p));
    }
    while (mr_parse_take_symbol(p, ","))
        mr_ast_list_push(p, args, parse_argument(p));
    take_nulls_option(p, &call->ignore_nulls);
    return name;
}

static bool is_unit(const struct mr_ast *x)
{
    return x->kind == MR_AST_NAME && x->parts_n == 1 && is_in(x->parts[0], units);
}

/* TIMESTAMPADD(unit, n, t) and its like: the unit is a word, the function is told by three
 * arguments. */
static const char *resolve_unit(struct mr_parser *p, const struct mr_token *at, const char *name,
                                struct mr_ast_list *args)
{
    static const char *const adds[] = {"TIMESTAMPADD", "DATEADD", "DATE_ADD", NULL};
    static const char *const diffs[] = {"TIMESTAMPDIFF", "DATEDIFF", "DATE_DIFF", "TIMEDIFF", NULL};
    bool is_add = is_in(name, adds);

    if (args->n != 3 || !(is_add || is_in(name, diffs)))
        return name;
    struct mr_ast *unit = args->items[0];
    if (is_unit(unit))
        args->items[0] = text_node(p, unit->place, upper_copy(p, unit->parts[0]));
    else if (unit->kind == MR_AST_LITERAL && unit->literal->type->kind == MR_STRING)
        mr_parse_fail_with(
            p, at, "INVALID_PARAMETER_VALUE.DATETIME_UNIT",
            "The value of parameter(s) `unit` in `%s` is invalid: expects one of the "
            "units without quotes YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFYEAR, HOUR, "
            "MINUTE, SECOND, MILLISECOND, MICROSECOND, but got the string literal "
            "%s.",
            name, unit->name);
    else
        return name;
    return is_add ? "timestampadd" : "timestampdiff";
}

static const char *frame_text(struct mr_parser *p)
{
    const struct mr_token *first = mr_parse_peek(p, 0), *last = first;

    for (uint32_t open = 0; mr_parse_peek(p, 0)->kind != MR_TOKEN_END;) {
        if (mr_parse_is_symbol(p, 0, ")") && open-- == 0)
            break;
        open += mr_parse_is_symbol(p, 0, "(");
        last = mr_parse_next(p);
    }
    uint64_t end = last->offset + last->text.n;
    return mr_arena_copy(p->arena, p->sql.data + first->offset, end - first->offset);
}

static void push_window(struct mr_parser *p, struct mr_window_spec *spec)
{
    if (p->windows_n == p->windows_capacity) {
        uint32_t capacity = p->windows_capacity ? p->windows_capacity * 2 : 4;
        struct mr_window_spec **windows = MR_NEW_ARRAY(p->arena, struct mr_window_spec *, capacity);
        if (p->windows_n)
            memcpy(windows, p->windows, sizeof *windows * p->windows_n);
        p->windows = windows;
        p->windows_capacity = capacity;
    }
    p->windows[p->windows_n++] = spec;
}

struct mr_window_spec *mr_parse_window_spec(struct mr_parser *p)
{
    struct mr_window_spec *spec = MR_NEW(p->arena, struct mr_window_spec);
    struct mr_ast_list partition = {0}, order = {0};

    bool is_reference = mr_parse_is_name(p, 0);
    if (is_reference || (mr_parse_is_name(p, 1) && mr_parse_is_symbol(p, 2, ")"))) {
        if (!is_reference)
            mr_parse_expect_symbol(p, "(");
        spec->name = mr_parse_name(p);
        if (!is_reference)
            mr_parse_expect_symbol(p, ")");
        push_window(p, spec);
        return spec;
    }
    mr_parse_expect_symbol(p, "(");
    if (mr_parse_take_words(p, "PARTITION", "BY") || mr_parse_take_words(p, "DISTRIBUTE", "BY") ||
        mr_parse_take_words(p, "CLUSTER", "BY"))
        mr_parse_expressions(p, &partition);
    if (mr_parse_take_words(p, "ORDER", "BY") || mr_parse_take_words(p, "SORT", "BY"))
        mr_parse_sort_items(p, &order);
    if (mr_parse_is_word(p, 0, "ROWS") || mr_parse_is_word(p, 0, "RANGE"))
        spec->frame = frame_text(p);
    mr_parse_expect_symbol(p, ")");
    spec->partition = partition.items;
    spec->partition_n = partition.n;
    spec->order = order.items;
    spec->order_n = order.n;
    return spec;
}

static void parse_suffixes(struct mr_parser *p, struct mr_ast *call)
{
    if (mr_parse_is_word(p, 0, "WITHIN") && mr_parse_is_word(p, 1, "GROUP")) {
        struct mr_ast_list within = {0};
        mr_parse_take_words(p, "WITHIN", "GROUP");
        mr_parse_expect_symbol(p, "(");
        mr_parse_expect_word(p, "ORDER");
        mr_parse_expect_word(p, "BY");
        mr_parse_sort_items(p, &within);
        mr_parse_expect_symbol(p, ")");
        call->within = within.items;
        call->within_n = within.n;
    }
    if (mr_parse_is_symbol(p, 1, "(") && mr_parse_take_word(p, "FILTER")) {
        mr_parse_expect_symbol(p, "(");
        mr_parse_expect_word(p, "WHERE");
        call->filter = mr_parse_expression(p);
        mr_parse_expect_symbol(p, ")");
    }
    take_nulls_option(p, &call->ignore_nulls);
    if (mr_parse_take_word(p, "OVER"))
        call->over = mr_parse_window_spec(p);
}

static const char *join_parts(struct mr_parser *p, const struct mr_name_list *parts)
{
    const char *name = parts->items[0];

    for (uint32_t i = 1; i < parts->n; i++)
        name = mr_arena_format(p->arena, "%s.%s", name, parts->items[i]);
    return name;
}

struct mr_ast *mr_parse_call(struct mr_parser *p, const struct mr_token *first,
                             const struct mr_name_list *parts, bool is_quoted)
{
    struct mr_ast *call = mr_parse_node(p, MR_AST_CALL, mr_place_of(first));
    struct mr_ast_list args = {0};
    const char *name = join_parts(p, parts);

    mr_parse_expect_symbol(p, "(");
    if (!mr_parse_is_symbol(p, 0, ")"))
        name = parse_arguments(p, name, !is_quoted && parts->n == 1, call, &args);
    mr_parse_expect_symbol(p, ")");
    if (parts->n == 1)
        name = resolve_unit(p, first, name, &args);
    call->name = name;
    call->args = args.items;
    call->args_n = args.n;
    parse_suffixes(p, call);
    return mr_parse_finish(p, call);
}
