/* Any bytes as CSV: no crash, and rows do not depend on the batch size. The first bytes choose the
 * options. */
#include "core/base/check.h"
#include "core/format/csv/csv.h"
#include "core/mem/mem.h"
#include "kernels/kernels.h"

static const struct mr_field text_fields[] = {
    {"a", &mr_type_string, true}, {"b", &mr_type_string, true}, {"c", &mr_type_string, true}};
static const struct mr_field typed_fields[] = {{"a", &mr_type_int, true},
                                               {"b", &mr_type_double, true},
                                               {"c", &mr_type_timestamp, true},
                                               {"r", &mr_type_string, true},
                                               {"_corrupt_record", &mr_type_string, true}};
static const struct mr_type texts = {.kind = MR_STRUCT, .fields_n = 3, .fields = text_fields};
static const struct mr_type typed = {.kind = MR_STRUCT, .fields_n = 5, .fields = typed_fields};

static const struct mr_option all[] = {
    {"header", "true"},    {"ignoreTrailingWhiteSpace", "true"},
    {"escape", "\""},      {"unescapedQuoteHandling", "BACK_TO_DELIMITER"},
    {"multiLine", "true"}, {"ignoreLeadingWhiteSpace", "true"},
    {"comment", "#"},      {"unescapedQuoteHandling", "STOP_AT_CLOSING_QUOTE"},
    {"sep", "||"}};

/* Rows as texts, each value behind its length. */
static void read_rows(const struct mr_type *schema, const struct mr_option *options, uint32_t n,
                      struct mr_text text, uint32_t batch_rows, struct mr_arena *a,
                      struct mr_buffer *out)
{
    struct mr_error err = {0};
    struct mr_decoder *d;
    struct mr_arena scratch;
    const struct mr_decoder_config config = {.schema = schema,
                                             .full_schema = schema,
                                             .options = options,
                                             .options_n = n,
                                             .zone = mr_zone_utc(),
                                             .batch_rows = batch_rows};

    mr_buffer_init(out, a);
    MR_ASSERT(csv_decoder_open(&config, a, &d, &err) == MR_OK);
    mr_arena_init(&scratch, a->budget, a->escape);
    csv_decoder_begin(d);
    for (;;) {
        struct mr_batch batch;
        uint64_t used;
        MR_ASSERT(csv_decode(d, (const uint8_t *)text.data, text.n, true, &scratch, &batch, &used,
                             &err) == MR_OK);
        MR_ASSERT(batch.rows == 0 || mr_batch_is_valid(&batch));
        for (uint32_t i = 0; i < batch.rows; i++) {
            for (uint32_t k = 0; k < batch.columns_n; k++) {
                const struct mr_column *c = &batch.columns[k];
                bool null = mr_column_is_null(c, i);
                struct mr_text value =
                    c->type->kind == MR_STRING ? mr_column_text(c, i) : MR_TEXT("");
                mr_buffer_append_format(out, "%d %d %.*s|", null, (int)value.n, (int)value.n,
                                        value.data);
            }
        }
        text = (struct mr_text){text.data + used, text.n - used};
        if (used == 0 && batch.rows == 0)
            break;
        mr_arena_reset(&scratch);
    }
    MR_ASSERT(text.n == 0);
    csv_decoder_close(d);
    mr_arena_fini(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    jmp_buf escape;
    struct mr_budget budget;
    struct mr_arena a;
    struct mr_error err;

    if (n < 2 || mr_kernels_init(NULL, &err) != MR_OK)
        return 0;
    mr_budget_init(&budget, "fuzz", NULL, 256 << 20);
    mr_arena_init(&a, &budget, &escape);
    if (setjmp(escape) == 0) {
        struct mr_buffer one, two;
        struct mr_option options[10];
        uint32_t options_n = 0;
        for (uint32_t i = 0; i < 8; i++)
            if (data[0] >> i & 1)
                options[options_n++] = all[i];
        if (data[1] & 1)
            options[options_n++] = all[8];
        const struct mr_type *schema = data[1] & 2 ? &typed : &texts;
        if (data[1] & 4)
            options[options_n++] = (struct mr_option){"rescuedDataColumn", data[1] & 2 ? "r" : "b"};
        char *text = mr_arena_alloc(&a, n);
        memcpy(text, data + 2, n - 2);
        read_rows(schema, options, options_n, (struct mr_text){text, n - 2}, 1, &a, &one);
        read_rows(schema, options, options_n, (struct mr_text){text, n - 2}, 4096, &a, &two);
        MR_ASSERT(mr_text_equal(mr_buffer_text(&one), mr_buffer_text(&two)));
    }
    mr_arena_fini(&a);
    return 0;
}
