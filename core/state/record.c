#include "core/state/part.h"

#include "core/base/check.h"
#include "core/base/copy.h"
#include "core/state/row.h"

/* Log records and snapshots are the same: a version, then items. README.md has the bytes. */
enum { VERSION = 2, ITEM_ROW = 1, ITEM_EVICT = 2, VARINT_MAX = 10 };

static uint8_t *put(uint8_t *at, const void *data, uint64_t bytes)
{
    mr_copy_short(at, data, bytes);
    return at + bytes;
}

/* Seven bits a byte, the lowest first; the eighth: more follow (LEB128). */
static uint8_t *put_varint(uint8_t *at, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        *at++ = (uint8_t)(x | 0x80);
    *at++ = (uint8_t)x;
    return at;
}

static bool take_varint(struct mr_text *r, uint64_t *x)
{
    uint8_t byte = 0x80;

    *x = 0;
    for (uint32_t shift = 0; byte & 0x80; shift += 7) {
        if (shift >= 7 * VARINT_MAX || !mr_text_take(r, &byte, 1))
            return false;
        *x |= (uint64_t)(byte & 0x7f) << shift;
    }
    return true;
}

/* Small for numbers near zero, also negative ones. */
static uint64_t zigzag(int64_t x)
{
    return (uint64_t)x << 1 ^ (uint64_t)(x >> 63);
}

static int64_t unzigzag(uint64_t x)
{
    return (int64_t)(x >> 1 ^ (0 - (x & 1)));
}

static uint64_t row_bytes_max(const struct mr_state_table *t, struct mr_state_row *r)
{
    union mr_slot *slots = mr_state_slots(r);
    uint64_t bytes = 1 + 2 * VARINT_MAX + mr_state_key(r).n + t->slots_n * (uint64_t)16;

    for (uint32_t i = 0; i < t->slots_n; i++) {
        bytes += t->slots[i] == MR_SLOT_BYTES ? mr_wide_bytes(slots)->n : 0;
        slots += mr_slot_width(t->slots[i]);
    }
    return bytes;
}

static uint8_t *put_slot(enum mr_slot_kind kind, union mr_slot *slot, uint8_t *at)
{
    switch (kind) {
    case MR_SLOT_I64:
        return put_varint(at, zigzag(slot->i64));
    case MR_SLOT_F64:
        return put(at, &slot->f64, 8);
    case MR_SLOT_I128:
        return put(at, slot, 16);
    case MR_SLOT_BYTES:
        at = put_varint(at, mr_wide_bytes(slot)->n);
        return put(at, mr_wide_bytes(slot)->data, mr_wide_bytes(slot)->n);
    }
    MR_UNREACHABLE();
}

void mr_row_log_put(struct mr_row_log *log, struct mr_state_row *r)
{
    union mr_slot *slots = mr_state_slots(r);
    struct mr_text key = mr_state_key(r);
    uint64_t bytes_max = row_bytes_max(log->table, r);
    uint8_t *begin = mr_buffer_reserve(log->out, bytes_max), *at = begin;

    *at++ = ITEM_ROW;
    /* The difference wraps where it must: it is undone the same way. */
    int64_t expiry_us = mr_expiry(&log->expiry, r);
    at = put_varint(at, zigzag((int64_t)((uint64_t)expiry_us - (uint64_t)log->expiry_us)));
    log->expiry_us = expiry_us;
    at = put_varint(at, key.n);
    at = put(at, key.data, key.n);
    for (uint32_t i = 0; i < log->table->slots_n; i++) {
        at = put_slot(log->table->slots[i], slots, at);
        slots += mr_slot_width(log->table->slots[i]);
    }
    MR_VERIFY(at <= begin + bytes_max);
    log->out->n += (uint64_t)(at - begin);
}

static void put_version(struct mr_buffer *out)
{
    uint8_t version = VERSION;

    mr_buffer_append(out, &version, 1);
}

static void put_evict(struct mr_state *s, struct mr_buffer *out)
{
    uint8_t item[9] = {ITEM_EVICT};

    if (!s->is_evicted)
        return;
    memcpy(item + 1, &s->evicted_us, 8);
    mr_buffer_append(out, item, sizeof item);
    s->is_evicted = false;
}

bool mr_state_log(struct mr_state *s, uint64_t epoch, uint64_t bytes, struct mr_buffer *out)
{
    struct mr_row_log log = {.table = s->table, .expiry = s->expiry, .out = out};
    bool has_rows = s->epoch == epoch + 1 && s->changed != NULL;

    if (!has_rows && !s->is_evicted)
        return false;
    put_version(out);
    put_evict(s, out);
    if (has_rows)
        mr_changes_log(s, bytes, &log);
    return has_rows && s->changed != NULL;
}

void mr_state_log_ahead(struct mr_state *s, uint64_t epoch, uint64_t bytes, struct mr_buffer *out)
{
    struct mr_row_log log = {.table = s->table, .expiry = s->expiry, .out = out};
    uint64_t n = out->n;

    if (s->epoch != epoch + 1)
        return;
    put_version(out);
    put_evict(s, out);
    uint64_t begun = out->n;
    mr_changes_log_ahead(s, bytes, &log);
    if (out->n == begun && begun == n + 1)
        out->n = n; /* nothing to tell */
}

