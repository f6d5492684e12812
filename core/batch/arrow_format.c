#include "core/batch/arrow_format.h"

#include "core/base/bounds.h"
#include <stdlib.h>

/* The first of a kind is the one that is written. */
static const struct {
    const char *format;
    enum mr_kind kind;
    enum arrow_layout layout;
} formats[] = {
    {"n", MR_VOID, ARROW_NOTHING},
    {"b", MR_BOOLEAN, ARROW_FIXED},
    {"c", MR_TINYINT, ARROW_FIXED},
    {"s", MR_SMALLINT, ARROW_FIXED},
    {"i", MR_INT, ARROW_FIXED},
    {"l", MR_BIGINT, ARROW_FIXED},
    {"f", MR_FLOAT, ARROW_FIXED},
    {"g", MR_DOUBLE, ARROW_FIXED},
    {"vu", MR_STRING, ARROW_VIEWS},
    {"u", MR_STRING, ARROW_OFFSETS_32},
    {"U", MR_STRING, ARROW_OFFSETS_64},
    {"vz", MR_BINARY, ARROW_VIEWS},
    {"z", MR_BINARY, ARROW_OFFSETS_32},
    {"Z", MR_BINARY, ARROW_OFFSETS_64},
    {"tdD", MR_DATE, ARROW_FIXED},
    {"tsu:UTC", MR_TIMESTAMP, ARROW_FIXED},
    {"tsu:", MR_TIMESTAMP_NTZ, ARROW_FIXED},
    {"tiM", MR_INTERVAL_YEAR_MONTH, ARROW_FIXED},
    {"tDu", MR_INTERVAL_DAY_TIME, ARROW_FIXED},
    {"tin", MR_INTERVAL_CALENDAR, ARROW_FIXED},
    {"+l", MR_ARRAY, ARROW_OFFSETS_32},
    {"+L", MR_ARRAY, ARROW_OFFSETS_64},
    {"+m", MR_MAP, ARROW_ENTRIES},
    {"+s", MR_STRUCT, ARROW_FIELDS},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* d:precision,scale[,128] */
static bool read_decimal(const char *format, struct arrow_format *out)
{
    char *end;
    unsigned long precision = strtoul(format + 2, &end, 10);

    if (*end != ',')
        return false;
    unsigned long scale = strtoul(end + 1, &end, 10);
    if ((*end != '\0' && strcmp(end, ",128") != 0) || precision == 0 ||
        precision > MR_DECIMAL_DIGITS || scale > precision)
        return false;
    *out = (struct arrow_format){MR_DECIMAL, ARROW_FIXED, (uint32_t)precision, (uint32_t)scale};
    return true;
}

bool mr_arrow_format_read(const char *format, struct arrow_format *out)
{
    if (strncmp(format, "d:", 2) == 0)
        return read_decimal(format, out);
    for (uint32_t i = 0; i < FORMATS; i++) {
        if (strcmp(format, formats[i].format) == 0) {
            *out = (struct arrow_format){.kind = formats[i].kind, .layout = formats[i].layout};
            return true;
        }
    }
    /* An instant is the same in every zone that a file may name. */
    if (strncmp(format, "tsu:", 4) == 0) {
        *out = (struct arrow_format){.kind = MR_TIMESTAMP, .layout = ARROW_FIXED};
        return true;
    }
    return false;
}

const char *mr_arrow_format_write(const struct mr_type *type, struct mr_arena *a)
{
    uint32_t i = 0;

    if (type->kind == MR_DECIMAL)
        return mr_arena_format(a, "d:%u,%u", type->precision, type->scale);
    while (formats[i].kind != type->kind)
        i++;
    return formats[i].format;
}
