/* expr_loop.c - one SQL expression after the other over a table in memory, for `millrace bench
 * expr`.
 *
 * Input    Lines of fields between tabs. "table ROWS SELECT": the table t, from the column id (0,
 *          1, ..) of the table ids. "run EXPRESSION": over t, once.
 * Output   For each line "SECONDS ROWS VALUES SUM": seconds of the operator that evaluates it
 *          alone; rows of the result, those that are not null, and a sum over them (see value_of).
 *          Or "! why".
 */
#include "core/base/check.h"
#include "core/op/operators.h"
#include "core/plan/plan.h"
#include "core/sql/parser.h"
#include "kernels/kernels.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH_ROWS = 4096, OPERATORS_MAX = 8 };

struct loop {
    jmp_buf escape;
    struct mr_arena table_arena, arena, scratch[OPERATORS_MAX];
    const struct mr_type *schema;
    struct mr_batch *batches;
    uint32_t batches_n;
    struct mr_session session;
    struct mr_epoch epoch;
    struct mr_eval_context eval;
    struct mr_error err;
    uint64_t touched; /* so that reading is not left out */
};

struct chain { /* operators from the source up; the first one is timed */
    struct loop *loop;
    const struct mr_operator_ops *ops[OPERATORS_MAX];
    struct mr_ctx ctx[OPERATORS_MAX];
    uint32_t n;
    double seconds;
    void (*take)(struct chain *c, const struct mr_batch *out);
    uint64_t rows, values;
    double sum;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What is summed up: numbers, the bytes of texts, the elements of lists, microseconds, days. */
static double value_of(const struct mr_column *c, uint32_t row)
{
    switch (c->type->kind) {
    case MR_BOOLEAN:
        return mr_bit_get(c->bits, row);
    case MR_TINYINT:
        return c->i8[row];
    case MR_SMALLINT:
        return c->i16[row];
    case MR_INT:
    case MR_DATE:
        return c->i32[row];
    case MR_BIGINT:
    case MR_TIMESTAMP:
        return (double)c->i64[row];
    case MR_FLOAT:
        return (double)c->f32[row];
    case MR_DOUBLE:
        return c->f64[row];
    case MR_DECIMAL:
        return (double)c->i128[row];
    case MR_STRING:
    case MR_BINARY:
        return (double)mr_column_text(c, row).n;
    case MR_ARRAY:
    case MR_MAP:
        return c->offsets[row + 1] - c->offsets[row];
    default:
        return 0;
    }
}

static void take_sum(struct chain *c, const struct mr_batch *out)
{
    c->rows += out->n;
    for (uint32_t i = 0; i < out->n; i++) {
        uint32_t row = mr_batch_row(out, i);
        if (mr_column_is_null(&out->columns[0], row))
            continue;
        c->values++;
        c->sum += value_of(&out->columns[0], row);
    }
}

static void take_batch(struct chain *c, const struct mr_batch *out)
{
    struct loop *l = c->loop;

    mr_batch_copy(&l->batches[l->batches_n++], out, &l->table_arena);
}

/* False: an operator failed. */
static bool push(struct chain *c, uint32_t at, const struct mr_batch *in)
{
    enum mr_step step;

    if (at == c->n) {
        if (in->n > 0)
            c->take(c, in);
        return true;
    }
    mr_arena_reset(&c->loop->scratch[at]);
    do {
        struct mr_batch out = {0};
        const double begin = now();
        step = c->ops[at]->step(&c->ctx[at], in, &out);
        c->seconds += at == 0 ? now() - begin : 0;
        if (step == MR_FAILED || (out.n > 0 && !push(c, at + 1, &out)))
            return false;
    } while (step == MR_MORE_OUTPUT);
    return true;
}

static bool mark(struct chain *c)
{
    for (uint32_t at = 0; at < c->n; at++) {
        enum mr_step step = MR_NEED_INPUT;
        if (c->ops[at]->mark == NULL)
            continue;
        do {
            struct mr_batch out = {0};
            const double begin = now();
            step = c->ops[at]->mark(&c->ctx[at], &out);
            c->seconds += at == 0 ? now() - begin : 0;
            if (step == MR_FAILED || (out.n > 0 && !push(c, at + 1, &out)))
                return false;
        } while (step == MR_MORE_OUTPUT);
    }
    return true;
}

static bool open_operator(struct chain *c, const struct mr_node *node)
{
    struct loop *l = c->loop;
    const struct mr_operator_ops *ops = mr_operator_for(node->kind);
    void *plan = mr_arena_zero(&l->arena, ops->plan_size + 1);
    struct mr_ctx *ctx = &c->ctx[c->n];

    *ctx = (struct mr_ctx){.plan = plan,
                           .node = node,
                           .epoch = &l->epoch,
                           .eval = &l->eval,
                           .arena = &l->arena,
                           .scratch = &l->scratch[c->n],
                           .err = &l->err,
                           .workers = 1,
                           .batch_rows = BATCH_ROWS};
    ctx->state = mr_arena_zero(&l->arena, ops->state_size + 1);
    c->ops[c->n++] = ops;
    return (ops->plan == NULL || ops->plan(plan, node, &l->arena, &l->err) == MR_OK) &&
           (ops->open == NULL || ops->open(ctx) == MR_OK);
}

static bool open_chain(struct chain *c, const struct mr_node *node)
{
    if (node->kind == MR_NODE_SOURCE)
        return true;
    return c->n < OPERATORS_MAX && open_chain(c, node->children[0]) && open_operator(c, node);
}

static const struct mr_node *source_of(const struct mr_node *node)
{
    while (node->kind != MR_NODE_SOURCE)
        node = node->children[0];
    return node;
}

/* The node below the sink; NULL: an error. */
static const struct mr_node *plan(struct loop *l, const char *sql, const struct mr_table *table)
{
    struct mr_plan_request request = {.mode = MR_COMPLETE, .workers = 1};
    struct mr_plan_texts texts = {0};
    struct mr_physical_plan *out;
    struct mr_relation *relation;

    l->err = (struct mr_error){0};
    l->session = (struct mr_session){
        .arena = &l->arena, .now_us = INT64_C(1767323045000000), .tables = table, .tables_n = 1};
    mr_conf_init(&l->session.conf);
    if (mr_conf_set(&l->session.conf, "spark.sql.session.timeZone", "UTC", &l->err) != MR_OK ||
        mr_sql_parse_query(mr_text_of(sql), &l->arena, &relation, &l->err) != MR_OK)
        return NULL;
    request.relation = relation;
    if (mr_plan_query(&l->session, &request, &out, &texts, &l->err) != MR_OK)
        return NULL;
    l->eval = (struct mr_eval_context){
        .zone = l->session.conf.zone, .ansi = l->session.conf.ansi, .now_us = l->session.now_us};
    return out->root->children[0];
}

/* The columns that the source reads, of those of schema. */
static void choose(struct mr_batch *out, const struct mr_batch *in, const struct mr_type *schema,
                   const struct mr_type *read, struct mr_arena *a)
{
    *out = *in;
    out->columns_n = read->fields_n;
    out->columns = MR_NEW_ARRAY(a, struct mr_column, read->fields_n + 1);
    for (uint32_t i = 0; i < read->fields_n; i++)
        for (uint32_t k = 0; k < schema->fields_n; k++)
            if (strcmp(read->fields[i].name, schema->fields[k].name) == 0)
                out->columns[i] = in->columns[k];
}

static void answer(const struct chain *c, bool good)
{
    if (good)
        printf("%.9f %llu %llu %.17g\n", c->seconds, (unsigned long long)c->rows,
               (unsigned long long)c->values, c->sum);
    else
        printf("! [%s] %s\n", c->loop->err.condition, c->loop->err.message);
    for (uint32_t i = 0; i < c->n; i++)
        if (c->ops[i]->close)
            c->ops[i]->close((struct mr_ctx *)&c->ctx[i]);
}

/* Reads the texts and lists of a batch, as DuckDB's scan has when its projection's clock begins: it
 * makes views of the texts, with their first bytes, and offsets of the lists. */
static uint64_t touch(const struct mr_column *c, uint32_t rows)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < rows && mr_type_is_views(c->type); i++) {
        const struct mr_text t = mr_column_text(c, i);
        for (uint64_t at = 0; at < t.n; at += 64)
            sum += (uint8_t)t.data[at];
    }
    if (c->type->kind == MR_STRUCT)
        return sum;
    for (uint32_t f = 0; f < c->type->fields_n; f++) {
        const struct mr_column *child = &c->children[f];
        const uint32_t n = (uint32_t)c->offsets[rows];
        const uint8_t *data = child->data;
        const bool is_plain = child->type->kind != MR_BOOLEAN && child->type->kind != MR_VOID;
        for (uint64_t at = 0; is_plain && at < (uint64_t)n * mr_type_value_bytes(child->type);
             at += 64)
            sum += data[at];
        sum += touch(child, n);
    }
    return sum;
}

