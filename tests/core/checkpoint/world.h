/* world.h - a query that has only a checkpoint: what is in it after epoch e follows from e alone,
 * so that any recovery can be judged. For the tests of core/checkpoint.
 *
 * State    Two operators, the second with two tables: one number per partition and table; an epoch
 *          sets some of them. A log record is pairs of (partition, number).
 * Source   Its offset is the epoch; what replay tells must be every committed epoch once, after
 *          the saved.
 */
#pragma once
#include "core/base/env.h"
#include "core/checkpoint/checkpoint.h"
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

enum { TABLES = 3, CHANGES = 12 };

struct values {
    uint64_t of[TABLES][MR_PARTITIONS];
};

struct world {
    char path[256];
    struct mr_env *env;
    struct mr_checkpoint *checkpoint;
    struct mr_checkpoint_config config;
    struct mr_recovered recovered;
    struct values state;
    uint64_t source;       /* epoch + 1 that the source stands after */
    uint64_t next;         /* epoch */
    uint64_t acknowledged; /* epoch + 1 */
    uint32_t payload;      /* extra bytes of each log record */
    struct mr_error err;
    struct mr_arena arena;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9;
    return x ^ x >> 32;
}

static uint32_t op_of(uint32_t table)
{
    return table ? 1 : 0;
}
static uint32_t table_in_op(uint32_t table)
{
    return table ? table - 1 : 0;
}

/* Change number i of an epoch in a table. */
static void change_of(uint64_t epoch, uint32_t table, uint32_t i, uint8_t *partition,
                      uint64_t *value)
{
    uint64_t bits = mix(epoch * 1000 + table * 100 + i + 1);

    *partition = (uint8_t)bits;
    *value = epoch % 5 == 4 && i % 3 == 0 ? 0 : bits >> 8; /* 0: gone */
}

static void apply_epoch(struct values *v, uint64_t epoch)
{
    for (uint32_t t = 0; t < TABLES; t++) {
        for (uint32_t i = 0; i < CHANGES; i++) {
            uint8_t partition;
            uint64_t value;
            change_of(epoch, t, i, &partition, &value);
            v->of[t][partition] = value;
        }
    }
}

static const struct mr_field key_fields[] = {{"k", &mr_type_string, true}};
static const struct mr_field value_fields[] = {{"count", &mr_type_bigint, false}};
static const struct mr_type key_type = {.kind = MR_STRUCT, .fields_n = 1, .fields = key_fields};
static const struct mr_type value_type = {.kind = MR_STRUCT, .fields_n = 1, .fields = value_fields};
static const enum mr_slot_kind slot_kinds[] = {MR_SLOT_I64};
static const struct mr_state_table state_tables[] = {
    {.name = "groups", .key = &key_type, .value = &value_type, .slots_n = 1, .slots = slot_kinds},
    {.name = "left", .key = &key_type, .value = &value_type, .slots_n = 1, .slots = slot_kinds},
    {.name = "right", .key = &key_type, .value = &value_type, .slots_n = 1, .slots = slot_kinds},
};
static const struct mr_fingerprint_operator operators[] = {
    {"stateStoreSave", state_tables, 1, "count"},
    {"symmetricHashJoin", state_tables + 1, 2, ""},
};
static const char *const sources[] = {"FileSource[/in]"};
static const struct mr_fingerprint fingerprint = {1, sources, 2, operators, "update", "noop"};

static enum mr_status see_snapshot(void *arg, uint32_t op, uint32_t table, uint32_t partition,
                                   struct mr_text data, struct mr_error *err)
{
    struct world *w = arg;

    (void)err;
    assert_int_equal(data.n, 8 + w->payload);
    memcpy(&w->state.of[op + table][partition], data.data, 8);
    return MR_OK;
}

static enum mr_status see_change(void *arg, uint32_t op, uint32_t table, uint64_t epoch,
                                 bool (*newer)(void *filter, uint32_t partition), void *filter,
                                 struct mr_text record, struct mr_error *err)
{
    struct world *w = arg;

    (void)err;
    (void)epoch;
    assert_int_equal(record.n, CHANGES * 9 + w->payload);
    for (uint32_t i = 0; i < CHANGES; i++) {
        uint8_t partition = (uint8_t)record.data[i * 9];
        if (newer(filter, partition))
            memcpy(&w->state.of[op + table][partition], record.data + i * 9 + 1, 8);
    }
    return MR_OK;
}

static enum mr_status see_source(void *arg, uint32_t source, struct mr_text saved,
                                 struct mr_error *err)
{
    struct world *w = arg;

    (void)err;
    assert_int_equal(source, 0);
    assert_int_equal(saved.n, 8);
    memcpy(&w->source, saved.data, 8);
    return MR_OK;
}

static enum mr_status see_plan(void *arg, const struct mr_plan_record *plan, bool committed,
                               struct mr_error *err)
{
    struct world *w = arg;
    uint64_t offset;

    (void)err;
    assert_int_equal(plan->sources_n, 1);
    assert_int_equal(plan->offsets[0].n, 8);
    memcpy(&offset, plan->offsets[0].data, 8);
    assert_int_equal(offset, plan->epoch);
    assert_int_equal(plan->time_us, (int64_t)plan->epoch * 1000);
    assert_int_equal(w->source, plan->epoch);
    if (committed)
        w->source = plan->epoch + 1;
    return MR_OK;
}

static const struct mr_replay receivers = {.snapshot = see_snapshot,
                                           .change = see_change,
                                           .source_saved = see_source,
                                           .planned = see_plan};

