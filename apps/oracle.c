/* The slow projection of --check; see oracle.h. */
#include "oracle.h"

#include <math.h>
#include <stdlib.h>

#define MOST_STEPS 2e9 /* a few seconds */

/* ---- the graph, as lists of the projected vertices */

static bool allocate(oracle *o, int64_t nvals)
{
    size_t n = (size_t)o->n + 1, m = (size_t)o->m + 1, e = (size_t)nvals + 1;
    o->start = calloc(n + 1, sizeof *o->start);
    o->other = calloc(e, sizeof *o->other);
    o->value = calloc(e, sizeof *o->value);
    o->degree = calloc(n, sizeof *o->degree);
    o->shared_degree = calloc(m, sizeof *o->shared_degree);
    o->sum = calloc(n, sizeof *o->sum);
    o->square = calloc(n, sizeof *o->square);
    o->a = calloc(m, sizeof *o->a);
    o->b = calloc(m, sizeof *o->b);
    o->k = calloc(m, sizeof *o->k);
    o->weights = calloc(n, sizeof *o->weights);
    o->present = calloc(n, sizeof *o->present);
    o->source = calloc(n, sizeof *o->source);
    o->target = calloc(n, sizeof *o->target);
    return o->start && o->other && o->value && o->degree && o->shared_degree && o->sum && o->square && o->a &&
           o->b && o->k && o->weights && o->present && o->source && o->target;
}

/* FP64 would round large whole numbers. */
static long double stored(const void *values, FtB_Type type, int64_t e)
{
    if (type == FTB_INT64)
        return (long double)((const int64_t *)values)[e];
    return type == FTB_UINT64 ? (long double)((const uint64_t *)values)[e]
                              : (long double)ftb_get_real(values, type, e);
}

/* Entries in the order of R's rows, so that each list comes out ascending. */
static GrB_Info fill_lists(oracle *o, bool unweighted)
{
    const int64_t *rowptr;
    const void *colidx, *values;
    int64_t nrows, ncols, width;
    FtB_Type type;
    bool cols = o->p->options.onto == FTB_COLS;
    FtB_Matrix_shape(o->p->R, &nrows, &ncols, NULL, &width, &type);
    const GrB_Info info = FtB_Matrix_csr(o->p->R, &rowptr, &colidx, &values);
    if (info != GrB_SUCCESS)
        return info;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < nrows; i++)
            for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
                int64_t j =
                    ncols <= FTB_INT32_LIMIT ? ((const int32_t *)colidx)[e] : ((const int64_t *)colidx)[e];
                int64_t v = cols ? j : i, k = cols ? i : j;
                if (pass == 0) {
                    o->start[v + 1]++;
                    o->degree[v]++;
                    o->shared_degree[k]++;
                    continue;
                }
                int64_t at = o->start[v]++;
                o->other[at] = k;
                o->value[at] = unweighted || width == 0 ? 1 : stored(values, type, e);
            }
        if (pass == 0)
            for (int64_t v = 0; v < o->n; v++)
                o->start[v + 1] += o->start[v];
    }
    for (int64_t v = o->n; v > 0; v--)
        o->start[v] = o->start[v - 1];
    o->start[0] = 0;
    return GrB_SUCCESS;
}

static void add_up(const long double *values, const int64_t *where, int64_t nvals, long double *sum,
                   long double *square)
{
    for (int64_t e = 0; e < nvals; e++) {
        sum[where[e]] += values[e];
        square[where[e]] += values[e] * values[e];
    }
}

static oracle_number whole(int64_t x) { return (oracle_number){.x = (long double)x}; }

static void sums_of_vertices(oracle *o)
{
    for (int64_t v = 0; v < o->n; v++) {
        o->sum[v] = o->square[v] = 0;
        for (int64_t e = o->start[v]; e < o->start[v + 1]; e++) {
            o->sum[v] += o->value[e];
            o->square[v] += o->value[e] * o->value[e];
        }
    }
}

