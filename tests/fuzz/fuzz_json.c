/* Any bytes as JSON lines and as texts of from_json: no crash; the fast and the exact path give the
 * same rows, in any batch size. The first bytes choose schema, options and batch size. */
#include "core/base/check.h"
#include "core/format/json/decoder.h"
#include "core/format/json/json.h"
#include "core/mem/mem.h"
#include "kernels/kernels.h"

static const struct mr_field element_field = {"x", &mr_type_int, true};
static const struct mr_type struct_type = {
    .kind = MR_STRUCT, .fields_n = 1, .fields = &element_field};
static const struct mr_field array_field = {"element", &struct_type, true};
static const struct mr_type array_type = {.kind = MR_ARRAY, .fields_n = 1, .fields = &array_field};
static const struct mr_field map_fields[] = {{"key", &mr_type_string, false},
                                             {"value", &mr_type_double, true}};
static const struct mr_type map_type = {.kind = MR_MAP, .fields_n = 2, .fields = map_fields};
static const struct mr_type decimal_type = {.kind = MR_DECIMAL, .precision = 12, .scale = 3};

static const struct mr_field fields[] = {
    {"a", &mr_type_int, true},     {"b", &mr_type_string, true},
    {"c", &mr_type_double, true},  {"d", &mr_type_timestamp, true},
    {"e", &decimal_type, true},    {"f", &mr_type_bigint, true},
    {"g", &mr_type_boolean, true}, {"_corrupt_record", &mr_type_string, true},
    {"i", &array_type, true},      {"j", &struct_type, true},
    {"k", &map_type, true},        {"l", &mr_type_binary, true},
    {"m", &mr_type_date, true},    {"n", &mr_type_timestamp_ntz, true},
    {"o", &mr_type_float, true},   {"p", &mr_type_tinyint, true},
};

static const struct mr_option options[] = {{"allowUnquotedFieldNames", "true"},
                                           {"allowComments", "true"},
                                           {"allowNumericLeadingZeros", "true"},
                                           {"allowUnquotedControlChars", "true"},
                                           {"multiLine", "true"},
                                           {"rescuedDataColumn", "b"}};

struct choice {
    struct mr_type schema;
    uint32_t options_n, options_at, batch_rows;
};

static void print_rows(const struct choice *c, struct mr_text text, bool exact, struct mr_arena *a,
                       struct mr_buffer *out)
{
    struct mr_error err = {0};
    struct mr_decoder *d;
    struct mr_arena scratch;
    const struct mr_json_writer writer = {.zone = mr_zone_utc(), .keep_nulls = true};
    const struct mr_decoder_config config = {.schema = &c->schema,
                                             .full_schema = &c->schema,
                                             .options = options + c->options_at,
                                             .options_n = c->options_n,
                                             .zone = mr_zone_utc(),
                                             .batch_rows = c->batch_rows};

    mr_buffer_init(out, a);
    MR_ASSERT(json_decoder_open(&config, a, &d, &err) == MR_OK || err.message[0]);
    if (err.message[0])
        return;
    mr_arena_init(&scratch, a->budget, a->escape);
    json_decoder_begin(d);
    if (exact)
        json_decoder_force_exact(d);
    for (;;) {
        struct mr_batch batch;
        uint64_t used;
        MR_ASSERT(json_decode(d, (const uint8_t *)text.data, text.n, true, &scratch, &batch, &used,
                              &err) == MR_OK);
        MR_ASSERT(batch.rows == 0 || mr_batch_is_valid(&batch));
        for (uint32_t i = 0; i < batch.rows; i++)
            mr_json_write_row(&writer, &c->schema, &batch, i, out);
        text = (struct mr_text){text.data + used, text.n - used};
        if (used == 0 && batch.rows == 0)
            break;
        mr_arena_reset(&scratch);
    }
    MR_ASSERT(text.n == 0);
    json_decoder_close(d);
    mr_arena_fini(&scratch);
}

static void parse_text(const struct mr_type *type, struct mr_text text, struct mr_arena *a)
{
    struct mr_error err;
    struct mr_json_parser *p;
    struct mr_column texts, result;
    const struct mr_json_writer writer = {.zone = mr_zone_utc(), .keep_nulls = true};
    const struct mr_decoder_config config = {
        .schema = type, .full_schema = type, .zone = mr_zone_utc()};
    struct mr_buffer out;

    MR_ASSERT(mr_json_parser_open(&config, a, &p, &err) == MR_OK);
    mr_column_alloc(&texts, &mr_type_string, 1, false, a);
    mr_column_set_text(&texts, 0, text, a);
    MR_ASSERT(mr_json_parse_column(p, &texts, 1, NULL, 1, a, &result, &err) == MR_OK);
    mr_buffer_init(&out, a);
    mr_json_write_value(&writer, &result, 0, &out);
    mr_json_parser_close(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    jmp_buf escape;
    struct mr_budget budget;
    struct mr_arena a;
    struct mr_error err;

    if (n < 3 || mr_kernels_init(data[0] & 64 ? "scalar" : NULL, &err) != MR_OK)
        return 0;
    const struct choice c = {
        .schema = {.kind = MR_STRUCT, .fields_n = 1 + data[0] % 16, .fields = fields},
        .options_at = data[1] % 6,
        .options_n = data[1] / 6 % (7 - data[1] % 6),
        .batch_rows = 1 + data[2] % 8};
    mr_budget_init(&budget, "fuzz", NULL, 256 << 20);
    mr_arena_init(&a, &budget, &escape);
    if (setjmp(escape) == 0) {
        struct mr_buffer fast, exact;
        /* a copy of its own size, so that reading behind the pad is seen */
        char *text = mr_arena_alloc(&a, n);
        memcpy(text, data + 3, n - 3);
        print_rows(&c, (struct mr_text){text, n - 3}, false, &a, &fast);
        print_rows(&c, (struct mr_text){text, n - 3}, true, &a, &exact);
        MR_ASSERT(mr_text_equal(mr_buffer_text(&fast), mr_buffer_text(&exact)));
        parse_text(&c.schema, (struct mr_text){text, n - 3}, &a);
        parse_text(&array_type, (struct mr_text){text, n - 3}, &a);
        parse_text(&map_type, (struct mr_text){text, n - 3}, &a);
    }
    mr_arena_fini(&a);
    return 0;
}
