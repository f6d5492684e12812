#include "core/format/json/fast_body.h"

static inline bool same_prefix(const struct json_member *m, const uint8_t *p)
{
    return memcmp(m->prefix, p, m->prefix_n) == 0;
}

static inline const uint8_t *plain_string_end(const uint8_t *p)
{
    return json_string_end(p);
}

static inline const uint8_t *decimal_parse(const uint8_t *p, struct json_decimal *out)
{
    return json_decimal_parse(p, out);
}

const struct json_fast_kernels json_fast_scalar = {.isa = "scalar", .lines = parse_lines};
