/* Cycles of Graphicionado's stages. Each stage takes a vertex or an edge a cycle, or a part of it (lanes); a
 * phase takes as long as its longest stage, or as memory takes for all of them, and, before it flows, the
 * latency of the reads that depend on each other. Slices and supersteps are one after another. */
#include "plan/pipeline.h"

#include <string.h>

#define NAME(constant, name) name,
const char *const ftb_pipeline_stage_names[FTB_PIPE_STAGES] = {FTB_PIPELINE_STAGES(NAME)};
#undef NAME

enum { FEATURES = 32 }; /* of collaborative filtering */
static const ftb_pipeline_program programs[] = {
    {.name = "pagerank", .values = 1, .constants = 1, .all = true},
    {.name = "bfs", .values = 1},
    {.name = "sssp", .values = 1, .weighted = true},
    {.name = "cf", .values = FEATURES, .weighted = true, .destination = true, .all = true, .both = true}};

const ftb_pipeline_program *ftb_pipeline_program_of(const char *name)
{
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++)
        if (strcmp(programs[p].name, name) == 0)
            return &programs[p];
    return NULL;
}

static int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }
static double larger(double a, double b) { return a > b ? a : b; }

static int64_t property_bytes(const ftb_pipeline_machine *m, const ftb_pipeline_program *p)
{
    return p->values * m->value_bytes;
}

int64_t ftb_pipeline_slice(const ftb_pipeline_machine *m, const ftb_pipeline_program *p, int64_t n)
{
    const int64_t vertex = property_bytes(m, p) * (p->destination ? 2 : 1), fits = m->scratchpad / vertex;
    if (m->scratchpad == 0 || fits >= n)
        return n > 0 ? n : 1;
    const int64_t most = fits > 0 ? fits : 1;
    return ceil_of(n, ceil_of(n, most)); /* as many slices, of equal size */
}

int64_t ftb_pipeline_beat(const ftb_pipeline_machine *m, const ftb_pipeline_program *p)
{
    return ceil_of(p->values, m->lanes);
}

/* Cycles of a read that nobody made before it was wanted; a stage takes at least one. */
static double exposed(const ftb_pipeline_machine *m)
{
    return larger(1, (double)m->memory_latency / (double)m->outstanding);
}

static void process_phase(double cycles[FTB_PIPE_STAGES], double *bytes, const ftb_pipeline_machine *m,
                          const ftb_pipeline_program *p, const ftb_pipeline_counts *c)
{
    const double beat = (double)ftb_pipeline_beat(m, p), most = (double)c->active_most,
                 read = m->prefetch ? 1 : exposed(m), property = (double)property_bytes(m, p),
                 received = (double)c->received_most;
    cycles[FTB_PIPE_SOURCE] = most * larger(read, beat);
    cycles[FTB_PIPE_POINTER] = most * read;
    cycles[FTB_PIPE_EDGES] = (double)c->edges_most + (m->prefetch ? 0 : most * read);
    cycles[FTB_PIPE_PROCESS] = (double)c->edges_most * beat;
    cycles[FTB_PIPE_SWITCH] = received;
    cycles[FTB_PIPE_UPDATE] = (double)c->finish;
    cycles[FTB_PIPE_REDUCE] = received * beat;
    cycles[FTB_PIPE_READ] = received * (m->scratchpad ? beat : larger(beat, exposed(m)));
    cycles[FTB_PIPE_WRITE] = received * beat;
    *bytes = (double)c->bursts * (double)m->burst;
    if (p->destination) /* to the chip, once a slice; else from where each edge finds it */
        *bytes += property * (double)(m->scratchpad ? c->vertices : c->edges);
    if (m->scratchpad == 0) /* a read and a write of each edge, of whole bursts */
        *bytes += 2 * (double)c->edges * larger(property, (double)m->burst);
    cycles[FTB_PIPE_MEMORY] = *bytes * m->clock / m->memory_rate;
}

/* All vertices of the slice go through it, whether something came or not. */
static void apply_phase(double cycles[FTB_PIPE_STAGES], double *bytes, const ftb_pipeline_machine *m,
                        const ftb_pipeline_program *p, const ftb_pipeline_counts *c)
{
    const double passes = (double)(ceil_of(c->vertices, m->streams) * ftb_pipeline_beat(m, p)),
                 property = (double)property_bytes(m, p), vertices = (double)c->vertices;
    const double scattered = (double)c->changed * larger(property, (double)m->burst);
    for (int s = FTB_PIPE_APPLY_READ; s < FTB_PIPE_APPLY_MEMORY; s++)
        cycles[s] = passes;
    *bytes = vertices * (property + (double)(p->constants * m->value_bytes)) +
             (scattered < vertices * property ? scattered : vertices * property);
    if (m->scratchpad == 0)
        *bytes += vertices * property;
    cycles[FTB_PIPE_APPLY_MEMORY] = *bytes * m->clock / m->memory_rate;
}

/* The longest of some stages, of whose phase the time is; equal ones: the first. */
static double bind(ftb_pipeline_totals *t, const double cycles[FTB_PIPE_STAGES], int first, int end)
{
    int longest = first;
    for (int s = first; s < end; s++) {
        t->stage[s] += cycles[s];
        longest = cycles[s] > cycles[longest] ? s : longest;
    }
    t->bound[longest] += cycles[longest];
    return cycles[longest];
}

double ftb_pipeline_add(ftb_pipeline_totals *t, const ftb_pipeline_machine *m, const ftb_pipeline_program *p,
                        const ftb_pipeline_counts *c)
{
    double cycles[FTB_PIPE_STAGES], processed, applied;
    /* A property, its pointer, its edges; without a scratchpad what is updated; then what apply reads. */
    const double fill =
        (double)m->memory_latency * (1 + (c->active > 0 ? 2 + (c->edges > 0) + (m->scratchpad == 0) : 0));
    process_phase(cycles, &processed, m, p, c);
    apply_phase(cycles, &applied, m, p, c);
    const double all = fill + bind(t, cycles, FTB_PIPE_SOURCE, FTB_PIPE_APPLY_READ) +
                       bind(t, cycles, FTB_PIPE_APPLY_READ, FTB_PIPE_STAGES);
    t->active += c->active;
    t->edges += c->edges;
    t->stalls += c->stalls;
    t->fill += fill;
    t->bytes += processed + applied;
    t->cycles += all;
    return all;
}
