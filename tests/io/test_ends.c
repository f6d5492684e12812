/* The small sources and sinks: registry, rate, rate-micro-batch, socket, memory, console. */
#include "io/console/console.h"
#include "io/memory/memory.h"
#include "io/rate/rate.h"
#include "io/socket/socket.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
/* cmocka needs those above */
#include <cmocka.h>

static int64_t now_us;
static int64_t fake_now_us(struct mr_env *env)
{
    (void)env;
    return now_us;
}
static const struct mr_env_ops env_ops = {.name = "fake", .now_us = fake_now_us};
static struct mr_env env = {.ops = &env_ops};

struct world {
    jmp_buf escape;
    struct mr_arena arena;
    struct mr_error err;
    const struct mr_source_ops *ops;
    struct mr_table table;
    struct mr_source_config config;
    void *planner, *reader;
};

static void set_up(struct world *w, const char *format, const struct mr_option *options, uint32_t n)
{
    memset(w, 0, sizeof *w);
    mr_arena_init(&w->arena, NULL, &w->escape);
    w->ops = mr_source_find(format);
    assert_non_null(w->ops);
    w->table = (struct mr_table){
        .name = "t", .streaming = true, .format = format, .options = options, .options_n = n};
    if (w->ops->schema)
        w->table.schema = w->ops->schema(options, n, &w->arena);
    w->config = (struct mr_source_config){.table = &w->table,
                                          .schema = w->table.schema,
                                          .env = &env,
                                          .arena = &w->arena,
                                          .zone = mr_zone_utc(),
                                          .batch_rows = 7,
                                          .workers = 3};
}

static void open_source(struct world *w)
{
    assert_int_equal(w->ops->check(&w->table, &w->err), MR_OK);
    w->planner = mr_arena_zero(&w->arena, w->ops->planner_size);
    w->reader = mr_arena_zero(&w->arena, w->ops->reader_size);
    assert_int_equal(w->ops->planner_open(w->planner, &w->config, &w->err), MR_OK);
    assert_int_equal(w->ops->reader_open(w->reader, &w->config, &w->err), MR_OK);
}

static void tear_down(struct world *w)
{
    if (w->reader) {
        w->ops->reader_close(w->reader);
        w->ops->planner_close(w->planner);
    }
    mr_arena_fini(&w->arena);
}

/* Plans an epoch; gives its offsets, "" for nothing new. */
static const char *plan(struct world *w)
{
    struct mr_offsets to;
    bool has_new;

    assert_int_equal(w->ops->plan(w->planner, 0, MR_LIMIT_AS_CONFIGURED, &to, &has_new, &w->err),
                     MR_OK);
    return has_new ? mr_arena_copy(&w->arena, to.json.data, to.json.n) : "";
}

/* Reads all splits of the planned epoch; calls see for every row. */
static uint64_t read_all(struct world *w,
                         void (*see)(void *arg, const struct mr_batch *b, uint32_t row), void *arg)
{
    struct mr_source_counts counts = {0};
    uint32_t n = 0;

    assert_int_equal(w->ops->splits(w->planner, &n, &w->err), MR_OK);
    for (uint32_t i = 0; i < n; i++) {
        enum mr_step step;
        assert_int_equal(w->ops->open_split(w->reader, w->ops->split(w->planner, i), &w->err),
                         MR_OK);
        do {
            struct mr_batch batch = {0};
            step = w->ops->pull(w->reader, &batch, &counts, &w->err);
            assert_true(step == MR_MORE_OUTPUT || step == MR_NEED_INPUT || step == MR_DONE);
            for (uint32_t r = 0; r < batch.n; r++)
                see(arg, &batch, mr_batch_row(&batch, r));
        } while (step != MR_DONE);
    }
    return counts.rows;
}

static void registries_are_sorted_and_find(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; mr_source_names()[i]; i++) {
        assert_string_equal(mr_source_find(mr_source_names()[i])->name, mr_source_names()[i]);
        assert_true(i == 0 || strcmp(mr_source_names()[i - 1], mr_source_names()[i]) < 0);
    }
    for (uint32_t i = 0; mr_sink_names()[i]; i++) {
        assert_string_equal(mr_sink_find(mr_sink_names()[i])->name, mr_sink_names()[i]);
        assert_true(i == 0 || strcmp(mr_sink_names()[i - 1], mr_sink_names()[i]) < 0);
    }
    assert_null(mr_source_find("nothing"));
    assert_null(mr_sink_find("nothing"));
    assert_ptr_equal(mr_sink_find("NOOP"), mr_sink_find("noop"));
}

