/* from_json. The texts are copied, each followed by a line end, so that the fast path can run on
 * them and strings of the result can lie in the copy. */
#include "core/base/check.h"
#include "core/format/corrupt.h"
#include "core/format/json/exact.h"
#include "core/format/json/failure.h"
#include "core/format/json/fast.h"
#include "core/format/json/json.h"
#include "core/format/json/out.h"
#include "core/format/utf8.h"

struct mr_json_parser {
    const struct mr_decoder_config *config;
    const struct mr_type *type; /* of the result */
    struct json_plan plan;      /* root: the type without the corrupt field */
    uint32_t corrupt;           /* field of the raw text; UINT32_MAX: none */
    struct json_exact exact;
    struct json_fast fast;
    const struct json_fast_kernels *kernels; /* NULL: no struct of plain fields */
    struct mr_arena record;
};

/* The corrupt field goes last in the plan, so that fields keep their order. */
static void split_fields(struct mr_json_parser *p, struct mr_arena *a)
{
    const struct mr_type *type = p->type;
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, type->fields_n + 1);
    uint32_t n = 0;

    p->corrupt = UINT32_MAX;
    for (uint32_t i = 0; i < type->fields_n; i++) {
        if (strcmp(type->fields[i].name, p->plan.options.corrupt_name) == 0)
            p->corrupt = i;
        else
            fields[n++] = type->fields[i];
    }
    json_plan_init(&p->plan, mr_type_struct(a, fields, n), a);
}

enum mr_status mr_json_parser_open(const struct mr_decoder_config *config, struct mr_arena *a,
                                   struct mr_json_parser **out, struct mr_error *err)
{
    struct mr_json_parser *p = MR_NEW(a, struct mr_json_parser);
    enum mr_status status = json_options_read(config, a, &p->plan.options, err);

    if (status != MR_OK)
        return status;
    p->plan.options.from_characters = true;
    if (p->plan.options.mode == MR_MODE_DROPMALFORMED)
        return MR_FAIL_CONDITION(err, MR_QUERY, "PARSE_MODE_UNSUPPORTED",
                                 "The function `from_json` doesn't support the DROPMALFORMED mode. "
                                 "Acceptable modes are PERMISSIVE and FAILFAST.");
    p->config = config;
    p->type = config->schema;
    p->corrupt = UINT32_MAX;
    if (p->type->kind == MR_STRUCT) {
        status = mr_corrupt_check(config, p->plan.options.corrupt_name, false, err);
        if (status != MR_OK)
            return status;
        split_fields(p, a);
        json_fast_init(&p->fast, &p->plan, a);
        p->kernels = json_fast_choose();
    } else {
        json_plan_init(&p->plan, p->type, a);
    }
    json_exact_init(&p->exact, &p->plan, a);
    mr_arena_init(&p->record, a->budget, a->escape);
    *out = p;
    return MR_OK;
}

void mr_json_parser_close(struct mr_json_parser *p)
{
    mr_arena_fini(&p->record);
}

/* The texts, one behind the other, each with a line end; text i begins at starts[i]. */
static uint8_t *copy_texts(const struct mr_column *texts, const uint32_t *rows, uint32_t n,
                           uint64_t total, uint32_t *starts, struct mr_arena *a)
{
    uint8_t *buffer = mr_arena_alloc(a, total), *to = buffer;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = rows ? rows[i] : i;
        starts[i] = (uint32_t)(to - buffer);
        if (!mr_column_is_null(texts, row)) {
            struct mr_text t = mr_column_text(texts, row);
            if (t.n)
                memcpy(to, t.data, t.n);
            to += t.n;
        }
        *to++ = '\n';
    }
    starts[n] = (uint32_t)(to - buffer);
    return buffer;
}

struct parsing {
    struct mr_json_parser *p;
    struct mr_heaps heaps;
    struct json_out out;       /* of the result, if it is no STRUCT */
    struct json_out *fields;   /* of a STRUCT, in the order of the plan; then the corrupt field */
    struct mr_column *columns; /* the same */
    struct mr_error *err;
};

static void begin(struct parsing *g, struct mr_column *out, uint32_t rows, struct mr_arena *a)
{
    struct mr_json_parser *p = g->p;
    uint32_t n = p->plan.root.children_n;

    if (p->type->kind != MR_STRUCT) {
        json_out_init(&g->out, out, p->type, rows, &g->heaps, a);
        return;
    }
    *out = (struct mr_column){.type = p->type};
    mr_column_need_valid(out, rows, a);
    g->fields = MR_NEW_ARRAY(a, struct json_out, n + 1);
    g->columns = MR_NEW_ARRAY(a, struct mr_column, n + 1);
    for (uint32_t i = 0; i < n; i++)
        json_out_init(&g->fields[i], &g->columns[i], p->plan.root.children[i].type, rows, &g->heaps,
                      a);
    if (p->corrupt != UINT32_MAX)
        json_out_init(&g->fields[n], &g->columns[n], &mr_type_string, rows, &g->heaps, a);
    json_fast_begin(&p->fast, g->columns, &g->heaps);
}

