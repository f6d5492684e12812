#include "core/mem/mem.h"

#include <stdlib.h>

/* With jemalloc, malloc of a thread goes to the arena that mr_mem_enter bound it to. */
void *mr_mem_alloc(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

void mr_mem_free(void *p, size_t bytes)
{
    (void)bytes;
    free(p);
}
