#include "core/format/variant/layout.h"

#include "core/base/check.h"
#include <stdlib.h>

enum { NAMES_MIN = 32, ENTRIES_MIN = 64 };

void mr_variant_builder_init(struct mr_variant_builder *b, struct mr_arena *a)
{
    *b = (struct mr_variant_builder){.arena = a,
                                     .names_capacity = NAMES_MIN,
                                     .slots_mask = 2 * NAMES_MIN - 1,
                                     .entries_capacity = ENTRIES_MIN};
    mr_buffer_init(&b->value, a);
    b->names = MR_NEW_ARRAY(a, struct mr_text, b->names_capacity);
    b->slots = MR_NEW_ARRAY(a, uint32_t, b->slots_mask + 1);
    b->entries = MR_NEW_ARRAY(a, struct mr_variant_entry, b->entries_capacity);
    b->levels = mr_arena_alloc(a, MR_VARIANT_DEPTH_MAX * sizeof *b->levels);
    b->walked = mr_arena_alloc(a, MR_VARIANT_DEPTH_MAX * sizeof *b->walked);
    b->next = mr_arena_alloc(a, MR_VARIANT_DEPTH_MAX * sizeof *b->next);
}

void mr_variant_begin(struct mr_variant_builder *b)
{
    if (b->names_n)
        memset(b->slots, 0, ((size_t)b->slots_mask + 1) * sizeof *b->slots);
    b->value.n = 0;
    b->names_n = b->entries_n = b->depth = 0;
    b->names_bytes = 0;
    b->duplicate = (struct mr_text){0};
}

static uint32_t *find_slot(const struct mr_variant_builder *b, struct mr_text name)
{
    uint32_t hash = 2166136261u;

    for (uint64_t i = 0; i < name.n; i++)
        hash = (hash ^ (uint8_t)name.data[i]) * 16777619u;
    for (uint32_t at = hash;; at++) {
        uint32_t *slot = &b->slots[at & b->slots_mask];
        if (*slot == 0 || mr_text_equal(b->names[*slot - 1], name))
            return slot;
    }
}

static void grow_names(struct mr_variant_builder *b)
{
    struct mr_text *old = b->names;

    b->names_capacity *= 2;
    b->names = MR_NEW_ARRAY(b->arena, struct mr_text, b->names_capacity);
    memcpy(b->names, old, b->names_n * sizeof *old);
    b->slots_mask = 2 * b->names_capacity - 1;
    b->slots = MR_NEW_ARRAY(b->arena, uint32_t, b->slots_mask + 1);
    for (uint32_t i = 0; i < b->names_n; i++)
        *find_slot(b, b->names[i]) = i + 1;
}

static uint32_t id_of(struct mr_variant_builder *b, struct mr_text name)
{
    uint32_t *slot = find_slot(b, name);

    if (*slot)
        return *slot - 1;
    if (b->names_n == b->names_capacity) {
        grow_names(b);
        slot = find_slot(b, name);
    }
    b->names[b->names_n] = name;
    b->names_bytes += name.n;
    *slot = ++b->names_n;
    return *slot - 1;
}

static void put(struct mr_variant_builder *b, const void *data, uint64_t n)
{
    if (n)
        mr_buffer_append(&b->value, data, n);
}

static void put_byte(struct mr_variant_builder *b, uint32_t byte)
{
    put(b, &(uint8_t){(uint8_t)byte}, 1);
}

static void put_primitive(struct mr_variant_builder *b, uint32_t type, const void *data, uint32_t n)
{
    put_byte(b, type << 2 | VARIANT_PRIMITIVE);
    put(b, data, n);
}

void mr_variant_put_null(struct mr_variant_builder *b)
{
    put_primitive(b, VARIANT_NULL, NULL, 0);
}

void mr_variant_put_boolean(struct mr_variant_builder *b, bool value)
{
    put_primitive(b, value ? VARIANT_TRUE : VARIANT_FALSE, NULL, 0);
}

void mr_variant_put_integer(struct mr_variant_builder *b, int64_t value)
{
    if (value == (int8_t)value)
        put_primitive(b, VARIANT_INT8, &value, 1);
    else if (value == (int16_t)value)
        put_primitive(b, VARIANT_INT16, &value, 2);
    else if (value == (int32_t)value)
        put_primitive(b, VARIANT_INT32, &value, 4);
    else
        put_primitive(b, VARIANT_INT64, &value, 8);
}

