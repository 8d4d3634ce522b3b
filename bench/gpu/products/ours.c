/* FeatBLAS's own calls, through the public interface, with operands on the device: blocks of the library's
 * whose address nobody has, so that nothing comes home unless it is asked for. The time of a call is that of
 * many, one after the other, with one wait at the end: the stream has an order, and a result is written again
 * and again.
 *
 * Before anything is timed, sampled rows are compared with sums in double. */
#include "products.h"

#include "core/backend.h"
#include "core/core.h"
#include "support/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct call {
    products_what what;
    const products_graph *g;
    int64_t d, heads;
    FtB_Matrix A, S, W; /* the pattern; values that are written; values that are read */
    FtB_Block X, Y, C;
    FtB_Semiring semiring;
    FtB_Plan plan;
    FtB_Descriptor how;
    FtB_Precision precision; /* that operands may be rounded to */
} call;

static void fill(float *x, int64_t rows, int64_t columns, uint32_t salt)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t f = 0; f < columns; f++)
            x[i * columns + f] = bench_feature(i, f, salt);
}

/* ---- what is called */

static const char *text_of(products_what what)
{
    static const char *const texts[] = {[PRODUCTS_SUM] = "plus : src",
                                        [PRODUCTS_MAX] = "max : src",
                                        [PRODUCTS_MEAN] = "mean : src",
                                        [PRODUCTS_WEIGHTED] = "plus : edge * src",
                                        [PRODUCTS_HEADS] = "plus : edge * src"};
    return what <= PRODUCTS_HEADS ? texts[what] : NULL;
}

static GrB_Info run(const call *c)
{
    GrB_Info info = FtB_Context_set_matmul_precision(NULL, c->precision);
    if (info != GrB_SUCCESS)
        return info;
    switch (c->what) {
    case PRODUCTS_DOT:
        return FtB_mxm(c->S, c->A, NULL, FTB_PLUS_DOT, c->Y, c->X, FTB_DESC_RST1);
    case PRODUCTS_SOFTMAX:
        return FtB_softmax(c->S, c->W, FTB_BY_ROW);
    case PRODUCTS_ATTENTION:
        return FtB_attention(c->C, c->A, NULL, FTB_PLUS_DOT, c->Y, c->X, c->X, NULL, NULL);
    case PRODUCTS_STAGED:
        info = FtB_mxm(c->S, c->A, NULL, FTB_PLUS_DOT, c->Y, c->X, FTB_DESC_RST1);
        if (info == GrB_SUCCESS)
            info = FtB_softmax(c->S, c->S, FTB_BY_ROW);
        return info == GrB_SUCCESS ? FtB_mxm(c->C, NULL, NULL, FTB_PLUS_MUL, c->S, c->X, NULL) : info;
    default:
        return FtB_mxm(c->C, NULL, NULL, c->semiring, c->W ? c->W : c->A, c->X,
                       c->how ? FTB_ARG(c->how) : FtB_Arg_none());
    }
}

static bool time_ours(products_who *who, int calls, double *seconds)
{
    const double start = products_now();
    bool ok = true;
    for (int n = 0; ok && n < calls; n++)
        ok = products_ok(who, run(who->state));
    ok = products_ok(who, products_wait()) && ok;
    *seconds = (products_now() - start) / calls;
    return ok;
}

/* ---- its operands */

static bool block(products_who *who, FtB_Block *X, int64_t nrows, const call *c, uint32_t salt)
{
    FtB_Block whole = NULL;
    bool ok = products_ok(who, FtB_Block_new(&whole, nrows, c->d, FTB_FP32));
    if (ok && salt)
        fill(ftb_block_data(whole), nrows, c->d, salt);
    ok = ok && products_ok(who, FtB_Block_heads(X, whole, c->heads));
    FtB_Block_free(&whole);
    return ok;
}

static bool weights(products_who *who, call *c)
{
    bool ok = products_ok(who, FtB_Matrix_like(&c->W, c->A, c->heads, FTB_FP32));
    if (ok)
        fill(ftb_buffer_data(c->W->values), c->g->g.nvals, c->heads, 3);
    return ok;
}

/* One "key=value" of a plan. */
static bool set_one(products_who *who, call *c, const char *text)
{
    char key[80];
    const char *value = strchr(text, '=');
    snprintf(key, sizeof key, "%.*s", value ? (int)(value - text) : 0, text);
    if (value && FtB_Plan_set(c->plan, key, value + 1) == GrB_SUCCESS)
        return true;
    products_say(who, "skipped: %.200s", value ? FtB_error() : "a plan is [precision:]key=value[,key=value]");
    return false;
}

