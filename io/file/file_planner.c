#include "io/file/file_source.h"

#include "core/base/check.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    OFFSET_VERSION = 1,
    SAVED_VERSION = 2,
    SAVED_VERSION_OLD = 1, /* without what was dropped */
    SPLIT_BYTES_MIN = 4 << 20,
    SPLIT_BYTES_MAX = 32 << 20,
    SPLITS_WANTED = 64,
};

static void put_file(struct mr_buffer *b, const char *path, int64_t mtime_us, uint64_t size)
{
    uint32_t n = (uint32_t)strlen(path);

    mr_buffer_append(b, &mtime_us, sizeof mtime_us);
    mr_buffer_append(b, &size, sizeof size);
    mr_buffer_append(b, &n, sizeof n);
    mr_buffer_append(b, path, n);
}

/* Checkpoints of earlier versions have paths as they were written in the job. */
static bool take_file(struct mr_text *t, struct mr_arena *a, struct mr_file_entry *out)
{
    uint32_t n;

    if (!mr_text_take(t, &out->mtime_us, 8) || !mr_text_take(t, &out->size, 8) ||
        !mr_text_take(t, &n, 4) || t->n < n)
        return false;
    out->path = mr_arena_copy(a, t->data, n);
    if (out->path[0] != '/')
        out->path = mr_file_absolute(out->path, a);
    t->data += n;
    t->n -= n;
    return true;
}

enum mr_status mr_file_codec_of(const char *path, enum mr_file_codec *codec, struct mr_error *err)
{
    static const struct {
        const char *ending;
        int codec; /* -1: known, not supported */
    } endings[] = {{".gz", MR_FILE_GZIP}, {".zst", MR_FILE_ZSTD}, {".bz2", -1},
                   {".lz4", -1},          {".snappy", -1},        {".xz", -1},
                   {".deflate", -1}};
    size_t n = strlen(path);

    *codec = MR_FILE_PLAIN;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t m = strlen(endings[i].ending);
        if (n <= m || strcmp(path + n - m, endings[i].ending) != 0)
            continue;
        if (endings[i].codec < 0)
            return MR_FAIL(err, MR_QUERY, 0, "%s: files can be plain, .gz or .zst, not %s", path,
                           endings[i].ending);
        *codec = (enum mr_file_codec)endings[i].codec;
    }
    return MR_OK;
}

void mr_file_split_write(const struct mr_file_split *s, struct mr_buffer *out)
{
    uint32_t n = (uint32_t)strlen(s->path);

    mr_buffer_append(out, s, offsetof(struct mr_file_split, path));
    mr_buffer_append(out, &n, sizeof n);
    mr_buffer_append(out, s->path, n);
}

void mr_file_split_read(struct mr_text bytes, struct mr_arena *a, struct mr_file_split *out)
{
    uint32_t n = 0;
    bool whole = mr_text_take(&bytes, out, offsetof(struct mr_file_split, path)) &&
                 mr_text_take(&bytes, &n, 4) && bytes.n == n;

    MR_ASSERT(whole); /* made by mr_file_split_write in this process */
    out->path = mr_arena_copy(a, bytes.data, n);
}

enum mr_status mr_file_planner_open(void *planner, const struct mr_source_config *config,
                                    struct mr_error *err)
{
    struct mr_file_planner *p = planner;
    struct mr_arena *a = config->arena;
    enum mr_status status = mr_file_options_read(config->table, &p->options, err);

    p->config = config;
    p->log_offset = -1;
    p->purge_us = INT64_MIN;
    mr_file_seen_init(&p->seen, p->options.name_only, a->budget, a->escape);
    mr_arena_init(&p->listing, a->budget, a->escape);
    mr_arena_init(&p->epoch_arena, a->budget, a->escape);
    if (status != MR_OK)
        return status;
    mr_file_options_resolve(&p->options, a);
    p->format = mr_format_find(config->table->format);
    MR_ASSERT(p->format != NULL);
    p->format_options = MR_NEW_ARRAY(a, struct mr_option, config->table->options_n + 1);
    p->format_options_n = mr_file_format_options(config->table->options, config->table->options_n,
                                                 mr_file_source_options, p->format_options);
    return MR_OK;
}

void mr_file_planner_close(void *planner)
{
    struct mr_file_planner *p = planner;

    mr_file_seen_fini(&p->seen);
    mr_arena_fini(&p->listing);
    mr_arena_fini(&p->epoch_arena);
}

static bool is_known(void *arg, const char *path)
{
    const struct mr_file_planner *p = arg;

    return mr_file_seen_has(&p->seen, path);
}

