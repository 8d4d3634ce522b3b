/* The plan of a sparse x sparse product by name: forcing a choice, reading a figure, printing. */
#include "plan/spgemm_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const accumulators[] = {"auto", "dense", "list", "hash", "slot"};

const char *ftb_accumulator_name(ftb_accumulator a) { return accumulators[a]; }

static bool whole(const char *value, int64_t least, int64_t most, int64_t *number)
{
    char *end;
    long long x = strtoll(value, &end, 10);
    *number = x;
    return end != value && *end == 0 && x >= least && x <= most;
}

/* The choice is made by hand; or, `free`, it is the rule's again. */
static void force(ftb_spgemm_plan *plan, unsigned bit, bool free)
{
    plan->chosen &= ~bit;
    plan->forced = free ? plan->forced & ~bit : plan->forced | bit;
}

static const char *set_flag(ftb_spgemm_plan *plan, bool *field, unsigned bit, const char *value)
{
    int64_t x;
    if (!whole(value, 0, 1, &x))
        return "0 or 1";
    *field = x != 0;
    force(plan, bit, false);
    return NULL;
}

static const char *set_accumulator(ftb_spgemm_plan *plan, const char *value)
{
    for (int a = 0; a < (int)(sizeof accumulators / sizeof accumulators[0]); a++)
        if (strcmp(value, accumulators[a]) == 0) {
            plan->accumulator = (ftb_accumulator)a;
            force(plan, FTB_SET_ACCUMULATOR, a == 0);
            return NULL;
        }
    return "auto, dense, list, hash or slot";
}

const char *ftb_spgemm_plan_set(ftb_spgemm_plan *plan, const char *key, const char *value)
{
    int64_t x;
    if (strcmp(key, "relabel") == 0)
        return strcmp(value, "0") == 0 && plan->forced & FTB_SET_HOT && plan->hot > 0
                   ? "1, since the hot columns that were set are named anew"
                   : set_flag(plan, &plan->relabel, FTB_SET_RELABEL, value);
    if (strcmp(key, "triangle") == 0)
        return set_flag(plan, &plan->triangle, FTB_SET_TRIANGLE, value);
    if (strcmp(key, "mirror") == 0)
        return set_flag(plan, &plan->mirror, FTB_SET_MIRROR, value);
    if (strcmp(key, "cross") == 0)
        return set_flag(plan, &plan->cross, FTB_SET_CROSS, value);
    if (strcmp(key, "ids") == 0) {
        if (!whole(value, 16, 32, &x) || (x != 16 && x != 32))
            return "16 or 32";
        plan->id16 = x == 16;
        force(plan, FTB_SET_ID16, false);
        return NULL;
    }
    if (strcmp(key, "accumulator") == 0)
        return set_accumulator(plan, value);
    if (strcmp(key, "hot") == 0) {
        if (!whole(value, 0, 65536, &x) || x % 512 != 0)
            return "a multiple of 512 up to 65536";
        if (x > 0 && plan->forced & ~plan->chosen & FTB_SET_RELABEL && !plan->relabel)
            return "0, since hot columns are named anew and relabel = 0 was set";
        if (x > 0 && plan->chosen & FTB_SET_RELABEL)
            force(plan, FTB_SET_RELABEL, true);
        plan->hot = x;
        force(plan, FTB_SET_HOT, false);
        return NULL;
    }
    if (strcmp(key, "chunk_rows") == 0) {
        if (!whole(value, 1, INT64_MAX, &x))
            return "a number of rows from 1";
        plan->chunk_rows = x;
        force(plan, FTB_SET_CHUNK_ROWS, false);
        return NULL;
    }
    if (strcmp(key, "chunk_bytes") == 0) {
        if (!whole(value, 1, INT64_MAX / 4, &x))
            return "a number of bytes from 1";
        plan->chunk_bytes = x;
        force(plan, FTB_SET_CHUNK, false);
        return NULL;
    }
    if (strcmp(key, "threads") == 0) {
        if (!whole(value, 1, 4096, &x))
            return "1 to 4096";
        plan->threads = (int)x;
        force(plan, FTB_SET_THREADS, false);
        return NULL;
    }
    return "one of the keys accumulator, chunk_bytes, chunk_rows, cross, hot, ids, mirror, relabel, threads, "
           "triangle";
}

bool ftb_spgemm_plan_get(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f, const char *key,
                         double *value)
{
    double entries = f->kept_estimate >= 0 ? f->kept_estimate : f->kept_bound;
    double row = (double)(f->index_bytes + f->value_bytes + f->winner_bytes);
    const struct {
        const char *key;
        double value;
    } figures[] = {
        {"products", f->products},
        {"entries_bound", f->kept_bound},
        {"entries_estimate", entries},
        {"entries_error", f->kept_error},
        {"result_bytes", entries * row},
        {"bytes", (double)plan->bytes},
        {"least_limit", (double)plan->least_limit},
        {"limit", (double)(f->held_bytes + plan->least_limit)},
        {"seconds", plan->seconds},
        {"chunks", ceil(fmax(1, fmax(entries * row / (double)plan->chunk_bytes,
                                     f->products / (double)plan->chunk_products)))},
        {"threads", plan->threads},
        {"triangle", plan->triangle},
        {"mirror", plan->mirror},
        {"relabel", plan->relabel},
        {"hot", (double)plan->hot},
        {"cross", plan->cross},
        {"ids", plan->id16 ? 16 : 32},
        {"widened", f->widened},
        {"wraps", f->wraps != NULL},
        {"gpu_tile", (double)plan->gpu.tile},
        {"gpu_hot", (double)plan->gpu.hot},
        {"gpu_seconds", plan->gpu.seconds},
    };
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        if (strcmp(key, figures[i].key) == 0) {
            *value = figures[i].value;
            return true;
        }
    return false;
}