struct rate_rows {
    int64_t times[4096];
    bool seen[4096];
};
static void see_rate(void *arg, const struct mr_batch *b, uint32_t row)
{
    struct rate_rows *rows = arg;
    int64_t value = b->columns[1].i64[row];

    assert_true(value >= 0 && value < 4096 && !rows->seen[value]);
    rows->seen[value] = true;
    rows->times[value] = b->columns[0].i64[row];
}

static void rate_follows_the_clock(void **unused)
{
    const struct mr_option options[] = {{"rowsPerSecond", "10"}, {"numPartitions", "4"}};
    static struct rate_rows rows;
    struct world w;

    (void)unused;
    memset(&rows, 0, sizeof rows);
    set_up(&w, "rate", options, 2);
    open_source(&w);
    now_us = INT64_C(1700000000123456);
    assert_string_equal(plan(&w), "");
    now_us += 999000;
    assert_string_equal(plan(&w), "");
    now_us += 1001000;
    assert_string_equal(plan(&w), "2");
    assert_int_equal(read_all(&w, see_rate, &rows), 20);
    for (int64_t i = 0; i < 20; i++)
        assert_true(rows.seen[i] && rows.times[i] == INT64_C(1700000000123000) + i * 100000);
    now_us += 1000000;
    assert_string_equal(plan(&w), "3");

    /* Adopted by another planner, the same rows come again. */
    struct mr_buffer saved;
    mr_buffer_init(&saved, &w.arena);
    w.ops->save(w.planner, &saved);
    memset(&rows, 0, sizeof rows);
    assert_int_equal(read_all(&w, see_rate, &rows), 10);
    static struct rate_rows again;
    memset(&again, 0, sizeof again);
    w.planner = mr_arena_zero(&w.arena, w.ops->planner_size);
    assert_int_equal(w.ops->planner_open(w.planner, &w.config, &w.err), MR_OK);
    assert_int_equal(w.ops->load(w.planner, mr_buffer_text(&saved), &w.err), MR_OK);
    assert_int_equal(read_all(&w, see_rate, &again), 10);
    assert_memory_equal(&rows, &again, sizeof rows);
    tear_down(&w);
}

/* With ticks below a second rows come that often, and their times are exact to the microsecond. */
static void rate_ticks(void **unused)
{
    const struct mr_option options[] = {{"rowsPerSecond", "1000"}, {"tickInterval", "5ms"}};
    static struct rate_rows rows;
    struct world w;

    (void)unused;
    memset(&rows, 0, sizeof rows);
    set_up(&w, "rate", options, 2);
    open_source(&w);
    now_us = INT64_C(1700000000123456);
    assert_string_equal(plan(&w), "");
    assert_int_equal(w.ops->wake_us(w.planner), 5000 - 456);
    now_us += 4543;
    assert_string_equal(plan(&w), "");
    assert_int_equal(w.ops->wake_us(w.planner), 1);
    now_us += 1;
    assert_string_equal(plan(&w), "1");
    assert_int_equal(read_all(&w, see_rate, &rows), 5);
    now_us += 1000000;
    assert_string_equal(plan(&w), "201");
    assert_int_equal(read_all(&w, see_rate, &rows), 1000);
    for (int64_t i = 0; i < 1005; i++)
        assert_true(rows.seen[i] && rows.times[i] == INT64_C(1700000000123000) + i * 1000);
    tear_down(&w);
}

/* Speed 0 2 4 6 8 10 10: 0 2 6 12 20 30 40 rows after so many seconds. */
static void rate_ramps_up(void **unused)
{
    const struct mr_option options[] = {{"rowsPerSecond", "10"}, {"rampUpTime", "4s"}};
    const uint64_t expected[] = {2, 4, 6, 8, 10, 10};
    static struct rate_rows rows;
    struct world w;

    (void)unused;
    memset(&rows, 0, sizeof rows);
    set_up(&w, "rate", options, 2);
    open_source(&w);
    now_us = 1000000;
    assert_string_equal(plan(&w), "");
    for (int i = 0; i < 6; i++) {
        now_us += 1000000;
        assert_string_not_equal(plan(&w), "");
        assert_int_equal(read_all(&w, see_rate, &rows), expected[i]);
    }
    tear_down(&w);
}