void mr_variant_put_decimal(struct mr_variant_builder *b, __int128 value, uint32_t scale)
{
    uint32_t precision = mr_variant_precision(value);
    uint32_t digits = precision > scale ? precision : scale;
    uint32_t bytes = digits <= 9 ? 4 : digits <= 18 ? 8 : 16;
    uint32_t form = digits <= 9    ? VARIANT_DECIMAL4
                    : digits <= 18 ? VARIANT_DECIMAL8
                                   : VARIANT_DECIMAL16;

    put_byte(b, form << 2);
    put_byte(b, scale);
    put(b, &value, bytes);
}

void mr_variant_put_double(struct mr_variant_builder *b, double value)
{
    put_primitive(b, VARIANT_DOUBLE, &value, 8);
}

void mr_variant_put_float(struct mr_variant_builder *b, float value)
{
    put_primitive(b, VARIANT_FLOAT, &value, 4);
}

void mr_variant_put_text(struct mr_variant_builder *b, struct mr_text t)
{
    if (t.n <= VARIANT_SHORT_MAX)
        put_byte(b, (uint32_t)t.n << 2 | VARIANT_SHORT_STRING);
    else
        put_primitive(b, VARIANT_STRING, &t.n, 4);
    put(b, t.data, t.n);
}

void mr_variant_put_binary(struct mr_variant_builder *b, struct mr_text t)
{
    put_primitive(b, VARIANT_BINARY, &t.n, 4);
    put(b, t.data, t.n);
}

void mr_variant_put_time(struct mr_variant_builder *b, enum mr_variant_kind kind, int64_t value)
{
    if (kind == MR_VARIANT_DATE)
        put_primitive(b, VARIANT_DATE, &value, 4);
    else
        put_primitive(b, kind == MR_VARIANT_TIMESTAMP ? VARIANT_TIMESTAMP : VARIANT_TIMESTAMP_NTZ,
                      &value, 8);
}

bool mr_variant_open(struct mr_variant_builder *b, bool object)
{
    if (b->depth == MR_VARIANT_DEPTH_MAX)
        return false;
    b->levels[b->depth++] = (struct mr_variant_level){object, b->entries_n, b->value.n};
    return true;
}

static void add_entry(struct mr_variant_builder *b, struct mr_text name, uint32_t id)
{
    if (b->entries_n == b->entries_capacity) {
        struct mr_variant_entry *old = b->entries;
        b->entries_capacity *= 2;
        b->entries = mr_arena_alloc(b->arena, b->entries_capacity * sizeof *old);
        memcpy(b->entries, old, b->entries_n * sizeof *old);
    }
    b->entries[b->entries_n++] =
        (struct mr_variant_entry){name, id, b->value.n - b->levels[b->depth - 1].start};
}

void mr_variant_name(struct mr_variant_builder *b, struct mr_text name)
{
    add_entry(b, name, id_of(b, name));
}

void mr_variant_item(struct mr_variant_builder *b)
{
    add_entry(b, MR_TEXT(""), 0);
}

static int by_name(const void *a, const void *b)
{
    return variant_compare_names(((const struct mr_variant_entry *)a)->name,
                                 ((const struct mr_variant_entry *)b)->name);
}

static uint32_t width_of(uint64_t value)
{
    return value <= 0xff ? 1 : value <= 0xffff ? 2 : value <= 0xffffff ? 3 : 4;
}

static uint8_t *write_at(uint8_t *to, uint64_t value, uint32_t bytes)
{
    memcpy(to, &value, bytes);
    return to + bytes;
}

