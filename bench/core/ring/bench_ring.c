/* Items a second through a ring between two threads, and the time of a round trip. */
#include "core/ring/ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pair {
    struct mr_ring there, back;
    uint64_t items;
    bool echo; /* every item comes home */
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void push(struct mr_ring *r, uint64_t value)
{
    void *item = (void *)(uintptr_t)value;

    while (!mr_ring_push(r, &item))
        __builtin_ia32_pause();
}

static uint64_t pop(struct mr_ring *r)
{
    void *item;

    while ((item = mr_ring_pop(r)) == NULL)
        __builtin_ia32_pause();
    return (uint64_t)(uintptr_t)item;
}

static void *other_side(void *arg)
{
    struct pair *p = arg;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < p->items; i++) {
        uint64_t value = pop(&p->there);
        sum += value;
        if (p->echo)
            push(&p->back, value);
    }
    if (!p->echo)
        push(&p->back, sum | UINT64_C(1) << 63);
    return NULL;
}

static double run(uint32_t capacity, uint64_t items, bool echo, uint64_t *sum)
{
    struct pair p = {.items = items, .echo = echo};
    struct mr_error err;
    pthread_t thread;

    if (mr_ring_init(&p.there, capacity, &err) != MR_OK ||
        mr_ring_init(&p.back, capacity, &err) != MR_OK ||
        pthread_create(&thread, NULL, other_side, &p) != 0)
        exit(1);
    double start = seconds();
    *sum = 0;
    for (uint64_t i = 1; i <= items; i++) {
        push(&p.there, i);
        if (echo)
            *sum += pop(&p.back);
    }
    if (!echo)
        *sum = pop(&p.back) & ~(UINT64_C(1) << 63);
    double took = seconds() - start;
    pthread_join(thread, NULL);
    mr_ring_fini(&p.there);
    mr_ring_fini(&p.back);
    return took;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    bool real = argc > 1 && strcmp(argv[1], "real") == 0;
    static const uint32_t capacities[] = {2, 64, 1024};

    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++)
        for (int echo = 0; echo < 2; echo++) {
            uint64_t items = real ? (echo ? 1000000 : 100000000) : (echo ? 20000 : 1000000), sum;
            double took[5];
            for (int i = 0; i < 5; i++) {
                took[i] = run(capacities[c], items, echo, &sum) * 1e9 / (double)items;
                if (sum != items * (items + 1) / 2)
                    return 1;
            }
            qsort(took, 5, sizeof *took, by_value);
            printf("ring capacity %4u  %-10s  items %9llu  sum %llu  ns/item min %.1f median %.1f "
                   "max %.1f\n",
                   capacities[c], echo ? "round trip" : "one way", (unsigned long long)items,
                   (unsigned long long)sum, took[0], took[2], took[4]);
        }
    return 0;
}
