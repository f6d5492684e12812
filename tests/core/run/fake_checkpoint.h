/* fake_checkpoint.h - a checkpoint in memory: the last plans and the last commit; all that is
 * appended lasts. For fakes.h only. */
#pragma once
struct stored_plan {
    struct mr_plan_record record;
    char bytes[64], json[64];
};
static struct {
    bool is_open, has_commit, has_plan;
    struct stored_plan plans[2]; /* of the last commit that had data, of the epoch after the last */
    struct mr_commit commit;
    char prepared[256];
    uint32_t syncs, commits, fails_commit;
} stored;
struct mr_checkpoint {
    int unused;
};
enum mr_status mr_checkpoint_open(const struct mr_checkpoint_config *config,
                                  const struct mr_fingerprint *fingerprint,
                                  struct mr_checkpoint **out, struct mr_error *err)
{
    static struct mr_checkpoint only;
    (void)config;
    (void)fingerprint;
    if (stored.is_open)
        return MR_FAIL(err, MR_BUSY, 0, "in use");
    stored.is_open = true;
    *out = &only;
    return MR_OK;
}
void mr_checkpoint_close(struct mr_checkpoint *c)
{
    (void)c;
    stored.is_open = false;
}
const char *mr_checkpoint_query_id(const struct mr_checkpoint *c)
{
    (void)c;
    return "01234567-89ab-cdef-0123-456789abcdef";
}
enum mr_status mr_checkpoint_replay(struct mr_checkpoint *c, const struct mr_replay *to,
                                    struct mr_recovered *out, struct mr_error *err)
{
    enum mr_status status = MR_OK;
    *out = (struct mr_recovered){.is_new = !stored.has_commit && !stored.has_plan,
                                 .has_commit = stored.has_commit,
                                 .has_plan = stored.has_plan,
                                 .commit = stored.commit,
                                 .plan = stored.plans[1].record,
                                 .query_id = mr_checkpoint_query_id(c)};
    if (stored.has_commit)
        status = to->planned(to->arg, &stored.plans[0].record, true, err);
    if (status == MR_OK && stored.has_plan)
        status = to->planned(to->arg, &stored.plans[1].record, false, err);
    return status;
}
static void keep_text(struct mr_text *t, char *place)
{
    if (t->data == NULL)
        return;
    assert_true(t->n < 64);
    memcpy(place, t->data, t->n);
    t->data = place;
}
enum mr_status mr_checkpoint_plan(struct mr_checkpoint *c, const struct mr_plan_record *plan,
                                  struct mr_error *err)
{
    struct stored_plan *p = &stored.plans[1];
    (void)c;
    (void)err;
    assert_false(stored.has_plan && stored.plans[1].record.has_data);
    p->record = *plan;
    keep_text(&p->record.offsets[0], p->bytes);
    keep_text(&p->record.offsets_json[0], p->json);
    stored.has_plan = true;
    return MR_OK;
}
enum mr_status mr_checkpoint_log(struct mr_checkpoint *c, uint64_t epoch, uint32_t op,
                                 uint32_t table, struct mr_text record, struct mr_error *err)
{
    (void)c;
    (void)epoch;
    (void)op;
    (void)table;
    (void)record;
    (void)err;
    return MR_OK;
}
enum mr_status mr_checkpoint_sync(struct mr_checkpoint *c, struct mr_error *err)
{
    (void)c;
    (void)err;
    stored.syncs++;
    return MR_OK;
}
enum mr_status mr_checkpoint_commit(struct mr_checkpoint *c, const struct mr_commit *commit,
                                    struct mr_error *err)
{
    (void)c;
    if (stored.fails_commit)
        return MR_FAIL(err, MR_IO, EIO, "checkpoint: fdatasync");
    assert_true(stored.has_plan && stored.plans[1].record.epoch == commit->epoch);
    if (commit->had_data) {
        stored.plans[0] = stored.plans[1];
        stored.plans[0].record.offsets[0].data = stored.plans[0].bytes;
        stored.plans[0].record.offsets_json[0].data = stored.plans[0].json;
    }
    stored.commit = *commit;
    assert_true(commit->prepared.n <= sizeof stored.prepared);
    memcpy(stored.prepared, commit->prepared.data, commit->prepared.n);
    stored.commit.prepared.data = stored.prepared;
    stored.has_commit = true;
    stored.has_plan = false;
    stored.commits++;
    return MR_OK;
}
void mr_checkpoint_published(struct mr_checkpoint *c, uint64_t epoch)
{
    (void)c;
    (void)epoch;
}

enum mr_status mr_checkpoint_snapshot(struct mr_checkpoint *c, uint64_t epoch,
                                      const struct mr_snapshot_from *from, struct mr_error *err)
{
    (void)c;
    (void)epoch;
    (void)from;
    (void)err;
    return MR_OK;
}
