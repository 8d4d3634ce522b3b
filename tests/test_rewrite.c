/* What becomes of a message's text: by its parts, and by its values. */
#include "support/check.h"

#include "cpu/message_run.h"
#include "expr/rewrite.h"
#include "ops/vertices.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NROWS 23
#define NCOLS 31
#define WIDTH 6

/* ---- a message of any text */

typedef struct fixture {
    FtB_Matrix A;
    FtB_Block src, dst, narrow, wide, pair, three, norm, w;
    FtB_Semiring bound;
    ftb_message m;
} fixture;

static FtB_Block random_block(rng *r, int64_t nrows, int64_t ncols, FtB_Type type)
{
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, nrows, ncols, type));
    rng_values(r, block_values(X), type, nrows * ncols);
    return X;
}

typedef struct config {
    FtB_Type src, dst, edge;
    int64_t edge_width, heads;
} config;

static const config plain = {FTB_FP32, FTB_FP32, FTB_FP32, 1, 1};

/* Blocks that the text uses are bound: narrow (6 x 3) and wide (6 x 9), pair
 * (12 x 4) and three (13 x 4) for two or three sides, norm by vertices, w by edges. */
static void make(fixture *f, const char *text, const config *c)
{
    static const double scale = 0.5;
    rng r = rng_new();
    FtB_Semiring s;
    FtB_Binding bindings[8];
    size_t count = 0;
    f->A = rng_matrix(&r, c->edge, NROWS, NCOLS, c->edge_width, 0.2);
    f->src = random_block(&r, NCOLS, c->heads * WIDTH, c->src);
    f->dst = random_block(&r, NROWS, c->heads * WIDTH, c->dst);
    f->narrow = random_block(&r, WIDTH, 3, FTB_FP32);
    f->wide = random_block(&r, WIDTH, 9, FTB_FP32);
    f->pair = random_block(&r, 2 * WIDTH, 4, FTB_FP32);
    f->three = random_block(&r, 2 * WIDTH + 1, 4, FTB_FP32);
    f->norm = random_block(&r, NCOLS, 1, FTB_FP32);
    f->w = random_block(&r, f->A->pattern->nvals, 1, FTB_FP32);
    for (int64_t v = 0; v < NCOLS; v++)
        ((float *)block_values(f->norm))[v] = 0.5F + (float)v / 8;
    assert_ok(FtB_Semiring_new(&s, text));
    const FtB_Binding all[] = {FTB_BIND("narrow", f->narrow), FTB_BIND("wide", f->wide),
                               FTB_BIND("pair", f->pair),     FTB_BIND("three", f->three),
                               FTB_BIND("norm", f->norm),     FTB_BIND("w", f->w),
                               FTB_BIND("scale", scale),      FTB_BIND("minus", -3)};
    for (size_t b = 0; b < sizeof all / sizeof *all; b++)
        if (ftb_expr_uses(s->message, all[b].name))
            bindings[count++] = all[b];
    assert_ok((FtB_Semiring_bind)(&f->bound, s, bindings, count));
    assert_ok(ftb_message_new(&f->m, ftb_context(), f->bound, NULL));
    assert_ok(ftb_message_block(&f->m, "src", FTB_SIDE_COL, f->src, c->heads));
    assert_ok(ftb_message_block(&f->m, "dst", FTB_SIDE_ROW, f->dst, c->heads));
    assert_ok(ftb_message_values(&f->m, "edge", f->A, NULL));
    assert_ok(ftb_message_indices(&f->m, f->A->pattern, false, NULL));
    FtB_Semiring_free(&s);
}

static void release(fixture *f)
{
    ftb_message_clear(&f->m);
    FtB_Semiring_free(&f->bound);
    FtB_Matrix_free(&f->A);
    FtB_Block *blocks[] = {&f->src, &f->dst, &f->narrow, &f->wide, &f->pair, &f->three, &f->norm, &f->w};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        FtB_Block_free(blocks[b]);
}

/* ---- by its parts */

static void append(char *to, size_t room, const char *format, const char *x, const ftb_expr *e)
{
    char *text = ftb_expr_print(ftb_context(), e);
    size_t used = strlen(to);
    assert_non_null(text);
    snprintf(to + used, room - used, format, x, text);
    ftb_delete(text);
}

