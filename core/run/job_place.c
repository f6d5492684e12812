/* job_place.c - where the bytes of a YAML scalar stood in its file.
 *
 * How      The file's text is walked beside the value: escapes, doubled quotes, indentation and
 *          folded line ends are stepped over.
 */
#include "core/run/job_yaml.h"

struct walk {
    struct mr_text file;
    uint64_t at; /* in file */
    struct mr_place place;
    uint32_t indent; /* column where the lines of a block begin */
};

static bool at_end(const struct walk *w)
{
    return w->at >= w->file.n;
}

static char peek(const struct walk *w)
{
    return at_end(w) ? '\0' : w->file.data[w->at];
}

static void step(struct walk *w)
{
    if (at_end(w))
        return;
    uint8_t c = (uint8_t)w->file.data[w->at++];
    if (c == '\n') {
        w->place.line++;
        w->place.column = 1;
    } else if ((c & 0xC0) != 0x80 && c != '\r') {
        w->place.column++;
    }
}

static void step_character(struct walk *w)
{
    do {
        step(w);
    } while (!at_end(w) && ((uint8_t)peek(w) & 0xC0) == 0x80);
}

static void go_to(struct walk *w, struct mr_place place)
{
    while (!at_end(w) && w->place.line < place.line)
        step(w);
    while (!at_end(w) && peek(w) != '\n' && w->place.column < place.column)
        step_character(w);
}

static void skip_blanks(struct walk *w)
{
    while (peek(w) == ' ' || peek(w) == '\t' || peek(w) == '\r')
        step(w);
}

/* Line ends with the blanks around them, as far as they go. False: no line ends here. */
static bool skip_fold(struct walk *w)
{
    struct walk ahead = *w;

    skip_blanks(&ahead);
    if (peek(&ahead) != '\n')
        return false;
    while (peek(&ahead) == '\n') {
        step(&ahead);
        skip_blanks(&ahead);
    }
    *w = ahead;
    return true;
}

/* Behind a block's "|" or ">": to its first text. */
static void enter_block(struct walk *w)
{
    while (!at_end(w) && peek(w) != '\n')
        step(w);
    skip_fold(w);
    w->indent = w->place.column;
}

/* To the next line of a literal block. */
static void next_line(struct walk *w)
{
    while (!at_end(w) && peek(w) != '\n')
        step(w);
    step(w);
    while (peek(w) == ' ' && w->place.column < w->indent)
        step(w);
}

static void skip_escape(struct walk *w)
{
    step(w);
    char kind = peek(w);
    uint32_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    step_character(w);
    for (uint32_t i = 0; i < digits; i++)
        step(w);
}

/* Over what one character of the value stands for in the file. */
static void pass(struct walk *w, enum mr_yaml_style style, char value)
{
    if (style == MR_YAML_DOUBLE && peek(w) == '\\') {
        skip_escape(w);
        return;
    }
    if (style == MR_YAML_SINGLE && peek(w) == '\'')
        step(w);
    if (style == MR_YAML_LITERAL && value == '\n')
        next_line(w);
    else if ((value != ' ' && value != '\n') || !skip_fold(w))
        step_character(w);
}

const struct mr_place *mr_yaml_places(const struct mr_yaml_file *file, const struct mr_yaml *scalar)
{
    struct mr_text value = scalar->text;
    struct mr_place *places = MR_NEW_ARRAY(file->arena, struct mr_place, value.n + 1);
    struct walk w = {.file = file->text, .place = {1, 1}};

    if (scalar->is_resolved) {
        for (uint64_t i = 0; i <= value.n; i++)
            places[i] = scalar->place;
        return places;
    }
    if (file->text.n >= 3 && memcmp(file->text.data, "\xEF\xBB\xBF", 3) == 0)
        w.at = 3;
    go_to(&w, scalar->place);
    if (scalar->style == MR_YAML_LITERAL || scalar->style == MR_YAML_FOLDED)
        enter_block(&w);
    else if (scalar->style != MR_YAML_PLAIN)
        step(&w);
    for (uint64_t i = 0; i < value.n;) {
        uint64_t n = 1;
        while (i + n < value.n && ((uint8_t)value.data[i + n] & 0xC0) == 0x80)
            n++;
        for (uint64_t k = 0; k < n; k++)
            places[i + k] = w.place;
        pass(&w, scalar->style, value.data[i]);
        i += n;
    }
    places[value.n] = w.place;
    return places;
}
