/* What a checkpoint does about bytes that changed, files that are short or gone, and power cuts. */
#include "core/checkpoint/blocks.h"
#include "core/checkpoint/snapshot.h"
#include "io/fault/fault.h"
#include "tests/core/checkpoint/world.h"

#include "tests/core/checkpoint/cut.h"

enum { FILES_MAX = 32 };

struct stored {
    char path[400];
    uint8_t *data;
    uint64_t n;
};

static struct stored files[FILES_MAX];
static uint32_t files_n;

static int load_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type != FTW_F)
        return 0;
    if (strstr(path, ".tmp")) /* a round under way: the next open removes it */
        return remove(path);
    assert_true(files_n < FILES_MAX);
    struct stored *f = &files[files_n++];
    snprintf(f->path, sizeof f->path, "%s", path);
    f->n = (uint64_t)st->st_size;
    f->data = malloc(f->n + 1);
    FILE *in = fopen(path, "rb");
    assert_int_equal(fread(f->data, 1, f->n, in), f->n);
    fclose(in);
    return 0;
}

static void store_part(const struct stored *f, uint64_t n)
{
    FILE *out = fopen(f->path, "wb");

    assert_non_null(out);
    assert_int_equal(fwrite(f->data, 1, n, out), n);
    fclose(out);
}

/* A checkpoint with a snapshot and several segments, closed; its files are in memory. */
static void make(struct world *w, const char *name)
{
    world_init(w, name);
    w->config.segment_bytes = 32 * 1024;
    w->config.snapshot_bytes_per_epoch = 20000;
    assert_int_equal(world_open(w), MR_OK);
    for (uint32_t i = 0; i < 43; i++)
        assert_int_equal(world_epoch(w), MR_OK);
    world_close(w);
    files_n = 0;
    nftw(w->path, load_one, 16, FTW_PHYS);
}

static void forget(struct world *w)
{
    for (uint32_t i = 0; i < files_n; i++)
        free(files[i].data);
    world_fini(w);
}

/* Files that an open writes to, back as they were. */
static void restore(void)
{
    for (uint32_t i = 0; i < files_n; i++) {
        const char *name = strrchr(files[i].path, '/');
        if (strcmp(name, "/head") == 0 || strcmp(name, "/lock") == 0)
            store_part(&files[i], files[i].n);
    }
}

static bool is_harmless(const char *path)
{
    const char *name = strrchr(path, '/');
    return strcmp(name, "/head") == 0 || strcmp(name, "/lock") == 0;
}

/* Each bit that flips is detected, with the file named, or makes no difference. */
static void test_flips(void **state)
{
    struct world w;
    uint64_t flips = 0, detected = 0;

    (void)state;
    make(&w, "flips");
    for (uint32_t i = 0; i < files_n; i++) {
        struct stored *f = &files[i];
        FILE *out = fopen(f->path, "r+b");
        for (uint64_t at = 0; at < f->n; at++) {
            /* All of headers and small files, a sample of the rest. */
            bool is_small = f->n < 2000 || at % MR_BLOCK < 96;
            if (is_small ? f->data[at] == 0 && at % 5 : at % (f->data[at] ? 11 : 211))
                continue;
            uint8_t flipped = f->data[at] ^ (uint8_t)(1u << (at % 8));
            fseek(out, (long)at, SEEK_SET);
            fputc(flipped, out);
            fflush(out);
            enum mr_status status = world_open(&w);
            flips++;
            if (status == MR_OK) {
                assert_int_equal(w.next, w.acknowledged);
                world_close(&w);
            } else {
                detected++;
                assert_false(is_harmless(f->path));
                assert_int_equal(status, MR_CORRUPT);
                assert_non_null(strstr(w.err.message, w.path));
            }
            if (is_harmless(f->path)) {
                fclose(out);
                restore();
                out = fopen(f->path, "r+b");
            } else {
                restore();
                fseek(out, (long)at, SEEK_SET);
                fputc(f->data[at], out);
                fflush(out);
            }
        }
        fclose(out);
    }
    print_message("%llu flips, %llu detected, the others without effect\n",
                  (unsigned long long)flips, (unsigned long long)detected);
    assert_true(detected > 1000);
    assert_int_equal(world_open(&w), MR_OK);
    world_close(&w);
    forget(&w);
}

