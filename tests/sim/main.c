/* The simulator.  usage: sim [--seeds N] [--from N] [--break WHAT]     SEED=n sim
 *
 * Each seed makes a query, its input, and a row of processes that die, lose their power or meet an
 * error somewhere, with other numbers of workers each time; then one that ends. What is shown must
 * be at no time more, and at the end exactly, what an undisturbed run shows; that one must give
 * what a simple model does; no epoch that was told runs again; the checkpoint is sound; nothing
 * hidden is left. Every seed is a process of its own. Every tenth seed runs twice and must take the
 * same steps. A third of the seeds have durability interval or none: from the first power cut on
 * epochs may run again that were told, so rows may be shown twice, but none is lost or wrong.
 *
 * SEED=n shows all steps of that seed. --break log|sink|names|marker: a millrace that forgets to
 * sync its log, its output or names, or asks no topic how far it was: a seed must catch it.
 * Exit code 0: all is well (or the broken one was caught), 1: not, 2: misuse.
 */
#include "core/run/job.h"
#include "core/run/progress.h"
#include "tests/sim/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIVES_MAX = 6, SEED_SECONDS = 20, TROUBLE_BYTES = 2048, SHOWN_MAX = 3 };

enum end { END_DONE, END_FAILED, END_DIED };

struct result { /* of a seed, in memory that its process shares */
    uint64_t hash, steps, epochs, lives, kills, cuts, errors;
    char trouble[TROUBLE_BYTES];
};

struct run { /* of a seed */
    struct job job;
    struct world world;
    struct rows calm;
    uint64_t calm_steps, calm_counts[STEP_KINDS];
    int64_t told;    /* -1: no epoch */
    uint32_t untold; /* processes since then */
    enum mr_durability durability;
    bool is_weakened; /* the power was cut, and not every commit was durable */
    struct result *result;
};

static struct run *the_run; /* of this process, for the handler */

static void say(struct run *r, const char *what, const char *more)
{
    if (r->result->trouble[0] == '\0')
        snprintf(r->result->trouble, TROUBLE_BYTES, "%s %s", what, more);
}

static uint32_t choose(void *arg, const uint32_t *awake, uint32_t n)
{
    struct world *w = arg;
    uint32_t worker = awake[chance_below(&w->chance, n)];

    world_step(STEP_OTHER, "worker %u", worker);
    return worker;
}

static void on_progress(void *arg, const struct mr_progress *p)
{
    struct run *r = arg;

    if (p->is_idle)
        return;
    world_note("= epoch %llu is told", (unsigned long long)p->batch_id);
    /* Each process may die between a commit and its telling. */
    int64_t ahead = (int64_t)p->batch_id - r->told;
    bool may_be_earlier = r->untold && r->is_weakened;
    if (ahead > 1 + (int64_t)r->untold || (ahead < 1 && !may_be_earlier))
        say(r, ahead < 1 ? "an epoch was told, and ran again" : "an epoch is left out", "");
    r->untold = 0;
    r->told = (int64_t)p->batch_id;
    r->result->epochs++;
}

struct life {
    struct mr_arena arena;
    jmp_buf escape;
    struct mr_job *job;
    struct mr_engine *engine;
    struct mr_query *query;
    struct mr_error err;
};

static enum mr_status live(struct run *r, struct life *l, const struct mr_engine_config *config)
{
    struct mr_query_config *c = MR_NEW(&l->arena, struct mr_query_config);
    const struct mr_job_query *q = l->job->queries;
    struct mr_physical_plan *plan;
    struct mr_plan_texts texts;

    enum mr_status status = mr_engine_open(config, &l->engine, &l->err);
    if (status == MR_OK)
        status = mr_job_plan(l->job, q, mr_engine_workers(l->engine), &plan, &texts, &l->err);
    if (status != MR_OK)
        return status;
    *c = (struct mr_query_config){
        .name = q->name,
        .session = &q->session,
        .plan = plan,
        .sink_ops = job_has_topic(&r->job) ? &topic_ops : mr_sink_find(q->sink.format),
        .sink = q->sink,
        .checkpoint = q->checkpoint,
        .trigger = q->trigger,
        .on_progress = on_progress,
        .on_progress_arg = r,
    };
    c->sink.schema = plan->root->output;
    status = mr_query_open(l->engine, c, &l->query, &l->err);
    if (status == MR_OK)
        status = mr_query_start(l->query, &l->err);
    return status == MR_OK ? mr_query_wait(l->query, &l->err) : status;
}