static void run(struct loop *l, const char *expression)
{
    struct mr_table table = {.name = "t", .format = "memory", .schema = l->schema};
    struct chain c = {.loop = l, .take = take_sum};
    const char *sql = mr_arena_format(&l->arena, "SELECT %s FROM t", expression);
    const struct mr_node *node = plan(l, sql, &table);
    bool good = node != NULL && open_chain(&c, node);

    for (uint32_t i = 0; good && i < l->batches_n; i++) {
        struct mr_batch in;
        choose(&in, &l->batches[i], l->schema, source_of(node)->output, &l->arena);
        for (uint32_t k = 0; k < in.columns_n; k++)
            l->touched += touch(&in.columns[k], in.rows);
        good = push(&c, 0, &in);
    }
    answer(&c, good && mark(&c));
}

/* The types of a plan go with it. */
static void keep_type(struct mr_column *c, const struct mr_type *type)
{
    c->type = type;
    for (uint32_t i = 0; i < type->fields_n; i++)
        keep_type(&c->children[i], type->fields[i].type);
}

static void make_table(struct loop *l, uint64_t rows, const char *sql)
{
    struct mr_field *id = MR_NEW(&l->table_arena, struct mr_field);
    struct mr_table table = {.name = "ids", .format = "memory"};
    struct chain c = {.loop = l, .take = take_batch};

    *id = (struct mr_field){"id", &mr_type_bigint, false};
    table.schema = mr_type_struct(&l->table_arena, id, 1);
    l->batches = MR_NEW_ARRAY(&l->table_arena, struct mr_batch, rows / BATCH_ROWS + 1);
    const struct mr_node *node = plan(l, sql, &table);
    bool good = node != NULL && open_chain(&c, node);
    for (uint64_t from = 0; good && from < rows; from += BATCH_ROWS) {
        struct mr_column ids;
        uint32_t n = (uint32_t)(rows - from < BATCH_ROWS ? rows - from : BATCH_ROWS);
        mr_column_alloc(&ids, &mr_type_bigint, n, false, &l->table_arena);
        for (uint32_t i = 0; i < n; i++)
            ids.i64[i] = (int64_t)(from + i);
        struct mr_batch in = {.columns = &ids, .columns_n = 1, .rows = n, .n = n};
        good = push(&c, 0, &in);
    }
    if (good)
        l->schema = mr_type_copy(&l->table_arena, node->output);
    for (uint32_t i = 0; good && i < l->batches_n; i++)
        for (uint32_t k = 0; k < l->schema->fields_n; k++)
            keep_type(&l->batches[i].columns[k], l->schema->fields[k].type);
    answer(&c, good);
}

