#include "core/format/format.h"

const struct mr_format_ops *const mr_formats[] = {&mr_format_csv, &mr_format_json, &mr_format_text,
                                                  NULL};

const struct mr_format_ops *mr_format_find(const char *name)
{
    for (uint32_t i = 0; mr_formats[i]; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(mr_formats[i]->name), mr_text_of(name)))
            return mr_formats[i];
    return NULL;
}
