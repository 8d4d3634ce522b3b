/* Machine facts. sysconf answers in microseconds on Linux; loading hwloc's topology takes 30 ms, more than
 * a small product, so it is asked only where sysconf does not know the caches. */
#include "plan/machine.h"

#include "core/isa.h"
#include "plan/bandwidth.h"

#include <hwloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define COMPLEX_L3 (32 << 20) /* of a core complex: sysconf adds up those of a socket */

static ftb_machine_facts facts, measured, forced;
static pthread_once_t once = PTHREAD_ONCE_INIT, once_measured = PTHREAD_ONCE_INIT;
static bool is_forced;

static int64_t hwloc_cache(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
    return cache && cache->attr ? (int64_t)cache->attr->cache.size : 0;
}

static void ask_hwloc(void)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return;
    if (hwloc_topology_load(topology) == 0) {
        facts.l1 = hwloc_cache(topology, HWLOC_OBJ_L1CACHE);
        facts.l2 = hwloc_cache(topology, HWLOC_OBJ_L2CACHE);
        facts.l3 = hwloc_cache(topology, HWLOC_OBJ_L3CACHE);
    }
    hwloc_topology_destroy(topology);
}

/* Of AMD's processors since Zen, the cores of a complex share an L3 of their own. */
static int has_near_l3(void)
{
#ifdef FTB_X86_CELLS
    __builtin_cpu_init();
    return __builtin_cpu_is("amd") && __builtin_cpu_supports("avx2");
#else
    return 0;
#endif
}

static void read_facts(void)
{
    facts.near_l3 = has_near_l3();
    facts.cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    facts.memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
#ifdef _SC_LEVEL2_CACHE_SIZE
    facts.l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    facts.l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    facts.l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    if (facts.l1 <= 0 || facts.l2 <= 0)
        ask_hwloc();
    if (facts.near_l3 && facts.l3 > COMPLEX_L3)
        facts.l3 = COMPLEX_L3;
    if (facts.l1 <= 0)
        facts.l1 = 32 << 10;
    if (facts.l2 <= 0)
        facts.l2 = 512 << 10;
    const char *l2 = getenv("FEATBLAS_L2");
    if (l2 && atoll(l2) > 0)
        facts.l2 = atoll(l2);
}

const ftb_machine_facts *ftb_machine_here(void)
{
    pthread_once(&once, read_facts);
    return is_forced ? &forced : &facts;
}

/* An eighth of a cache is surely in it, whoever shares it. What a system says of L3 may be far more than one
 * core gets, so eight times L2 stands for it, or less where it is small; and a quarter of a gigabyte for
 * memory, since touching more would take longer than planning may. */
static void measure(void)
{
    enum { MEMORY_BYTES = 1 << 28 };
    pthread_once(&once, read_facts);
    measured = facts;
    const int64_t l3 = facts.l3 > 16 * facts.l2 ? 8 * facts.l2 : facts.l3 / 2;
    measured.l1_rate = ftb_measure_read(facts.l1 / 2, 2e-3);
    measured.l2_rate = ftb_measure_read(facts.l2 / 8 > facts.l1 ? facts.l2 / 8 : facts.l2 / 2, 2e-3);
    measured.l3_rate = l3 > facts.l2 ? ftb_measure_read(l3, 10e-3) : 0;
    measured.memory_rate =
        ftb_measure_read(facts.memory / 8 < MEMORY_BYTES ? facts.memory / 8 : MEMORY_BYTES, 10e-3);
}

const ftb_machine_facts *ftb_machine_measured(void)
{
    if (is_forced)
        return &forced;
    pthread_once(&once_measured, measure);
    return &measured;
}

const ftb_machine_facts *ftb_machine_standard(void)
{
    static const ftb_machine_facts standard = {
        .cores = 1, .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 32 << 20, .memory = INT64_C(16) << 30};
    return &standard;
}

double ftb_machine_l3(const ftb_machine_facts *machine)
{
    /* The other cores of a complex use it, too, and whatever passes goes through it. */
    const double l3 = (machine->near_l3 ? 0.25 : 0.75) * (double)machine->l3,
                 more = 32.0 * (double)machine->l2;
    return l3 < more ? l3 : more;
}

ftb_costs ftb_machine_costs(const ftb_machine_facts *machine)
{
    return ftb_machine_costs_of(machine, ftb_isa());
}

ftb_costs ftb_machine_costs_of(const ftb_machine_facts *machine, int isa)
{
    if (machine->calibrated)
        return machine->costs;
    ftb_costs costs = ftb_costs_of(isa);
    if (machine->near_l3)
        ftb_costs_near_l3(&costs);
    if (machine->l2_rate > 0)
        costs.l2_read = machine->l2_rate;
    if (machine->l3_rate > 0)
        costs.l3_read = machine->l3_rate;
    if (machine->memory_rate > 0)
        costs.memory_read = machine->memory_rate;
    return costs;
}

void ftb_machine_force(const ftb_machine_facts *f)
{
    is_forced = f != NULL;
    if (f)
        forced = *f;
}