static void end(struct parsing *g, struct mr_column *out, uint32_t rows, struct mr_arena *a)
{
    struct mr_json_parser *p = g->p;
    uint32_t n = p->plan.root.children_n, at = 0;

    if (p->type->kind != MR_STRUCT) {
        json_out_end(&g->out, rows);
        return;
    }
    out->children = MR_NEW_ARRAY(a, struct mr_column, p->type->fields_n);
    for (uint32_t i = 0; i < p->type->fields_n; i++) {
        uint32_t from = i == p->corrupt ? n : at++;
        json_out_end(&g->fields[from], rows);
        out->children[i] = g->columns[from];
    }
}

/* items NULL: the fields are null. raw.data NULL: the record is good. */
static void put_struct(struct parsing *g, uint32_t row, const struct mr_cell *items,
                       struct mr_text raw)
{
    const struct mr_cell null = {.is_null = true};
    uint32_t n = g->p->plan.root.children_n;

    for (uint32_t i = 0; i < n; i++)
        json_out_put(&g->fields[i], row, items ? &items[i] : &null);
    if (g->p->corrupt != UINT32_MAX)
        json_out_put(&g->fields[n], row, raw.data ? &(struct mr_cell){.text = raw} : &null);
}

static void put_null(struct parsing *g, struct mr_column *out, uint32_t row)
{
    if (g->p->type->kind == MR_STRUCT) {
        put_struct(g, row, NULL, (struct mr_text){0});
        mr_bit_clear(out->valid, row);
    } else {
        json_out_put(&g->out, row, &(struct mr_cell){.is_null = true});
    }
}

static enum mr_status exact_text(struct parsing *g, struct mr_column *out, uint32_t row,
                                 struct mr_text text)
{
    struct mr_json_parser *p = g->p;

    mr_arena_reset(&p->record);
    enum json_outcome outcome =
        json_exact_parse(&p->exact, mr_utf8_replace(text, &p->record), &p->record);
    if (outcome != JSON_GOOD && p->plan.options.mode == MR_MODE_FAILFAST)
        return json_failfast(&p->exact, text, p->corrupt != UINT32_MAX, g->err);
    if (outcome == JSON_GOOD && p->exact.rows_n == 0) {
        put_null(g, out, row);
        return MR_OK;
    }
    const struct mr_cell *value = outcome == JSON_BAD ? NULL : p->exact.rows;
    if (p->type->kind == MR_STRUCT)
        put_struct(g, row, value ? value->items : NULL,
                   outcome == JSON_GOOD ? (struct mr_text){0} : text);
    else if (value)
        json_out_put(&g->out, row, value);
    else
        put_null(g, out, row);
    return MR_OK;
}

static enum mr_status parse_rows(struct parsing *g, const struct mr_column *texts, uint32_t rows,
                                 const uint32_t *sel, uint32_t n, struct mr_column *out,
                                 const uint8_t *buffer, const uint32_t *starts)
{
    struct mr_json_parser *p = g->p;
    uint32_t next = 0;

    for (uint32_t row = 0; row < rows; row++) {
        bool selected = next < n && (sel == NULL || sel[next] == row);
        if (!selected || mr_column_is_null(texts, row)) {
            put_null(g, out, row);
            next += selected;
            continue;
        }
        uint32_t start = starts[next], stop = starts[++next] - 1, at = row;
        if (p->kernels && start < stop) {
            p->kernels->lines(&p->fast, buffer, &start, &stop, 1, &at, row + 1);
            if (at != row) {
                if (p->corrupt != UINT32_MAX)
                    json_out_put(&g->fields[p->plan.root.children_n], row,
                                 &(struct mr_cell){.is_null = true});
                continue;
            }
        }
        struct mr_text text = {(const char *)buffer + start, stop - start};
        enum mr_status status = exact_text(g, out, row, text);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

enum mr_status mr_json_parse_column(struct mr_json_parser *p, const struct mr_column *texts,
                                    uint32_t rows, const uint32_t *sel, uint32_t n,
                                    struct mr_arena *a, struct mr_column *out, struct mr_error *err)
{
    struct parsing g = {.p = p, .err = err};
    uint32_t *starts = mr_arena_alloc(a, ((size_t)n + 1) * sizeof *starts);
    uint64_t total = n;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = sel ? sel[i] : i;
        if (!mr_column_is_null(texts, row))
            total += (uint64_t)texts->views[row].length;
    }
    if (total > INT32_MAX)
        return MR_FAIL(err, MR_QUERY, 0,
                       "from_json: the texts of a batch have more than 2 GiB; lower batch_rows");
    const uint8_t *buffer = copy_texts(texts, sel, n, total, starts, a);
    mr_heaps_begin(&g.heaps, buffer, total, a);
    begin(&g, out, rows, a);
    enum mr_status status = parse_rows(&g, texts, rows, sel, n, out, buffer, starts);
    end(&g, out, rows, a);
    return status;
}