/* After a freeze no more comes; what a checkpoint gives back is where it goes on, or is refused. */
static void rate_goes_on_or_refuses(void **state)
{
    static const char *const formats[] = {"rate", "rate-micro-batch"};
    const struct mr_option options[] = {{"rowsPerSecond", "10"}};
    const struct mr_option batch_options[] = {{"rowsPerBatch", "10"}};
    char longer[200];
    struct world w;

    (void)state;
    set_up(&w, "rate", options, 1);
    open_source(&w);
    now_us = 5000000;
    assert_string_equal(plan(&w), "");
    now_us += 3000000;
    assert_int_equal(w.ops->freeze(w.planner, &w.err), MR_OK);
    now_us += 3000000;
    assert_string_equal(plan(&w), "3");
    assert_string_equal(plan(&w), "");
    assert_int_equal(w.ops->adopt(w.planner, 4, MR_TEXT("5000 3000 5000"), &w.err), MR_OK);
    tear_down(&w);

    memset(longer, '1', sizeof longer);
    const struct mr_text wrong[] = {
        MR_TEXT(""), MR_TEXT("x"), MR_TEXT("5 6"), {longer, sizeof longer}};
    for (int f = 0; f < 2; f++) {
        set_up(&w, formats[f], f ? batch_options : options, 1);
        open_source(&w);
        for (int i = 0; i < 4; i++) {
            char *says = mr_arena_format(&w.arena, "source %s: offsets of epoch 7: \"", formats[f]);
            assert_int_equal(w.ops->adopt(w.planner, 7, wrong[i], &w.err), MR_CORRUPT);
            assert_non_null(strstr(w.err.message, says));
            assert_int_equal(w.ops->load(w.planner, wrong[i], &w.err), MR_CORRUPT);
        }
        tear_down(&w);
    }
}

static void rate_micro_batch_is_the_same_each_time(void **unused)
{
    const struct mr_option options[] = {{"rowsPerBatch", "10"},
                                        {"numPartitions", "3"},
                                        {"advanceMillisPerBatch", "5000"},
                                        {"startTimestamp", "2000"}};
    static struct rate_rows rows;
    struct world w;

    (void)unused;
    memset(&rows, 0, sizeof rows);
    set_up(&w, "rate-micro-batch", options, 4);
    open_source(&w);
    assert_string_equal(plan(&w), "{\"offset\":10,\"timestamp\":7000}");
    assert_int_equal(read_all(&w, see_rate, &rows), 10);
    assert_string_equal(plan(&w), "{\"offset\":20,\"timestamp\":12000}");
    assert_int_equal(read_all(&w, see_rate, &rows), 10);
    for (int i = 0; i < 20; i++)
        assert_true(rows.seen[i] && rows.times[i] == (i < 10 ? 2000000 : 7000000));
    assert_int_equal(w.ops->freeze(w.planner, &w.err), MR_OK);
    assert_string_not_equal(plan(&w), "");
    assert_string_equal(plan(&w), "");
    tear_down(&w);
}

static void bad_options_are_named(void **unused)
{
    const struct {
        const char *format, *name, *value, *said;
    } bad[] = {
        {"rate", "rowPerSecond", "1", "did you mean \"rowsPerSecond\"?"},
        {"rate", "rowsPerSecond", "0", "rowsPerSecond"},
        {"rate", "rowsPerSecond", "x", "rowsPerSecond"},
        {"rate", "numPartitions", "-1", "numPartitions"},
        {"rate", "rampUpTime", "4 parsecs", "rampUpTime"},
        {"rate", "tickInterval", "soon",
         "tickInterval: \"soon\" is no whole number of milliseconds"},
        {"rate", "tickInterval", "500us", "from 1ms to 1s"},
        {"rate", "tickInterval", "1500us", "from 1ms to 1s"},
        {"rate", "tickInterval", "2s", "from 1ms to 1s"},
        {"rate-micro-batch", "rowsPerBach", "1", "did you mean \"rowsPerBatch\"?"},
        {"rate-micro-batch", "rowsPerBatch", "0", "rowsPerBatch"},
        {"rate-micro-batch", "startTimestamp", "0", "rowsPerBatch is needed"},
        {"socket", "host", "localhost", "port"},
        {"socket", "port", "1", "host"},
        {"memory", "memory", "in this process", "embed"},
    };
    struct world w;

    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mr_option option;
        set_up(&w, bad[i].format, &option, 1);
        option.name = bad[i].name;
        option.value = mr_arena_copy(&w.arena, bad[i].value, strlen(bad[i].value));
        assert_int_equal(w.ops->check(&w.table, &w.err), MR_USER);
        assert_non_null(strstr(w.err.message, bad[i].said));
        tear_down(&w);
    }
}

