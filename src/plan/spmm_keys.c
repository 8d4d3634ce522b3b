/* Plans of sparse x block, for people: printed, set and read by name. */
#include "plan/spmm_plan.h"

#include "core/slices.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const families[] = {"auto",   "program", "direct", "partitioned",
                                       "sliced", "hybrid",  "tensor", "cusparse"};
enum { FAMILIES = sizeof families / sizeof *families };

const char *ftb_spmm_family_name(ftb_spmm_family family) { return families[family]; }

/* A whole number in [low, high], or -1. */
static int64_t number_in(const char *text, int64_t low, int64_t high)
{
    char *end;
    long long x = strtoll(text, &end, 10);
    return *text && !*end && x >= low && x <= high ? x : -1;
}

/* What is set by hand outlasts what was chosen: another kernel, or segments where none were chosen, leave the
 * rest of the choice to the rule again. */
static void force(ftb_spmm_plan *plan, unsigned bit)
{
    ftb_spmm_asked *asked = &plan->asked;
    const unsigned parted = FTB_SPMM_SET_SEGMENT | FTB_SPMM_SET_PARTS | FTB_SPMM_SET_ORDERED;
    if (bit == FTB_SPMM_SET_KERNEL ||
        (bit & parted && asked->chosen & FTB_SPMM_SET_KERNEL && asked->family != FTB_SPMM_PARTITIONED)) {
        asked->forced &= ~asked->chosen;
        asked->chosen = 0;
    }
    asked->forced |= bit;
    asked->chosen &= ~bit;
    if (ftb_gpu_spmm_asked(&(ftb_spmm_asked){.forced = bit}))
        plan->there.family = 0;
}

/* Keys whose values are whole numbers. */
typedef struct number {
    const char *key, *expected;
    int64_t low, high;
    unsigned bit;
    size_t at; /* in ftb_spmm_asked */
} number;
#define AT(field) offsetof(ftb_spmm_asked, field)
static const number numbers[] = {
    {"segment", "sources of a segment, 1 to 65536", 1, 65536, FTB_SPMM_SET_SEGMENT, AT(segment)},
    {"tile", "features of a tile, 1 to 128", 1, 128, FTB_SPMM_SET_TILE, AT(tile)},
    {"threads", "1 to 4096", 1, 4096, FTB_SPMM_SET_THREADS, AT(threads)},
    {"ordered", "0 or 1", 0, 1, FTB_SPMM_SET_ORDERED, AT(ordered)},
    {"ahead", "entries that sources are fetched ahead, 0 to 64", 0, 64, FTB_SPMM_SET_AHEAD, AT(ahead)},
    {"parts", "parts of the rows, 1 to 65536", 1, 65536, FTB_SPMM_SET_PARTS, AT(parts)},
    {"uses", "products that it is made for, 1 to 1000000000", 1, 1000000000, FTB_SPMM_SET_USES, AT(uses)},
    {"threshold", "uses by a block of rows, 2 to 65536", 2, 65536, FTB_SPMM_SET_THRESHOLD, AT(threshold)},
    {"bulk", "0 or 1", 0, 1, FTB_SPMM_SET_BULK, AT(bulk)}};

static const char *set_number(ftb_spmm_plan *plan, const number *n, const char *value)
{
    const int64_t x = number_in(value, n->low, n->high);
    if (x < 0)
        return n->expected;
    memcpy((char *)&plan->asked + n->at, &x, sizeof x);
    force(plan, n->bit);
    return NULL;
}

static const char *set_kernel(ftb_spmm_plan *plan, const char *value)
{
    for (int f = 0; f < FAMILIES; f++)
        if (strcmp(value, families[f]) == 0) {
            force(plan, FTB_SPMM_SET_KERNEL);
            plan->asked.family = (ftb_spmm_family)f;
            return NULL;
        }
    return "auto, program, direct, partitioned, sliced, hybrid, tensor or cusparse";
}