/* One damage of a file at random: a bit, a sector of zeros or of noise, or the end of it. */
static void damage(const struct stored *f, uint64_t random)
{
    uint64_t at = (random >> 8) % f->n, sector = at & ~(uint64_t)511;
    uint64_t sector_end = sector + 512 < f->n ? sector + 512 : f->n;
    uint8_t *bytes = malloc(f->n);
    struct stored damaged = {.data = bytes, .n = f->n};

    memcpy(damaged.path, f->path, sizeof f->path);
    memcpy(bytes, f->data, f->n);
    switch (random % 8) {
    case 0:
        damaged.n = at;
        break;
    case 1:
        memset(bytes + sector, 0, sector_end - sector);
        break;
    case 2:
        for (uint64_t i = sector; i < sector_end; i++)
            bytes[i] = (uint8_t)mix(random + i);
        break;
    default:
        bytes[at] ^= (uint8_t)(1u << (random >> 4 & 7));
    }
    store_part(&damaged, damaged.n);
    free(bytes);
}

/* Any file, any place; MR_DAMAGES says how often, MR_DAMAGES_OF to which files only. It is
 * detected, with the file named, or what was acknowledged is there, once. */
static void test_random(void **state)
{
    const char *wanted = getenv("MR_DAMAGES"), *of = getenv("MR_DAMAGES_OF");
    uint64_t n = wanted ? strtoull(wanted, NULL, 10) : 300, done = 0, detected = 0;
    struct world w;

    (void)state;
    make(&w, "random");
    for (uint64_t i = 0; done < n; i++) {
        uint64_t random = mix(i + 1);
        struct stored *f = &files[(random >> 50) % files_n];
        if (f->n == 0 || (of && strstr(f->path, of) == NULL))
            continue;
        done++;
        damage(f, random);
        enum mr_status status = world_open(&w);
        if (status == MR_OK) {
            if (w.next != w.acknowledged)
                fail_msg("damage %llu of %s: a silent difference", (unsigned long long)i, f->path);
            world_close(&w);
        } else {
            const char *place = strrchr(f->path, '/') + 1;
            detected++;
            if (status != MR_CORRUPT || strstr(w.err.message, w.path) == NULL ||
                is_harmless(f->path))
                fail_msg("damage %llu of %s (%s): %s", (unsigned long long)i, f->path, place,
                         w.err.message);
        }
        for (uint32_t k = 0; k < files_n; k++)
            store_part(&files[k], files[k].n);
    }
    print_message("%llu damages, %llu detected, the others without effect\n", (unsigned long long)n,
                  (unsigned long long)detected);
    if (of == NULL)
        assert_true(detected > n / 4);
    forget(&w);
}

/* Also after a failure, which is what the build without checksums is for. */
static int remove_random(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf /dev/shm/mr-test-random-%ld", (long)getpid());
    return system(command);
}

static void test_truncation(void **state)
{
    struct world w;
    uint64_t short_ones = 0;

    (void)state;
    make(&w, "truncation");
    for (uint32_t i = 0; i < files_n; i++) {
        if (is_harmless(files[i].path))
            continue;
        for (uint64_t n = 0; n < files[i].n; n += n < 2000 ? 17 : 509) {
            store_part(&files[i], n);
            enum mr_status status = world_open(&w);
            if (status == MR_OK) {
                assert_int_equal(w.next, w.acknowledged);
                world_close(&w);
            } else {
                short_ones++;
                assert_int_equal(status, MR_CORRUPT);
            }
            /* An open may fill up a segment that was cut, or remove one. */
            for (uint32_t k = 0; k < files_n; k++)
                store_part(&files[k], files[k].n);
        }
    }
    assert_true(short_ones > 100);
    forget(&w);
}