static void run_line(struct loop *l, char *line)
{
    char *rest = line, *what = strsep(&rest, "\t");

    mr_arena_reset(&l->arena);
    if (strcmp(what, "table") == 0 && rest) {
        uint64_t rows = strtoull(strsep(&rest, "\t"), NULL, 10);
        make_table(l, rows, rest ? rest : "");
    } else {
        run(l, rest ? rest : "");
    }
    fflush(stdout);
}

int main(void)
{
    static struct loop l = {
        .epoch = {.late_us = INT64_MIN, .evict_us = INT64_MIN, .is_batch = true, .has_data = true}};
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n;

    mr_arena_init(&l.table_arena, NULL, &l.escape);
    mr_arena_init(&l.arena, NULL, &l.escape);
    for (uint32_t i = 0; i < OPERATORS_MAX; i++)
        mr_arena_init(&l.scratch[i], NULL, &l.escape);
    if (setjmp(l.escape) || mr_kernels_init(getenv("MR_KERNELS"), &l.err) != MR_OK) {
        fprintf(stderr, "bench_expr: no memory, or no such kernels\n");
        return 1;
    }
    while ((n = getline(&line, &capacity, stdin)) > 0) {
        line[n - 1] = '\0';
        run_line(&l, line);
    }
    free(line);
    return 0;
}
