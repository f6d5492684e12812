#include "core/base/check.h"
#include "io/rate/rate.h"

static const struct mr_field fields[] = {
    {"timestamp", &mr_type_timestamp, true},
    {"value", &mr_type_bigint, true},
};
static const struct mr_type schema = {.kind = MR_STRUCT, .fields_n = 2, .fields = fields};

const struct mr_type *mr_rate_schema(const struct mr_option *options, uint32_t n,
                                     struct mr_arena *a)
{
    (void)options, (void)n, (void)a;
    return &schema;
}

enum mr_status mr_rate_reader_open(void *reader, const struct mr_source_config *config,
                                   struct mr_error *err)
{
    struct mr_rate_reader *r = reader;

    (void)err;
    r->arena = config->arena;
    r->batch_rows = config->batch_rows;
    r->columns_n = config->schema->fields_n;
    MR_ASSERT(r->columns_n <= 2);
    for (uint32_t c = 0; c < r->columns_n; c++)
        r->is_time[c] = strcmp(config->schema->fields[c].name, "timestamp") == 0;
    r->times = mr_arena_zero(r->arena, r->batch_rows * sizeof *r->times);
    r->values = mr_arena_zero(r->arena, r->batch_rows * sizeof *r->values);
    return MR_OK;
}

void mr_rate_reader_close(void *reader)
{
    (void)reader;
}

enum mr_status mr_rate_open_split(void *reader, struct mr_text split, struct mr_error *err)
{
    struct mr_rate_reader *r = reader;

    (void)err;
    MR_ASSERT(split.n == sizeof r->split);
    memcpy(&r->split, split.data, sizeof r->split);
    return MR_OK;
}

enum mr_step mr_rate_pull(void *reader, struct mr_batch *out, struct mr_source_counts *counts,
                          struct mr_error *err)
{
    struct mr_rate_reader *r = reader;
    struct mr_rate_split *s = &r->split;
    uint32_t n = 0;

    (void)err;
    for (; n < r->batch_rows && s->value_from < s->value_to; n++, s->value_from += s->step) {
        __int128 passed = (__int128)(s->value_from - s->base) * (s->span_us / s->unit_us);
        int64_t units =
            s->count ? (int64_t)((passed * 2 + s->count) / (2 * (__int128)s->count)) : 0;
        r->values[n] = s->value_from;
        r->times[n] = s->time_us + units * s->unit_us;
    }
    for (uint32_t c = 0; c < r->columns_n; c++)
        r->columns[c] = (struct mr_column){
            .type = r->is_time[c] ? &mr_type_timestamp : &mr_type_bigint,
            .i64 = r->is_time[c] ? r->times : r->values,
        };
    *out = (struct mr_batch){.columns = r->columns, .columns_n = r->columns_n, .rows = n, .n = n};
    counts->rows += n;
    return s->value_from < s->value_to ? MR_MORE_OUTPUT : MR_DONE;
}
