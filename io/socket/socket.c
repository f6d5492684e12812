#include "io/socket/socket.h"

#include "core/base/check.h"
#include "io/options.h"
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READ_BYTES = 256 * 1024,
    LINE_BYTES_MAX = 16 * 1024 * 1024,
    EPOCH_BYTES_MAX = 64 * 1024 * 1024,
    SPLIT_BYTES = 1024 * 1024,
};

static const char *const options[] = {
    "host: name or address of the server (needed)",
    "includeTimestamp: adds the column timestamp, when the line came (false)",
    "numPartitions: accepted, without effect",
    "port: its TCP port (needed)",
    NULL,
};

struct planner {
    struct mr_env *env;
    const char *name;
    int fd;
    bool at_end, frozen;
    int64_t lines_n;           /* taken since the start, also in earlier runs */
    uint64_t planned;          /* bytes of ready that the planned epoch has */
    struct mr_arena arenas[2]; /* of ready, in turn: what an epoch did not take moves on */
    uint32_t arena_at;
    struct mr_buffer ready; /* whole lines, a head before each */
    uint8_t *partial;       /* of the last line */
    uint64_t partial_n;
    uint64_t *starts; /* of splits in ready */
    uint32_t splits_n;
    char json[32];
};

static const struct mr_type *schema(const struct mr_option *o, uint32_t n, struct mr_arena *a)
{
    static const struct mr_field fields[] = {
        {"value", &mr_type_string, true},
        {"timestamp", &mr_type_timestamp, true},
    };
    static const struct mr_type plain = {.kind = MR_STRUCT, .fields_n = 1, .fields = fields};
    static const struct mr_type timed = {.kind = MR_STRUCT, .fields_n = 2, .fields = fields};
    const char *with = mr_option_get(o, n, "includeTimestamp");

    (void)a;
    return with && mr_text_equal_ignoring_case(mr_text_of(with), MR_TEXT("true")) ? &timed : &plain;
}

static enum mr_status check(const struct mr_table *t, struct mr_error *err)
{
    const char *host = mr_option_get(t->options, t->options_n, "host");
    const char *port = mr_option_get(t->options, t->options_n, "port");
    int64_t number;
    bool with;

    enum mr_status status =
        mr_io_options_check(t->options, t->options_n, options, "source socket", err);
    if (status != MR_OK)
        return status;
    if (host == NULL || port == NULL)
        return MR_FAIL_CONDITION(err, MR_USER, "_LEGACY_ERROR_TEMP_1295",
                                 "source \"%s\": set a %s to read from with option(\"%s\", ...)",
                                 t->name, host ? "port" : "host", host ? "port" : "host");
    status = mr_io_option_integer(t->options, t->options_n, "port", 0, 1, 65535, &number, err);
    if (status == MR_OK)
        status =
            mr_io_option_boolean(t->options, t->options_n, "includeTimestamp", false, &with, err);
    return status;
}

static enum mr_status connect_to(const char *host, const char *port, int *out, struct mr_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    int failed = getaddrinfo(host, port, &hints, &found), why = 0;

    if (failed)
        return MR_FAIL(err, MR_IO, failed == EAI_SYSTEM ? errno : 0, "source socket: %s:%s: %s",
                       host, port, gai_strerror(failed));
    *out = -1;
    for (struct addrinfo *a = found; a && *out < 0; a = a->ai_next) {
        int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) == 0) {
            *out = fd;
        } else {
            why = errno;
            if (fd >= 0)
                close(fd);
        }
    }
    freeaddrinfo(found);
    return *out >= 0 ? MR_OK
                     : MR_FAIL(err, MR_IO, why,
                               "source socket: connect to %s:%s (who serves the lines must be "
                               "there first: nc -lk %s)",
                               host, port, port);
}

static enum mr_status planner_open(void *planner, const struct mr_source_config *config,
                                   struct mr_error *err)
{
    struct planner *p = planner;
    const struct mr_table *t = config->table;

    p->env = config->env;
    p->name = t->name;
    p->fd = -1;
    for (int i = 0; i < 2; i++)
        mr_arena_init(&p->arenas[i], config->arena->budget, config->arena->escape);
    mr_buffer_init(&p->ready, &p->arenas[0]);
    p->partial = mr_arena_alloc(config->arena, LINE_BYTES_MAX);
    p->starts =
        MR_NEW_ARRAY(config->arena, uint64_t, 2 * (EPOCH_BYTES_MAX + LINE_BYTES_MAX) / SPLIT_BYTES);
    return connect_to(mr_option_get(t->options, t->options_n, "host"),
                      mr_option_get(t->options, t->options_n, "port"), &p->fd, err);
}

static void planner_close(void *planner)
{
    struct planner *p = planner;

    if (p->fd >= 0)
        close(p->fd);
    for (int i = 0; i < 2; i++)
        mr_arena_fini(&p->arenas[i]);
}

static void add_line(struct planner *p, const uint8_t *data, uint64_t n)
{
    struct mr_socket_line head = {.time_us = p->env->ops->now_us(p->env)};

    if (n > 0 && data[n - 1] == '\r')
        n--;
    head.bytes = n;
    mr_buffer_append(&p->ready, &head, sizeof head);
    mr_buffer_append(&p->ready, data, n);
    p->lines_n++;
}

static enum mr_status cut_lines(struct planner *p, uint64_t got, struct mr_error *err)
{
    uint64_t from = 0, n = p->partial_n + got;