static void kafka_options_are_known_or_the_clients(void **unused)
{
    struct mr_option options[] = {{"subscribe", "t"},
                                  {"kafka.bootstrap.servers", "localhost:1"},
                                  {"startingOffsets", "latest"}};
    struct world w;

    (void)unused;
    if (mr_source_find("kafka") == NULL)
        skip();
    set_up(&w, "kafka", options, 3);
    assert_int_equal(w.ops->check(&w.table, &w.err), MR_OK);
    options[2].name = "startingOffset";
    assert_int_equal(w.ops->check(&w.table, &w.err), MR_USER);
    assert_non_null(strstr(w.err.message, "did you mean \"startingOffsets\"?"));
    tear_down(&w);
}

static void see_line(void *arg, const struct mr_batch *b, uint32_t row)
{
    mr_buffer_append_text(arg, mr_column_text(&b->columns[0], row));
    mr_buffer_append(arg, b->columns_n == 2 && b->columns[1].i64[row] == now_us ? "@" : "|", 1);
}

static void socket_gives_whole_lines(void **unused)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int server = socket(AF_INET, SOCK_STREAM, 0);
    char port[8];
    struct world w;
    struct mr_buffer seen;

    (void)unused;
    assert_int_equal(bind(server, (struct sockaddr *)&address, bytes), 0);
    assert_int_equal(listen(server, 1), 0);
    assert_int_equal(getsockname(server, (struct sockaddr *)&address, &bytes), 0);
    sprintf(port, "%d", ntohs(address.sin_port));
    const struct mr_option options[] = {
        {"host", "127.0.0.1"}, {"port", port}, {"includeTimestamp", "true"}};
    set_up(&w, "socket", options, 3);
    assert_int_equal(w.table.schema->fields_n, 2);
    open_source(&w);
    int client = accept(server, NULL, NULL);
    assert_true(client >= 0);
    mr_buffer_init(&seen, &w.arena);

    assert_string_equal(plan(&w), "");
    assert_int_equal(write(client, "one\ntwo\r\nthr", 12), 12);
    usleep(20000);
    assert_string_equal(plan(&w), "1");
    assert_int_equal(read_all(&w, see_line, &seen), 2);
    assert_string_equal(plan(&w), "");
    assert_int_equal(write(client, "ee\n\nfive", 8), 8);
    close(client);
    usleep(20000);
    assert_string_equal(plan(&w), "4");
    assert_int_equal(read_all(&w, see_line, &seen), 3);
    assert_true(mr_text_equal(mr_buffer_text(&seen), MR_TEXT("one@two@three@@five@")));
    assert_string_equal(plan(&w), "");
    assert_int_equal(w.ops->wake_fd(w.planner), -1);
    close(server);
    tear_down(&w);
}

