/* Prints a plan over the entries of a pattern, and its reasons. */
#include "plan/sddmm_plan.h"

/* Whether it was asked for by hand: what a GPU has says nothing of the host. */
static bool asked(const ftb_sddmm_plan *plan)
{
    const unsigned forced = plan->asked.forced, numbers = FTB_SDDMM_SET_SEGMENT | FTB_SDDMM_SET_TILE;
    return forced & numbers || (forced & FTB_SDDMM_SET_KERNEL && plan->asked.family != FTB_SDDMM_CUSPARSE);
}

static void operation(const ftb_sddmm_facts *f, FILE *file)
{
    fprintf(file,
            "operation        %s, A[%lld x %lld, %lld entries], %lld features in %lld head%s, kernel %s\n",
            f->attention ? "softmax(S<A> = Q K') V" : "S<A> = Y X'", (long long)f->nrows, (long long)f->ncols,
            (long long)f->nvals, (long long)f->features, (long long)f->heads, f->heads == 1 ? "" : "s",
            f->kernel);
    if (f->all_rows > 0)
        fprintf(file, "hypersparse      A lists %lld of %lld rows, whose entries meet %lld rows of X\n",
                (long long)f->nrows, (long long)f->all_rows, (long long)f->ncols);
}

static const char *mark(const ftb_sddmm_plan *plan) { return ftb_origin_mark(plan->origin, asked(plan)); }

static void considered(const ftb_sddmm_plan *plan, FILE *file)
{
    if (plan->segment)
        fprintf(file, "considered       rows as they lie 1.00   segments %.2f  <- %s\n",
                plan->visited / plan->direct, mark(plan));
    else if (asked(plan))
        fprintf(file, "considered       rows as they lie 1.00  <- %s\n", mark(plan));
    else
        fprintf(file, "considered       rows as they lie 1.00  <- chosen   segments: none is faster\n");
}

/* Attention in one walk or in steps. */
static void considered_steps(const ftb_sddmm_plan *plan, const ftb_sddmm_facts *f, FILE *file)
{
    if (!f->can_stage)
        fprintf(file, "considered       fused only: values have one head for all, or columns are wide\n");
    else
        fprintf(file, "considered       fused 1.00%s%s   staged %.2f%s%s%s\n", plan->staged ? "" : "  <- ",
                plan->staged ? "" : mark(plan), plan->fused > 0 ? plan->in_steps / plan->fused : 1,
                plan->staged ? "  <- " : "", plan->staged ? mark(plan) : "",
                plan->staged || ftb_attention_weights_fit(f)
                    ? ""
                    : " (weights would outgrow operands and pattern)");
}

static void because(const ftb_sddmm_plan *plan, const ftb_sddmm_facts *f, const ftb_machine_facts *m,
                    FILE *file)
{
    const double degree = f->nrows > 0 ? (double)f->nvals / (double)f->nrows : 0;
    const double sources = (double)f->ncols * (double)f->source_bytes;
    if (f->program)
        fprintf(file, "because          no kernel knows the message: it is evaluated in batches\n");
    else if (plan->segment)
        fprintf(
            file,
            "because          %.3g entries a row; the sources take %.1f MiB, read from segments of %lld KiB "
            "while all rows visit them\n",
            degree, sources / 1048576, (long long)(plan->segment * plan->tile >> 10));
    else if (sources <= (double)m->l2 / 2)
        fprintf(file, "because          all sources, %.0f KiB, stay in L2\n", sources / 1024);
    else
        fprintf(file, "because          %.3g entries a row are too few to pay for visits of segments\n",
                degree);
}

static void partition(const ftb_sddmm_plan *plan, const ftb_sddmm_facts *f, FILE *file)
{
    if (plan->segment == 0)
        return;
    fprintf(file,
            "partition        %lld segments of %lld sources, %lld of %lld bytes of a source at a time, "
            "16-bit local "
            "columns, about %.3g visits, built once (%.0f MiB)\n",
            (long long)((f->ncols + plan->segment - 1) / plan->segment), (long long)plan->segment,
            (long long)plan->tile, (long long)f->source_bytes, plan->visits,
            (2.0 * (double)f->nvals + 20 * plan->visits) / 1048576);
}

void ftb_explain_sddmm(const ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts,
                       const ftb_machine_facts *machine, FILE *file)
{
    const double gathered = (double)facts->nvals * (double)facts->source_bytes;
    operation(facts, file);
    fputs("machine          ", file);
    ftb_machine_print(machine, file);
    fputc('\n', file);
    if (facts->attention)
        considered_steps(plan, facts, file);
    if (!facts->program && !plan->staged)
        considered(plan, file);
    if (plan->staged)
        fprintf(file,
                "because          %.3g entries a row are few for a walk that keeps no weights: scores, "
                "softmax and sums are done one after the other, over %.1f MiB of weights\n",
                facts->nrows > 0 ? (double)facts->nvals / (double)facts->nrows : 0,
                (double)facts->nvals * (double)(facts->heads * facts->value_bytes) / 1048576);
    else
        because(plan, facts, machine, file);
    partition(plan, facts, file);
    fprintf(file, "threads          %d\n", plan->threads);
    if (plan->origin == FTB_ORIGIN_MODEL)
        fprintf(file, "predicted        %.3g s on one thread", plan->seconds);
    else
        fprintf(file, "measured         %.3g s on %d thread%s", plan->seconds, plan->threads,
                plan->threads == 1 ? "" : "s");
    if (plan->seconds > 0)
        fprintf(file, ", %.3g GB/s gathered", 1e-9 * gathered / plan->seconds);
    if (machine->l2_rate > 0)
        fprintf(file, "; at least %.3g s at this core's L2 bandwidth", gathered / machine->l2_rate);
    fputc('\n', file);
    if (facts->gpu.there)
        ftb_explain_gpu_sddmm(&plan->gpu, &plan->asked, file);
}