/* "u = ... | v = ... | copy u | max core | post" */
static void describe(char *to, size_t room, const ftb_rewritten *r)
{
    static const char *const forms[] = {"any",  "copy", "mul",  "add", "sub",
                                        "rsub", "div",  "edge", "one", "dot"};
    *to = '\0';
    for (int p = 0; p < r->npre; p++)
        append(to, room, "%s = %s | ", r->pre[p].name, r->pre[p].expr);
    size_t used = strlen(to);
    snprintf(to + used, room - used, "%s%s%s%s%s | ", forms[r->form], *r->x ? " " : "", r->x,
             *r->y ? " " : "", r->y);
    append(to, room, "%s %s", ftb_monoid_name(r->monoid), r->core);
    if (r->post)
        append(to, room, "%s | %s", "", r->post);
}

static const struct {
    const char *text, *want;
} reduced[] = {
    {"plus : src", "copy src | plus src"},
    {"mean : src", "copy src | plus src | h / fp32(count)"},
    {"plus : edge * src", "mul src edge | plus edge * src"},
    {"plus : src * edge", "mul src edge | plus src * edge"},
    {"plus : edge + src", "add src edge | plus edge + src"},
    {"plus : src - edge", "sub src edge | plus src - edge"},
    {"plus : edge - src", "rsub src edge | plus edge - src"},
    {"plus : src / edge", "div src edge | plus src / edge"},
    {"plus : edge", "edge edge | plus edge"},
    {"plus : w[e] * src", "mul src w[e] | plus w[e] * src"},
    {"plus : 1", "one | plus 1"},
    {"plus : tanh(src)", "u = tanh(src) | copy u | plus u"},
    {"plus : tanh(src * dst)", "any | plus tanh(src * dst)"},
    {"max : relu((src + dst) @ wide)", "u = src @ wide | v = dst @ wide | copy u | max u | relu(h + v)"},
    {"max : relu((src + dst) @ narrow)",
     "u = src @ narrow | v = dst @ narrow | copy u | max u | relu(h + v)"},
    {"plus : (src + dst) @ narrow",
     "u = src @ narrow | v = dst @ narrow | copy u | plus u | h + fp32(count) * v"},
    {"plus : (src + dst) @ wide", "copy src | plus src | (h + fp32(count) * dst) @ wide"},
    {"mean : (src + dst) @ wide", "copy src | plus src | (h / fp32(count) + dst) @ wide"},
    {"max : relu([src, dst] @ pair)",
     "u = src @ pair[0:] | v = dst @ pair[6:] | copy u | max u | relu(h + v)"},
    {"max : [dst, src] @ pair", "u = src @ pair[6:] | v = dst @ pair[0:] | copy u | max u | h + v"},
    {"max : [src, dst, edge] @ three",
     "u = src @ three[0:] | v = dst @ three[6:] | any | max u + edge @ three[12:] | h + v"},
    {"max : [src - dst, dst] @ pair",
     "u = src @ pair[0:] | v = dst @ pair[0:] | v2 = dst @ pair[6:] | copy u | max u | h + (v2 - v)"},
    {"max : [src * dst, dst] @ pair", "v = dst @ pair[6:] | any | max src * dst @ pair[0:] | h + v"},
    {"plus : tanh([src, dst] @ pair)", "u = src @ pair[0:] | v = dst @ pair[6:] | any | plus tanh(u + v)"},
    {"plus : src @ wide", "copy src | plus src | h @ wide"},
    {"plus : src @ narrow", "u = src @ narrow | copy u | plus u"},
    {"plus : edge * (src @ narrow)", "u = src @ narrow | mul u edge | plus edge * u"},
    {"plus : (edge * src) @ narrow", "u = src @ narrow | mul u edge | plus u * edge"},
    {"plus : (edge * src) @ wide", "mul src edge | plus edge * src | h @ wide"},
    {"plus : relu(src + dst) @ narrow", "any | plus relu(src + dst) | h @ narrow"},
    {"plus : norm[i] * edge * src * norm[k]", "u = src * norm[k] | mul u edge | plus u * edge | h * norm[i]"},
    {"plus : norm[i] * norm[k] * src", "u = norm[k] * src | copy u | plus u | h * norm[i]"},
    {"plus : -src / dst", "copy src | plus src | -(h / dst)"},
    {"plus : scale * src", "copy src | plus src | h * scale"},
    {"plus : src + dst", "copy src | plus src | h + fp32(count) * dst"},
    {"plus : dst - src", "copy src | plus src | fp32(count) * dst - h"},
    {"plus : -dst - src", "copy src | plus src | -(h + fp32(count) * dst)"},
    {"mean : src - dst", "copy src | plus src | h / fp32(count) - dst"},
    {"plus : src + dst + edge", "add src edge | plus src + edge | h + fp32(count) * dst"},
    {"plus : tanh(src * edge) + dst", "any | plus tanh(src * edge) + dst"},
    {"plus : dst", "one | plus 1 | fp32(count) * dst"},
    {"mean : dst", "one | plus 1 | dst"},
    {"max : dst", "one | max 1 | dst"},
    {"plus : edge * dst", "edge edge | plus edge | h * dst"},
    {"plus : dot(src, dst)", "copy src | plus src | dot(h, dst)"},
    {"plus : sum(src * dst)", "copy src | plus src | sum(h * dst)"},
    {"plus : sum(src)", "u = sum(src) | copy u | plus u"},
    {"plus : dot(src, dst) * scale", "copy src | plus src | dot(h, dst) * scale"},
    {"max : 2 * src", "copy src | max src | h * 2"},
    {"max : -2 * src", "copy src | min src | h * -2"},
    {"max : minus * src", "copy src | min src | h * minus"},
    {"max : dst - src", "copy src | min src | dst - h"},
    {"min : exp(src / 4 - dst)", "copy src | min src | exp(h / 4 - dst)"},
    {"max : leaky_relu(src + dst, 0.2)", "copy src | max src | leaky_relu(h + dst, 0.2)"},
    {"max : leaky_relu(src + dst, -0.2)", "any | max leaky_relu(src + dst, -0.2)"},
    {"max : log(src * edge)", "any | max log(src * edge)"},
    {"max : max(src, dst)", "copy src | max src | max(h, dst)"},
    {"max : min(src, dst)", "any | max min(src, dst)"},
    {"max : edge * src * norm[i]", "any | max edge * src * norm[i]"},
    {"max : step(src * edge)", "any | max step(src * edge)"},
    {"times : 2 * src", "u = 2 * src | copy u | times u"},
    {"plus : [src, dst]", "any | plus [src, dst]"},
    {"plus : src[0] * edge", "u = src[0] | mul u edge | plus u * edge"},
    {"plus : relu(src * norm[k] * edge)", "u = src * norm[k] | any | plus relu(u * edge)"},
    {"plus : sigmoid(src[1] + dst[0]) * src * edge",
     "v = dst[0] | u = src[1] | any | plus sigmoid(u + v) * src * edge"},
    {"plus : tanh(src * src) + tanh(src * src) * edge", "u = tanh(src * src) | any | plus u + u * edge"},
};