/* "tf32:kernel=tensor,threshold=64": what operands may be rounded to, and choices. */
static bool force(products_who *who, call *c, const char *plan)
{
    static const struct {
        const char *name;
        FtB_Precision precision;
    } list[] = {{"tf32:", FTB_PRECISION_TF32}, {"fp16:", FTB_PRECISION_FP16}, {"bf16:", FTB_PRECISION_BF16}};
    char text[80], *rest = NULL;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (strncmp(plan, list[k].name, strlen(list[k].name)) == 0) {
            c->precision = list[k].precision;
            plan += strlen(list[k].name);
        }
    if (!products_ok(who, FtB_Context_set_matmul_precision(NULL, c->precision)) ||
        !products_ok(who, FtB_mxm_plan(&c->plan, c->C, NULL, NULL, c->semiring, c->W ? c->W : c->A, c->X,
                                       NULL, FTB_ESTIMATE)))
        return false;
    snprintf(text, sizeof text, "%s", plan);
    for (const char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        if (!set_one(who, c, one))
            return false;
    return products_ok(who, FtB_Descriptor_new(&c->how)) &&
           products_ok(who, FtB_Descriptor_set(c->how, FTB_PLAN, c->plan));
}

static bool prepare(products_who *who, call *c, const char *plan)
{
    const gen_graph *g = &c->g->g;
    const bool pairs = c->what >= PRODUCTS_DOT;
    c->A = c->g->A;
    bool ok = block(who, &c->X, g->ncols, c, 1) && (!pairs || block(who, &c->Y, g->nrows, c, 2)) &&
              block(who, &c->C, g->nrows, c, 0);
    if (ok && (c->what == PRODUCTS_WEIGHTED || c->what == PRODUCTS_HEADS || c->what == PRODUCTS_SOFTMAX))
        ok = weights(who, c);
    if (ok && (c->what == PRODUCTS_DOT || c->what == PRODUCTS_SOFTMAX || c->what == PRODUCTS_STAGED))
        ok = products_ok(who, FtB_Matrix_like(&c->S, c->A, c->heads, FTB_FP32));
    if (ok && text_of(c->what))
        ok = products_ok(who, FtB_Semiring_new(&c->semiring, text_of(c->what)));
    return ok && (!plan || force(who, c, plan));
}

static void end(void *state)
{
    call *c = state;
    FtB_Descriptor_free(&c->how);
    FtB_Plan_free(&c->plan);
    FtB_Semiring_free(&c->semiring);
    FtB_Block_free(&c->C);
    FtB_Block_free(&c->Y);
    FtB_Block_free(&c->X);
    FtB_Matrix_free(&c->W);
    FtB_Matrix_free(&c->S);
    free(c);
}

/* ---- sampled rows */

enum { SAMPLES = 24 };

static int64_t row_of(const gen_graph *g, int sample)
{
    int64_t longest = 0;
    for (int64_t i = 0; sample == 0 && i < g->nrows; i++)
        if (g->rowptr[i + 1] - g->rowptr[i] > g->rowptr[longest + 1] - g->rowptr[longest])
            longest = i;
    return sample == 0 ? longest : sample == 1 ? g->nrows - 1 : sample * (g->nrows - 1) / SAMPLES;
}

static double dot(int64_t i, int64_t j, int64_t from, int64_t width, double *size)
{
    double sum = 0;
    *size = 0;
    for (int64_t f = from; f < from + width; f++) {
        const double z = (double)bench_feature(i, f, 2) * (double)bench_feature(j, f, 1);
        sum += z;
        *size += fabs(z);
    }
    return sum;
}

/* Feature f of row i, and the size of what it is made of. */
static double slow(const call *c, int64_t i, int64_t f, double *size)
{
    const gen_graph *g = &c->g->g;
    const int64_t begin = g->rowptr[i], end_of = g->rowptr[i + 1], width = c->d / c->heads, head = f / width;
    double sum = 0, most = -INFINITY, all = 0, ignored;
    *size = 0;
    const bool softmax = c->what == PRODUCTS_ATTENTION || c->what == PRODUCTS_STAGED;
    for (int64_t e = begin; e < end_of && softmax; e++)
        most = fmax(most, dot(i, g->colidx[e], head * width, width, &ignored));
    for (int64_t e = begin; e < end_of; e++) {
        const double x = bench_feature(g->colidx[e], f, 1);
        const double w = softmax ? exp(dot(i, g->colidx[e], head * width, width, &ignored) - most)
                         : c->W  ? bench_feature(e, c->heads > 1 ? head : 0, 3)
                                 : 1;
        all += w;
        most = c->what == PRODUCTS_MAX ? fmax(most, x) : most;
        sum += w * x;
        *size += fabs(w * x);
    }
    if (begin == end_of)
        return 0;
    const double by = softmax ? all : c->what == PRODUCTS_MEAN ? (double)(end_of - begin) : 1;
    *size /= by;
    return c->what == PRODUCTS_MAX ? most : sum / by;
}

static double entry(const call *c, int64_t i, int64_t e, int64_t head, double *size)
{
    const gen_graph *g = &c->g->g;
    const int64_t width = c->d / c->heads;
    if (c->what == PRODUCTS_DOT)
        return dot(i, g->colidx[e], head * width, width, size);
    double all = 0;
    for (int64_t k = g->rowptr[i]; k < g->rowptr[i + 1]; k++)
        all += exp((double)bench_feature(k, head, 3));
    return *size = exp((double)bench_feature(e, head, 3)) / all;
}

static double worse(double error, double got, double expected, double size)
{
    const double here = fabs(got - expected) / fmax(size, 1e-30);
    return here <= error ? error : here; /* NaN too */
}

/* Of what the device holds; nothing else comes home. -1: it cannot be had. */
static double error_of(const call *c)
{
    const gen_graph *g = &c->g->g;
    const ftb_backend *device = ftb_device(ftb_context());
    ftb_buffer *owner = c->S && c->what != PRODUCTS_STAGED ? c->S->values : c->C->owner;
    void *at;
    double error = 0, size;
    if (ftb_buffer_ask_at(owner, device, FTB_READ, &at) != GrB_SUCCESS)
        return -1;
    const bool edges = owner != c->C->owner;
    const int64_t most =
        c->what == PRODUCTS_SOFTMAX ? 40 : 2000; /* entries of a row: each takes the whole row */
    for (int s = 0; s < SAMPLES; s++) {
        const int64_t i = row_of(g, s), begin = edges ? g->rowptr[i] : i, width = edges ? c->heads : c->d,
                      count = (edges ? ftb_min(most, g->rowptr[i + 1] - g->rowptr[i]) : 1) * width;
        float *row = malloc((size_t)(count + 1) * sizeof *row);
        if (!row || !products_get(row, (float *)at + begin * width, count * (int64_t)sizeof *row)) {
            free(row);
            return -1;
        }
        const int64_t step = edges || count < 16 ? 1 : count / 16; /* features of which 16 are looked at */
        for (int64_t k = 0; k < count; k += step) {
            const double expected =
                edges ? entry(c, i, begin + k / width, k % width, &size) : slow(c, i, k, &size);
            error = worse(error, row[k], expected, size);
        }
        free(row);
    }
    return error;
}

/* The most that sampled rows may differ, over the sum of magnitudes. */
static double bound_of(const call *c)
{
    const double u = c->precision == FTB_PRECISION_FP32   ? 0
                     : c->precision == FTB_PRECISION_BF16 ? 0x1p-8
                                                          : 0x1p-10;
    return 1e-4 + u * (2 + u);
}

/* A form that was asked for, before it is timed. */
static bool right(products_who *who, const call *c)
{
    double seconds;
    if (!time_ours(who, 1, &seconds))
        return false;
    const double error = error_of(c);
    if (error >= 0 && error <= bound_of(c))
        return true;
    products_say(who, "failed: sampled rows differ by %.3g", error);
    return false;
}

/* ---- a case */

/* What the first of a case measures beside its time: the operands' way, the first call, the result's way. */
static bool facts(products_result *r, products_who *who, const call *c)
{
    double start = products_now();
    bool ok =
        products_ok(who, FtB_Block_to_device(c->X)) && (!c->Y || products_ok(who, FtB_Block_to_device(c->Y)));
    (void)products_wait();
    r->to_device = products_now() - start;
    ok = ok && time_ours(who, 1, &r->first);
    if (!ok)
        return false;
    r->error = error_of(c);
    r->bytes = 4.0 * (double)c->g->g.nvals * (double)(c->what == PRODUCTS_SOFTMAX ? 2 * c->heads : c->d);
    ftb_buffer *result = c->S && c->what != PRODUCTS_STAGED ? c->S->values : c->C->owner;
    start = products_now();
    ok = products_ok(who, ftb_buffer_ask(result, FTB_READ));
    r->to_host = products_now() - start;
    if (ok && !(r->error >= 0 && r->error <= bound_of(c))) {
        products_say(who, "failed: sampled rows differ by %.3g", r->error);
        return false;
    }
    return ok;
}

void products_ours(products_result *r, const products_graph *g, products_what what, const char *plan)
{
    char name[80];
    const bool first = r->nwho == 0;
    snprintf(name, sizeof name, "FeatBLAS%s%s%s%s", what == r->of.what ? "" : " ",
             what == r->of.what ? "" : products_name(what), plan ? " " : "", plan ? plan : "");
    products_who *who = products_add(r, name);
    call *c = calloc(1, sizeof *c);
    if (!who || !c) {
        free(c);
        return;
    }
    *c = (call){.what = what, .g = g, .d = r->of.d, .heads = what == PRODUCTS_SUM ? 1 : r->of.heads};
    who->time = time_ours;
    who->state = c;
    who->end = end;
    if (!prepare(who, c, plan) || (first && !facts(r, who, c)) || (plan && !right(who, c)))
        who->time = NULL;
    if (c->precision != FTB_PRECISION_FP32)
        (void)FtB_Context_set_matmul_precision(NULL, FTB_PRECISION_FP32);
}
