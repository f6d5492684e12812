#include "core/expr/encode.h"

#include "core/base/check.h"

static void append_u32(struct mr_buffer *out, uint32_t v)
{
    mr_buffer_append(out, &v, sizeof v);
}

void mr_value_encode(const struct mr_column *c, uint32_t row, struct mr_buffer *out)
{
    uint8_t present = !mr_column_is_null(c, row);
    struct mr_text t;

    mr_buffer_append(out, &present, 1);
    if (!present)
        return;
    switch (c->type->kind) {
    case MR_BOOLEAN:
        present = mr_bit_get(c->bits, row);
        mr_buffer_append(out, &present, 1);
        break;
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        t = mr_column_text(c, row);
        append_u32(out, (uint32_t)t.n);
        mr_buffer_append(out, t.data, t.n);
        break;
    case MR_ARRAY:
    case MR_MAP:
        append_u32(out, (uint32_t)(c->offsets[row + 1] - c->offsets[row]));
        for (int32_t k = c->offsets[row]; k < c->offsets[row + 1]; k++)
            for (uint32_t f = 0; f < c->type->fields_n; f++)
                mr_value_encode(&c->children[f], (uint32_t)k, out);
        break;
    case MR_STRUCT:
        for (uint32_t f = 0; f < c->type->fields_n; f++)
            mr_value_encode(&c->children[f], row, out);
        break;
    default: {
        uint32_t bytes = mr_type_value_bytes(c->type);
        mr_buffer_append(out, (const uint8_t *)c->data + (size_t)row * bytes, bytes);
    }
    }
}

static uint32_t take_u32(const uint8_t **at)
{
    uint32_t v;

    memcpy(&v, *at, sizeof v);
    *at += sizeof v;
    return v;
}

static void decode_fixed(const uint8_t **at, struct mr_builder *b)
{
    struct mr_column c;
    __int128 room[1] = {0};
    uint32_t bytes = mr_type_value_bytes(b->type);

    memcpy(room, *at, bytes);
    *at += bytes;
    c = (struct mr_column){.type = b->type};
    c.data = room;
    mr_builder_append(b, &c, 0);
}

void mr_value_decode(const uint8_t **at, struct mr_builder *b)
{
    uint32_t n;

    if (*(*at)++ == 0) {
        mr_builder_append_null(b);
        return;
    }
    switch (b->type->kind) {
    case MR_BOOLEAN:
        mr_builder_append_i64(b, *(*at)++);
        break;
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        n = take_u32(at);
        mr_builder_append_text(b, (struct mr_text){(const char *)*at, n});
        *at += n;
        break;
    case MR_ARRAY:
    case MR_MAP:
        n = take_u32(at);
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t f = 0; f < b->type->fields_n; f++)
                mr_value_decode(at, &b->children[f]);
        mr_builder_close_row(b);
        break;
    case MR_STRUCT:
        for (uint32_t f = 0; f < b->type->fields_n; f++)
            mr_value_decode(at, &b->children[f]);
        mr_builder_close_row(b);
        break;
    default:
        decode_fixed(at, b);
    }
}