static void check_parts(const char *text, const char *want, bool reduce, bool arg, const config *c)
{
    fixture f;
    ftb_rewritten r;
    char got[1024];
    make(&f, text, c);
    assert_ok(ftb_rewrite(&r, &f.m, reduce, arg));
    describe(got, sizeof got, &r);
    if (strncmp(got, want, strlen(want)) != 0 && getenv("REWRITE_ALL"))
        print_message("%s\n    %s\n    %s\n", text, got, want);
    else if (strncmp(got, want, strlen(want)) != 0)
        fail_msg("%s\n    became   %s\n    expected %s", text, got, want);
    ftb_rewritten_clear(&r);
    release(&f);
}

static void parts_of_reductions(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof reduced / sizeof *reduced; t++)
        check_parts(reduced[t].text, reduced[t].want, true, false, &plain);
}

/* Results that stay on the edges: what is left has a form more often, and nothing is done afterwards. */
static void parts_on_edges(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"plus : dot(src, dst)", "dot src dst | plus dot(src, dst)"},
        {"plus : dot(dst, src)", "dot src dst | plus dot(dst, src)"},
        {"plus : sum(src * dst)", "dot src dst | plus dot(src, dst)"},
        {"plus : dot(src, dst) * scale", "u = src * scale | dot u dst | plus dot(u, dst)"},
        {"plus : dot(dst, src) / 8", "u = src / 8 | dot u dst | plus dot(dst, u)"},
        {"plus : norm[i] * dot(src, dst) * norm[j]", "u = src * norm[j] | v = dst * norm[i] | dot u v"},
        {"plus : dot(src, dst) * edge", "any | plus dot(src, dst) * edge"},
        {"plus : dot(src @ narrow, dst @ narrow)", "v = dst @ narrow | u = src @ narrow | dot u v"},
        {"plus : src + dst", "add src dst | plus src + dst"},
        {"plus : dst - src", "rsub src dst | plus dst - src"},
        {"plus : src * dst", "mul src dst | plus src * dst"},
        {"plus : dst", "copy dst | plus dst"},
        {"plus : tanh(dst)", "v = tanh(dst) | copy v | plus v"},
        {"plus : src / dst", "div src dst | plus src / dst"},
        {"plus : dst / src", "any | plus dst / src"},
        {"mean : src * edge", "mul src edge | plus src * edge"},
        {"plus : leaky_relu(src @ narrow + dst @ narrow)", "v = dst @ narrow | u = src @ narrow | any"},
        {"max : relu((src + dst) @ narrow)", "u = src @ narrow | v = dst @ narrow | any | max relu(u + v)"},
    };
    (void)state;
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++)
        check_parts(rows[t].text, rows[t].want, false, false, &plain);
}

