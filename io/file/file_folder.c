#include "io/file/file_folder.h"

#include "core/base/check.h"

uint32_t mr_file_column_of(const struct mr_table *t, const char *name)
{
    uint32_t i = 0;

    while (i < t->schema->fields_n && strcmp(t->schema->fields[i].name, name) != 0)
        i++;
    MR_ASSERT(i < t->schema->fields_n); /* a query reads columns of the table */
    return i;
}

enum mr_status mr_file_folder_open(struct mr_file_folder *f, const struct mr_source_config *config,
                                   struct mr_error *err)
{
    const struct mr_table *t = config->table;

    f->config = config;
    f->is_in = mr_arena_zero(config->arena, t->schema->fields_n + 1);
    f->was_in = mr_arena_zero(config->arena, t->schema->fields_n + 1);
    f->values = MR_NEW_ARRAY(config->arena, struct mr_column, config->schema->fields_n + 1);
    f->columns = MR_NEW_ARRAY(config->arena, struct mr_column, config->schema->fields_n + 1);
    if (t->in_folder)
        memcpy(f->is_in, t->in_folder, t->schema->fields_n);
    enum mr_status status = mr_file_options_read(t, &f->options, err);
    if (status == MR_OK)
        mr_file_options_resolve(&f->options, config->arena);
    return status;
}

/* Those that were found at the start are in every path, and no others; if none was, those that are
 * declared. */
static enum mr_status find_columns(struct mr_file_folder *f, const char *path,
                                   const struct mr_file_partitions *p, struct mr_error *err)
{
    const struct mr_table *t = f->config->table;
    struct mr_file_partitions known = {0};
    bool same = true;

    for (uint32_t i = 0; i < t->schema->fields_n; i++) {
        const char *name = t->schema->fields[i].name;
        f->is_in[i] = mr_file_partitions_find(p, name) < p->n;
        if (t->in_folder == NULL || !t->in_folder[i])
            continue;
        known.names[known.n++] = mr_text_of(name);
        same = same && f->is_in[i];
    }
    if (t->in_folder == NULL || (same && known.n == p->n))
        return MR_OK;
    return mr_file_partition_conflict(t, path, p, "found at the start", &known, err);
}

enum mr_status mr_file_folder_enter(struct mr_file_folder *f, const char *path, struct mr_arena *a,
                                    bool *changed, struct mr_error *err)
{
    const struct mr_source_config *config = f->config;
    uint32_t fields_n = config->table->schema->fields_n;
    struct mr_file_partitions p;

    memcpy(f->was_in, f->is_in, fields_n);
    f->arena = a;
    f->room_rows = 0;
    f->columns_n = 0;
    mr_file_partitions_read(path, f->options.base, a, &p);
    enum mr_status status = find_columns(f, path, &p, err);
    for (uint32_t i = 0; i < config->schema->fields_n && status == MR_OK; i++) {
        const struct mr_field *field = &config->schema->fields[i];
        f->values[i].type = NULL;
        if (!f->is_in[mr_file_column_of(config->table, field->name)])
            continue;
        f->columns_n++;
        status = mr_file_partition_cast(&p, mr_file_partitions_find(&p, field->name), field->type,
                                        config->zone, a, &f->values[i], path, err);
    }
    *changed = memcmp(f->was_in, f->is_in, fields_n) != 0;
    return status;
}

static void make_room(struct mr_file_folder *f, uint32_t rows)
{
    if (rows <= f->room_rows)
        return;
    f->room_rows = rows > 2 * f->room_rows ? rows : 2 * f->room_rows;
    for (uint32_t i = 0; i < f->config->schema->fields_n; i++)
        if (f->values[i].type)
            mr_file_partition_fill(&f->columns[i], &f->values[i], f->room_rows, f->arena);
}

void mr_file_folder_add(struct mr_file_folder *f, struct mr_batch *batch, struct mr_arena *scratch)
{
    uint32_t n = f->config->schema->fields_n, at = 0;

    if (f->columns_n == 0 || batch->rows == 0)
        return;
    MR_ASSERT(batch->columns_n + f->columns_n == n);
    make_room(f, batch->rows);
    struct mr_column *columns = MR_NEW_ARRAY(scratch, struct mr_column, n);
    for (uint32_t i = 0; i < n; i++)
        columns[i] = f->values[i].type ? f->columns[i] : batch->columns[at++];
    batch->columns = columns;
    batch->columns_n = n;
}
