/* planner.h - a folder for each test, files in it, and what an epoch of a file source takes. */
#pragma once
#include "io/file/file_source.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka needs those above */
#include <cmocka.h>

static const struct mr_field fields[] = {{"a", &mr_type_bigint, true},
                                         {"b", &mr_type_string, true}};
static const struct mr_type schema = {.kind = MR_STRUCT, .fields_n = 2, .fields = fields};

static jmp_buf escape;
static struct mr_arena arena;
static struct mr_error err;
static struct mr_env *env;
static char folder[] = "/tmp/mr-file-planner-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    mr_arena_init(&arena, NULL, &escape);
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    return mkdtemp(folder) == NULL || mr_env_open("syscalls", &env, &err) != MR_OK;
}

static int tear_down(void **state)
{
    char command[64];

    (void)state;
    env->ops->fini(env);
    mr_arena_fini(&arena);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static const char *in_folder(const char *name)
{
    return mr_arena_format(&arena, "%s/%s", folder, name);
}

static void put(const char *name, const char *content, int64_t mtime_s)
{
    const char *path = in_folder(name);
    struct timespec times[2] = {{.tv_sec = mtime_s}, {.tv_sec = mtime_s}};
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    fputs(content, f);
    fclose(f);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct mr_table table_of(const struct mr_option *options, uint32_t n)
{
    return (struct mr_table){.name = "t",
                             .streaming = true,
                             .format = "json",
                             .options = options,
                             .options_n = n,
                             .schema = &schema};
}

/* The names of the files of an epoch, each followed by a blank. */
static const char *taken(struct mr_file_planner *p, uint64_t epoch)
{
    struct mr_offsets to;
    struct mr_buffer b;
    bool has_new;

    assert_int_equal(mr_file_plan(p, epoch, MR_LIMIT_AS_CONFIGURED, &to, &has_new, &err), MR_OK);
    mr_buffer_init(&b, &arena);
    for (uint32_t i = 0; i < p->files_n; i++)
        mr_buffer_append_format(&b, "%s ", strrchr(p->files[i].path, '/') + 1);
    mr_buffer_append(&b, "", 1);
    return (const char *)b.data;
}
