#include "core/base/check.h"
#include "core/batch/builder.h"
#include "io/socket/socket.h"

enum mr_status mr_socket_reader_open(void *reader, const struct mr_source_config *config,
                                     struct mr_error *err)
{
    struct mr_socket_reader *r = reader;

    (void)err;
    MR_ASSERT(config->schema->fields_n <= 2);
    r->schema = config->schema;
    r->batch_rows = config->batch_rows;
    mr_arena_init(&r->split_arena, config->arena->budget, config->arena->escape);
    mr_arena_init(&r->rows_arena, config->arena->budget, config->arena->escape);
    return MR_OK;
}

void mr_socket_reader_close(void *reader)
{
    struct mr_socket_reader *r = reader;

    mr_arena_fini(&r->split_arena);
    mr_arena_fini(&r->rows_arena);
}

enum mr_status mr_socket_open_split(void *reader, struct mr_text split, struct mr_error *err)
{
    struct mr_socket_reader *r = reader;

    (void)err;
    mr_arena_reset(&r->split_arena);
    r->rest = (struct mr_text){mr_arena_copy(&r->split_arena, split.data, split.n), split.n};
    return MR_OK;
}

static bool next_line(struct mr_socket_reader *r, int64_t *time_us, struct mr_text *line)
{
    struct mr_socket_line head;

    if (r->rest.n == 0)
        return false;
    MR_ASSERT(r->rest.n >= sizeof head);
    memcpy(&head, r->rest.data, sizeof head);
    MR_ASSERT(r->rest.n - sizeof head >= head.bytes);
    *time_us = head.time_us;
    *line = (struct mr_text){r->rest.data + sizeof head, head.bytes};
    uint64_t used = sizeof head + head.bytes;
    r->rest = (struct mr_text){r->rest.data + used, r->rest.n - used};
    return true;
}

enum mr_step mr_socket_pull(void *reader, struct mr_batch *out, struct mr_source_counts *counts,
                            struct mr_error *err)
{
    struct mr_socket_reader *r = reader;
    struct mr_builder builders[2];
    struct mr_text line;
    int64_t time_us;
    uint32_t n = 0;

    (void)err;
    mr_arena_reset(&r->rows_arena);
    for (uint32_t c = 0; c < r->schema->fields_n; c++)
        mr_builder_init(&builders[c], r->schema->fields[c].type, r->batch_rows, &r->rows_arena);
    for (; n < r->batch_rows && next_line(r, &time_us, &line); n++)
        for (uint32_t c = 0; c < r->schema->fields_n; c++)
            if (r->schema->fields[c].type->kind == MR_STRING)
                mr_builder_append_text(&builders[c], line);
            else
                mr_builder_append_i64(&builders[c], time_us);
    for (uint32_t c = 0; c < r->schema->fields_n; c++)
        mr_builder_finish(&builders[c], &r->columns[c]);
    *out = (struct mr_batch){
        .columns = r->columns, .columns_n = r->schema->fields_n, .rows = n, .n = n};
    counts->rows += n;
    return r->rest.n ? MR_MORE_OUTPUT : MR_DONE;
}
