/* Expressions as sources of kernels (expression.h): a function `message` (expression_text.c), and
 * FTB_GPU_TEXT's kernels around it. In FP32 all but pow and lgamma have the host's bits. */
#include "gpu/texts/expression.h"

#include "gpu/texts/expression_text.h"
#include "gpu/texts/text_source.h"

#include <stdio.h>

/* ---- what can be written */

const int64_t *ftb_gpu_expression_from(const ftb_message *m, const ftb_program *p)
{
    for (int f = 0; f < m->nfeeds; f++)
        if (ftb_gpu_reads(m, p, f) && m->feeds[f].at)
            return m->feeds[f].at;
    return NULL;
}

static bool feed_fits(const ftb_feed *feed, ftb_side side, const int64_t *rowptr, const int64_t *at)
{
    if ((feed->at && (side || feed->at != at)) ||
        (feed->degree && (feed->degree != rowptr || (!side && feed->side != FTB_SIDE_ROW))))
        return false;
    return feed->width == 1 || feed->whole || !ftb_gpu_is_number(feed);
}

static bool code_fits(const ftb_code *code)
{
    return code->kind != FTB_CODE_GATHER && (code->kind != FTB_CODE_FEATURE || code->op == FTB_OP_DOT ||
                                             code->op == FTB_OP_SUM || code->op == FTB_OP_MEAN);
}

bool ftb_gpu_expression_fits(const ftb_message *m, const ftb_program *p, ftb_side side, const int64_t *rowptr)
{
    const int64_t *const at = ftb_gpu_expression_from(m, p);
    ftb_gpu_shared shared;
    int feeds = 0;
    for (int c = 0; c < p->ncodes; c++)
        if (!code_fits(&p->codes[c]))
            return false;
    for (int f = 0; f < m->nfeeds; f++) {
        if (ftb_gpu_reads(m, p, f) && !feed_fits(&m->feeds[f], side, rowptr, at))
            return false;
        feeds += ftb_gpu_reads(m, p, f);
    }
    const bool made = ftb_gpu_shared_of(&shared, m, p) == GrB_SUCCESS,
               room = made && (shared.count == 0 || shared.items > 0);
    ftb_gpu_shared_clear(&shared);
    return room && !m->function && feeds <= FTB_EXPRESSION_FEEDS;
}

/* ---- the source */

static bool reads_rows(const ftb_message *m, const ftb_program *p)
{
    for (int f = 0; f < m->nfeeds; f++)
        if (ftb_gpu_reads(m, p, f) && m->feeds[f].side == FTB_SIDE_ROW)
            return true;
    return false;
}

static void put_shape(ftb_printer *w, const ftb_message *m, const ftb_program *p, const ftb_gpu_shared *s)
{
    ftb_print(w, "#define LANES %d\n", s->count > 0 ? s->lanes : 0);
    if (s->count > 0)
        ftb_print(w,
                  "#define ITEMS %d\n#define EACH %d\n#define WIDTH %lldll\n#define HEADS %lldll\n"
                  "#include \"gpu/kernels/expression_products.cuh\"\n",
                  s->items, s->each, (long long)ftb_program_width(p), (long long)m->heads);
}

static void put_body(ftb_printer *w, const ftb_message *m, const ftb_program *p, const ftb_gpu_shared *s,
                     FtB_Type result, ftb_monoid monoid, int kernels)
{
    ftb_print(w, "#define FTB_STANDALONE\n#include \"gpu/kernels/c_types.cuh\"\n"
                 "#include \"src/expr/scalar.h\"\n#include \"src/expr/real.h\"\n"
                 "#include \"gpu/kernels/vectors.cuh\"\n#include \"gpu/kernels/features.cuh\"\n"
                 "#include \"gpu/kernels/expression_arguments.h\"\n");
    ftb_print(w, "typedef %s S;\n#define VALUES %lldll\n", ftb_print_stored_type(result),
              (long long)(m->heads * ftb_program_width(p)));
    ftb_print(w, "#define READS_ROWS %d\n#define SUMS %d\n#define KERNELS %d\n", reads_rows(m, p),
              monoid == FTB_PLUS, kernels);
    put_shape(w, m, p, s);
    ftb_print_operators(w, p);
    ftb_gpu_print_message(w, m, p, s, result);
    if (kernels != FTB_EXPRESSION_REDUCE)
        return;
    ftb_print_class(w, ftb_type_compute(result));
    ftb_print(w, "static __device__ S combine(S x, S y) { (void)y; return (S)(%s); }\n",
              ftb_print_monoid(monoid));
}