static int oldest_first(const void *a, const void *b)
{
    const struct mr_file_entry *x = a, *y = b;

    if (x->mtime_us != y->mtime_us)
        return x->mtime_us < y->mtime_us ? -1 : 1;
    return strcmp(x->path, y->path);
}

static int newest_first(const void *a, const void *b)
{
    return oldest_first(b, a);
}

/* Spark ignores maxFileAge when the newest files are taken first under a limit. */
static bool age_counts(const struct mr_file_planner *p)
{
    return !(p->options.latest_first && (p->options.files_max || p->options.bytes_max));
}

/* Once each: what a user who waits for rows would not guess. is_last: this run lists no more. */
static void tell_unread(struct mr_file_planner *p, const struct mr_file_entry *old, uint32_t old_n,
                        bool is_last)
{
    const char *path = p->options.path, *name = p->config->table->name;

    if (old_n > 0 && !p->told_old)
        fprintf(
            stderr,
            "millrace: note: source \"%s\": %u files, as %s, are older than the newest one read "
            "by more than maxFileAge: they are left out; raise maxFileAge to have such files\n",
            name, old_n, old->path);
    p->told_old |= old_n > 0;
    if (is_last && !p->told_empty && p->unread.n == 0 && old_n == 0 && p->seen.n == 0 &&
        mr_file_is_pattern(path)) {
        fprintf(stderr,
                "millrace: note: source \"%s\": %s matches no file yet: nothing is read; check the "
                "pattern, or start again when files are there\n",
                name, path);
        p->told_empty = true;
    }
}

static enum mr_status list(struct mr_file_planner *p, bool is_last, struct mr_error *err)
{
    struct mr_file_entry old = {0};
    uint32_t kept = 0, old_n = 0;

    mr_arena_reset(&p->listing);
    p->unread = (struct mr_file_list){.arena = &p->listing};
    p->unread_at = 0;
    enum mr_status status = mr_file_list(p->config->env, p->options.path, p->options.name_glob,
                                         is_known, p, &p->unread, err);
    if (status != MR_OK)
        return status;
    /* What an earlier run may have taken stays out, also when files may be older now. */
    int64_t oldest_us = p->seen.dropped_us;
    if (age_counts(p) && p->purge_us > oldest_us)
        oldest_us = p->purge_us;
    for (uint32_t i = 0; i < p->unread.n; i++)
        if (p->unread.entries[i].mtime_us >= oldest_us)
            p->unread.entries[kept++] = p->unread.entries[i];
        else if (p->unread.entries[i].mtime_us >= p->seen.dropped_us) { /* else perhaps read */
            old = p->unread.entries[i];
            old_n++;
        }
    p->unread.n = kept;
    tell_unread(p, &old, old_n, is_last);
    if (kept)
        qsort(p->unread.entries, kept, sizeof *p->unread.entries,
              p->options.latest_first ? newest_first : oldest_first);
    return MR_OK;
}

enum mr_status mr_file_freeze(void *planner, struct mr_error *err)
{
    struct mr_file_planner *p = planner;
    enum mr_status status = list(p, true, err);

    p->frozen = status == MR_OK;
    return status;
}

/* How many of the unread files the next epoch takes. */
static uint32_t count_within(const struct mr_file_planner *p, enum mr_source_limit limit)
{
    uint32_t there = p->unread.n - p->unread_at, n = there;
    uint64_t bytes = 0;

    if (limit == MR_LIMIT_NONE)
        return there;
    if (p->options.files_max && n > p->options.files_max)
        n = (uint32_t)p->options.files_max;
    if (p->options.bytes_max)
        for (n = 0; n < there; n++) {
            bytes += p->unread.entries[p->unread_at + n].size;
            if (bytes > p->options.bytes_max && n > 0)
                break;
        }
    return n;
}

static void begin_epoch(struct mr_file_planner *p, uint64_t epoch, uint32_t files_n)
{
    mr_arena_reset(&p->epoch_arena);
    mr_buffer_init(&p->json, &p->epoch_arena);
    mr_buffer_init(&p->bytes, &p->epoch_arena);
    p->epoch = epoch;
    p->files_n = 0;
    p->splits_n = 0;
    p->files = MR_NEW_ARRAY(&p->epoch_arena, struct mr_file_entry, files_n + 1);
}

static void take_into_epoch(struct mr_file_planner *p, const struct mr_file_entry *f)
{
    struct mr_file_entry copy = *f;

    copy.path = mr_arena_copy(&p->epoch_arena, f->path, strlen(f->path));
    p->files[p->files_n++] = copy;
    mr_file_seen_add(&p->seen, f->path, f->mtime_us);
}

