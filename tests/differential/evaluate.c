/* evaluate.c - many expressions in one process: see run.py, which calls it.
 *
 * Input    Lines of fields between tabs. "row TABLE SELECT": a row of a table, from constants.
 *          "expr ID TABLE ANSI ZONE SQL": an expression over the rows of a table.
 * Output   "ID type TYPE", then "ID ROW JSON" or "ID ROW !CONDITION" for each row; or "ID error
 *          CONDITION" where the analyzer refuses it.
 * Rows     All at once; where one raises an error, each alone.
 */
#include "core/base/check.h"
#include "core/batch/builder.h"
#include "core/mem/arena.h"
#include "core/plan/plan.h"
#include "core/sql/parser.h"
#include "kernels/kernels.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES_MAX = 64, ROWS_MAX = 64, COLUMNS_MAX = 64, FIELDS_MAX = 6 };

struct table {
    char name[16];
    const struct mr_type *schema;
    struct mr_builder builders[COLUMNS_MAX];
    struct mr_column columns[COLUMNS_MAX];
    struct mr_batch batch;
    bool is_finished;
};

struct evaluation {
    struct mr_arena tables_arena, arena;
    jmp_buf tables_escape, escape;
    struct table tables[TABLES_MAX];
    uint32_t tables_n;
    struct mr_session session;
    struct mr_error err;
};

static struct table *find_table(struct evaluation *e, const char *name)
{
    for (uint32_t i = 0; i < e->tables_n; i++)
        if (strcmp(e->tables[i].name, name) == 0)
            return &e->tables[i];
    MR_ASSERT(e->tables_n < TABLES_MAX && strlen(name) < sizeof e->tables->name);
    struct table *t = &e->tables[e->tables_n++];
    strcpy(t->name, name);
    return t;
}

/* The node that gives the result of a query; NULL: an error. */
static const struct mr_node *plan(struct evaluation *e, const char *sql)
{
    struct mr_plan_request request = {.mode = MR_COMPLETE, .workers = 1};
    struct mr_physical_plan *out;
    struct mr_plan_texts texts = {0};
    struct mr_relation *relation;

    if (mr_sql_parse_query(mr_text_of(sql), &e->arena, &relation, &e->err) != MR_OK)
        return NULL;
    request.relation = relation;
    if (mr_plan_query(&e->session, &request, &out, &texts, &e->err) != MR_OK)
        return NULL;
    return out->root->children[0];
}

static void begin(struct evaluation *e, bool ansi, const char *zone)
{
    mr_arena_reset(&e->arena);
    e->err = (struct mr_error){0};
    e->session = (struct mr_session){.arena = &e->arena, .now_us = INT64_C(1767323045000000)};
    mr_conf_init(&e->session.conf);
    e->session.conf.ansi = ansi;
    MR_ASSERT(mr_conf_set(&e->session.conf, "spark.sql.session.timeZone", zone, &e->err) == MR_OK);
}

static struct mr_eval_context context_of(const struct evaluation *e)
{
    return (struct mr_eval_context){
        .zone = e->session.conf.zone, .ansi = e->session.conf.ansi, .now_us = e->session.now_us};
}

static void fail(const struct evaluation *e, const char *what)
{
    fprintf(stderr, "evaluate: %s: [%s] %s\n", what, e->err.condition, e->err.message);
    exit(2);
}

static void add_row(struct evaluation *e, struct table *t, const char *select)
{
    struct mr_batch one = {.rows = 1, .n = 1};
    struct mr_eval_context context;
    struct mr_eval *eval;

    begin(e, true, "UTC");
    const struct mr_node *node = plan(e, select);
    if (node == NULL || node->kind != MR_NODE_PROJECT)
        fail(e, select);
    MR_ASSERT(node->exprs_n <= COLUMNS_MAX && t->batch.rows < ROWS_MAX);
    if (t->schema == NULL) {
        t->schema = mr_type_copy(&e->tables_arena, node->output);
        t->batch.columns = t->columns;
        t->batch.columns_n = node->exprs_n;
        for (uint32_t i = 0; i < node->exprs_n; i++)
            mr_builder_init(&t->builders[i], t->schema->fields[i].type, ROWS_MAX, &e->tables_arena);
    }
    if (mr_eval_open(node->exprs, node->exprs_n, 1, &e->arena, &eval, &e->err) != MR_OK)
        fail(e, select);
    context = context_of(e);
    mr_eval_reset(eval, &context);
    for (uint32_t i = 0; i < node->exprs_n; i++) {
        struct mr_column c;
        if (mr_eval(eval, i, &one, &c, &e->err) != MR_OK)
            fail(e, select);
        mr_builder_append(&t->builders[i], &c, 0);
    }
    mr_eval_close(eval);
    t->batch.n = ++t->batch.rows;
}