/* Nothing leaves where winners are wanted, since what leaves could make ties. */
static void parts_with_winners(void **state)
{
    (void)state;
    check_parts("max : relu(src)", "u = relu(src) | copy u | max u", true, true, &plain);
    check_parts("max : relu((src + dst) @ narrow)",
                "u = src @ narrow | v = dst @ narrow | any | max relu(u + v)", true, true, &plain);
    check_parts("min : 2 * src", "u = 2 * src | copy u | min u", true, true, &plain);
}

/* What would change the type of a sum, or the wrapping of whole numbers, stays. */
static void parts_by_type(void **state)
{
    static const config whole = {FTB_INT8, FTB_INT8, FTB_INT8, 1, 1},
                        mixed = {FTB_FP32, FTB_FP64, FTB_FP32, 1, 1},
                        wholes = {FTB_INT16, FTB_FP32, FTB_FP32, 1, 1},
                        pattern = {FTB_FP32, FTB_FP32, FTB_FP32, 0, 1};
    (void)state;
    check_parts("plus : src * dst", "copy src | plus src | h * dst", true, false, &whole);
    check_parts("plus : src + dst", "copy src | plus src | h + count * dst", true, false, &whole);
    check_parts("plus : src / dst", "any | plus src / dst", true, false, &whole);
    check_parts("mean : src", "copy src | plus src | h / count", true, false, &whole);
    check_parts("mean : dst", "one | plus 1 | fp64(dst)", true, false, &whole);
    check_parts("max : src + dst", "any | max src + dst", true, false, &whole);
    check_parts("max : relu(src)", "copy src | max src | relu(h)", true, false, &whole);
    check_parts("plus : int8(src * dst)", "any | plus int8(src * dst)", true, false, &whole);
    check_parts("plus : src * dst", "any | plus src * dst", true, false, &mixed);
    check_parts("max : src + dst", "copy src | max src | h + dst", true, false, &mixed);
    check_parts("max : src * 2 * edge", "mul src edge | max src * edge | h * 2", true, false, &plain);
    check_parts("times : (src + 1) * edge", "any | times (src + 1) * edge", true, false, &wholes);
    check_parts("plus : src > 0", "u = src > 0 | copy u | plus u", true, false, &plain);
    check_parts("plus : edge * src", "copy src | plus src", true, false, &pattern);
    check_parts("plus : src / edge", "copy src | plus src", true, false, &pattern);
    check_parts("plus : edge", "one | plus 1", true, false, &pattern);
    check_parts("plus : edge * src", "mul src edge | plus edge * src", true, false, &mixed);
}

/* ---- by its values */