static void purge(struct mr_file_planner *p)
{
    int64_t oldest_us;

    if (!age_counts(p) || p->seen.n == 0 ||
        __builtin_sub_overflow(p->seen.newest_us, p->options.age_max_us, &oldest_us))
        return;
    p->purge_us = oldest_us;
    mr_file_seen_purge(&p->seen, p->options.age_max_us,
                       p->config->env->ops->now_us(p->config->env));
}

enum mr_status mr_file_plan(void *planner, uint64_t epoch, enum mr_source_limit limit,
                            struct mr_offsets *to, bool *has_new, struct mr_error *err)
{
    struct mr_file_planner *p = planner;
    uint8_t version = OFFSET_VERSION;

    if (!p->frozen && (p->unread_at == p->unread.n || p->options.latest_first)) {
        enum mr_status status = list(p, limit == MR_LIMIT_NONE, err);
        if (status != MR_OK)
            return status;
    }
    uint32_t n = count_within(p, limit);
    begin_epoch(p, epoch, n);
    for (uint32_t i = 0; i < n; i++)
        take_into_epoch(p, &p->unread.entries[p->unread_at + i]);
    p->unread_at += n;
    purge(p);
    p->log_offset += n > 0;
    mr_buffer_append(&p->bytes, &version, sizeof version);
    mr_buffer_append(&p->bytes, &p->log_offset, sizeof p->log_offset);
    mr_buffer_append(&p->bytes, &n, sizeof n);
    for (uint32_t i = 0; i < n; i++)
        put_file(&p->bytes, p->files[i].path, p->files[i].mtime_us, p->files[i].size);
    if (p->log_offset >= 0)
        mr_buffer_append_format(&p->json, "{\"logOffset\":%lld}", (long long)p->log_offset);
    *has_new = n > 0;
    to->json = mr_buffer_text(&p->json);
    to->bytes = mr_buffer_text(&p->bytes);
    return MR_OK;
}

enum mr_status mr_file_adopt(void *planner, uint64_t epoch, struct mr_text bytes,
                             struct mr_error *err)
{
    struct mr_file_planner *p = planner;
    uint8_t version = 0;
    uint32_t n = 0;
    struct mr_file_entry f;

    if (!mr_text_take(&bytes, &version, 1) || version != OFFSET_VERSION ||
        !mr_text_take(&bytes, &p->log_offset, 8) || !mr_text_take(&bytes, &n, 4))
        return MR_FAIL(err, MR_CORRUPT, 0, "source \"%s\": offsets of epoch %llu can't be read",
                       p->config->table->name, (unsigned long long)epoch);
    begin_epoch(p, epoch, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!take_file(&bytes, &p->epoch_arena, &f))
            return MR_FAIL(err, MR_CORRUPT, 0, "source \"%s\": files of epoch %llu are cut off",
                           p->config->table->name, (unsigned long long)epoch);
        take_into_epoch(p, &f);
    }
    purge(p);
    return MR_OK;
}

void mr_file_save(void *planner, struct mr_buffer *out)
{
    const struct mr_file_planner *p = planner;
    uint8_t version = SAVED_VERSION;

    mr_buffer_append(out, &version, 1);
    mr_buffer_append(out, &p->log_offset, 8);
    mr_buffer_append(out, &p->purge_us, 8);
    mr_buffer_append(out, &p->seen.dropped_us, 8);
    mr_buffer_append(out, &p->seen.n, 4);
    for (uint32_t i = 0; i < p->seen.capacity; i++)
        if (p->seen.slots[i].path)
            put_file(out, p->seen.slots[i].path, p->seen.slots[i].mtime_us, 0);
}

enum mr_status mr_file_load(void *planner, struct mr_text saved, struct mr_error *err)
{
    struct mr_file_planner *p = planner;
    uint8_t version = 0;
    uint32_t n = 0;
    struct mr_file_entry f;

    bool whole = mr_text_take(&saved, &version, 1) &&
                 (version == SAVED_VERSION || version == SAVED_VERSION_OLD) &&
                 mr_text_take(&saved, &p->log_offset, 8) && mr_text_take(&saved, &p->purge_us, 8);
    p->seen.dropped_us = p->purge_us; /* all that was older, perhaps */
    if (version == SAVED_VERSION)
        whole = whole && mr_text_take(&saved, &p->seen.dropped_us, 8);
    whole = whole && mr_text_take(&saved, &n, 4);
    for (uint32_t i = 0; whole && i < n; i++) {
        mr_arena_reset(&p->epoch_arena);
        whole = take_file(&saved, &p->epoch_arena, &f);
        if (whole)
            mr_file_seen_add(&p->seen, f.path, f.mtime_us);
    }
    if (!whole)
        return MR_FAIL(err, MR_CORRUPT, 0, "source \"%s\": the saved list of files can't be read",
                       p->config->table->name);
    p->purge_us = INT64_MIN; /* files may be older or younger now */
    purge(p);
    return MR_OK;
}

