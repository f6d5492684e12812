/* The socket source: servers that are not there, break off, or send too much; what a checkpoint
 * gives back. */
#include "io/socket/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka needs those above */
#include <cmocka.h>

enum { MIB = 1 << 20, PATIENCE_MS = 60000 };

struct world {
    jmp_buf escape;
    struct mr_arena arena;
    struct mr_error err;
    struct mr_env *env;
    struct mr_option options[3];
    struct mr_table table;
    struct mr_source_config config;
    int server, client; /* client: the server's end of the connection */
    char port[8];
    void *planner, *reader;
};

/* A server that listens unless it is to refuse. */
static void set_up(struct world *w, bool refuses)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;

    memset(w, 0, sizeof *w);
    mr_arena_init(&w->arena, NULL, &w->escape);
    assert_int_equal(mr_env_open("syscalls", &w->env, &w->err), MR_OK);
    w->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(w->server, (struct sockaddr *)&address, bytes), 0);
    assert_true(refuses || listen(w->server, 1) == 0);
    assert_int_equal(getsockname(w->server, (struct sockaddr *)&address, &bytes), 0);
    snprintf(w->port, sizeof w->port, "%d", ntohs(address.sin_port));
    w->options[0] = (struct mr_option){"host", "127.0.0.1"};
    w->options[1] = (struct mr_option){"port", w->port};
    w->options[2] = (struct mr_option){"includeTimestamp", "false"};
    w->table = (struct mr_table){
        .name = "t", .streaming = true, .format = "socket", .options = w->options, .options_n = 3};
    w->table.schema = mr_source_socket.schema(w->options, 3, &w->arena);
    w->config = (struct mr_source_config){.table = &w->table,
                                          .schema = w->table.schema,
                                          .env = w->env,
                                          .arena = &w->arena,
                                          .zone = mr_zone_utc(),
                                          .batch_rows = 7,
                                          .workers = 1};
    w->planner = mr_arena_zero(&w->arena, mr_source_socket.planner_size);
    w->reader = mr_arena_zero(&w->arena, mr_source_socket.reader_size);
    w->client = -1;
}

static void connect_source(struct world *w)
{
    assert_int_equal(mr_source_socket.check(&w->table, &w->err), MR_OK);
    assert_int_equal(mr_source_socket.planner_open(w->planner, &w->config, &w->err), MR_OK);
    assert_int_equal(mr_source_socket.reader_open(w->reader, &w->config, &w->err), MR_OK);
    w->client = accept(w->server, NULL, NULL);
    assert_true(w->client >= 0);
}

static void tear_down(struct world *w)
{
    if (w->client >= 0) {
        close(w->client);
        mr_source_socket.reader_close(w->reader);
    }
    mr_source_socket.planner_close(w->planner);
    close(w->server);
    w->env->ops->fini(w->env);
    mr_arena_fini(&w->arena);
}

static void send_text(const struct world *w, const char *text)
{
    assert_int_equal(write(w->client, text, strlen(text)), strlen(text));
}

static enum mr_status plan(struct world *w, struct mr_offsets *to, bool *has_new)
{
    return mr_source_socket.plan(w->planner, 0, MR_LIMIT_AS_CONFIGURED, to, has_new, &w->err);
}

/* Until something new is there; gives its offset. */
static const char *next_offset(struct world *w)
{
    struct mr_offsets to;
    bool has_new = false;

    for (int ms = 0; ms < PATIENCE_MS && !has_new; ms++) {
        assert_int_equal(plan(w, &to, &has_new), MR_OK);
        if (!has_new)
            usleep(1000);
    }
    assert_true(has_new);
    return mr_arena_copy(&w->arena, to.json.data, to.json.n);
}

