/* file_seen.h - the set of files that a source has taken, with their times.
 *
 * Limits   Entries older than the purge time go, as in Spark's SeenFilesMap: such files are never
 *          taken, whatever a later run is told about their age.
 */
#pragma once
#include "core/mem/arena.h"

struct mr_file_seen {
    struct mr_arena arena; /* of the paths; rewritten when half of it is garbage */
    struct mr_arena old;   /* while it is: an escape leaves it to be closed */
    struct mr_file_seen_slot {
        const char *path; /* NULL: free; whole, also where the name alone counts: that may change */
        int64_t mtime_us;
        uint64_t hash;
    } * slots;
    uint32_t n, capacity;
    uint32_t purge_at; /* entries: with fewer the next purge looks at none */
    int64_t newest_us;
    bool name_only;
    int64_t
        dropped_us; /* an older file that is not in the set may have been taken; INT64_MIN: none */
};

void mr_file_seen_init(struct mr_file_seen *s, bool name_only, struct mr_budget *budget,
                       jmp_buf *escape);
void mr_file_seen_fini(struct mr_file_seen *s);
bool mr_file_seen_has(const struct mr_file_seen *s, const char *path);
void mr_file_seen_add(struct mr_file_seen *s, const char *path, int64_t mtime_us);
/* Drops entries older than the newest minus age, or than now minus age where the newest is from the
 * future, when they may be a good part of all. May be called at every poll: it looks at the entries
 * only when their number has grown by half since it did. */
void mr_file_seen_purge(struct mr_file_seen *s, int64_t age_max_us, int64_t now_us);