/* Replaces each value by what the named weight makes of it before the product. */
static int prepare(oracle *o)
{
    int64_t nvals = o->start[o->n];
    long double total = 0, *sk = NULL, *qk = NULL;
    formula f = {0};
    static const char *const words[] = {"x",  "i",  "j",  "di",    "dj",    "si",
                                        "sj", "qi", "qj", "nrows", "ncols", "total"};
    int code = formula_new(&f, o->named->prepare, "prepare", 12, words);
    sk = calloc((size_t)o->m + 1, sizeof *sk);
    qk = calloc((size_t)o->m + 1, sizeof *qk);
    if (code == APP_OK && (!sk || !qk))
        code = app_fail(APP_MEMORY, "--check: out of memory");
    if (code != APP_OK)
        goto done;
    add_up(o->value, o->other, nvals, sk, qk);
    sums_of_vertices(o);
    for (int64_t v = 0; v < o->n; v++)
        total += o->sum[v];
    for (int64_t v = 0; v < o->n; v++)
        for (int64_t e = o->start[v]; e < o->start[v + 1]; e++) {
            int64_t k = o->other[e];
            const oracle_number named[] = {
                {o->value[e], true},  whole(k),      whole(v),          whole(o->shared_degree[k]),
                whole(o->degree[v]),  {sk[k], true}, {o->sum[v], true}, {qk[k], true},
                {o->square[v], true}, whole(o->m),   whole(o->n),       {total, true}};
            o->value[e] = formula_value(&f, named);
        }
done:
    formula_free(&f);
    free(sk);
    free(qk);
    return code;
}

/* ---- rows */

static int parse_formulas(oracle *o)
{
    static const char *const words[] = {"a", "b", "i", "j", "k", "di", "dj", "dk"};
    static const char *const ends[] = {"i", "j", "di", "dj", "si", "sj", "qi", "qj", "nrows", "ncols", "w"};
    char h[ORACLE_WIDTH][4];
    const char *names[ORACLE_NAMES];
    const char *text = o->named ? o->named->semiring : o->p->weight, *colon = strchr(text, ':');
    const char *epilogue = o->p->options.epilogue ? o->p->options.epilogue
                           : o->named             ? o->named->epilogue
                                                  : NULL;
    if (!colon)
        return app_fail(APP_USAGE, "semiring '%s' is not 'reducer : message'", text);
    const char *name = text + strspn(text, " ");
    GrB_Info info = ftb_reducer_parse(&o->reducer, name, strcspn(name, " :"));
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_USAGE);
    if (o->reducer.arg)
        return app_fail(APP_USAGE, "--check knows neither argmin nor argmax");
    int count = 0, code = formula_new(&o->message, colon + 1, "semiring", 8, words);
    for (; code == APP_OK && count < o->message.width; count++) {
        snprintf(h[count], sizeof h[count], o->message.width == 1 ? "h" : "h%d", count);
        names[count] = h[count];
    }
    for (int w = 0; w < 11; w++)
        names[count++] = ends[w];
    if (code == APP_OK)
        code = formula_new(&o->epilogue, epilogue, "epilogue", count - 1, names); /* all but w */
    return code != APP_OK ? code : formula_new(&o->where, o->p->options.where, "where", count, names);
}

static long double reduce(ftb_monoid m, long double x, long double y)
{
    switch (m) {
    case FTB_PLUS:
        return x + y;
    case FTB_TIMES:
        return x * y;
    case FTB_MIN:
        return isnan(x) || y < x ? y : x;
    case FTB_MAX:
        return isnan(x) || y > x ? y : x;
    case FTB_OR:
        return x != 0 || y != 0;
    case FTB_AND:
        return x != 0 && y != 0;
    case FTB_XOR:
        return (x != 0) != (y != 0);
    case FTB_XNOR:
        return (x != 0) == (y != 0);
    default: /* any */
        return x;
    }
}

/* Gathers the common neighbours of i and j; returns how many. */
static int64_t meet(oracle *o, int64_t i, int64_t j)
{
    int64_t count = 0, x = o->start[i], y = o->start[j];
    while (x < o->start[i + 1] && y < o->start[j + 1]) {
        if (o->other[x] < o->other[y])
            x++;
        else if (o->other[x] > o->other[y])
            y++;
        else {
            o->a[count] = o->value[x];
            o->b[count] = o->value[y];
            o->k[count++] = o->other[x++];
            y++;
        }
    }
    return count;
}