/* Never over another file: names come again when their folder is filled anew. */
static int archive(struct mr_env *env, const char *path, char *to)
{
    struct mr_file_stat stat;
    char *slash = strrchr(to, '/');

    *slash = '\0';
    int rc = mr_env_make_dirs(env, to);
    *slash = '/';
    if (rc < 0)
        return rc;
    rc = env->ops->stat(env, to, &stat);
    if (rc == 0)
        return -EEXIST;
    return rc == -ENOENT ? env->ops->rename(env, path, to) : rc;
}

static bool is_there(struct mr_env *env, const char *path)
{
    struct mr_file_stat stat;

    return env->ops->stat(env, path, &stat) == 0;
}

/* cleanSource: what is durable in the sink is archived or deleted; a failure is told, not fatal. */
enum mr_status mr_file_committed(void *planner, uint64_t epoch, struct mr_error *err)
{
    struct mr_file_planner *p = planner;
    struct mr_env *env = p->config->env;

    (void)err;
    if (p->options.clean == MR_FILE_CLEAN_OFF || epoch != p->epoch)
        return MR_OK;
    for (uint32_t i = 0; i < p->files_n; i++) {
        const char *path = p->files[i].path;
        char *to = p->options.clean == MR_FILE_CLEAN_DELETE
                       ? NULL
                       : mr_arena_format(&p->epoch_arena, "%s/%s", p->options.archive_dir,
                                         path[0] == '/' ? path + 1 : path);
        int rc = to ? archive(env, path, to) : env->ops->unlink(env, path);
        if (rc < 0 && (rc != -ENOENT || is_there(env, path)))
            fprintf(stderr, "millrace: warning: cleanSource: %s stays where it is: %s%s%s\n", path,
                    to ? to : "", to ? ": " : "", strerror(-rc));
    }
    return MR_OK;
}

static bool can_split(const struct mr_file_planner *p)
{
    return p->format->splittable(p->format_options, p->format_options_n);
}

static void add_split(struct mr_file_planner *p, const struct mr_file_split *s)
{
    struct mr_buffer *b = &p->splits[p->splits_n++];

    mr_buffer_init(b, &p->epoch_arena);
    mr_file_split_write(s, b);
}

enum mr_status mr_file_splits(void *planner, uint32_t *n, struct mr_error *err)
{
    struct mr_file_planner *p = planner;
    uint64_t total = 0, room = p->files_n;

    for (uint32_t i = 0; i < p->files_n; i++)
        total += p->files[i].size;
    /* However many workers there are: an epoch that is run again by others must write the same
     * files of bad records, which are named by split. */
    uint64_t bytes = total / SPLITS_WANTED + 1;
    bytes = bytes < SPLIT_BYTES_MIN   ? SPLIT_BYTES_MIN
            : bytes > SPLIT_BYTES_MAX ? SPLIT_BYTES_MAX
                                      : bytes;
    room += total / bytes;
    p->splits = MR_NEW_ARRAY(&p->epoch_arena, struct mr_buffer, room + 1);
    p->splits_n = 0;
    for (uint32_t i = 0; i < p->files_n; i++) {
        const struct mr_file_entry *f = &p->files[i];
        struct mr_file_split s = {.epoch = p->epoch, .path = f->path, .end = UINT64_MAX};
        enum mr_status status = mr_file_codec_of(f->path, &s.codec, err);
        if (status != MR_OK)
            return status;
        if (s.codec == MR_FILE_PLAIN && can_split(p))
            for (; f->size - s.start > bytes; s.start = s.end) {
                s.end = s.start + bytes;
                s.bytes = bytes;
                add_split(p, &s);
            }
        s.end = UINT64_MAX;
        s.bytes = f->size > s.start ? f->size - s.start : 0;
        add_split(p, &s);
    }
    *n = p->splits_n;
    return MR_OK;
}

struct mr_text mr_file_split_bytes(void *planner, uint32_t i)
{
    struct mr_file_planner *p = planner;

    return mr_buffer_text(&p->splits[i]);
}
