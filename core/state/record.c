#include "core/state/part.h"

#include "core/base/check.h"
#include "core/base/copy.h"
#include "core/state/row.h"

/* Log records and snapshots are the same: a version, then items. README.md has the bytes. */
enum { VERSION = 1, ITEM_ROW = 1, ITEM_EVICT = 2 };

static uint8_t *put(uint8_t *at, const void *data, uint64_t bytes)
{
    mr_copy_short(at, data, bytes);
    return at + bytes;
}

static uint64_t row_bytes(const struct mr_state_table *t, struct mr_state_row *r)
{
    const union mr_slot *slots = mr_state_slots(r);
    uint64_t bytes = 1 + 8 + 4 + mr_state_key(r).n;

    for (uint32_t i = 0; i < t->slots_n; i++) {
        if (t->slots[i] == MR_SLOT_BYTES)
            bytes += 4 + (uint64_t)slots[i].bytes.n;
        else
            bytes += t->slots[i] == MR_SLOT_I128 ? 16 : 8;
    }
    return bytes;
}

static void put_row(const struct mr_state_table *t, struct mr_state_row *r, struct mr_buffer *out)
{
    const union mr_slot *slots = mr_state_slots(r);
    struct mr_text key = mr_state_key(r);
    uint32_t key_bytes = (uint32_t)key.n;
    uint64_t bytes = row_bytes(t, r);
    uint8_t *at = mr_buffer_reserve(out, bytes);

    *at++ = ITEM_ROW;
    at = put(at, &r->expiry_us, 8);
    at = put(at, &key_bytes, 4);
    at = put(at, key.data, key.n);
    for (uint32_t i = 0; i < t->slots_n; i++) {
        if (t->slots[i] == MR_SLOT_BYTES) {
            at = put(at, &slots[i].bytes.n, 4);
            at = put(at, slots[i].bytes.data, slots[i].bytes.n);
        } else {
            at = put(at, &slots[i], t->slots[i] == MR_SLOT_I128 ? 16 : 8);
        }
    }
    MR_VERIFY(at == out->data + out->n + bytes);
    out->n += bytes;
}

static void put_version(struct mr_buffer *out)
{
    uint8_t version = VERSION;

    mr_buffer_append(out, &version, 1);
}

/* Room for all that changed, as if each row were like the first: growing step by step copies. */
static void reserve(struct mr_state *s, struct mr_buffer *out)
{
    uint64_t rows = 0, first = 0;

    for (const struct mr_segment *g = s->changed; g; g = g->after) {
        for (const struct mr_changed *c = g->changed; c; c = c->next)
            rows += c->n;
        if (rows > 0 && first == 0 && g->changed->n > 0)
            first = row_bytes(s->table, mr_segment_row(g, g->changed->refs[0]));
    }
    mr_buffer_reserve(out, rows * first);
}

void mr_state_log(struct mr_state *s, uint64_t epoch, struct mr_buffer *out)
{
    struct mr_state_cursor at = {0};
    struct mr_state_row *row;
    bool has_rows = s->epoch == epoch + 1 && s->changed != NULL;

    if (!has_rows && !s->is_evicted)
        return;
    put_version(out);
    if (s->is_evicted) {
        uint8_t item[9] = {ITEM_EVICT};
        memcpy(item + 1, &s->evicted_us, 8);
        mr_buffer_append(out, item, sizeof item);
    }
    if (has_rows)
        reserve(s, out);
    while (mr_state_next_changed(s, epoch, &at, &row))
        put_row(s->table, row, out);
    mr_state_forget_changes(s);
    s->is_evicted = false;
}

struct snapshot {
    const struct mr_state_table *table;
    struct mr_buffer *out;
    bool is_begun;
};

static void put_snapshot_row(void *arg, struct mr_state_row *r)
{
    struct snapshot *s = arg;

    if (!s->is_begun)
        put_version(s->out);
    s->is_begun = true;
    put_row(s->table, r, s->out);
}

void mr_state_snapshot(struct mr_state *s, uint32_t partition, struct mr_buffer *out)
{
    struct snapshot snapshot = {.table = s->table, .out = out};

    for (uint64_t i = 0; i < s->segments_n; i++)
        mr_segment_visit_partition(s->segments[i], partition, put_snapshot_row, &snapshot);
}

