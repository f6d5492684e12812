#include "core/base/check.h"
#include "core/mem/mem.h"
#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>

enum { NODES_MAX = 64, CPUS_MAX = 4096 };

/* A processing unit that workers may use. */
struct unit {
    int32_t cpu;
    uint32_t node;   /* OS index of its NUMA node */
    uint32_t thread; /* 0: the first of its core */
};

struct machine {
    struct unit units[CPUS_MAX]; /* by node, then thread, then core */
    uint32_t units_n;
    uint32_t cores_n;
};

/* "0-3,8" into set. */
static enum mr_status parse_cpus(const char *text, hwloc_bitmap_t set, struct mr_error *err)
{
    const char *at = text;

    for (;;) {
        char *end;
        errno = 0;
        unsigned long from = strtoul(at, &end, 10), to = from;
        bool bad = end == at || *at == '-' || *at == '+';
        if (!bad && *end == '-') {
            at = end + 1;
            to = strtoul(at, &end, 10);
            bad = end == at || *at == '-' || *at == '+';
        }
        if (bad || errno != 0 || to < from || to >= CPUS_MAX || (*end != ',' && *end != '\0'))
            return MR_FAIL(err, MR_USER, 0, "cpus: \"%s\" is no list like \"0-3,8\"", text);
        hwloc_bitmap_set_range(set, (unsigned)from, (int)to);
        if (*end == '\0')
            return MR_OK;
        at = end + 1;
    }
}

static int by_node_thread_core(const void *a, const void *b)
{
    const struct unit *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void list_core(struct machine *m, hwloc_topology_t topology, hwloc_obj_t core,
                      hwloc_const_bitmap_t wanted)
{
    uint32_t thread = 0;
    int node = core->nodeset ? hwloc_bitmap_first(core->nodeset) : 0;
    int n = hwloc_get_nbobjs_inside_cpuset_by_type(topology, core->cpuset, HWLOC_OBJ_PU);

    for (int i = 0; i < n && m->units_n < CPUS_MAX; i++) {
        hwloc_obj_t pu =
            hwloc_get_obj_inside_cpuset_by_type(topology, core->cpuset, HWLOC_OBJ_PU, (unsigned)i);
        if (!hwloc_bitmap_isset(wanted, pu->os_index))
            continue;
        m->units[m->units_n++] = (struct unit){.cpu = (int32_t)pu->os_index,
                                               .node = node < 0 ? 0 : (uint32_t)node,
                                               .thread = thread++};
    }
    m->cores_n += thread > 0;
}

static enum mr_status list_units(struct machine *m, hwloc_topology_t topology,
                                 const struct mr_mem_config *config, struct mr_error *err)
{
    hwloc_bitmap_t wanted = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    enum mr_status status = MR_OK;

    if (wanted == NULL)
        return MR_FAIL(err, MR_MEMORY, 0, "no memory for the topology");
    if (config->cpus) {
        hwloc_bitmap_t listed = hwloc_bitmap_alloc();
        if (listed == NULL)
            status = MR_FAIL(err, MR_MEMORY, 0, "no memory for the topology");
        else
            status = parse_cpus(config->cpus, listed, err);
        if (status == MR_OK)
            hwloc_bitmap_and(wanted, wanted, listed);
        hwloc_bitmap_free(listed);
    }
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    for (int i = 0; status == MR_OK && i < cores; i++)
        list_core(m, topology, hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)i),
                  wanted);
    hwloc_bitmap_free(wanted);
    if (status == MR_OK && m->units_n == 0)
        return MR_FAIL(err, MR_USER, 0,
                       "cpus: this process may use none of \"%s\" (nproc tells how many "
                       "there are, from 0 on)",
                       config->cpus ? config->cpus : "all");
    qsort(m->units, m->units_n, sizeof *m->units, by_node_thread_core);
    return status;
}

static enum mr_status load(struct machine *m, const struct mr_mem_config *config,
                           struct mr_error *err)
{
    hwloc_topology_t topology;
    enum mr_status status;

    if (hwloc_topology_init(&topology) != 0)
        return MR_FAIL(err, MR_MEMORY, 0, "no memory for the topology");
    if (config->synthetic && hwloc_topology_set_synthetic(topology, config->synthetic) != 0)
        status = MR_FAIL(err, MR_USER, 0, "\"%s\" describes no machine", config->synthetic);
    else if (hwloc_topology_load(topology) != 0)
        status = MR_FAIL(err, MR_IO, errno, "the machine's topology can't be read");
    else
        status = list_units(m, topology, config, err);
    hwloc_topology_destroy(topology);
    return status;
}

/* Takes the next unit of thread number `thread` from each node in turn. */
static void fill(const struct machine *m, uint32_t thread, struct mr_placement *out)
{
    bool used[CPUS_MAX] = {false};

    for (bool found = true; found && out->workers_n > 0;) {
        int64_t last_node = -1;
        found = false;
        for (uint32_t i = 0; i < m->units_n; i++) {
            const struct unit *u = &m->units[i];
            if (used[i] || u->thread != thread || (int64_t)u->node == last_node)
                continue;
            last_node = u->node;
            used[i] = found = true;
            for (uint32_t w = 0; w < out->workers_n; w++)
                if (out->workers[w].cpu == INT32_MIN) {
                    out->workers[w].cpu = u->cpu;
                    out->workers[w].node = u->node;
                    break;
                }
        }
    }
}

enum mr_status mr_mem_place(const struct mr_mem_config *config, struct mr_placement *out,
                            struct mr_error *err)
{
    if (config->workers > MR_WORKERS_MAX)
        return MR_FAIL(err, MR_USER, 0, "workers: %u is above %d", config->workers, MR_WORKERS_MAX);
    struct machine *m = calloc(1, sizeof *m);
    if (m == NULL)
        return MR_FAIL(err, MR_MEMORY, 0, "no memory for the topology");
    enum mr_status status = load(m, config, err);
    if (status == MR_OK) {
        uint32_t n = config->workers ? config->workers : m->cores_n;
        out->workers_n = n < MR_WORKERS_MAX ? n : MR_WORKERS_MAX;
        for (uint32_t w = 0; w < out->workers_n; w++)
            out->workers[w].cpu = INT32_MIN;
        for (uint32_t thread = 0; thread < 8; thread++)
            fill(m, thread, out);
        /* More workers than units share them again from the first. */
        uint32_t placed = 0;
        while (placed < out->workers_n && out->workers[placed].cpu != INT32_MIN)
            placed++;
        for (uint32_t w = placed; w < out->workers_n; w++)
            out->workers[w] = out->workers[w - placed];
        if (!config->pin)
            for (uint32_t w = 0; w < out->workers_n; w++)
                out->workers[w].cpu = -1;
    }
    free(m);
    return status;
}