static void print_count(FILE *file, double x)
{
    if (x < 1e15)
        fprintf(file, "%.0f", x);
    else
        fprintf(file, "%.3e", x);
}

static void explain_accumulator(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f,
                                const ftb_machine_facts *m, FILE *file)
{
    double kib = (double)(f->ncols * f->cell_bytes) / 1024;
    fprintf(file, "accumulator      %s", accumulators[plan->accumulator]);
    if (plan->accumulator == FTB_ACC_AUTO)
        fprintf(file, ": dense cells (%.0f KiB, %s L2) for rows from %lld products, %s for shorter rows", kib,
                f->ncols * f->cell_bytes <= m->l2 ? "fit" : "exceed", (long long)plan->dense_from,
                plan->hash_rest ? "hash" : "listed cells");
    fprintf(file, "\n");
}

void ftb_explain_spgemm(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f, const ftb_machine_facts *m,
                        FILE *file)
{
    static const char *const forms[] = {"bits", "half bytes", "codes to look up"};
    static const char *const results[] = {"counts", "sums", "sums"};
    double chunks = 0;
    ftb_spgemm_plan_get(plan, f, "chunks", &chunks);
    fprintf(file, "operation        C[%lld x %lld] = A[%lld entries] x B[%lld entries], kernel %s\n",
            (long long)f->nrows, (long long)f->ncols, (long long)f->avals, (long long)f->bvals, f->kernel);
    if (f->all_rows[0])
        fprintf(file, "hypersparse      A lists %lld of %lld rows\n", (long long)f->nrows,
                (long long)f->all_rows[0]);
    if (f->all_rows[1])
        fprintf(file, "hypersparse      B lists %lld of %lld rows, and A's other columns meet none\n",
                (long long)f->ninner, (long long)f->all_rows[1]);
    fprintf(file, "machine          %d cores, L1 %lld KiB, L2 %lld KiB\n", m->cores, (long long)m->l1 / 1024,
            (long long)m->l2 / 1024);
    fprintf(file, "products         ");
    print_count(file, f->products);
    fprintf(file, " exactly\nresult           at most ");
    print_count(file, f->kept_bound);
    if (f->kept_estimate >= 0)
        fprintf(file, ", about %.3g +- %.1f %% entries (sampled rows)", f->kept_estimate,
                100 * f->kept_error);
    if (f->kept_estimate >= 0 && f->kept_estimate < 0.99 * f->entries_estimate)
        fprintf(file, " of %.3g computed", f->entries_estimate);
    fprintf(file, "\nwork             %s%s%s, %d-bit ids%s%s\n",
            plan->triangle ? "triangle (the product is symmetric)" : "all rows in full",
            plan->mirror ? ", retained and mirrored" : "",
            plan->relabel ? ", columns renamed by falling degree" : "", plan->id16 ? 16 : 32,
            plan->origin == FTB_ORIGIN_MODEL ? "" : "  <- ",
            plan->origin == FTB_ORIGIN_MODEL ? "" : ftb_origin_mark(plan->origin, false));
    if (f->widened)
        fprintf(file, "numbers          carried as fp64: whole numbers might leave their 64 bits\n");
    if (f->wraps)
        fprintf(file,
                "warning          whole numbers of the %s may leave their 64 bits and wrap; fp64(a) and the "
                "like keep them\n",
                f->wraps);
    explain_accumulator(plan, f, m, file);
    if (plan->hot > 0)
        fprintf(file, "hot columns      the %lld most frequent, as %s, for rows from %lld products%s%s%s\n",
                (long long)plan->hot, forms[f->hot_form], (long long)plan->hot_from,
                plan->cross ? "; their " : "", plan->cross ? results[f->hot_form] : "",
                plan->cross ? " with the others once, ahead" : "");
    fprintf(file, "chunks           about %.0f, of up to %.1f MiB, flops-balanced, on %d thread%s\n", chunks,
            (double)plan->chunk_bytes / 1048576, plan->threads, plan->threads == 1 ? "" : "s");
    fprintf(file, "memory           %.1f MiB beside operands and result; least %.1f MiB\n",
            (double)plan->bytes / 1048576, (double)plan->least_limit / 1048576);
    fprintf(file, "predicted        %.3g s\n", plan->seconds);
    if (f->gpu.gpu.multiprocessors > 0)
        ftb_explain_gpu_spgemm(&plan->gpu, &f->gpu, file);
}