/* Without the folder's name, which is another one each time. */
static void note_error(const struct run *r, const struct mr_error *err)
{
    char text[MR_ERROR_MESSAGE];
    size_t n = strlen(r->job.root);

    snprintf(text, sizeof text, "%s", err->message);
    for (char *at; (at = strstr(text, r->job.root)) != NULL;)
        memmove(at, at + n, strlen(at + n) + 1);
    world_note("= failed: %s", text);
}

/* A process: what it leaves behind is in the world. */
static enum end run_life(struct run *r, struct mr_engine_config config, const struct fault *fault)
{
    struct world *w = &r->world;
    struct life *l = calloc(1, sizeof *l);
    const struct mr_turns turns = {w, choose};

    if (l == NULL)
        abort();
    mr_arena_init(&l->arena, NULL, &l->escape);
    w->fault = *fault;
    w->is_fault_done = false;
    w->steps = 0;
    memset(w->counts, 0, sizeof w->counts);
    if (setjmp(l->escape) != 0)
        abort();
    if (mr_job_load(r->job.path, NULL, &l->arena, &l->job, &l->err) != MR_OK) {
        say(r, "the job can't be read:", l->err.message);
        return END_FAILED;
    }
    r->result->lives++;
    r->untold++;
    w->is_alive = true;
    if (setjmp(w->death) != 0) {
        w->is_alive = false;
        return END_DIED;
    }
    config.turns = &turns;
    enum mr_status status = live(r, l, &config);
    if (l->query)
        mr_query_close(l->query);
    if (l->engine)
        mr_engine_close(l->engine);
    w->is_alive = false;
    r->result->steps += w->steps;
    if (status != MR_OK)
        note_error(r, &l->err);
    if (status != MR_OK && !w->is_fault_done)
        say(r, "it failed without a fault:", l->err.message);
    mr_arena_fini(&l->arena);
    return status == MR_OK ? END_DONE : END_FAILED;
}

static struct mr_engine_config any_engine(const struct run *r, struct chance *c)
{
    static const uint32_t rows[] = {2, 7, 64, 4096}, slots[] = {2, 4, 8};

    return (struct mr_engine_config){.workers = chance_between(c, 1, 4),
                                     .batch_rows = rows[chance_below(c, 4)],
                                     .ring_slots = slots[chance_below(c, 3)],
                                     .durability = r->durability};
}

static struct fault any_fault(struct run *r, struct chance *c)
{
    static const enum fault_kind kinds[] = {FAULT_KILL, FAULT_KILL,  FAULT_KILL,  FAULT_CUT,
                                            FAULT_CUT,  FAULT_CUT,   FAULT_CUT,   FAULT_WRITE,
                                            FAULT_TORN, FAULT_SYNC,  FAULT_SYNC,  FAULT_NAME,
                                            FAULT_READ, FAULT_TOPIC, FAULT_ANSWER};
    static const enum step_kind of[] = {
        [FAULT_WRITE] = STEP_WRITE, [FAULT_TORN] = STEP_WRITE, [FAULT_SYNC] = STEP_SYNC,
        [FAULT_NAME] = STEP_NAME,   [FAULT_READ] = STEP_READ,  [FAULT_TOPIC] = STEP_TOPIC,
        [FAULT_ANSWER] = STEP_TOPIC};
    struct fault f = {.jumps = chance_one_in(c, 3), .slow = chance_between(c, 1, 6)};
    uint64_t most;

    do {
        f.kind = kinds[chance_below(c, sizeof kinds / sizeof *kinds)];
        most = f.kind == FAULT_KILL || f.kind == FAULT_CUT ? r->calm_steps
                                                           : r->calm_counts[of[f.kind]];
    } while (most == 0);
    /* Most within a few epochs: there shall be several in a row. */
    f.at = 1 + chance_below(c, chance_one_in(c, 3) ? most : most / 4 + 1);
    return f;
}

static void check_shown(struct run *r, bool at_end)
{
    struct rows shown;

    rows_shown(&r->job, &r->world, &shown);
    const char *extra =
        r->is_weakened ? rows_unknown(&shown, &r->calm) : rows_extra(&shown, &r->calm);
    if (extra)
        say(r, "a row is shown that the undisturbed run has not, or less often:", extra);
    const char *lost = at_end ? rows_extra(&r->calm, &shown) : NULL;
    if (lost)
        say(r, "a row is lost:", lost);
}

