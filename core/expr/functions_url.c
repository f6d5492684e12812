#include "core/expr/coerce.h"
#include "core/expr/writer.h"

#include <ctype.h>

/* parse_url, url_encode, url_decode. */

struct url { /* data NULL: it has no such part */
    struct mr_text protocol, authority, user, host, path, query, ref;
};

static struct mr_text between(struct mr_text t, uint64_t from, uint64_t to)
{
    return (struct mr_text){t.data + from, to - from};
}

static uint64_t find_any(struct mr_text t, uint64_t from, const char *set)
{
    while (from < t.n && strchr(set, t.data[from]) == NULL)
        from++;
    return from;
}

static bool is_escape(struct mr_text t, uint64_t at)
{
    return at + 2 < t.n && isxdigit((unsigned char)t.data[at + 1]) &&
           isxdigit((unsigned char)t.data[at + 2]);
}

/* java.net.URI's parts; false for what it refuses: blanks, controls and a few signs. */
static bool parse(struct mr_text t, struct url *u)
{
    uint64_t at, end;

    *u = (struct url){0};
    for (uint64_t i = 0; i < t.n; i++)
        if ((uint8_t)t.data[i] <= ' ' || strchr("\"<>\\^`{|}", t.data[i]) != NULL ||
            (t.data[i] == '%' && !is_escape(t, i)))
            return false;
    at = find_any(t, 0, ":/?#");
    if (at < t.n && t.data[at] == ':' && at > 0) {
        u->protocol = between(t, 0, at);
        at++;
    } else {
        at = 0;
    }
    if (u->protocol.data && at < t.n && t.data[at] != '/') { /* mailto:x: opaque */
        end = find_any(t, at, "#");
        u->ref = end < t.n ? between(t, end + 1, t.n) : (struct mr_text){0};
        return true;
    }
    if (at + 1 < t.n && t.data[at] == '/' && t.data[at + 1] == '/') {
        end = find_any(t, at + 2, "/?#");
        u->authority = between(t, at + 2, end);
        at = end;
        uint64_t host = find_any(u->authority, 0, "@");
        if (host < u->authority.n)
            u->user = between(u->authority, 0, host);
        host = host < u->authority.n ? host + 1 : 0;
        end = u->authority.n > host && u->authority.data[host] == '['
                  ? find_any(u->authority, host, "]") + 1
                  : find_any(u->authority, host, ":");
        u->host = between(u->authority, host, end < u->authority.n ? end : u->authority.n);
    }
    end = find_any(t, at, "?#");
    u->path = between(t, at, end);
    if (end < t.n && t.data[end] == '?') {
        at = end + 1;
        end = find_any(t, at, "#");
        u->query = between(t, at, end);
    }
    if (end < t.n)
        u->ref = between(t, end + 1, t.n);
    return true;
}

/* The value of a key of the query. */
static struct mr_text query_value(struct mr_text query, struct mr_text key)
{
    for (uint64_t at = 0; at < query.n;) {
        uint64_t end = find_any(query, at, "&"), equals = find_any(query, at, "=");
        if (equals < end && mr_text_equal(between(query, at, equals), key))
            return between(query, equals + 1, end);
        at = end + 1;
    }
    return (struct mr_text){0};
}

static struct mr_text part_of(const struct url *u, struct mr_text part)
{
    if (mr_text_equal(part, MR_TEXT("HOST")))
        return u->host;
    if (mr_text_equal(part, MR_TEXT("PATH")))
        return u->path;
    if (mr_text_equal(part, MR_TEXT("QUERY")))
        return u->query;
    if (mr_text_equal(part, MR_TEXT("REF")))
        return u->ref;
    if (mr_text_equal(part, MR_TEXT("PROTOCOL")))
        return u->protocol;
    if (mr_text_equal(part, MR_TEXT("AUTHORITY")))
        return u->authority;
    if (mr_text_equal(part, MR_TEXT("USERINFO")))
        return u->user;
    if (mr_text_equal(part, MR_TEXT("FILE")) && u->path.data)
        return u->query.data ? (struct mr_text){u->path.data, u->path.n + 1 + u->query.n} : u->path;
    return (struct mr_text){0};
}

MR_BODY(parse_url)
{
    bool is_try = strncmp(call->expr->function->name, "try_", 4) == 0 || !call->context->ansi;
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row), part;
        struct url u;
        bool is_url = parse(t, &u);
        if (!is_url && !is_try)
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_URL",
                                     "The url is invalid: %.*s. Use `try_parse_url` to tolerate "
                                     "invalid URL and return NULL instead.",
                                     (int)(t.n < 512 ? t.n : 512), t.data);
        part = is_url ? part_of(&u, mr_column_text(&args[1], row)) : (struct mr_text){0};
        if (call->expr->args_n > 2 && part.data)
            part = query_value(part, mr_column_text(&args[2], row));
        if (part.data)
            mr_text_writer_copy(&w, row, part);
        else
            mr_text_writer_null(&w, row, call->rows);
    }
    return MR_OK;
}

MR_BODY(url_encode)
{
    static const char digits[] = "0123456789ABCDEF";
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        char *room = mr_text_writer_room(&w, 3 * t.n);
        uint64_t n = 0;
        for (uint64_t k = 0; k < t.n; k++) {
            uint8_t c = (uint8_t)t.data[k];
            bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                         (c && strchr(".-*_", c) != NULL);
            if (plain || c == ' ') {
                room[n++] = plain ? (char)c : '+';
                continue;
            }
            room[n++] = '%';
            room[n++] = digits[c >> 4];
            room[n++] = digits[c & 15];
        }
        mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}

MR_BODY(url_decode)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        char *room = mr_text_writer_room(&w, t.n);
        uint64_t n = 0;
        for (uint64_t k = 0; k < t.n; k++) {
            int32_t high, low;
            if (t.data[k] != '%') {
                room[n++] = t.data[k] == '+' ? ' ' : t.data[k];
                continue;
            }
            high = k + 2 < t.n ? mr_hex_digit(t.data[k + 1]) : -1;
            low = k + 2 < t.n ? mr_hex_digit(t.data[k + 2]) : -1;
            if (high < 0 || low < 0)
                return MR_FAIL_CONDITION(call->err, MR_QUERY, "CANNOT_DECODE_URL",
                                         "The provided URL cannot be decoded: %.*s. Please ensure "
                                         "that the URL is properly formatted and try again.",
                                         (int)(t.n < 512 ? t.n : 512), t.data);
            room[n++] = (char)(high << 4 | low);
            k += 2;
        }
        mr_text_writer_put(&w, row, n);
    }
    return MR_OK;
}