static void wrong_options_are_named(void **state)
{
    static const struct {
        struct mr_option options[3];
        const char *says;
    } cases[] = {
        {{{"host", "h"}, {"port", "0"}}, "option port: \"0\" is no whole number in [1, 65535]"},
        {{{"host", "h"}, {"port", "65536"}}, "option port"},
        {{{"host", "h"}, {"port", "http"}}, "option port"},
        {{{"host", "h"}}, "set a port to read from"},
        {{{"port", "1"}}, "set a host to read from"},
        {{{"host", "h"}, {"port", "1"}, {"includeTimestamp", "1"}}, "is none of true, false"},
        {{{"host", "h"}, {"port", "1"}, {"includeTimestamps", "true"}},
         "did you mean \"includeTimestamp\"?"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mr_error err = {0};
        struct mr_table t = {.name = "t", .format = "socket", .options = cases[i].options};
        while (t.options_n < 3 && cases[i].options[t.options_n].name)
            t.options_n++;
        assert_int_equal(mr_source_socket.check(&t, &err), MR_USER);
        if (strstr(err.message, cases[i].says) == NULL)
            fail_msg("%zu: %s", i, err.message);
    }
}

static void nobody_there_is_told(void **state)
{
    struct rlimit limit, none;
    struct world w;

    (void)state;
    set_up(&w, true);
    assert_int_equal(mr_source_socket.planner_open(w.planner, &w.config, &w.err), MR_IO);
    assert_int_equal(w.err.os_error, ECONNREFUSED);
    assert_non_null(strstr(w.err.message, mr_arena_format(&w.arena, "127.0.0.1:%s", w.port)));
    assert_non_null(strstr(w.err.message, mr_arena_format(&w.arena, "nc -lk %s", w.port)));
    tear_down(&w);

    set_up(&w, true);
    w.options[1].value = "notaport";
    assert_int_equal(mr_source_socket.planner_open(w.planner, &w.config, &w.err), MR_IO);
    assert_non_null(strstr(w.err.message, "127.0.0.1:notaport: "));
    tear_down(&w);

    set_up(&w, false); /* no more descriptors */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    enum mr_status status = mr_source_socket.planner_open(w.planner, &w.config, &w.err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(status, MR_IO);
    assert_int_equal(w.err.os_error, EMFILE);
    tear_down(&w);
}

/* A name may have several addresses, of which one answers. */
static void lines_go_on_where_they_were(void **state)
{
    struct world w;
    struct mr_buffer saved;

    (void)state;
    set_up(&w, false);
    w.options[0].value = "localhost";
    connect_source(&w);
    assert_true(mr_source_socket.wake_fd(w.planner) >= 0);
    assert_int_equal(mr_source_socket.adopt(w.planner, 3, MR_TEXT("41"), &w.err), MR_OK);
    send_text(&w, "a\nb\n");
    assert_string_equal(next_offset(&w), "43");
    mr_buffer_init(&saved, &w.arena);
    mr_source_socket.save(w.planner, &saved);
    assert_true(mr_text_equal(mr_buffer_text(&saved), MR_TEXT("43")));
    assert_int_equal(mr_source_socket.load(w.planner, mr_buffer_text(&saved), &w.err), MR_OK);
    send_text(&w, "c\n");
    assert_string_equal(next_offset(&w), "44");
    assert_int_equal(mr_source_socket.adopt(w.planner, 3, MR_TEXT("x"), &w.err), MR_CORRUPT);
    assert_string_equal(w.err.message, "source socket: offset of epoch 3: \"x\"");
    const struct mr_text longer = MR_TEXT("-----------------------------------------------------");
    assert_int_equal(mr_source_socket.load(w.planner, longer, &w.err), MR_CORRUPT);
    tear_down(&w);
}

static void only_times_may_be_wanted(void **state)
{
    struct mr_source_counts counts = {0};
    int64_t before_us, after_us;
    struct world w;
    uint32_t n;

    (void)state;
    set_up(&w, false);
    w.options[2].value = "TRUE";
    w.table.schema = mr_source_socket.schema(w.options, 3, &w.arena);
    assert_int_equal(w.table.schema->fields_n, 2);
    w.config.schema = mr_type_struct(&w.arena, w.table.schema->fields + 1, 1);
    connect_source(&w);
    before_us = w.env->ops->now_us(w.env);
    send_text(&w, "1\n2\n3\n4\n5\n6\n7\n8\n");
    next_offset(&w);
    after_us = w.env->ops->now_us(w.env);
    assert_int_equal(mr_source_socket.splits(w.planner, &n, &w.err), MR_OK);
    assert_int_equal(n, 1);
    struct mr_text split = mr_source_socket.split(w.planner, 0);
    assert_int_equal(mr_source_socket.open_split(w.reader, split, &w.err), MR_OK);
    const uint32_t rows[] = {7, 1}; /* a batch has seven */
    for (int i = 0; i < 2; i++) {
        struct mr_batch batch;
        assert_int_equal(mr_source_socket.pull(w.reader, &batch, &counts, &w.err),
                         i == 0 ? MR_MORE_OUTPUT : MR_DONE);
        assert_true(batch.n == rows[i] && batch.columns_n == 1);
        for (uint32_t r = 0; r < batch.n; r++)
            assert_in_range(batch.columns[0].i64[r], before_us, after_us);
    }
    assert_int_equal(counts.rows, 8);
    tear_down(&w);
}

/* In a child, until the source has what it wants: lines of line_bytes, the newline with them; 0:
 * one line without an end. */
static pid_t send_lines(const struct world *w, size_t line_bytes)
{
    pid_t child = fork();

    if (child == 0) {
        char *data = malloc(MIB);
        memset(data, 'x', MIB);
        for (size_t at = line_bytes; line_bytes && at <= MIB; at += line_bytes)
            data[at - 1] = '\n';
        while (write(w->client, data, MIB) > 0)
            ;
        _exit(0);
    }
    assert_true(child > 0);
    return child;
}

static void stop_sending(pid_t child)
{
    int status;

    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void a_line_without_an_end_is_an_error(void **state)
{
    enum mr_status status = MR_OK;
    struct mr_offsets to;
    bool has_new = false;
    struct world w;

    (void)state;
    set_up(&w, false);
    connect_source(&w);
    pid_t child = send_lines(&w, 0);
    for (int ms = 0; ms < PATIENCE_MS && status == MR_OK; ms++) {
        status = plan(&w, &to, &has_new);
        assert_false(has_new);
        usleep(1000);
    }
    stop_sending(child);
    assert_int_equal(status, MR_QUERY);
    assert_string_equal(w.err.message, "source socket: a line is longer than 16777216 bytes");
    tear_down(&w);
}

/* What an epoch has no room for is left to the server, and comes with none after a freeze. */
static void an_epoch_has_an_end(void **state)
{
    struct mr_source_counts counts = {0};
    struct mr_buffer saved;
    struct mr_offsets to;
    uint64_t lines = 0, bytes = 0;
    bool has_new;
    struct world w;
    uint32_t n;

    (void)state;
    set_up(&w, false);
    connect_source(&w);
    pid_t child = send_lines(&w, MIB / 2);
    for (int ms = 0; ms < PATIENCE_MS && lines < 128; ms++) {
        assert_int_equal(mr_source_socket.freeze(w.planner, &w.err), MR_OK);
        mr_buffer_init(&saved, &w.arena);
        mr_source_socket.save(w.planner, &saved);
        lines = strtoull(mr_arena_copy(&w.arena, saved.data, saved.n), NULL, 10) + 1;
        usleep(1000);
    }
    assert_int_equal(mr_source_socket.freeze(w.planner, &w.err), MR_OK);
    assert_int_equal(plan(&w, &to, &has_new), MR_OK);
    assert_true(has_new);
    assert_true(mr_text_equal(to.json, MR_TEXT("127")));
    assert_int_equal(mr_source_socket.splits(w.planner, &n, &w.err), MR_OK);
    assert_int_equal(n, 64); /* of whole lines, a mebibyte or a little more */
    for (uint32_t i = 0; i < n; i++) {
        enum mr_step step = MR_MORE_OUTPUT;
        struct mr_text split = mr_source_socket.split(w.planner, i);
        assert_int_equal(mr_source_socket.open_split(w.reader, split, &w.err), MR_OK);
        while (step == MR_MORE_OUTPUT) {
            struct mr_batch batch;
            step = mr_source_socket.pull(w.reader, &batch, &counts, &w.err);
            for (uint32_t r = 0; r < batch.n; r++)
                bytes += mr_column_text(&batch.columns[0], r).n + 1;
        }
        assert_int_equal(step, MR_DONE);
    }
    assert_int_equal(counts.rows, 128);
    assert_int_equal(bytes, 64 * MIB);
    assert_int_equal(plan(&w, &to, &has_new), MR_OK);
    assert_false(has_new);
    stop_sending(child);
    tear_down(&w);
}

static void a_reset_connection_is_an_error(void **state)
{
    const struct linger at_once = {.l_onoff = 1};
    struct mr_offsets to;
    bool has_new;
    struct world w;

    (void)state;
    set_up(&w, false);
    connect_source(&w);
    assert_int_equal(setsockopt(w.client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    close(w.client);
    usleep(20000);
    assert_int_equal(plan(&w, &to, &has_new), MR_IO);
    assert_int_equal(w.err.os_error, ECONNRESET);
    assert_string_equal(w.err.message, "source socket: receive");
    w.client = dup(w.server);
    tear_down(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_options_are_named),
        cmocka_unit_test(nobody_there_is_told),
        cmocka_unit_test(lines_go_on_where_they_were),
        cmocka_unit_test(only_times_may_be_wanted),
        cmocka_unit_test(a_line_without_an_end_is_an_error),
        cmocka_unit_test(an_epoch_has_an_end),
        cmocka_unit_test(a_reset_connection_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
