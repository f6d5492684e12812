#include "tools/millrace/command.h"

#include <stdio.h>
#include <string.h>

static int checkpoint(const struct mr_command *command, int argc, char **argv)
{
    const struct mr_cli_option options[] = {{0}};
    struct mr_error err = {0};
    struct mr_arena arena;
    struct mr_buffer out;
    struct mr_env *env;
    jmp_buf escape;
    bool done;

    if (!mr_cli_parse(command, options, &argc, argv, &done))
        return MR_EXIT_USER;
    if (done)
        return MR_EXIT_OK;
    if (argc != 2 || (strcmp(argv[0], "show") != 0 && strcmp(argv[0], "verify") != 0))
        return mr_cli_misuse(command, "expected show DIR or verify DIR");
    if (mr_env_open(NULL, &env, &err) != MR_OK)
        return mr_cli_fail(&err);
    mr_arena_init(&arena, NULL, &escape);
    if (setjmp(escape)) {
        fprintf(stderr, "millrace: error: no memory\n");
        return MR_EXIT_FAILED;
    }
    mr_buffer_init(&out, &arena);
    enum mr_status status = strcmp(argv[0], "show") == 0
                                ? mr_checkpoint_show(env, argv[1], &out, &err)
                                : mr_checkpoint_verify(env, argv[1], &out, &err);
    printf("%.*s", (int)out.n, (const char *)out.data);
    int code = status == MR_OK ? MR_EXIT_OK : mr_cli_fail(&err);
    mr_arena_fini(&arena);
    env->ops->fini(env);
    return code;
}

const struct mr_command mr_command_checkpoint = {
    .name = "checkpoint",
    .arguments = "show|verify DIR",
    .summary = "what a checkpoint holds; is it sound?",
    .text =
        "show    prints version, id, sources, operators with the columns of their state, the last\n"
        "        epoch committed and the one planned, watermarks, how far sources were read, "
        "files.\n"
        "verify  checks every checksum of every file; problems are listed by file and offset.\n"
        "Both only read, and may be used while the query runs. Exit code: 0 sound, 1 damaged, 2 no "
        "checkpoint.",
    .run = checkpoint,
};