/* The message with another tree, whose feeds may grow. */
static ftb_message with_expr(const ftb_message *m, ftb_expr *expr)
{
    ftb_message copy = *m;
    copy.expr = expr;
    return copy;
}

static void add_feed(ftb_message *m, const char *name, ftb_side side, FtB_Type type, const void *data,
                     int64_t nrows, int64_t heads, int64_t width)
{
    ftb_feed *feed = &m->feeds[m->nfeeds++];
    *feed = (ftb_feed){.side = side,
                       .type = type,
                       .data = data,
                       .nrows = nrows,
                       .ld = heads * width,
                       .heads = heads,
                       .width = width};
    snprintf(feed->name, sizeof feed->name, "%s", name);
}

typedef struct values {
    FtB_Type type;
    int64_t width; /* of all heads */
    void *data;
} values;

static values reduce(const ftb_message *m, const ftb_pattern *p)
{
    ftb_message_type type;
    ftb_program *program;
    assert_ok(ftb_message_compile(&type, &program, m));
    ftb_program_delete(program);
    values v = {type.reduced, m->heads * type.width, NULL};
    v.data = malloc((size_t)(p->nrows * v.width + 1) * 8);
    assert_ok(ftb_message_reduce(m, p, v.data, v.width, NULL, 0, NULL, 0));
    return v;
}

/* As the text says, a mean by hand. */
static values run_plain(const ftb_message *m, const ftb_pattern *p)
{
    values v = reduce(m, p);
    for (int64_t i = 0; i < p->nrows && m->reducer.mean; i++)
        for (int64_t f = 0; f < v.width; f++) {
            double mean =
                ftb_get_real(v.data, v.type, i * v.width + f) / (double)(p->rowptr[i + 1] - p->rowptr[i]);
            if (v.type == FTB_FP32)
                ((float *)v.data)[i * v.width + f] = (float)mean;
            else
                ((double *)v.data)[i * v.width + f] = mean;
        }
    return v;
}

static values run_rewritten(const ftb_message *m, const ftb_rewritten *r, const ftb_pattern *p)
{
    ftb_message core = with_expr(m, r->core);
    FtB_Block made[FTB_MAX_PRE];
    for (int x = 0; x < r->npre; x++) {
        const ftb_pre *pre = &r->pre[x];
        int64_t nrows = pre->side == FTB_SIDE_ROW ? p->nrows : p->ncols;
        assert_ok(ftb_vertex_values_new(
            &made[x], NULL,
            &(ftb_vertex_values){.m = m, .expr = pre->expr, .side = pre->side, .nrows = nrows}));
        add_feed(&core, pre->name, pre->side, made[x]->type, ftb_block_data(made[x]), nrows, m->heads,
                 made[x]->ncols / m->heads);
    }
    core.reducer.monoid = r->monoid;
    values h = reduce(&core, p);
    if (r->post) {
        int64_t count[NROWS];
        FtB_Block done;
        for (int64_t i = 0; i < p->nrows; i++)
            count[i] = p->rowptr[i + 1] - p->rowptr[i];
        ftb_message post = with_expr(&core, r->post);
        add_feed(&post, "h", FTB_SIDE_ROW, h.type, h.data, p->nrows, m->heads, h.width / m->heads);
        add_feed(&post, "count", FTB_SIDE_ROW, FTB_INT64, count, p->nrows, 1, 1);
        assert_ok(ftb_vertex_values_new(
            &done, NULL,
            &(ftb_vertex_values){.m = &post, .expr = r->post, .side = FTB_SIDE_ROW, .nrows = p->nrows}));
        h.type = done->type;
        h.width = done->ncols;
        memcpy(h.data = realloc(h.data, (size_t)(p->nrows * h.width + 1) * 8), ftb_block_data(done),
               (size_t)(p->nrows * h.width) * FtB_Type_size(h.type));
        FtB_Block_free(&done);
    }
    for (int x = 0; x < r->npre; x++)
        FtB_Block_free(&made[x]);
    return h;
}

