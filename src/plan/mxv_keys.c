/* Plans of products with a vector, for people: printed, set and read by name. */
#include "plan/mxv_plan.h"

#include <stdlib.h>
#include <string.h>

static const char *const ways[] = {"auto", "push", "pull", "all"};

const char *ftb_mxv_plan_set(ftb_mxv_plan *plan, const char *key, const char *value)
{
    if (strcmp(key, "way") == 0) {
        for (int w = FTB_MXV_AUTO; w <= FTB_MXV_ALL; w++)
            if (strcmp(value, ways[w]) == 0) {
                plan->asked = (ftb_mxv_way)w;
                plan->forced |= FTB_MXV_SET_WAY;
                plan->chosen &= ~(unsigned)FTB_MXV_SET_WAY;
                return NULL;
            }
        return "auto, push, pull or all";
    }
    if (strcmp(key, "threads") == 0) {
        char *end;
        const long long threads = strtoll(value, &end, 10);
        if (!*value || *end || threads < 1 || threads > 4096)
            return "1 to 4096";
        plan->asked_threads = threads;
        plan->forced |= FTB_MXV_SET_THREADS;
        return NULL;
    }
    return "a key of sparse x vector: way, threads";
}

bool ftb_mxv_plan_get(const ftb_mxv_plan *plan, const ftb_mxv_facts *facts, const char *key, double *value)
{
    const struct {
        const char *key;
        double value;
    } figures[] = {
        {"push", plan->way == FTB_MXV_PUSH},  {"pull", plan->way == FTB_MXV_PULL},
        {"all", plan->way == FTB_MXV_ALL},    {"entries", (double)facts->entries},
        {"edges", (double)facts->edges},      {"threads", plan->threads},
        {"push_seconds", plan->push_seconds}, {"pull_seconds", plan->pull_seconds},
        {"seconds", plan->seconds},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        if (strcmp(key, figures[f].key) == 0) {
            *value = figures[f].value;
            return true;
        }
    return false;
}

/* What a way waits for. */
static const char *waits(bool made)
{
    return made ? "" : ", with the transposed pattern, which is not there";
}

void ftb_explain_mxv(const ftb_mxv_plan *plan, const ftb_mxv_facts *f, const ftb_machine_facts *machine,
                     FILE *file)
{
    const bool asked = plan->forced & ~plan->chosen & FTB_MXV_SET_WAY;
    fprintf(file, "operation        w[%lld] = A[%lld entries] x u[%lld of %lld places, %s]\n",
            (long long)(f->whole[0] ? f->whole[0] : f->receivers), (long long)f->nvals, (long long)f->entries,
            (long long)(f->whole[0] ? f->whole[1] : f->senders), f->form);
    if (f->whole[0])
        fprintf(file, "hypersparse      entries at %lld places of w, %lld of u\n", (long long)f->receivers,
                (long long)f->senders);
    fprintf(file, "machine          ");
    ftb_machine_print(machine, file);
    fprintf(file, "\nway              %s <- %s\n", ways[plan->way], ftb_origin_mark(plan->origin, asked));
    if (plan->way == FTB_MXV_ALL) {
        fprintf(file,
                "because          every place has an entry: it is a product with a block of one column\n");
        if (f->listed < f->receivers)
            fprintf(file, "mask             admits %lld of %lld places, and nothing else is computed\n",
                    (long long)f->listed, (long long)f->receivers);
        fprintf(file, "threads          %d\n", plan->threads);
        return;
    }
    fprintf(file, "because          the vector meets %s%lld of the matrix's entries\n",
            f->counted ? "" : "about ", (long long)f->edges);
    if (f->first)
        fprintf(file,
                "                 of each place the first message decides, and no other is looked at\n");
    if (f->plain)
        fprintf(file, "                 of messages that need no text: each is added where it arrives\n");
    if (f->open < f->receivers)
        fprintf(file, "mask             admits about %lld of %lld places; a pull passes the others over\n",
                (long long)f->open, (long long)f->receivers);
    fprintf(file, "considered       push %.3g s%s\n", plan->push_seconds,
            f->may_push ? waits(f->push_made) : ", which words of 64 bits do not allow");
    fprintf(file, "                 pull %.3g s%s\n", plan->pull_seconds, waits(f->pull_made));
    fprintf(file, "predicted        %.3g s beside the messages, on %d threads\n", plan->seconds,
            plan->threads);
}
