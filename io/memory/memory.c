#include "io/memory/memory.h"

#include "core/base/check.h"
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const uint64_t mark_of_handle[2] = {UINT64_C(0x6d725f6d656d6f72),
                                           UINT64_C(0x795f68616e646c65)};
static const char handle_text[] = "in this process";

/* An option's value points at text; mark and owner lie before it. */
struct handle {
    uint64_t mark[2];
    struct mr_memory *owner;
    char text[sizeof handle_text];
};

struct mr_memory {
    struct handle handle;
    struct mr_budget *budget;
    pthread_mutex_t lock;
    struct mr_memory_batch *first, *last;
    int fd;
};

enum mr_status mr_memory_open(struct mr_budget *budget, struct mr_memory **out,
                              struct mr_error *err)
{
    struct mr_memory *m = mr_mem_alloc(sizeof *m);

    if (m == NULL)
        return MR_FAIL(err, MR_MEMORY, 0, "memory: no memory");
    memset(m, 0, sizeof *m);
    m->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (m->fd < 0) {
        mr_mem_free(m, sizeof *m);
        return MR_FAIL(err, MR_IO, errno, "memory: eventfd");
    }
    memcpy(m->handle.mark, mark_of_handle, sizeof mark_of_handle);
    memcpy(m->handle.text, handle_text, sizeof handle_text);
    m->handle.owner = m;
    m->budget = budget;
    pthread_mutex_init(&m->lock, NULL);
    *out = m;
    return MR_OK;
}

void mr_memory_close(struct mr_memory *m)
{
    mr_memory_free_list(m->first);
    close(m->fd);
    pthread_mutex_destroy(&m->lock);
    mr_mem_free(m, sizeof *m);
}

const char *mr_memory_option(const struct mr_memory *m)
{
    return m->handle.text;
}

struct mr_memory *mr_memory_of(const struct mr_option *options, uint32_t n)
{
    const char *text = mr_option_get(options, n, "memory");
    struct handle h;

    if (text == NULL || strcmp(text, handle_text) != 0)
        return NULL;
    /* Texts of job files lie in arenas, whose chunks have a header: the bytes before can be
     * read. */
    memcpy(&h, text - offsetof(struct handle, text), offsetof(struct handle, text));
    return memcmp(h.mark, mark_of_handle, sizeof h.mark) == 0 ? h.owner : NULL;
}

struct mr_memory_batch *mr_memory_copy(struct mr_memory *m, uint64_t epoch,
                                       const struct mr_batch *batch)
{
    struct mr_memory_batch *b = mr_mem_alloc(sizeof *b);
    jmp_buf escape;

    if (b == NULL)
        return NULL;
    memset(b, 0, sizeof *b);
    mr_arena_init(&b->arena, m->budget, &escape);
    if (setjmp(escape) != 0) {
        mr_memory_free(b);
        return NULL;
    }
    b->epoch = epoch;
    mr_batch_copy(&b->batch, batch, &b->arena);
    b->arena.escape = NULL;
    return b;
}

void mr_memory_free(struct mr_memory_batch *b)
{
    mr_arena_fini(&b->arena);
    mr_mem_free(b, sizeof *b);
}

void mr_memory_free_list(struct mr_memory_batch *b)
{
    while (b) {
        struct mr_memory_batch *next = b->next;
        mr_memory_free(b);
        b = next;
    }
}

void mr_memory_publish(struct mr_memory *m, struct mr_memory_batch *list, bool replace)
{
    const uint64_t one = 1;
    struct mr_memory_batch *old = NULL, *last = list;

    while (last && last->next)
        last = last->next;
    pthread_mutex_lock(&m->lock);
    if (replace) {
        old = m->first;
        m->first = m->last = NULL;
    }
    if (list) {
        if (m->last)
            m->last->next = list;
        else
            m->first = list;
        m->last = last;
    }
    pthread_mutex_unlock(&m->lock);
    mr_memory_free_list(old);
    if (write(m->fd, &one, sizeof one) < 0)
        return; /* it is readable already */
}

enum mr_status mr_memory_append(struct mr_memory *m, uint64_t epoch, const struct mr_batch *batch,
                                struct mr_error *err)
{
    struct mr_memory_batch *b = mr_memory_copy(m, epoch, batch);

    if (b == NULL)
        return MR_FAIL(err, MR_MEMORY, 0, "memory: no memory for %u rows", batch->n);
    mr_memory_publish(m, b, false);
    return MR_OK;
}

struct mr_memory_batch *mr_memory_take(struct mr_memory *m)
{
    pthread_mutex_lock(&m->lock);
    struct mr_memory_batch *b = m->first;
    if (b)
        m->first = b->next;
    if (m->first == NULL)
        m->last = NULL;
    pthread_mutex_unlock(&m->lock);
    if (b)
        b->next = NULL;
    return b;
}

int mr_memory_fd(const struct mr_memory *m)
{
    return m->fd;
}

void mr_memory_quiet(struct mr_memory *m)
{
    uint64_t n;

    if (read(m->fd, &n, sizeof n) < 0)
        return; /* nothing was appended */
}