/* Without the head, a log that ends early is a torn tail: an earlier epoch, and it goes on from
 * there. */
static void test_torn_tail(void **state)
{
    struct world w;
    uint64_t seen = 0;

    (void)state;
    make(&w, "torn");
    struct stored *last = NULL;
    for (uint32_t i = 0; i < files_n; i++) {
        if (strstr(files[i].path, "/log/") && files[i].n && files[i].data[0] == 'M' &&
            (last == NULL || strcmp(files[i].path, last->path) > 0))
            last = &files[i];
    }
    assert_non_null(last);
    for (uint64_t n = 512; n < last->n; n += 512) {
        uint64_t before = w.acknowledged;
        for (uint32_t k = 0; k < files_n; k++)
            store_part(&files[k], files[k].n);
        char head[300];
        snprintf(head, sizeof head, "%s/head", w.path);
        remove(head);
        /* The rest of the segment was never written. */
        uint8_t *whole = malloc(last->n);
        memcpy(whole, last->data, last->n);
        memset(last->data + n, 0, last->n - n);
        store_part(last, last->n);
        memcpy(last->data, whole, last->n);
        free(whole);
        enum mr_status status = world_open(&w);
        if (status == MR_CORRUPT) { /* older than the snapshot */
            assert_non_null(strstr(w.err.message, "newer than"));
            continue;
        }
        assert_int_equal(status, MR_OK);
        assert_true(w.next <= before);
        seen += w.next < before;
        assert_int_equal(world_epoch(&w), MR_OK);
        uint64_t reached = w.next;
        world_close(&w);
        assert_int_equal(world_open(&w), MR_OK);
        assert_int_equal(w.next, reached);
        world_close(&w);
        w.acknowledged = before;
    }
    assert_true(seen > 0);
    forget(&w);
}

static void test_missing(void **state)
{
    static const struct {
        const char *folder;
        enum mr_status status;
        const char *condition, *text;
    } rows[] = {
        {"/metadata", MR_USER, "STREAMING_CHECKPOINT_MISSING_METADATA_FILE", "metadata"},
        {"/log/", MR_CORRUPT, "", "has no segments"},
        {"/snapshot/", MR_CORRUPT, "", "without a snapshot"},
        {"/head", MR_OK, "", ""},
    };
    struct world w;

    (void)state;
    make(&w, "missing");
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (uint32_t k = 0; k < files_n; k++) {
            store_part(&files[k], files[k].n);
            if (strstr(files[k].path, rows[i].folder))
                remove(files[k].path);
        }
        struct mr_buffer out;
        mr_buffer_init(&out, &w.arena);
        assert_int_equal(mr_checkpoint_verify(w.env, w.path, &out, &w.err),
                         rows[i].status == MR_OK ? MR_OK : MR_CORRUPT);
        assert_int_equal(world_open(&w), rows[i].status);
        if (rows[i].status == MR_OK) {
            assert_int_equal(w.next, w.acknowledged);
            world_close(&w);
        } else {
            assert_string_equal(w.err.condition, rows[i].condition);
            assert_non_null(strstr(w.err.message, rows[i].text));
        }
    }
    forget(&w);
}

static void test_verify(void **state)
{
    struct world w;
    struct mr_buffer out;

    (void)state;
    make(&w, "verify");
    mr_buffer_init(&out, &w.arena);
    assert_int_equal(mr_checkpoint_verify(w.env, w.path, &out, &w.err), MR_OK);
    for (uint32_t i = 0; i < files_n; i++) {
        if (is_harmless(files[i].path) || files[i].data[0] == 0)
            continue;
        files[i].data[9] ^= 4;
        store_part(&files[i], files[i].n);
        files[i].data[9] ^= 4;
        mr_buffer_init(&out, &w.arena);
        assert_int_equal(mr_checkpoint_verify(w.env, w.path, &out, &w.err), MR_CORRUPT);
        mr_buffer_append(&out, "", 1);
        assert_non_null(strstr((char *)out.data, "problem: "));
        store_part(&files[i], files[i].n);
    }
    assert_int_equal(mr_checkpoint_verify(w.env, "/nowhere", &out, &w.err), MR_USER);
    assert_int_equal(mr_checkpoint_show(w.env, "/nowhere", &out, &w.err), MR_USER);
    forget(&w);
}