/* h[0..width) of a pair with `count` common neighbours; whether they are reals. */
static bool reduce_messages(oracle *o, int64_t i, int64_t j, int64_t count, long double *h)
{
    const formula *f = &o->message;
    long double z[ORACLE_WIDTH];
    bool real = false;
    for (int64_t t = 0; t < count; t++) {
        int64_t k = o->k[t];
        const oracle_number named[] = {{o->a[t], !o->integers},
                                       {o->b[t], !o->integers},
                                       whole(i),
                                       whole(j),
                                       whole(k),
                                       whole(o->degree[i]),
                                       whole(o->degree[j]),
                                       whole(o->shared_degree[k])};
        real = formula_values(f, named, z);
        for (int w = 0; w < f->width; w++)
            h[w] = t == 0 ? z[w] : reduce(o->reducer.monoid, h[w], z[w]);
    }
    for (int w = 0; o->reducer.mean && w < f->width; w++)
        h[w] /= (long double)count;
    return real || o->reducer.mean;
}

/* The weight of a pair from its h, and whether --where keeps it. */
static bool finish(oracle *o, int64_t i, int64_t j, const long double *h, bool real, double *weight)
{
    oracle_number named[ORACLE_NAMES];
    int count = 0;
    for (; count < o->message.width; count++)
        named[count] = (oracle_number){h[count], real};
    const oracle_number ends[] = {
        whole(i),          whole(j),          whole(o->degree[i]),  whole(o->degree[j]),
        {o->sum[i], true}, {o->sum[j], true}, {o->square[i], true}, {o->square[j], true},
        whole(o->m),       whole(o->n)};
    memcpy(named + count, ends, sizeof ends);
    long double w = o->epilogue.expr ? formula_value(&o->epilogue, named) : h[0];
    named[count + 10] = (oracle_number){w, true};
    *weight = (double)w;
    return !o->where.expr || formula_value(&o->where, named) != 0;
}

void oracle_row(oracle *o, int64_t i)
{
    long double h[ORACLE_WIDTH];
    const FtB_Project_options *options = &o->p->options;
    for (int64_t j = 0; j < o->n; j++) {
        o->present[j] = false;
        if (!o->source[i] || !o->target[j] || (j == i && !options->self_loops) ||
            (j < i && options->triangle))
            continue;
        int64_t count = meet(o, i, j);
        if (count == 0)
            continue;
        bool real = reduce_messages(o, i, j, count, h);
        o->present[j] = finish(o, i, j, h, real, &o->weights[j]);
    }
}

/* ---- all of it */

static void admit(const oracle *o, bool *admitted, const int64_t *list, int64_t count)
{
    const FtB_Project_options *options = &o->p->options;
    for (int64_t v = 0; v < o->n; v++)
        admitted[v] = !list;
    for (int64_t at = 0; list && at < count; at++)
        admitted[list[at]] = true;
    for (int64_t v = 0; v < o->n; v++)
        if (o->degree[v] < options->min_degree || (options->max_degree && o->degree[v] > options->max_degree))
            admitted[v] = false;
}

int oracle_new(oracle *o, const project *p)
{
    int64_t n = p->vertices;
    FtB_Type type = FTB_FP64;
    *o = (oracle){.p = p, .named = ftb_weight_find(p->weight), .n = n, .m = p->nrows + p->ncols - n};
    double steps = 2 * (double)n * (double)p->nvals;
    if (steps > MOST_STEPS)
        return app_fail(
            APP_USAGE,
            "--check compares every two vertices: here %.1e steps, and %.0e are the most that it takes; "
            "check a smaller input",
            steps, MOST_STEPS);
    if (!allocate(o, p->nvals))
        return app_fail(APP_MEMORY, "--check: out of memory");
    bool unweighted = p->options.unweighted || (o->named && o->named->unweighted);
    int code = app_library_error(fill_lists(o, unweighted), APP_MEMORY);
    if (code != APP_OK)
        return code;
    FtB_Matrix_shape(p->R, NULL, NULL, NULL, NULL, &type);
    o->integers = (unweighted || !ftb_type_float(type)) && !(o->named && o->named->prepare);
    code = o->named && o->named->prepare ? prepare(o) : APP_OK;
    sums_of_vertices(o);
    admit(o, o->source, p->options.sources, p->options.nsources);
    admit(o, o->target, p->options.targets, p->options.ntargets);
    return code == APP_OK ? parse_formulas(o) : code;
}

void oracle_free(oracle *o)
{
    formula_free(&o->message);
    formula_free(&o->epilogue);
    formula_free(&o->where);
    void *const owned[] = {o->start, o->other, o->value, o->degree,  o->shared_degree, o->sum,    o->square,
                           o->a,     o->b,     o->k,     o->weights, o->present,       o->source, o->target};
    for (size_t at = 0; at < sizeof owned / sizeof *owned; at++)
        free(owned[at]);
}