static void check_folder(struct run *r)
{
    struct world *w = &r->world;
    struct mr_arena a;
    jmp_buf escape;
    struct mr_buffer text;
    struct mr_error err;
    char path[96];

    mr_arena_init(&a, NULL, &escape);
    if (setjmp(escape) != 0)
        abort();
    mr_buffer_init(&text, &a);
    snprintf(path, sizeof path, "%s/chk", r->job.root);
    if (mr_checkpoint_verify(&w->env, path, &text, &err) != MR_OK)
        say(r, "the checkpoint is not sound:", err.message);
    mr_arena_fini(&a);
    for (uint32_t i = 0; i < w->disk.now.n; i++) {
        const char *at = w->disk.now.all[i].path, *name = strrchr(at, '/');
        if (name && strncmp(name, "/.", 2) == 0)
            say(r, "a hidden file is left:", at);
    }
}

/* The one that the others are compared with. */
static bool run_calm(struct run *r, uint64_t seed)
{
    const struct fault none = {0};
    struct chance c = {seed ^ 0x63616c6d};

    r->told = -1;
    if (run_life(r, any_engine(r, &c), &none) != END_DONE)
        say(r, "the undisturbed run fails", "");
    r->calm_steps = r->world.steps;
    memcpy(r->calm_counts, r->world.counts, sizeof r->calm_counts);
    rows_shown(&r->job, &r->world, &r->calm);
    const char *differs = job_model_differs(&r->job, &r->calm);
    if (differs)
        say(r, "the undisturbed run is not what the model says:", differs);
    check_folder(r);
    return r->result->trouble[0] == '\0';
}

static void run_disturbed(struct run *r, uint64_t seed)
{
    struct chance c = {seed ^ 0x6c697665};
    struct world *w = &r->world;
    uint32_t lives = chance_between(&c, 1, LIVES_MAX);
    const struct fault none = {.slow = 4};

    r->durability =
        (enum mr_durability)(chance_one_in(&c, 3) ? chance_between(&c, 1, 2) : MR_DURABLE_EPOCH);
    r->told = -1;
    for (uint32_t i = 0; i < lives && r->result->trouble[0] == '\0'; i++) {
        struct fault fault = any_fault(r, &c);
        world_note("= a process, fault %d at %llu", (int)fault.kind, (unsigned long long)fault.at);
        enum end end = run_life(r, any_engine(r, &c), &fault);
        bool is_cut = w->is_fault_done &&
                      (fault.kind == FAULT_CUT || (end == END_FAILED && chance_one_in(&c, 2)));
        if (is_cut)
            disk_power_cut(&w->disk, &w->chance);
        r->is_weakened |= is_cut && r->durability != MR_DURABLE_EPOCH;
        disk_unlock_all(&w->disk);
        world_note(is_cut ? "= power cut" : "= end");
        r->result->kills += end == END_DIED && !is_cut;
        r->result->cuts += is_cut;
        r->result->errors += end == END_FAILED;
        check_shown(r, false);
    }
    if (r->result->trouble[0])
        return;
    world_note("= the last process");
    if (run_life(r, any_engine(r, &c), &none) != END_DONE)
        say(r, "the last process fails", "");
    check_shown(r, true);
    check_folder(r);
}

static void on_abort(int number)
{
    if (the_run->result->trouble[0] == '\0')
        snprintf(the_run->result->trouble, TROUBLE_BYTES,
                 "signal %d: a broken assertion, or no end", number);
    world_show_notes();
    _exit(1);
}

static void run_seed(uint64_t seed, enum breakage broken, bool shows_all, bool shows_trouble,
                     struct result *result)
{
    char root[] = "/tmp/millrace-sim-XXXXXX", in[64];
    struct run *r = calloc(1, sizeof *r);

    if (r == NULL || mkdtemp(root) == NULL)
        abort();
    snprintf(in, sizeof in, "%s/in", root);
    mkdir(in, 0777);
    r->result = result;
    the_run = r;
    job_init(&r->job, root, seed);
    the_world = &r->world;
    for (int disturbed = 0; disturbed < 2; disturbed++) {
        world_init(&r->world, seed + (uint64_t)disturbed, root);
        r->world.shows_all = shows_all;
        if (shows_trouble) {
            signal(SIGABRT, on_abort);
            signal(SIGPROF, on_abort);
            signal(SIGSEGV, on_abort);
        }
        job_put_input(&r->job, &r->world.disk);
        if (disturbed) {
            r->world.broken = broken;
            run_disturbed(r, seed);
        } else if (!run_calm(r, seed)) {
            break;
        }
        result->hash = result->hash * 31 + r->world.hash;
    }
    if (result->trouble[0] && shows_trouble)
        world_show_notes();
    remove(r->job.path);
    rmdir(in);
    rmdir(root);
}

