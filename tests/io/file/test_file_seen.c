/* Which files an epoch takes, and which a source remembers. */
#include "tests/io/file/planner.h"

static void test_order(void **state)
{
    static const struct {
        struct mr_option option, limit;
        const char *epochs[4];
    } rows[] = {
        {{"latestFirst", "false"}, {"maxFilesPerTrigger", "2"}, {"a b ", "c d ", "", ""}},
        {{"latestFirst", "true"}, {"maxFilesPerTrigger", "3"}, {"d c b ", "a ", "", ""}},
        {{"latestFirst", "false"}, {"maxBytesPerTrigger", "5"}, {"a ", "b c ", "d ", ""}},
        {{"maxFileAge", "15s"}, {"latestFirst", "true"}, {"d c b a ", "", "", ""}},
        {{"maxBytesPerTrigger", "5"}, {"latestFirst", "true"}, {"d ", "c b ", "a ", ""}},
        {{"pathGlobFilter", "[a-c]"}, {"maxFilesPerTrigger", "2"}, {"a b ", "c ", "", ""}},
    };

    (void)state;
    mkdir(in_folder("in"), 0777);
    put("in/a", "1234567", 1000);
    put("in/b", "123", 1010);
    put("in/c", "12", 1020);
    put("in/d", "1234", 1020);
    put("in/.hidden", "x", 1020);
    put("in/_hidden", "x", 1020);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct mr_option options[] = {
            {"path", in_folder("in")}, rows[i].option, rows[i].limit};
        struct mr_table t = table_of(options, 3);
        struct mr_source_config config = {.table = &t, .env = env, .arena = &arena};
        struct mr_file_planner p = {0};
        assert_int_equal(mr_file_planner_open(&p, &config, &err), MR_OK);
        for (uint64_t e = 0; e < 4; e++)
            assert_string_equal(taken(&p, e), rows[i].epochs[e]);
        mr_file_planner_close(&p);
    }
}

/* Files older than the newest by more than maxFileAge are ignored once an epoch has told what the
 * newest is. */
static void test_old_files(void **state)
{
    const struct mr_option options[] = {{"path", in_folder("in")}, {"maxFileAge", "100s"}};
    struct mr_table t = table_of(options, 2);
    struct mr_source_config config = {.table = &t, .env = env, .arena = &arena};
    struct mr_file_planner p = {0};

    (void)state;
    mkdir(options[0].value, 0777);
    put("in/a", "1", 1000000);
    assert_int_equal(mr_file_planner_open(&p, &config, &err), MR_OK);
    assert_string_equal(taken(&p, 0), "a ");
    put("in/b", "1", 999000);
    put("in/c", "1", 999950);
    assert_string_equal(taken(&p, 1), "c ");
    mr_file_planner_close(&p);
}

/* Times before 1970, and an age that nothing can have. */
static void test_times_before_1970(void **state)
{
    const struct mr_option options[] = {{"path", in_folder("in")},
                                        {"maxFileAge", "9223372036854775807us"}};
    struct mr_table t = table_of(options, 2);
    struct mr_source_config config = {.table = &t, .env = env, .arena = &arena};
    struct mr_file_planner p = {0};

    (void)state;
    mkdir(options[0].value, 0777);
    put("in/a", "1", -1000000);
    put("in/b", "1", -10);
    assert_int_equal(mr_file_planner_open(&p, &config, &err), MR_OK);
    assert_string_equal(taken(&p, 0), "a b ");
    put("in/c", "1", -2000000);
    assert_string_equal(taken(&p, 1), "c ");
    mr_file_planner_close(&p);
}

/* With fileNameOnly a file of a name that was read is not new, wherever it is; a restart knows. */
static void test_names_only(void **state)
{
    const struct mr_option options[] = {{"path", in_folder("in")}, {"fileNameOnly", "true"}};
    struct mr_table t = table_of(options, 2);
    struct mr_source_config config = {.table = &t, .env = env, .arena = &arena};
    struct mr_file_planner p = {0}, again = {0};
    struct mr_buffer saved;

    (void)state;
    mkdir(options[0].value, 0777);
    mkdir(in_folder("in/deep"), 0777);
    put("in/a", "1", 1000);
    assert_int_equal(mr_file_planner_open(&p, &config, &err), MR_OK);
    assert_string_equal(taken(&p, 0), "a ");
    put("in/deep/a", "2", 1001);
    put("in/deep/b", "2", 1002);
    assert_string_equal(taken(&p, 1), "b ");
    mr_buffer_init(&saved, &arena);
    mr_file_save(&p, &saved);
    mr_file_planner_close(&p);
    assert_int_equal(mr_file_planner_open(&again, &config, &err), MR_OK);
    assert_int_equal(mr_file_load(&again, mr_buffer_text(&saved), &err), MR_OK);
    put("in/b", "3", 1003);
    put("in/c", "3", 1004);
    assert_string_equal(taken(&again, 2), "c ");
    mr_file_planner_close(&again);
    t.options_n = 1; /* a run that tells files of one name apart does not read them again */
    memset(&again, 0, sizeof again);
    assert_int_equal(mr_file_planner_open(&again, &config, &err), MR_OK);
    assert_int_equal(mr_file_load(&again, mr_buffer_text(&saved), &err), MR_OK);
    assert_string_equal(taken(&again, 2), "a b c ");
    mr_file_planner_close(&again);
}

/* A run that lets files be older reads those that were too old before, but not what was read and
 * forgotten since. */
static void test_age_raised(void **state)
{
    const struct mr_option options[] = {{"path", in_folder("in")},
                                        {"maxFileAge", "100s"},
                                        {"latestFirst", "true"},
                                        {"maxFilesPerTrigger", "1000"}};
    struct mr_table t;
    struct mr_source_config config = {.table = &t, .env = env, .arena = &arena};
    struct mr_file_planner p;
    struct mr_buffer saved;

    (void)state;
    mkdir(options[0].value, 0777);
    put("in/new", "1", 10000);
    for (int turn = 0; turn < 5; turn++) {
        static const uint32_t options_n[] = {2, 1, 2, 1, 4};
        static const char *const files[] = {"new ", "older old ", "older old new ", "", ""};
        t = table_of(options, options_n[turn]);
        memset(&p, 0, sizeof p);
        assert_int_equal(mr_file_planner_open(&p, &config, &err), MR_OK);
        if (turn != 0 && turn != 2)
            assert_int_equal(mr_file_load(&p, mr_buffer_text(&saved), &err), MR_OK);
        assert_string_equal(taken(&p, 0), files[turn]);
        assert_int_equal(p.seen.n, turn == 1 ? 3 : 1);
        put("in/old", "1", 1001);
        put("in/older", "1", 1000);
        assert_string_equal(taken(&p, 1), "");
        if (turn == 0 || turn == 2) {
            mr_buffer_init(&saved, &arena);
            mr_file_save(&p, &saved);
        }
        mr_file_planner_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_old_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_times_before_1970, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_age_raised, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