/* Power cuts after operation k of a run, with every durability: what was acknowledged as durable is
 * there; with the weaker ones an earlier epoch, whole. */
static void check_cuts(enum mr_durability durability, uint64_t seeds)
{
    uint64_t cuts = 0, lost = 0;

    for (uint64_t k = 1;; k += durability == MR_DURABLE_EPOCH ? 1 : 3) {
        bool is_reached = false;
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            struct world w;
            struct mr_env *real, *cut, *inner;
            char schedule[64];
            snprintf(schedule, sizeof schedule, "any:%llu:%s", (unsigned long long)k,
                     seed % 2 ? "stop" : "halfstop");
            world_init(&w, "cut");
            w.config.durability = durability;
            w.payload = 900;
            real = w.env;
            assert_int_equal(mr_env_open("syscalls", &inner, NULL), MR_OK);
            cut = cut_env_open(inner);
            w.env = mr_fault_open(cut, schedule);
            if (world_open(&w) == MR_OK) {
                for (uint32_t i = 0; i < 26 && world_epoch(&w) == MR_OK; i++)
                    ;
                world_close(&w);
            }
            is_reached |= mr_fault_count(w.env) >= k;
            cut_power(cut, seed * 1000 + k);
            w.env->ops->fini(w.env);
            w.env = real;
            if (world_open(&w) != MR_OK)
                fail_msg("cut at %llu, seed %llu: %s", (unsigned long long)k,
                         (unsigned long long)seed, w.err.message);
            if (durability == MR_DURABLE_EPOCH)
                assert_true(w.next >= w.acknowledged);
            lost += w.next < w.acknowledged;
            cuts++;
            assert_int_equal(world_epoch(&w), MR_OK);
            world_close(&w);
            world_fini(&w);
        }
        if (!is_reached)
            break;
    }
    print_message("%llu cuts, %llu of them lost epochs\n", (unsigned long long)cuts,
                  (unsigned long long)lost);
    assert_int_equal(lost > 0, durability != MR_DURABLE_EPOCH);
}

static void test_power_cuts(void **state)
{
    (void)state;
    check_cuts(MR_DURABLE_EPOCH, 3);
    check_cuts(MR_DURABLE_INTERVAL, 2);
    check_cuts(MR_DURABLE_NONE, 2);
}

/* The k-th sync fails, and the system forgets that its pages never reached the disk; the next
 * process takes what it reads for committed, then the power goes. */
static void test_forgotten_pages(void **state)
{
    uint64_t cuts = 0, failed = 0;

    (void)state;
    for (uint64_t k = 1, is_reached = 1; is_reached; k++) {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct world w;
            struct mr_env *real, *inner;
            world_init(&w, "forgotten");
            real = w.env;
            assert_int_equal(mr_env_open("syscalls", &inner, NULL), MR_OK);
            w.env = cut_env_open(inner);
            struct cut_env *cut = (struct cut_env *)(void *)w.env;
            cut->fail_at = k;
            if (world_open(&w) == MR_OK) {
                for (uint32_t i = 0; i < 12 && world_epoch(&w) == MR_OK; i++)
                    ;
                world_close(&w);
            }
            is_reached = cut->syncs >= k;
            failed += is_reached;
            cut->fail_at = 0;
            assert_int_equal(world_open(&w), MR_OK);
            w.acknowledged = w.next; /* whatever it found, it goes on from there */
            world_close(&w);
            cut_power(w.env, seed * 1000 + k);
            w.env->ops->fini(w.env);
            w.env = real;
            if (world_open(&w) != MR_OK)
                fail_msg("sync %llu, seed %llu: %s", (unsigned long long)k,
                         (unsigned long long)seed, w.err.message);
            if (w.next < w.acknowledged)
                fail_msg("sync %llu, seed %llu: an epoch is gone", (unsigned long long)k,
                         (unsigned long long)seed);
            cuts++;
            world_close(&w);
            world_fini(&w);
        }
    }
    print_message("%llu cuts, %llu after a failed sync\n", (unsigned long long)cuts,
                  (unsigned long long)failed);
    assert_true(failed > 40);
}