/* In a process of its own: it leaves behind what the simulated ones do. */
static bool try_seed(uint64_t seed, enum breakage broken, bool shows_all, bool shows_trouble,
                     struct result *result)
{
    const struct itimerval limit = {.it_value.tv_sec = SEED_SECONDS};
    int code;

    memset(result, 0, sizeof *result);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setitimer(ITIMER_PROF, &limit, NULL); /* of its own time: others may want the machine */
        if (!shows_trouble && freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        run_seed(seed, broken, shows_all, shows_trouble, result);
        exit(result->trouble[0] != '\0');
    }
    if (child < 0 || waitpid(child, &code, 0) != child) {
        snprintf(result->trouble, TROUBLE_BYTES, "no process: %s", strerror(errno));
        return false;
    }
    if (code != 0 && result->trouble[0] == '\0')
        snprintf(result->trouble, TROUBLE_BYTES, "its process ended with %d", code);
    return code == 0;
}

struct arguments {
    uint64_t seeds, from;
    enum breakage broken;
    bool is_one;
};

static bool read_arguments(int argc, char **argv, struct arguments *a)
{
    static const char *const breaks[] = {"nothing", "log", "sink", "names", "marker"};
    const char *one = getenv("SEED");

    *a = (struct arguments){.seeds = 300, .from = 1};
    if (one)
        *a = (struct arguments){.seeds = 1, .from = strtoull(one, NULL, 10), .is_one = true};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seeds") == 0)
            a->seeds = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--from") == 0)
            a->from = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--break") != 0)
            return false;
        for (int b = 1; strcmp(argv[i], "--break") == 0 && b < 5; b++)
            if (strcmp(argv[i + 1], breaks[b]) == 0)
                a->broken = (enum breakage)b;
        if (strcmp(argv[i], "--break") == 0 && a->broken == BREAK_NOTHING)
            return false;
    }
    return argc % 2 == 1 && a->seeds > 0;
}

static bool takes_same_steps(uint64_t seed, enum breakage broken, struct result *shared)
{
    uint64_t hash = shared->hash;

    (void)try_seed(seed, broken, false, false, shared);
    return shared->hash == hash;
}

int main(int argc, char **argv)
{
    struct arguments a;
    struct result sum = {0};
    uint64_t failed = 0, caught = 0;
    struct result *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    setenv("HWLOC_PLUGINS_PATH", "/nowhere",
           1); /* thousands of starts: none looks for a graphics card */
    if (shared == MAP_FAILED || !read_arguments(argc, argv, &a)) {
        fprintf(stderr, "usage: sim [--seeds N] [--from N] [--break log|sink|names|marker]\n");
        return 2;
    }
    for (uint64_t seed = a.from; seed < a.from + a.seeds; seed++) {
        bool shows_trouble = a.broken == BREAK_NOTHING && failed < SHOWN_MAX;
        bool ok = try_seed(seed, a.broken, a.is_one, shows_trouble, shared);
        sum.steps += shared->steps, sum.epochs += shared->epochs, sum.lives += shared->lives;
        sum.kills += shared->kills, sum.cuts += shared->cuts, sum.errors += shared->errors;
        caught += !ok;
        if (!ok && a.broken == BREAK_NOTHING) {
            failed++;
            printf("FAIL seed %llu: %s  (again: SEED=%llu)\n", (unsigned long long)seed,
                   shared->trouble, (unsigned long long)seed);
        } else if (ok && seed % 10 == 0 && !takes_same_steps(seed, a.broken, shared)) {
            failed++;
            printf("FAIL seed %llu does not take the same steps twice\n", (unsigned long long)seed);
        }
        if (a.broken != BREAK_NOTHING && caught > 0)
            break;
    }
    if (a.broken != BREAK_NOTHING) {
        printf("%s\n", caught ? "the broken one was caught" : "FAIL: it was not caught");
        return caught == 0;
    }
    printf("%llu seeds, %llu failed: %llu epochs and %llu steps of %llu processes, %llu killed, "
           "%llu power "
           "cuts, %llu ended by an error\n",
           (unsigned long long)a.seeds, (unsigned long long)failed, (unsigned long long)sum.epochs,
           (unsigned long long)sum.steps, (unsigned long long)sum.lives,
           (unsigned long long)sum.kills, (unsigned long long)sum.cuts,
           (unsigned long long)sum.errors);
    return failed != 0;
}
