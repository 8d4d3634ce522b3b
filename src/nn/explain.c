/* FtB_Tape_explain: a record as the products that it is, before anything runs. */
#include "core/locale.h"
#include "cpu/dense_run.h"
#include "nn/schedule.h"

#include "plan/machine.h"

#include <math.h>

typedef struct totals {
    double forward, gradient; /* seconds */
    int64_t parameters;
} totals;

static const char *bytes_text(double bytes, char *text, size_t room)
{
    const int power = bytes >= 0x1p30 ? 3 : bytes >= 0x1p20 ? 2 : 1;
    snprintf(text, room, "%.3g %ciB", ldexp(bytes, -10 * power), " KMG"[power]);
    return text;
}

static double bytes_of(const ftb_nn_node *n)
{
    int64_t rows, cols;
    ftb_node_stored(n, &rows, &cols);
    return (double)rows * (double)cols * (double)FtB_Type_size(n->type);
}

/* Seconds of the forward run: the plan's, the dense product's at the rate of CBLAS, or one pass over memory.
 */
static double seconds_of(const ftb_nn_node *n, FtB_Plan plan)
{
    int threads = ftb_threads(n->tape->ctx);
    double seconds = 0, bytes = bytes_of(n), memory = ftb_machine_measured()->memory_rate;
    if (plan && FtB_Plan_get(plan, "seconds", &seconds) == GrB_SUCCESS)
        return seconds;
    for (int k = 0; k < n->nin; k++)
        bytes += bytes_of(ftb_node_in(n, k));
    seconds = memory > 0 ? bytes / memory : 0;
    if (n->op->operations)
        seconds = ftb_max(seconds, n->op->operations(n) / (ftb_dense_rate() * threads));
    return seconds;
}

/* What the gradient takes beside the forward run: as much for every input that has one, and is not shared. */
static double gradient_of(const ftb_nn_node *n, double seconds)
{
    int inputs = 0;
    for (int k = 0; k < n->nin; k++)
        inputs += ftb_node_in(n, k)->gradient && ftb_node_in(n, k)->nrows > 1;
    return inputs * seconds;
}

static double figure(FtB_Plan plan, const char *key)
{
    double value = 0;
    return FtB_Plan_get(plan, key, &value) == GrB_SUCCESS ? value : 0;
}

static void print_plan(FtB_Plan plan, FILE *file)
{
    double segments = figure(plan, "segments");
    if (segments > 1)
        fprintf(file, "        plan: %.0f segments of %.0f sources, tiles of %.0f features, %.0f thread%s\n",
                segments, figure(plan, "segment"), figure(plan, "tile"), figure(plan, "threads"),
                figure(plan, "threads") == 1 ? "" : "s");
    else
        fprintf(file, "        plan: rows as they lie, %.0f thread%s\n", figure(plan, "threads"),
                figure(plan, "threads") == 1 ? "" : "s");
}

/* Of a layer's result: which of its products came first, and what the other way round would take. */
static void print_order(const ftb_nn_node *n, FILE *file)
{
    static const char *const names[] = {"A (X W)", "(A X) W"};
    const ftb_nn_order *o = &n->order;
    const bool after = o->first > o->after;
    if (o->first > 0 || o->after > 0)
        fprintf(file, "        order: %s, predicted %.3g ms%s on one thread, for %s %.3g ms\n", names[after],
                1e3 * (after ? o->after : o->first), n->tape->inference ? "" : " with gradients",
                names[!after], 1e3 * (after ? o->first : o->after));
}

static void print_leaf(const ftb_nn_node *n, FILE *file)
{
    char shape[80];
    if (n->parameter)
        fprintf(file, "parameter %s%s", FtB_Parameter_name(n->parameter), n->gradient ? "" : ", not trained");
    else
        fprintf(file, "%s", n->sparse ? "sparse input" : n->graph ? "values of edges" : "input");
    fprintf(file, ": %s", ftb_node_shape(n, shape, sizeof shape));
}

static GrB_Info print_node(const ftb_nn_node *n, bool training, totals *sum, FILE *file)
{
    char shape[80];
    FtB_Plan plan = NULL;
    GrB_Info info = GrB_SUCCESS;
    fprintf(file, "  %4lld  ", (long long)n->number);
    if (!n->op) {
        print_leaf(n, file);
        fputc('\n', file);
        sum->parameters += n->gradient ? n->nrows * n->ncols : 0;
        return info;
    }
    if (n->op->plan)
        info = n->op->plan(&plan, n);
    if (info != GrB_SUCCESS)
        return info;
    double seconds = n->root == n->number ? seconds_of(n, plan) : 0;
    if (n->op->print)
        n->op->print(n, file);
    else
        fputs(n->op->name, file);
    fprintf(file, "  (of");
    for (int k = 0; k < n->nin; k++)
        fprintf(file, " %lld", (long long)n->in[k]);
    fprintf(file, ") -> %s, %.3g ms%s\n", ftb_node_shape(n, shape, sizeof shape), 1e3 * seconds,
            n->constant ? ", once: a constant" : "");
    if (plan)
        print_plan(plan, file);
    print_order(n, file);
    FtB_Plan_free(&plan);
    if (!n->constant) {
        sum->forward += seconds;
        sum->gradient += training && n->gradient ? gradient_of(n, seconds) : 0;
    }
    return info;
}

static GrB_Info explain(FtB_Var x, FILE *file)
{
    ftb_schedule *s;
    totals sum = {0};
    char shape[80], bytes[32];
    if (!file)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Tape_explain: file is NULL");
    const ftb_nn_node *n = ftb_var(x, "FtB_Tape_explain", "x");
    if (!n)
        return x.tape ? FtB_Tape_status(x.tape) : GrB_NULL_POINTER;
    bool training = n->nrows == 1 && n->ncols == 1 && n->gradient && !n->tape->inference;
    GrB_Info info = ftb_schedule_of(&s, n->tape, n->number, training);
    if (info != GrB_SUCCESS)
        return info;
    fprintf(file, "%s of %lld, %s\n", training ? "loss and gradients" : "evaluation", (long long)n->number,
            ftb_node_shape(n, shape, sizeof shape));
    for (int64_t k = 0; k < s->count && info == GrB_SUCCESS; k++)
        if (s->needed[k])
            info = print_node(n->tape->nodes[k], training, &sum, file);
    if (info != GrB_SUCCESS)
        return info;
    fprintf(file, "memory      %s for values%s, beside constants and inputs\n",
            bytes_text((double)s->bytes, bytes, sizeof bytes), training ? " and gradients" : "");
    fprintf(file, "parameters  %lld that are trained\n", (long long)sum.parameters);
    fprintf(file, "predicted   %.3g ms forward", 1e3 * sum.forward);
    if (training)
        fprintf(file, ", about %.3g ms for gradients", 1e3 * sum.gradient);
    fputc('\n', file);
    return ferror(file) ? ftb_fail(FTB_IO, "FtB_Tape_explain: the file cannot be written") : info;
}

GrB_Info FtB_Tape_explain(FtB_Var x, FILE *file)
{
    locale_t before = ftb_locale_enter();
    GrB_Info info = explain(x, file);
    ftb_locale_leave(before);
    return info;
}