struct snapshot {
    struct mr_row_log log;
    bool is_begun;
};

static void put_snapshot_row(void *arg, struct mr_state_row *r)
{
    struct snapshot *s = arg;

    if (!s->is_begun)
        put_version(s->log.out);
    s->is_begun = true;
    mr_row_log_put(&s->log, r);
}

void mr_state_snapshot(struct mr_state *s, uint32_t partition, struct mr_buffer *out)
{
    struct snapshot snapshot = {.log = {.table = s->table, .expiry = s->expiry, .out = out}};

    for (uint64_t i = 0; i < s->segments_n; i++)
        mr_segment_visit_partition(s->segments[i], partition, put_snapshot_row, &snapshot);
}

static bool take_bytes(struct mr_state *s, struct mr_text *r, struct mr_slot_bytes *b)
{
    uint64_t n;

    if (!take_varint(r, &n) || r->n < n || n > (uint64_t)1 << 31)
        return false;
    b->n = 0; /* nothing to keep */
    mr_heap_grow(&s->memory, b, (uint32_t)n);
    b->n = (uint32_t)n;
    return mr_text_take(r, b->data, n);
}

static bool take_slots(struct mr_state *s, struct mr_text *r, union mr_slot *slots)
{
    bool ok = true;
    uint64_t x;

    for (uint32_t i = 0; i < s->table->slots_n && ok; i++) {
        switch (s->table->slots[i]) {
        case MR_SLOT_I64:
            ok = take_varint(r, &x);
            slots->i64 = ok ? unzigzag(x) : 0;
            break;
        case MR_SLOT_F64:
            ok = mr_text_take(r, &slots->f64, 8);
            break;
        case MR_SLOT_I128:
            ok = mr_text_take(r, slots, 16);
            break;
        case MR_SLOT_BYTES:
            ok = take_bytes(s, r, mr_wide_bytes(slots));
            break;
        }
        slots += mr_slot_width(s->table->slots[i]);
    }
    return ok;
}

static bool skip_slots(const struct mr_state *s, struct mr_text *r)
{
    struct mr_text skipped;
    bool ok = true;
    uint64_t x;

    for (uint32_t i = 0; i < s->table->slots_n && ok; i++) {
        switch (s->table->slots[i]) {
        case MR_SLOT_I64:
            ok = take_varint(r, &x);
            break;
        case MR_SLOT_F64:
            ok = mr_text_take_slice(r, &skipped, 8);
            break;
        case MR_SLOT_I128:
            ok = mr_text_take_slice(r, &skipped, 16);
            break;
        case MR_SLOT_BYTES:
            ok = take_varint(r, &x) && mr_text_take_slice(r, &skipped, x);
            break;
        }
    }
    return ok;
}

/* That of a row that was written by this query, or before it had a watermark, or when it had one.
 * False: its key is too short. */
static bool expiry_of(const struct mr_state *s, struct mr_text key, int64_t *expiry_us)
{
    const struct mr_expiry *x = &s->expiry;

    if (x->place == MR_NOWHERE)
        *expiry_us = MR_STATE_NEVER;
    if (x->place == MR_NOWHERE || x->place == MR_AT_FRONT)
        return true;
    if (key.n < x->at + (x->place == MR_IN_KEY ? 8 : x->null_at + 1))
        return false;
    *expiry_us = mr_expiry_in(x, key);
    return true;
}

/* *last_us: the expiry of the row before. */
static bool take_row(struct mr_state *s, struct mr_text *r, int64_t *last_us,
                     bool (*owns)(void *arg, uint32_t partition), void *arg)
{
    uint64_t difference, key_bytes;
    struct mr_found found;
    struct mr_text key;

    if (!take_varint(r, &difference) || !take_varint(r, &key_bytes) ||
        key_bytes > MR_ROW_BYTES_MAX || !mr_text_take_slice(r, &key, key_bytes))
        return false;
    int64_t expiry_us = (int64_t)((uint64_t)*last_us + (uint64_t)unzigzag(difference));
    *last_us = expiry_us;
    if (!expiry_of(s, key, &expiry_us))
        return false;
    uint64_t hash = mr_row_hash(key);
    s->timeless |=
        s->expiry.place == MR_AT_FRONT && expiry_us == MR_STATE_NEVER && s->table->bucket_us > 0;
    if (owns && !owns(arg, (uint32_t)(hash >> 56)))
        return skip_slots(s, r);
    mr_state_find_or_insert(s, hash, key, expiry_us, &found);
    return take_slots(s, r, mr_state_slots(found.row));
}

static enum mr_status apply(struct mr_state *s, struct mr_text record,
                            bool (*owns)(void *arg, uint32_t partition), void *arg,
                            struct mr_error *err)
{
    struct mr_text r = record;
    uint8_t item;
    int64_t watermark_us, last_us = 0;

    if (!mr_text_take(&r, &item, 1))
        return MR_OK;
    if (item != VERSION)
        return MR_FAIL(err, MR_CORRUPT, 0, "state %s: version %u of its records is unknown",
                       s->table->name, item);
    while (r.n > 0) {
        bool ok = mr_text_take(&r, &item, 1);
        if (item == ITEM_ROW) {
            ok = take_row(s, &r, &last_us, owns, arg);
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