/* A power cut took the first group of an epoch and left the second, which has the commit. The epoch
 * runs again, logs the same first group and dies: that commit is of the first try. */
static void test_stale_commit(void **state)
{
    struct world w;
    char path[300];

    (void)state;
    world_init(&w, "stale");
    w.config.segment_bytes = 8 << 20;
    w.payload = 1100 * 1000; /* three records are more than a group holds back */
    assert_int_equal(world_open(&w), MR_OK);
    assert_int_equal(world_plan(&w), MR_OK);
    assert_int_equal(world_log(&w), MR_OK);
    assert_int_equal(world_commit(&w), MR_OK);
    world_close(&w);
    snprintf(path, sizeof path, "%s/head", w.path);
    assert_int_equal(remove(path), 0);
    snprintf(path, sizeof path, "%s/log/%016d", w.path, 2);
    FILE *log = fopen(path, "r+b");
    assert_non_null(log);
    assert_int_equal(fseek(log, CUT_SECTOR, SEEK_SET), 0);
    assert_int_equal(fputc('x', log), 'x');
    assert_int_equal(fclose(log), 0);
    assert_int_equal(world_open(&w), MR_OK);
    assert_int_equal(w.next, 0);
    assert_int_equal(world_plan(&w), MR_OK);
    assert_int_equal(world_log(&w), MR_OK);
    world_close(&w);
    assert_int_equal(world_open(&w), MR_OK);
    assert_int_equal(w.next, 0);
    assert_true(w.recovered.has_plan);
    world_close(&w);
    world_fini(&w);
}

/* An old round goes only when the name of the newer one is durable: who gave it may have ended
 * before he synced it. */
static void test_old_round_goes_late(void **state)
{
    struct mr_snapshot_list list;
    struct mr_file_stat stat;
    struct mr_env *real, *inner;
    struct world w;
    char path[300], older[340];

    (void)state;
    make(&w, "round");
    snprintf(path, sizeof path, "%s/snapshot", w.path);
    assert_int_equal(mr_snapshot_list(w.env, path, false, &w.arena, &list, &w.err), MR_OK);
    assert_true(list.newest > 1);
    snprintf(older, sizeof older, "%s/%016llu", path, (unsigned long long)list.newest - 1);
    fclose(fopen(older, "wb"));
    real = w.env;
    assert_int_equal(mr_env_open("syscalls", &inner, NULL), MR_OK);
    w.env = mr_fault_open(inner, "sync:@/snapshot:EIO");
    assert_int_equal(world_open(&w), MR_IO);
    w.env->ops->fini(w.env);
    w.env = real;
    assert_int_equal(w.env->ops->stat(w.env, older, &stat), 0);
    assert_int_equal(world_open(&w), MR_OK);
    assert_int_equal(w.env->ops->stat(w.env, older, &stat), -ENOENT);
    world_close(&w);
    forget(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips),        cmocka_unit_test_teardown(test_random, remove_random),
        cmocka_unit_test(test_truncation),   cmocka_unit_test(test_torn_tail),
        cmocka_unit_test(test_missing),      cmocka_unit_test(test_verify),
        cmocka_unit_test(test_power_cuts),   cmocka_unit_test(test_forgotten_pages),
        cmocka_unit_test(test_stale_commit), cmocka_unit_test(test_old_round_goes_late),
    };
    cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