/* Where the text gives a finite number, so does what became of it, and the same but for rounding. */
static void compare(const char *text, const values *want, const values *got, const ftb_pattern *p)
{
    double most = want->type == FTB_FP32 ? 2e-3 : 1e-9;
    if (got->type != want->type || got->width != want->width)
        fail_msg("%s: %s of width %lld; expected %s of %lld", text, FtB_Type_name(got->type),
                 (long long)got->width, FtB_Type_name(want->type), (long long)want->width);
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t f = 0; f < want->width && p->rowptr[i] < p->rowptr[i + 1]; f++) {
            double x = ftb_get_real(want->data, want->type, i * want->width + f);
            double y = ftb_get_real(got->data, got->type, i * want->width + f);
            bool exact = want->type != FTB_FP32 && want->type != FTB_FP64;
            if (isfinite(x) && (exact ? x != y : !(fabs(x - y) <= most * (1 + fabs(x)))))
                fail_msg("%s: row %lld, value %lld: %.9g; expected %.9g", text, (long long)i, (long long)f, y,
                         x);
        }
}

static void check_values(const char *text, const config *c, bool arg, bool odd_numbers)
{
    fixture f;
    ftb_rewritten r;
    make(&f, text, c);
    ftb_message_type type;
    ftb_program *program;
    if (ftb_message_compile(&type, &program, &f.m) != GrB_SUCCESS) { /* widths that do not fit */
        release(&f);
        return;
    }
    ftb_program_delete(program);
    for (int64_t v = 0; odd_numbers && v < NCOLS * WIDTH * c->heads; v += 7)
        ((float *)block_values(f.src))[v] = v % 3 == 0 ? NAN : v % 3 == 1 ? INFINITY : -INFINITY;
    assert_ok(ftb_rewrite(&r, &f.m, true, arg));
    values want = run_plain(&f.m, f.A->pattern), got = run_rewritten(&f.m, &r, f.A->pattern);
    compare(text, &want, &got, f.A->pattern);
    free(want.data);
    free(got.data);
    ftb_rewritten_clear(&r);
    release(&f);
}

static void same_values(void **state)
{
    static const config configs[] = {
        {FTB_FP32, FTB_FP32, FTB_FP32, 1, 1},   {FTB_FP64, FTB_FP64, FTB_FP64, 1, 1},
        {FTB_INT8, FTB_INT32, FTB_INT16, 1, 1}, {FTB_UINT8, FTB_UINT64, FTB_FP32, 1, 1},
        {FTB_FP64, FTB_FP32, FTB_BF16, 6, 1},   {FTB_FP32, FTB_INT16, FTB_INT8, 0, 1},
        {FTB_BOOL, FTB_FP32, FTB_UINT8, 1, 1},  {FTB_FP64, FTB_FP64, FTB_FP64, 1, 3},
        {FTB_FP64, FTB_FP64, FTB_FP64, 3, 3}};
    (void)state;
    for (size_t c = 0; c < sizeof configs / sizeof *configs; c++)
        for (size_t t = 0; t < sizeof reduced / sizeof *reduced; t++)
            check_values(reduced[t].text, &configs[c], t % 5 == 4, false);
}

static void same_values_beside_odd_ones(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof reduced / sizeof *reduced; t++)
        if (strncmp(reduced[t].text, "m", 1) == 0)
            check_values(reduced[t].text, &plain, false, true);
}

/* ---- hostile texts */

static void check_long(const char *text, bool rewritten)
{
    fixture f;
    ftb_rewritten r;
    make(&f, text, &plain);
    assert_ok(ftb_rewrite(&r, &f.m, true, false));
    if ((r.form != FTB_FORM_ANY) != rewritten)
        fail_msg("%.60s...: form %d", text, (int)r.form);
    values want = run_plain(&f.m, f.A->pattern), got = run_rewritten(&f.m, &r, f.A->pattern);
    compare("a long text", &want, &got, f.A->pattern);
    free(want.data);
    free(got.data);
    ftb_rewritten_clear(&r);
    release(&f);
}

