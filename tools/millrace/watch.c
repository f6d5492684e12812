#include "tools/millrace/watch.h"

#include "core/base/time.h"
#include "tools/millrace/command.h"
#include <stdio.h>

enum { GAP_US = 5000000 /* between two looks: this process itself was stopped */ };

void mr_watch_look(struct mr_watch *w, const struct mr_query *q, const char *name, int64_t stall_s)
{
    struct mr_query_view v;
    int64_t now = mr_cli_monotonic_us();
    bool was_stopped = now - w->looked_us > GAP_US;

    mr_query_look(q, &v);
    int64_t still_s = (now - w->since_us) / MR_US_PER_SECOND;
    w->looked_us = now;
    if (v.moves != w->moves || v.is_resting || was_stopped) {
        if (w->is_told)
            fprintf(stderr, "millrace: note: query \"%s\" goes on after %lld s\n", name,
                    (long long)still_s);
        *w = (struct mr_watch){.moves = v.moves, .since_us = now, .looked_us = now};
        return;
    }
    if (w->is_told || stall_s == 0 || still_s < stall_s)
        return;
    fprintf(stderr,
            "millrace: warning: query \"%s\" has stood still for %lld s in epoch %llu: %s\n", name,
            (long long)still_s, (unsigned long long)v.epoch, v.at);
    w->is_told = true;
}