bool mr_variant_close(struct mr_variant_builder *b)
{
    MR_ASSERT(b->depth > 0);
    const struct mr_variant_level *l = &b->levels[--b->depth];
    struct mr_variant_entry *e = b->entries + l->first;
    uint32_t n = b->entries_n - l->first, id_max = 0;
    uint64_t data = b->value.n - l->start;

    if (l->object)
        qsort(e, n, sizeof *e, by_name);
    for (uint32_t i = 0; l->object && i < n; i++) {
        if (i && mr_text_equal(e[i].name, e[i - 1].name)) {
            b->duplicate = e[i].name;
            return false;
        }
        id_max = e[i].id > id_max ? e[i].id : id_max;
    }
    bool large = n > 0xff;
    uint32_t count_bytes = large ? 4 : 1, offset_bytes = width_of(data);
    uint32_t id_bytes = l->object ? width_of(id_max) : 0;
    uint64_t header = 1 + count_bytes + (uint64_t)n * id_bytes + (n + UINT64_C(1)) * offset_bytes;
    uint32_t low = l->object ? (id_bytes - 1) << 2 | (offset_bytes - 1) : offset_bytes - 1;

    mr_buffer_reserve(&b->value, header);
    uint8_t *to = (uint8_t *)b->value.data + l->start;
    memmove(to + header, to, data);
    *to++ = (uint8_t)((low | (uint32_t)large << (l->object ? 4 : 2)) << 2 |
                      (l->object ? VARIANT_OBJECT : VARIANT_ARRAY));
    to = write_at(to, n, count_bytes);
    for (uint32_t i = 0; l->object && i < n; i++)
        to = write_at(to, e[i].id, id_bytes);
    for (uint32_t i = 0; i < n; i++)
        to = write_at(to, e[i].offset, offset_bytes);
    write_at(to, data, offset_bytes);
    b->value.n += header;
    b->entries_n = l->first;
    return true;
}

static void put_scalar(struct mr_variant_builder *b, const struct mr_variant_value *x)
{
    switch (x->kind) {
    case MR_VARIANT_BOOLEAN:
        mr_variant_put_boolean(b, x->i64);
        break;
    case MR_VARIANT_INTEGER:
        mr_variant_put_integer(b, x->i64);
        break;
    case MR_VARIANT_DECIMAL:
        mr_variant_put_decimal(b, x->i128, x->scale);
        break;
    case MR_VARIANT_DOUBLE:
        mr_variant_put_double(b, x->f64);
        break;
    case MR_VARIANT_FLOAT:
        mr_variant_put_float(b, x->f32);
        break;
    case MR_VARIANT_STRING:
        mr_variant_put_text(b, x->text);
        break;
    case MR_VARIANT_BINARY:
        mr_variant_put_binary(b, x->text);
        break;
    case MR_VARIANT_DATE:
    case MR_VARIANT_TIMESTAMP:
    case MR_VARIANT_TIMESTAMP_NTZ:
        mr_variant_put_time(b, x->kind, x->i64);
        break;
    default: /* nested ones that are too deep too */
        mr_variant_put_null(b);
    }
}

/* Levels of v are walked by an explicit stack: where in each the next member is. */
void mr_variant_put_variant(struct mr_variant_builder *b, struct mr_variant v)
{
    uint32_t bottom = b->depth, *next = b->next;
    struct mr_variant *at = b->walked;

    for (;;) {
        struct mr_variant_value x = mr_variant_read(v);
        bool nested = x.kind == MR_VARIANT_OBJECT || x.kind == MR_VARIANT_ARRAY;
        if (nested && mr_variant_open(b, x.kind == MR_VARIANT_OBJECT)) {
            at[b->depth - 1] = v;
            next[b->depth - 1] = 0;
        } else {
            put_scalar(b, &x);
        }
        while (b->depth > bottom &&
               next[b->depth - 1] == mr_variant_read(at[b->depth - 1]).members_n)
            mr_variant_close(b);
        if (b->depth == bottom)
            return;
        struct mr_text name;
        v = mr_variant_member(at[b->depth - 1], next[b->depth - 1]++, &name);
        if (b->levels[b->depth - 1].object)
            mr_variant_name(b, name);
        else
            mr_variant_item(b);
    }
}

bool mr_variant_finish(struct mr_variant_builder *b, struct mr_buffer *out)
{
    uint64_t widest = b->names_bytes > b->names_n ? b->names_bytes : b->names_n;
    uint32_t width = width_of(widest);
    uint64_t at = 0;

    MR_ASSERT(b->depth == 0);
    if (b->value.n > MR_VARIANT_BYTES_MAX || b->names_bytes > MR_VARIANT_BYTES_MAX)
        return false;
    mr_buffer_append(out, &(uint8_t){(uint8_t)(VARIANT_VERSION | (width - 1) << 6)}, 1);
    mr_buffer_append(out, &b->names_n, width);
    for (uint32_t i = 0; i <= b->names_n; i++) {
        mr_buffer_append(out, &at, width);
        at += i < b->names_n ? b->names[i].n : 0;
    }
    for (uint32_t i = 0; i < b->names_n; i++)
        mr_buffer_append_text(out, b->names[i]);
    mr_buffer_append(out, b->value.data, b->value.n);
    return true;
}