typedef struct body {
    const ftb_message *m;
    const ftb_program *p;
    const ftb_gpu_shared *s;
    FtB_Type result;
    ftb_monoid monoid;
    int kernels;
} body;

static void put(ftb_printer *w, const void *arg)
{
    const body *b = arg;
    put_body(w, b->m, b->p, b->s, b->result, b->monoid, b->kernels);
}

GrB_Info ftb_gpu_expression_new(ftb_gpu_expression *e, const ftb_message *m, const ftb_program *p,
                                FtB_Type result, ftb_monoid monoid, int kernels)
{
    ftb_gpu_shared s;
    ftb_gpu_text text;
    GrB_Info info;
    *e = (ftb_gpu_expression){.ctx = m->ctx, .result = result};
    FTB_CHECK(ftb_gpu_shared_of(&s, m, p));
    info = ftb_gpu_text_new(&text, m->ctx, put, &(body){m, p, &s, result, monoid, kernels},
                            "gpu/kernels/expression.cuh");
    e->source = text.source;
    memcpy(e->suffix, text.suffix, sizeof e->suffix);
    if (s.count > 0) {
        e->lanes = s.lanes;
        e->items = s.items;
        e->shared = s.bytes;
        e->width = ftb_program_width(p);
        e->tiles = (e->width + s.lanes * s.each - 1) / (s.lanes * s.each);
    }
done:
    ftb_gpu_shared_clear(&s);
    return info;
}

void ftb_gpu_expression_delete(ftb_gpu_expression *e) { ftb_delete(e->source); }

/* ---- running it */

void ftb_gpu_expression_feeds(ftb_expression_arguments *a, const ftb_message *m, const ftb_program *p)
{
    int slot = 0;
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        if (!ftb_gpu_reads(m, p, f))
            continue;
        if (ftb_gpu_is_number(feed) && !feed->whole)
            ftb_cast(&a->number[slot], ftb_type_compute(feed->type), feed->data, feed->type, 1);
        else
            a->data[slot] = feed->data;
        a->ld[slot++] = feed->ld;
    }
}

/* Threads for `count` rows of results, or, of those that have no groups of lanes, for their values. */
static int64_t threads_of(const ftb_gpu_expression *e, int kernels, int64_t count, int64_t ncols)
{
    if (e->lanes == 0 || kernels == FTB_EXPRESSION_JOIN)
        return count * ncols;
    if (kernels != FTB_EXPRESSION_REDUCE)
        count = (count + e->items - 1) / e->items;
    return count * (ncols / e->width) * e->tiles * e->lanes;
}

GrB_Info ftb_gpu_expression_run(ftb_gpu_device *d, const ftb_gpu_expression *e, int kernels, int64_t count,
                                ftb_expression_arguments *a)
{
    static const char *const names[] = {"rows", "entries", "reduce", "join"};
    const int64_t threads = threads_of(e, kernels, count, a->ncols);
    char name[80];
    snprintf(name, sizeof name, "expression_%s%s", names[kernels], e->suffix);
    return ftb_gpu_launch(d, e->ctx, e->source, name,
                          (ftb_gpu_grid){.x = (threads + FTB_EXPRESSION_BLOCK - 1) / FTB_EXPRESSION_BLOCK,
                                         .y = 1,
                                         .threads = FTB_EXPRESSION_BLOCK,
                                         .shared = kernels == FTB_EXPRESSION_JOIN ? 0 : e->shared},
                          (void *[]){a});
}