static void memory_hands_rows_over(void **unused)
{
    static const struct mr_field fields[] = {{"a", &mr_type_bigint, true},
                                             {"b", &mr_type_bigint, true}};
    static const struct mr_type type = {.kind = MR_STRUCT, .fields_n = 2, .fields = fields};
    static const struct mr_type only_b = {.kind = MR_STRUCT, .fields_n = 1, .fields = fields + 1};
    int64_t a[72] = {1, 2, 3}, b[72] = {4, 5, 6};
    struct mr_column columns[] = {{.type = &mr_type_bigint, .i64 = a},
                                  {.type = &mr_type_bigint, .i64 = b}};
    struct mr_batch batch = {.columns = columns, .columns_n = 2, .rows = 3, .n = 3};
    struct mr_memory *m;
    struct mr_error err;
    struct world w;
    struct mr_option option = {"memory", NULL};

    (void)unused;
    assert_int_equal(mr_memory_open(NULL, &m, &err), MR_OK);
    option.value = mr_memory_option(m);
    set_up(&w, "memory", &option, 1);
    w.table.schema = &type;
    w.config.schema = &only_b;
    open_source(&w);
    assert_string_equal(plan(&w), "");
    assert_int_equal(mr_memory_append(m, 0, &batch, &err), MR_OK);
    b[0] = 40; /* the first is a copy */
    assert_int_equal(mr_memory_append(m, 0, &batch, &err), MR_OK);
    assert_string_equal(plan(&w), "1");
    uint32_t n;
    assert_int_equal(w.ops->splits(w.planner, &n, &err), MR_OK);
    assert_int_equal(n, 2);
    int64_t sum = 0;
    for (uint32_t i = 0; i < 2; i++) {
        struct mr_source_counts counts = {0};
        struct mr_batch out;
        assert_int_equal(w.ops->open_split(w.reader, w.ops->split(w.planner, i), &err), MR_OK);
        assert_int_equal(w.ops->pull(w.reader, &out, &counts, &err), MR_DONE);
        assert_int_equal(out.columns_n, 1);
        assert_int_equal(counts.rows, 3);
        for (uint32_t r = 0; r < out.n; r++)
            sum += out.columns[0].i64[r];
    }
    assert_int_equal(sum, 15 + 51);
    assert_string_equal(plan(&w), "");
    assert_int_equal(w.ops->freeze(w.planner, &err), MR_OK);
    assert_int_equal(mr_memory_append(m, 0, &batch, &err), MR_OK);
    assert_string_equal(plan(&w), "");
    tear_down(&w);
    mr_memory_close(m);
}

static void console_prints_as_spark_does(void **unused)
{
    static const struct mr_field fields[] = {{"value", &mr_type_string, true},
                                             {"v", &mr_type_int, true}};
    static const struct mr_type type = {.kind = MR_STRUCT, .fields_n = 2, .fields = fields};
    const struct mr_text cells[] = {MR_TEXT("a"),
                                    MR_TEXT("1"),
                                    MR_TEXT("abcdefghijklmnopqrstuvwxyz"),
                                    MR_TEXT("NULL"),
                                    MR_TEXT("\xc3\xa9\n\xe4\xb8\xad"),
                                    MR_TEXT("-12")};
    struct mr_console_table t = {.schema = &type, .cells = cells, .rows_n = 3, .truncate = 20};
    jmp_buf escape;
    struct mr_arena a;
    struct mr_buffer out;

    (void)unused;
    mr_arena_init(&a, NULL, &escape);
    mr_buffer_init(&out, &a);
    mr_console_print(&t, &a, &out);
    mr_buffer_append(&out, "", 1);
    assert_string_equal((char *)out.data, "+--------------------+----+\n"
                                          "|               value|   v|\n"
                                          "+--------------------+----+\n"
                                          "|                   a|   1|\n"
                                          "|abcdefghijklmnopq...|NULL|\n"
                                          "|               \xc3\xa9\\n\xe4\xb8\xad| -12|\n"
                                          "+--------------------+----+\n");
    t.truncate = 0;
    t.rows_n = 1;
    mr_buffer_init(&out, &a);
    mr_console_print(&t, &a, &out);
    mr_buffer_append(&out, "", 1);
    assert_string_equal((char *)out.data, "+-----+---+\n"
                                          "|value|v  |\n"
                                          "+-----+---+\n"
                                          "|a    |1  |\n"
                                          "+-----+---+\n");
    mr_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registries_are_sorted_and_find),
        cmocka_unit_test(rate_follows_the_clock),
        cmocka_unit_test(rate_ticks),
        cmocka_unit_test(rate_ramps_up),
        cmocka_unit_test(rate_goes_on_or_refuses),
        cmocka_unit_test(rate_micro_batch_is_the_same_each_time),
        cmocka_unit_test(bad_options_are_named),
        cmocka_unit_test(kafka_options_are_known_or_the_clients),
        cmocka_unit_test(socket_gives_whole_lines),
        cmocka_unit_test(memory_hands_rows_over),
        cmocka_unit_test(console_prints_as_spark_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
