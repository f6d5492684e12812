#include "io/console/console.h"

enum { WIDTH_MIN = 3 };

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* Characters of UTF-8; wide ones (CJK, full width) take two places on a terminal. */
static uint32_t width_of(struct mr_text t)
{
    uint32_t width = 0;

    for (uint64_t i = 0; i < t.n; i++) {
        unsigned char c = (unsigned char)t.data[i];
        if (!starts_character(t.data[i]))
            continue;
        bool three = (c & 0xf0) == 0xe0 && i + 1 < t.n;
        uint32_t high = three ? (c & 15u) << 12 | ((unsigned char)t.data[i + 1] & 63u) << 6 : 0;
        bool wide = (high >= 0x1100 && high < 0x1180) || (high >= 0x2e80 && high < 0xa4c0) ||
                    (high >= 0xac00 && high < 0xd780) || (high >= 0xf900 && high < 0xfb00) ||
                    (high >= 0xff00 && high < 0xff40);
        width += wide ? 2 : 1;
    }
    return width;
}

static uint64_t bytes_of_characters(struct mr_text t, uint32_t n)
{
    uint64_t at = 0;

    for (; at < t.n; at++)
        if (starts_character(t.data[at]) && n-- == 0)
            break;
    return at;
}

/* Lines must stay lines; long cells end with dots. */
static struct mr_text shorten(struct mr_text t, uint32_t truncate, struct mr_arena *a)
{
    struct mr_buffer b;

    mr_buffer_init(&b, a);
    for (uint64_t i = 0; i < t.n; i++) {
        static const char controls[] = "\n\r\t\f\b\v\a", letters[] = "nrtfbva";
        const char *at = t.data[i] ? strchr(controls, t.data[i]) : NULL;
        if (at)
            mr_buffer_append_format(&b, "\\%c", letters[at - controls]);
        else
            mr_buffer_append(&b, &t.data[i], 1);
    }
    t = mr_buffer_text(&b);
    uint64_t all = bytes_of_characters(t, truncate);
    if (truncate == 0 || all == t.n)
        return t;
    if (truncate < 4)
        return (struct mr_text){t.data, all};
    uint64_t kept = bytes_of_characters(t, truncate - 3);
    return mr_text_of(mr_arena_format(a, "%.*s...", (int)kept, t.data));
}

static void put_border(const uint32_t *widths, uint32_t n, struct mr_buffer *out)
{
    for (uint32_t c = 0; c < n; c++) {
        mr_buffer_append(out, "+", 1);
        for (uint32_t i = 0; i < widths[c]; i++)
            mr_buffer_append(out, "-", 1);
    }
    mr_buffer_append(out, "+\n", 2);
}

static void put_line(const struct mr_text *cells, const uint32_t *widths, uint32_t n, bool to_left,
                     struct mr_buffer *out)
{
    for (uint32_t c = 0; c < n; c++) {
        uint32_t blanks = widths[c] - width_of(cells[c]);
        mr_buffer_append(out, "|", 1);
        if (to_left)
            mr_buffer_append_text(out, cells[c]);
        for (uint32_t i = 0; i < blanks; i++)
            mr_buffer_append(out, " ", 1);
        if (!to_left)
            mr_buffer_append_text(out, cells[c]);
    }
    mr_buffer_append(out, "|\n", 2);
}

void mr_console_print(const struct mr_console_table *t, struct mr_arena *scratch,
                      struct mr_buffer *out)
{
    uint32_t n = t->schema->fields_n;
    uint32_t *widths = MR_NEW_ARRAY(scratch, uint32_t, n);
    struct mr_text *cells = MR_NEW_ARRAY(scratch, struct mr_text, (t->rows_n + 1) * n);

    for (uint32_t c = 0; c < n; c++) {
        cells[c] = shorten(mr_text_of(t->schema->fields[c].name), t->truncate, scratch);
        widths[c] = WIDTH_MIN;
    }
    for (uint64_t i = 0; i < t->rows_n * n; i++)
        cells[n + i] = shorten(t->cells[i], t->truncate, scratch);
    for (uint64_t i = 0; i < (t->rows_n + 1) * n; i++) {
        uint32_t width = width_of(cells[i]);
        if (width > widths[i % n])
            widths[i % n] = width;
    }
    put_border(widths, n, out);
    put_line(cells, widths, n, t->truncate == 0, out);
    put_border(widths, n, out);
    for (uint64_t r = 1; r <= t->rows_n; r++)
        put_line(cells + r * n, widths, n, t->truncate == 0, out);
    put_border(widths, n, out);
}
