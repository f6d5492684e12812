/* zone_name.h - the text of zone names, for zone.c only. */
#pragma once
#include "core/base/text.h"

enum { ZONE_NAME_BYTES = 64 };

struct zone_name {
    char id[ZONE_NAME_BYTES]; /* Java's */
    bool is_offset;
    int32_t offset_s; /* is_offset */
};

/* False when the text is not a zone name by its form; whether a region exists is not known here. */
bool mr_zone_name_parse(struct mr_text text, struct zone_name *out);