static void long_texts(void **state)
{
    static const struct {
        const char *start, *part, *end;
        int count;
        bool rewritten;
    } rows[] = {
        {"plus : src", " + dst", "", 20, true},          {"plus : src", " + dst", "", 300, false},
        {"plus : src", " + dst * 1.5", "", 3000, false}, {"max : ", "relu(", "src", 150, true},
        {"plus : src", " * 0.99 / 1.01", "", 12, true},  {"plus : edge", " * (src + 1)", "", 70, false},
    };
    char *text = malloc(1 << 16);
    (void)state;
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {
        size_t used = (size_t)sprintf(text, "%s", rows[t].start);
        for (int n = 0; n < rows[t].count && used < 30000; n++)
            used += (size_t)sprintf(text + used, "%s", rows[t].part);
        used += (size_t)sprintf(text + used, "%s", rows[t].end);
        for (int n = 0; n < rows[t].count && rows[t].end[0]; n++)
            used += (size_t)sprintf(text + used, ")");
        check_long(text, rows[t].rewritten);
    }
    free(text);
}

/* ---- texts again */

static void printed_texts_read_as_themselves(void **state)
{
    static const char *const texts[] = {"a - (b - c)",
                                        "a - b - c",
                                        "(a - b) * c",
                                        "a / (b * c)",
                                        "-(a + b)",
                                        "-a * b",
                                        "-(a * b)",
                                        "a @ W @ V",
                                        "(a ? b : c) ? d : f",
                                        "a ? b : c ? d : f",
                                        "(a < b) == true",
                                        "!(a && b || c)",
                                        "(a || b) && c",
                                        "[a, [b, 1.5], 2.0][1]",
                                        "min(a, max(b, 1))",
                                        "0.1 + 1e300 + 1e-5",
                                        "-(-a)",
                                        "(a == b) < c",
                                        "inf - nan",
                                        "18446744073709551615 + 2",
                                        "leaky_relu(a) + elu(a, 2)",
                                        "dot(a, b)[0]",
                                        "(-a)[0]"};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        ftb_expr *e, *again;
        assert_ok(ftb_expr_parse(&e, ftb_context(), texts[t], "test", 0));
        char *once = ftb_expr_print(ftb_context(), e);
        assert_ok(ftb_expr_parse(&again, ftb_context(), once, "test", 0));
        char *twice = ftb_expr_print(ftb_context(), again);
        assert_string_equal(once, twice);
        const char *const pairs[] = {NULL};
        char both[512];
        ftb_expr *compared;
        snprintf(both, sizeof both, "[%s, %s]", texts[t], once); /* equal ones are the same node */
        assert_ok(ftb_expr_parse(&compared, ftb_context(), both, "test", 0));
        int permutation[2];
        assert_true(ftb_expr_swap(compared, pairs, 2, permutation));
        assert_int_equal(permutation[1], 0);
        ftb_expr_release(compared);
        ftb_expr_release(e);
        ftb_expr_release(again);
        ftb_delete(once);
        ftb_delete(twice);
    }
}

/* ---- failures */

static GrB_Info rewrite_call(void *arg)
{
    ftb_rewritten r;
    GrB_Info info = ftb_rewrite(&r, arg, true, false);
    if (info == GrB_SUCCESS)
        ftb_rewritten_clear(&r);
    return info;
}

static void failing_allocations(void **state)
{
    static const char *const texts[] = {"max : relu((src + dst) @ narrow)", "max : [src, dst, edge] @ three",
                                        "mean : norm[i] * edge * src * norm[k]", "mean : src"};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        fixture f;
        make(&f, texts[t], &plain);
        fail_every_allocation(rewrite_call, NULL, &f.m);
        release(&f);
    }
}

static void wrong_texts(void **state)
{
    fixture f;
    ftb_rewritten r;
    (void)state;
    make(&f, "plus : src @ narrow + src", &plain);
    assert_fails(GrB_DIMENSION_MISMATCH, "widths 3 and 6 do not match in '+'",
                 ftb_rewrite(&r, &f.m, true, false));
    assert_null(r.core);
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_reductions), cmocka_unit_test(parts_on_edges),
        cmocka_unit_test(parts_with_winners),  cmocka_unit_test(parts_by_type),
        cmocka_unit_test(same_values),         cmocka_unit_test(same_values_beside_odd_ones),
        cmocka_unit_test(long_texts),          cmocka_unit_test(printed_texts_read_as_themselves),
        cmocka_unit_test(failing_allocations), cmocka_unit_test(wrong_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