static const char *set_algorithm(ftb_spmm_plan *plan, const char *value)
{
    for (int a = 0; a < FTB_GPU_SPARSE_ALGORITHMS; a++)
        if (strcmp(value, ftb_gpu_sparse_name((ftb_gpu_sparse_algorithm)a)) == 0) {
            force(plan, FTB_SPMM_SET_ALGORITHM);
            plan->asked.algorithm = (ftb_gpu_sparse_algorithm)a;
            return NULL;
        }
    return "default, csr_alg1, csr_alg2 or csr_alg3";
}

const char *ftb_spmm_plan_set(ftb_spmm_plan *plan, const char *key, const char *value)
{
    if (strcmp(key, "kernel") == 0)
        return set_kernel(plan, value);
    if (strcmp(key, "algorithm") == 0)
        return set_algorithm(plan, value);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
        if (strcmp(key, numbers[n].key) == 0)
            return set_number(plan, &numbers[n], value);
    return "a key of sparse x block: kernel, segment, tile, threads, ordered, ahead, parts, uses, "
           "threshold, bulk, algorithm";
}

bool ftb_spmm_plan_get(const ftb_spmm_plan *plan, const ftb_spmm_facts *facts, const char *key, double *value)
{
    const double segmented = (double)(plan->family == FTB_SPMM_SLICED ? facts->nrows : facts->ncols);
    const struct {
        const char *key;
        double value;
    } figures[] = {
        {"segment", (double)plan->segment},
        {"segments", plan->segment > 0 ? ceil(segmented / (double)plan->segment) : 0},
        {"tile", (double)plan->tile},
        {"tiles", (double)plan->ntiles},
        {"parts", (double)plan->parts},
        {"uses", (double)plan->uses},
        {"ordered", plan->ordered},
        {"threads", plan->threads},
        {"bytes", (double)plan->bytes},
        {"partition_bytes", (double)plan->partition_bytes},
        {"seconds", plan->seconds},
        {"direct_seconds", plan->direct_seconds},
        {"partitioned_seconds", plan->partitioned_seconds},
        {"sliced_seconds", plan->sliced_seconds},
        {"sliced", plan->family == FTB_SPMM_SLICED},
        {"partitioned", plan->family == FTB_SPMM_PARTITIONED},
        {"hybrid", plan->gpu.hybrid},
        {"tensor", plan->gpu.tensor},
        {"threshold", plan->gpu.threshold},
        {"hot", plan->gpu.hot},
        {"gpu_seconds", plan->gpu.seconds},
        {"cusparse", plan->gpu.sparse},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        if (strcmp(key, figures[f].key) == 0) {
            *value = figures[f].value;
            return true;
        }
    return false;
}

static void explain_choice(const ftb_spmm_plan *plan, const ftb_spmm_facts *f, FILE *file)
{
    double degree = f->listed > 0 ? (double)f->entries / (double)f->listed : 0;
    double block = (double)(f->ncols * f->features * f->value_bytes) / 1048576;
    char mark[40];
    snprintf(mark, sizeof mark, " <- %s", ftb_origin_mark(plan->origin, false));
    if (!f->tuned) {
        fprintf(file, "because          no kernel knows the message: it is evaluated in batches\n");
        return;
    }
    fprintf(file, "considered       direct 1.00%s", plan->family == FTB_SPMM_DIRECT ? mark : "");
    if (isfinite(plan->partitioned_seconds))
        fprintf(file, "   partitioned %.2f%s", plan->partitioned_seconds / plan->direct_seconds,
                plan->family == FTB_SPMM_PARTITIONED ? mark : "");
    if (isfinite(plan->sliced_seconds))
        fprintf(file, "   sliced %.2f%s", plan->sliced_seconds / plan->direct_seconds,
                plan->family == FTB_SPMM_SLICED ? mark : "");
    fprintf(file, "\n");
    if (plan->family == FTB_SPMM_PARTITIONED)
        fprintf(
            file,
            "because          mean degree %.0f; sources are packed once a tile, and read from segments of "
            "%.0f KiB\n",
            degree, (double)(plan->segment * plan->tile * f->value_bytes) / 1024);
    else if (plan->family == FTB_SPMM_SLICED)
        fprintf(
            file,
            "because          the block takes %.1f MiB: results of a slice of rows stay near, sources come "
            "in order\n",
            block);
    else
        fprintf(file, "because          mean degree %.1f, the block takes %.1f MiB\n", degree, block);
}

static int64_t hubs_of(const ftb_spmm_facts *f)
{
    int64_t hubs = 0;
    for (int b = FTB_SPMM_HUB; b < FTB_DEGREES; b++)
        hubs += f->degrees.rows[b];
    return hubs;
}

void ftb_explain_spmm(const ftb_spmm_plan *plan, const ftb_spmm_facts *f, const ftb_machine_facts *machine,
                      FILE *file)
{
    double gathered = (double)f->entries * (double)(f->features * f->value_bytes);
    fprintf(file, "operation        C[%lld x %lld] = A[%lld entries] x X[%lld x %lld], kernel %s\n",
            (long long)f->nrows, (long long)f->features, (long long)f->nvals, (long long)f->ncols,
            (long long)f->features, f->kernel);
    if (f->all_rows > 0)
        fprintf(file, "hypersparse      A lists %lld of %lld rows, whose entries meet %lld rows of X\n",
                (long long)f->nrows, (long long)f->all_rows, (long long)f->ncols);
    fprintf(file, "machine          ");
    ftb_machine_print(machine, file);
    fputc('\n', file);
    explain_choice(plan, f, file);
    if (plan->family == FTB_SPMM_PARTITIONED)
        fprintf(file,
                "partition        %lld segments of %lld sources, %lld tiles of %lld features, 16-bit local "
                "columns, built once (%.0f MiB) for %lld products\n",
                (long long)((f->ncols - 1) / plan->segment + 1), (long long)plan->segment,
                (long long)plan->ntiles, (long long)plan->tile, (double)plan->partition_bytes / 0x1p20,
                (long long)plan->uses);
    if (plan->family == FTB_SPMM_PARTITIONED && plan->parts > 1)
        fprintf(file, "rows             in %lld parts, each through all segments before the next\n",
                (long long)plan->parts);
    if (plan->family == FTB_SPMM_SLICED)
        fprintf(file,
                "slices           of up to %d rows, entries by column, sources fetched %lld entries ahead, "
                "32 bits each, built once (%.0f MiB) for %lld products\n",
                FTB_SLICE_ROWS, (long long)plan->ahead, (double)plan->partition_bytes / 0x1p20,
                (long long)plan->uses);
    if (plan->ordered)
        fprintf(file,
                "edges            a part's values are copied into the order of visits, once for all tiles\n");
    if (plan->family == FTB_SPMM_DIRECT)
        fprintf(
            file,
            "rows             %lld of %lld, %lld features at a time, sources fetched %lld entries ahead\n",
            (long long)f->listed, (long long)f->nrows, (long long)plan->tile, (long long)plan->ahead);
    if (plan->family == FTB_SPMM_DIRECT && plan->threads > 1 && hubs_of(f) > 0)
        fprintf(file, "hubs             threads share the features of %lld rows of %lld entries and more\n",
                (long long)hubs_of(f), (long long)1 << FTB_SPMM_HUB);
    fprintf(file, "memory           %.1f MiB beside operands and result, on %d threads\n",
            (double)plan->bytes / 0x1p20, plan->threads);
    fprintf(file, "%s        %.3g s, %.1f GB/s gathered\n",
            plan->origin == FTB_ORIGIN_MODEL ? "predicted" : "measured ", plan->seconds,
            plan->seconds > 0 ? gathered / plan->seconds / 1e9 : 0);
    if (f->gpu.gpu.multiprocessors > 0)
        ftb_explain_gpu_spmm(&plan->gpu, file);
}
