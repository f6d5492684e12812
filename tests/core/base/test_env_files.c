#include "core/base/env.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* A disk that notes what it was asked, and fails at a chosen call. */
struct mr_file {
    int open;
};

struct notes {
    struct mr_env env;
    char calls[1024];
    const char *there[8]; /* folders that exist */
    const char *fails;    /* the call that fails */
    int error;            /* how; 0: EIO */
    struct mr_file file;
};

static int note(struct mr_env *env, const char *what, const char *path)
{
    struct notes *n = (struct notes *)env;
    size_t used = strlen(n->calls);

    snprintf(n->calls + used, sizeof n->calls - used, "%s %s\n", what, path);
    if (n->fails == NULL || strcmp(n->fails, what) != 0)
        return 0;
    return n->error ? -n->error : -EIO;
}

static int fake_stat(struct mr_env *env, const char *path, struct mr_file_stat *out)
{
    struct notes *n = (struct notes *)env;

    *out = (struct mr_file_stat){.is_dir = strstr(path, "file") == NULL};
    for (size_t i = 0; n->there[i]; i++)
        if (strcmp(path, n->there[i]) == 0)
            return 0;
    return -ENOENT;
}

static int fake_make_dir(struct mr_env *env, const char *path)
{
    return note(env, "make_dir", path);
}

static int fake_sync_dir(struct mr_env *env, const char *path)
{
    return note(env, "sync_dir", path);
}

static int fake_rename(struct mr_env *env, const char *from, const char *to)
{
    (void)to;
    return note(env, "rename", from);
}

static int fake_unlink(struct mr_env *env, const char *path)
{
    return note(env, "unlink", path);
}

static struct notes *current;

static int fake_open(struct mr_env *env, const char *path, int flags, struct mr_file **file)
{
    assert_int_equal(flags, MR_OPEN_WRITE | MR_OPEN_CREATE | MR_OPEN_TRUNCATE);
    current = (struct notes *)env;
    *file = &current->file;
    current->file.open++;
    return note(env, "open", path);
}

static void fake_close(struct mr_file *file)
{
    file->open--;
}

static int64_t fake_write_sync(struct mr_file *file, const void *data, uint64_t bytes,
                               uint64_t offset)
{
    assert_int_equal(file->open, 1);
    assert_memory_equal(data, "content", bytes);
    assert_int_equal(offset, 0);
    int rc = note(&current->env, "write_sync", "");
    return rc < 0 ? rc : (int64_t)bytes;
}

static const struct mr_env_ops fake_ops = {.name = "notes",
                                           .open = fake_open,
                                           .close = fake_close,
                                           .write_sync = fake_write_sync,
                                           .stat = fake_stat,
                                           .rename = fake_rename,
                                           .unlink = fake_unlink,
                                           .make_dir = fake_make_dir,
                                           .sync_dir = fake_sync_dir};

static void folders_from_the_top(void **state)
{
    struct notes n = {.env = {&fake_ops}, .there = {"/a"}};

    (void)state;
    assert_int_equal(mr_env_make_dirs(&n.env, "/a/b//c/"), 0);
    assert_string_equal(n.calls, "sync_dir /\nmake_dir /a/b\nsync_dir /a\nmake_dir /a/b//c\n"
                                 "sync_dir /a/b/\n");
    n = (struct notes){.env = {&fake_ops}};
    assert_int_equal(mr_env_make_dirs(&n.env, "x"), 0);
    assert_string_equal(n.calls, "make_dir x\nsync_dir .\n");
    n = (struct notes){.env = {&fake_ops}, .there = {"/file"}};
    assert_int_equal(mr_env_make_dirs(&n.env, "/file/b"), -ENOTDIR);
    n = (struct notes){.env = {&fake_ops}, .fails = "make_dir"};
    assert_int_equal(mr_env_make_dirs(&n.env, "/a"), -EIO);
    assert_int_equal(mr_env_make_dirs(&n.env, ""), -ENOENT);
}

/* Who made the last folder that is there may have ended before it synced its name. */
static void found_folders_are_synced(void **state)
{
    struct notes n = {.env = {&fake_ops}, .there = {"/a", "/a/b"}};

    (void)state;
    assert_int_equal(mr_env_make_dirs(&n.env, "/a/b"), 0);
    assert_string_equal(n.calls, "sync_dir /a\n");
    n = (struct notes){.env = {&fake_ops}, .there = {"/a", "/a/b"}};
    assert_int_equal(mr_env_make_dirs(&n.env, "/a/b/c"), 0);
    assert_string_equal(n.calls, "sync_dir /a\nmake_dir /a/b/c\nsync_dir /a/b\n");
    n = (struct notes){.env = {&fake_ops}, .there = {"/a"}, .fails = "sync_dir"};
    assert_int_equal(mr_env_make_dirs(&n.env, "/a"), -EIO);
    for (int i = 0; i < 4; i++) { /* of others, and not ours to sync */
        const int errors[] = {EACCES, EPERM, EROFS, EINVAL};
        n = (struct notes){
            .env = {&fake_ops}, .there = {"/a"}, .fails = "sync_dir", .error = errors[i]};
        assert_int_equal(mr_env_make_dirs(&n.env, "/a"), 0);
    }
    n = (struct notes){.env = {&fake_ops}, .fails = "sync_dir", .error = EACCES};
    assert_int_equal(mr_env_make_dirs(&n.env, "/a"), -EACCES);
}

static void whole_files(void **state)
{
    struct notes n = {.env = {&fake_ops}};

    (void)state;
    assert_int_equal(mr_env_write_whole(&n.env, "/d/f", "content", 7), 0);
    assert_string_equal(n.calls, "open /d/f.tmp\nwrite_sync \nrename /d/f.tmp\nsync_dir /d\n");
    n = (struct notes){.env = {&fake_ops}, .fails = "write_sync"};
    assert_int_equal(mr_env_write_whole(&n.env, "/f", "content", 7), -EIO);
    assert_string_equal(n.calls, "open /f.tmp\nwrite_sync \nunlink /f.tmp\n");
    assert_int_equal(n.file.open, 0);
    n = (struct notes){.env = {&fake_ops}, .fails = "sync_dir"};
    assert_int_equal(mr_env_write_whole(&n.env, "f", "content", 7), -EIO);
    assert_string_equal(n.calls, "open f.tmp\nwrite_sync \nrename f.tmp\nsync_dir .\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_from_the_top),
        cmocka_unit_test(found_folders_are_synced),
        cmocka_unit_test(whole_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
