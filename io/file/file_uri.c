#include "io/file/file_uri.h"

#include "core/mem/arena.h"

/* What Java's URI writes as %XX in a path: controls, blanks and these. Other bytes stay as they
 * are. */
static bool is_quoted(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f || strchr("\"#%<>?[\\]^`{|}", c) != NULL;
}

const char *mr_file_uri(struct mr_arena *a, const char *path)
{
    static const char digits[] = "0123456789ABCDEF";
    struct mr_buffer b;

    mr_buffer_init(&b, a);
    mr_buffer_append_text(&b, MR_TEXT("file://"));
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if (is_quoted(*path))
            mr_buffer_append_format(&b, "%%%c%c", digits[c >> 4], digits[c & 15]);
        else
            mr_buffer_append(&b, path, 1);
    }
    return mr_arena_copy(a, b.data, b.n);
}