    for (uint64_t at = p->partial_n; at < n; at++)
        if (p->partial[at] == '\n') {
            add_line(p, p->partial + from, at - from);
            from = at + 1;
        }
    memmove(p->partial, p->partial + from, n - from);
    p->partial_n = n - from;
    if (p->partial_n == LINE_BYTES_MAX)
        return MR_FAIL(err, MR_QUERY, 0, "source socket: a line is longer than %d bytes",
                       LINE_BYTES_MAX);
    return MR_OK;
}

/* What is there, without waiting, as far as an epoch goes. */
static enum mr_status take(struct planner *p, struct mr_error *err)
{
    while (!p->at_end && p->ready.n < EPOCH_BYTES_MAX) {
        uint64_t room = LINE_BYTES_MAX - p->partial_n;
        ssize_t got = recv(p->fd, p->partial + p->partial_n, room < READ_BYTES ? room : READ_BYTES,
                           MSG_DONTWAIT);
        if (got < 0)
            return errno == EAGAIN ? MR_OK : MR_FAIL(err, MR_IO, errno, "source socket: receive");
        if (got == 0) {
            p->at_end = true;
            fprintf(stderr,
                    "millrace: note: source \"%s\": the server has closed the connection; no "
                    "more lines will come\n",
                    p->name);
            if (p->partial_n > 0)
                add_line(p, p->partial, p->partial_n);
            p->partial_n = 0;
            return MR_OK;
        }
        enum mr_status status = cut_lines(p, (uint64_t)got, err);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static void drop_planned(struct planner *p)
{
    struct mr_buffer rest;

    p->arena_at ^= 1;
    mr_arena_reset(&p->arenas[p->arena_at]);
    mr_buffer_init(&rest, &p->arenas[p->arena_at]);
    mr_buffer_append(&rest, p->ready.data + p->planned, p->ready.n - p->planned);
    p->ready = rest;
    p->planned = 0;
}

static enum mr_status plan(void *planner, uint64_t epoch, enum mr_source_limit limit,
                           struct mr_offsets *to, bool *has_new, struct mr_error *err)
{
    struct planner *p = planner;

    (void)epoch, (void)limit;
    if (p->planned > 0)
        drop_planned(p);
    if (!p->frozen) {
        enum mr_status status = take(p, err);
        if (status != MR_OK)
            return status;
    }
    *has_new = p->ready.n > 0;
    p->planned = p->ready.n;
    /* Spark's offset is the number of the last line, from 0. */
    int n = snprintf(p->json, sizeof p->json, "%lld", (long long)p->lines_n - 1);
    to->json = to->bytes = (struct mr_text){p->json, (uint64_t)n};
    return MR_OK;
}

static enum mr_status freeze(void *planner, struct mr_error *err)
{
    struct planner *p = planner;

    p->frozen = true;
    return take(p, err);
}

/* The lines themselves are gone: a replay gives none. */
static enum mr_status adopt(void *planner, uint64_t epoch, struct mr_text bytes,
                            struct mr_error *err)
{
    struct planner *p = planner;
    long long last;
    char text[sizeof p->json] = "";

    memcpy(text, bytes.data, bytes.n < sizeof text - 1 ? bytes.n : sizeof text - 1);
    if (sscanf(text, "%lld", &last) != 1)
        return MR_FAIL(err, MR_CORRUPT, 0, "source socket: offset of epoch %llu: \"%s\"",
                       (unsigned long long)epoch, text);
    p->lines_n = last + 1;
    return MR_OK;
}

static void save(void *planner, struct mr_buffer *out)
{
    const struct planner *p = planner;

    mr_buffer_append_format(out, "%lld", (long long)p->lines_n - 1);
}

static enum mr_status load(void *planner, struct mr_text saved, struct mr_error *err)
{
    return adopt(planner, 0, saved, err);
}

static enum mr_status splits(void *planner, uint32_t *n, struct mr_error *err)
{
    struct planner *p = planner;
    uint64_t at = 0, start = 0;

    (void)err;
    p->splits_n = 0;
    while (at < p->planned) {
        struct mr_socket_line head;
        if (at == 0 || at - start >= SPLIT_BYTES)
            p->starts[p->splits_n++] = start = at;
        memcpy(&head, p->ready.data + at, sizeof head);
        at += sizeof head + head.bytes;
    }
    *n = p->splits_n;
    return MR_OK;
}

static struct mr_text split(void *planner, uint32_t i)
{
    struct planner *p = planner;
    uint64_t end = i + 1 < p->splits_n ? p->starts[i + 1] : p->planned;

    return (struct mr_text){(const char *)p->ready.data + p->starts[i], end - p->starts[i]};
}

static int wake_fd(void *planner)
{
    const struct planner *p = planner;

    return p->at_end ? -1 : p->fd;
}

const struct mr_source_ops mr_source_socket = {
    .name = "socket",
    .planner_size = sizeof(struct planner),
    .reader_size = sizeof(struct mr_socket_reader),
    .replayable = false,
    .schema = schema,
    .options = options,
    .check = check,
    .planner_open = planner_open,
    .planner_close = planner_close,
    .plan = plan,
    .freeze = freeze,
    .adopt = adopt,
    .save = save,
    .load = load,
    .splits = splits,
    .split = split,
    .wake_fd = wake_fd,
    .reader_open = mr_socket_reader_open,
    .reader_close = mr_socket_reader_close,
    .open_split = mr_socket_open_split,
    .pull = mr_socket_pull,
};