/* Opens and replays; what comes back must be what the last commit says. */
static inline enum mr_status world_open(struct world *w)
{
    struct mr_replay to = receivers;
    struct values expected = {0};

    to.arg = w;
    w->state = expected;
    w->source = 0;
    w->config.path = w->path;
    w->config.env = w->env;
    enum mr_status status = mr_checkpoint_open(&w->config, &fingerprint, &w->checkpoint, &w->err);
    if (status != MR_OK) {
        assert_null(w->checkpoint);
        return status;
    }
    status = mr_checkpoint_replay(w->checkpoint, &to, &w->recovered, &w->err);
    if (status != MR_OK) {
        mr_checkpoint_close(w->checkpoint);
        w->checkpoint = NULL;
        return status;
    }
    w->next = w->recovered.has_commit ? w->recovered.commit.epoch + 1 : 0;
    for (uint64_t e = 0; e < w->next; e++)
        apply_epoch(&expected, e);
    assert_memory_equal(&expected, &w->state, sizeof expected);
    assert_int_equal(w->source, w->next);
    if (w->recovered.has_commit) {
        assert_int_equal(w->recovered.commit.next_watermark_us, (int64_t)w->next * 7);
        assert_int_equal(w->recovered.commit.prepared.n, 5);
        assert_memory_equal(w->recovered.commit.prepared.data, "ready", 5);
    }
    if (w->recovered.has_plan)
        assert_int_equal(w->recovered.plan.epoch, w->next);
    assert_int_equal(w->recovered.is_new, !w->recovered.has_commit && !w->recovered.has_plan);
    return MR_OK;
}

static void world_close(struct world *w)
{
    mr_checkpoint_close(w->checkpoint);
    w->checkpoint = NULL;
}

static enum mr_status world_plan(struct world *w)
{
    struct mr_plan_record plan = {
        .epoch = w->next, .time_us = (int64_t)w->next * 1000, .has_data = true, .sources_n = 1};

    plan.offsets[0] = (struct mr_text){(char *)&w->next, 8};
    plan.offsets_json[0] = MR_TEXT("{\"logOffset\":1}");
    return mr_checkpoint_plan(w->checkpoint, &plan, &w->err);
}

static inline enum mr_status world_log(struct world *w)
{
    enum mr_status status = MR_OK;
    char *record = malloc(CHANGES * 9 + w->payload + 1);

    memset(record, 0, CHANGES * 9 + w->payload + 1);

    for (uint32_t t = 0; t < TABLES && status == MR_OK; t++) {
        for (uint32_t i = 0; i < CHANGES; i++) {
            uint64_t value;
            change_of(w->next, t, i, (uint8_t *)record + i * 9, &value);
            memcpy(record + i * 9 + 1, &value, 8);
        }
        status = mr_checkpoint_log(w->checkpoint, w->next, op_of(t), table_in_op(t),
                                   (struct mr_text){record, CHANGES * 9 + w->payload}, &w->err);
    }
    free(record);
    return status;
}

static enum mr_status world_commit(struct world *w)
{
    struct mr_commit commit = {.epoch = w->next,
                               .time_us = (int64_t)w->next * 1000,
                               .next_watermark_us = (int64_t)(w->next + 1) * 7,
                               .watermarks_n = 1,
                               .had_data = true,
                               .prepared = MR_TEXT("ready")};
    enum mr_status status = mr_checkpoint_commit(w->checkpoint, &commit, &w->err);

    if (status != MR_OK)
        return status;
    apply_epoch(&w->state, w->next);
    w->source = ++w->next;
    w->acknowledged = w->next;
    return MR_OK;
}

static void take(void *arg, uint32_t op, uint32_t table, uint32_t partition, struct mr_buffer *out)
{
    struct world *w = arg;
    uint64_t value = w->state.of[op + table][partition];

    if (value == 0)
        return;
    mr_buffer_append(out, &value, 8);
    memset(mr_buffer_reserve(out, w->payload), 'p', w->payload);
    out->n += w->payload;
}

static void source_save(void *arg, uint32_t source, struct mr_buffer *out)
{
    struct world *w = arg;

    assert_int_equal(source, 0);
    mr_buffer_append(out, &w->source, 8);
}

static inline enum mr_status world_snapshot(struct world *w)
{
    static const uint32_t tables_n[] = {1, 2};
    struct mr_snapshot_from from = {.arg = w,
                                    .operators_n = 2,
                                    .tables_n = tables_n,
                                    .sources_n = 1,
                                    .take = take,
                                    .source_save = source_save};

    return mr_checkpoint_snapshot(w->checkpoint, w->next - 1, &from, &w->err);
}

/* One epoch, as the runtime does it; a recovered plan is run without being planned again. */
static inline enum mr_status world_epoch(struct world *w)
{
    enum mr_status status = w->recovered.has_plan ? MR_OK : world_plan(w);

    w->recovered.has_plan = false;
    if (status == MR_OK)
        status = world_log(w);
    if (status == MR_OK && w->next % 4 == 3)
        status = mr_checkpoint_sync(w->checkpoint, &w->err);
    if (status == MR_OK)
        status = world_commit(w);
    if (status == MR_OK)
        status = world_snapshot(w);
    return status;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void world_remove(struct world *w)
{
    nftw(w->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void world_init(struct world *w, const char *name)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    *w = (struct world){0};
    snprintf(w->path, sizeof w->path, "%s/mr-test-%s-%ld", base, name, (long)getpid());
    world_remove(w);
    w->config.segment_bytes = 64 * 1024;
    w->config.snapshot_bytes_per_epoch = 2000;
    assert_int_equal(mr_env_open("syscalls", &w->env, NULL), MR_OK);
    mr_arena_init(&w->arena, NULL, NULL);
}

static void world_fini(struct world *w)
{
    world_remove(w);
    w->env->ops->fini(w->env);
    mr_arena_fini(&w->arena);
}