static bool take_slots(struct mr_state *s, struct mr_text *r, union mr_slot *slots)
{
    for (uint32_t i = 0; i < s->table->slots_n; i++) {
        uint32_t n;
        if (s->table->slots[i] != MR_SLOT_BYTES) {
            if (!mr_text_take(r, &slots[i], s->table->slots[i] == MR_SLOT_I128 ? 16 : 8))
                return false;
            continue;
        }
        if (!mr_text_take(r, &n, 4) || r->n < n)
            return false;
        slots[i].bytes.n = 0; /* nothing to keep */
        mr_heap_grow(&s->memory, &slots[i].bytes, n);
        slots[i].bytes.n = n;
        mr_text_take(r, slots[i].bytes.data, n);
    }
    return true;
}

static bool skip_slots(const struct mr_state *s, struct mr_text *r)
{
    struct mr_text skipped;

    for (uint32_t i = 0; i < s->table->slots_n; i++) {
        uint64_t bytes = s->table->slots[i] == MR_SLOT_I128 ? 16 : 8;
        if (s->table->slots[i] == MR_SLOT_BYTES) {
            uint32_t n;
            if (!mr_text_take(r, &n, 4))
                return false;
            bytes = n;
        }
        if (!mr_text_take_slice(r, &skipped, bytes))
            return false;
    }
    return true;
}

static struct mr_state_row *find_or_insert(struct mr_state *s, uint64_t hash, struct mr_text key,
                                           int64_t expiry_us)
{
    struct mr_segment *g = mr_state_segment(s, expiry_us, false);
    struct mr_found found = mr_state_find_row(s, g, hash, key);

    return found.row ? found.row : mr_state_insert_row(s, hash, key, expiry_us).row;
}

static bool take_row(struct mr_state *s, struct mr_text *r,
                     bool (*owns)(void *arg, uint32_t partition), void *arg)
{
    int64_t expiry_us;
    uint32_t key_bytes;
    struct mr_text key;

    if (!mr_text_take(r, &expiry_us, 8) || !mr_text_take(r, &key_bytes, 4) ||
        key_bytes > MR_STATE_KEY_MAX || !mr_text_take_slice(r, &key, key_bytes))
        return false;
    uint64_t hash = mr_row_hash(key);
    s->timeless |= expiry_us == MR_STATE_NEVER && s->table->bucket_us > 0;
    if (owns && !owns(arg, (uint32_t)(hash >> 56)))
        return skip_slots(s, r);
    return take_slots(s, r, mr_state_slots(find_or_insert(s, hash, key, expiry_us)));
}

static enum mr_status apply(struct mr_state *s, struct mr_text record,
                            bool (*owns)(void *arg, uint32_t partition), void *arg,
                            struct mr_error *err)
{
    struct mr_text r = record;
    uint8_t item;
    int64_t watermark_us;

    if (!mr_text_take(&r, &item, 1))
        return MR_OK;
    if (item != VERSION)
        return MR_FAIL(err, MR_CORRUPT, 0, "state %s: version %u of its records is unknown",
                       s->table->name, item);
    while (r.n > 0) {
        bool ok = mr_text_take(&r, &item, 1);
        if (item == ITEM_ROW) {
            ok = take_row(s, &r, owns, arg);
        } else if (item == ITEM_EVICT) {
            ok = mr_text_take(&r, &watermark_us, 8);
            if (ok)
                mr_state_evict(s, watermark_us, NULL, NULL);
        } else {
            ok = false;
        }
        if (!ok)
            return MR_FAIL(err, MR_CORRUPT, 0, "state %s: a record is malformed at byte %llu",
                           s->table->name, (unsigned long long)(record.n - r.n));
    }
    s->is_evicted = false; /* that was no change of this run */
    return MR_OK;
}

enum mr_status mr_state_apply(struct mr_state *s, struct mr_text record,
                              bool (*owns)(void *arg, uint32_t partition), void *arg,
                              struct mr_error *err)
{
    return apply(s, record, owns, arg, err);
}

enum mr_status mr_state_load(struct mr_state *s, struct mr_text snapshot, struct mr_error *err)
{
    return apply(s, snapshot, NULL, NULL, err);
}