static void print_row(const char *id, const struct mr_column *c, uint32_t row)
{
    struct mr_text text = mr_column_text(c, row);

    printf("%s\t%u\t%.*s\n", id, row, (int)text.n, text.data);
}

static void run_rows(struct evaluation *e, const char *id, const struct mr_node *node,
                     const struct mr_batch *in)
{
    struct mr_eval_context context = context_of(e);
    struct mr_eval *eval;
    struct mr_column c;

    if (mr_eval_open(node->exprs, 1, ROWS_MAX, &e->arena, &eval, &e->err) != MR_OK) {
        printf("%s\terror\t%s\n", id, e->err.condition);
        return;
    }
    mr_eval_reset(eval, &context);
    bool all = mr_eval(eval, 0, in, &c, &e->err) == MR_OK;
    for (uint32_t i = 0; i < in->rows; i++) {
        struct mr_batch one = *in;
        one.sel = &i;
        one.n = 1;
        e->err = (struct mr_error){0};
        if (!all)
            mr_eval_reset(eval, &context);
        if (!all && mr_eval(eval, 0, &one, &c, &e->err) != MR_OK)
            printf("%s\t%u\t!%s\n", id, i, e->err.condition);
        else
            print_row(id, &c, i);
    }
    mr_eval_close(eval);
}

static void run_expression(struct evaluation *e, char *const *field)
{
    struct table *t = find_table(e, field[2]);
    struct mr_column columns[COLUMNS_MAX];
    const char *sql;

    begin(e, field[3][0] == '1', field[4]);
    struct mr_table source = {.name = "t", .format = "memory", .schema = t->schema};
    e->session.tables = &source;
    e->session.tables_n = 1;
    sql = mr_arena_format(&e->arena, "SELECT %s AS v FROM t", field[5]);
    const struct mr_node *node = plan(e, sql);
    if (node == NULL) {
        printf("%s\terror\t%s\n", field[1], e->err.condition);
        return;
    }
    MR_ASSERT(node->kind == MR_NODE_PROJECT && node->exprs_n == 1);
    MR_ASSERT(node->children[0]->kind == MR_NODE_SOURCE);
    const struct mr_type *in = node->children[0]->output;
    for (uint32_t i = 0; i < in->fields_n; i++)
        for (uint32_t k = 0; k < t->schema->fields_n; k++)
            if (strcmp(in->fields[i].name, t->schema->fields[k].name) == 0)
                columns[i] = t->columns[k];
    struct mr_batch batch = {
        .columns = columns, .columns_n = in->fields_n, .rows = t->batch.rows, .n = t->batch.rows};
    run_rows(e, field[1], node, &batch);
}

static void run_line(struct evaluation *e, char *line)
{
    char *field[FIELDS_MAX] = {0}, *rest = line;
    uint32_t n = 0;

    while (n < FIELDS_MAX && rest != NULL)
        field[n++] = strsep(&rest, "\t");
    if (n == 3 && strcmp(field[0], "row") == 0) {
        add_row(e, find_table(e, field[1]), field[2]);
        return;
    }
    MR_ASSERT(n == FIELDS_MAX && strcmp(field[0], "expr") == 0);
    struct table *t = find_table(e, field[2]);
    for (uint32_t i = 0; !t->is_finished && i < t->batch.columns_n; i++)
        mr_builder_finish(&t->builders[i], &t->columns[i]);
    t->is_finished = true;
    run_expression(e, field);
}

int main(void)
{
    static struct evaluation e;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n;

    mr_arena_init(&e.tables_arena, NULL, &e.tables_escape);
    mr_arena_init(&e.arena, NULL, &e.escape);
    if (setjmp(e.tables_escape) || setjmp(e.escape)) {
        fprintf(stderr, "evaluate: no memory\n");
        return 1;
    }
    if (mr_kernels_init(NULL, &e.err) != MR_OK)
        fail(&e, "kernels");
    while ((n = getline(&line, &capacity, stdin)) > 0) {
        line[n - 1] = '\0';
        run_line(&e, line);
        fflush(stdout); /* what comes before a crash is not lost */
    }
    free(line);
    mr_arena_fini(&e.arena);
    mr_arena_fini(&e.tables_arena);
    return 0;
}
