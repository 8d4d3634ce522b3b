/* What can be done after a reduction instead of before it, taken off a message from the outside in.
 *
 *     sum_k r * x_k = r * sum_k x_k
 *     sum_k (r + x_k) = n * r + sum_k x_k
 *     sum_k x_k @ W = (sum_k x_k) @ W
 *     max_k f(x_k) = f(max_k x_k), f rising
 *     max_k f(x_k) = f(min_k x_k), f falling
 *
 * r: what depends on the row alone. Sums keep their type, so that neither the precision nor the wrapping of
 * whole numbers changes; reals are rounded at other places. Functions that make NaN of a number or a number
 * of NaN (log, sqrt, step, ...) stay, since NaN loses to every number. */
#include "expr/work.h"

#include <math.h>

static bool is_float(FtB_Type t) { return t == FTB_FP32 || t == FTB_FP64; }

/* The step is taken: what is left is `core`. */
static bool take(ftb_peeled *p, int core, ftb_step step)
{
    if (core < 0 || p->nsteps == FTB_MAX_STEPS)
        return false;
    p->steps[p->nsteps++] = step;
    p->core = core;
    return true;
}

static bool same_type(ftb_work *w, int x, int y)
{
    FtB_Type type = ftb_work_shape(w, x).type;
    return type && type == ftb_work_shape(w, y).type;
}

/* A literal's or bound scalar's value; NAN if it is not known here. */
static double constant(const ftb_work *w, const ftb_message *m, int node)
{
    const ftb_node *n = ftb_work_at(w, node);
    int name = ftb_work_find(w, node);
    if (n->op == FTB_OP_LITERAL)
        return (double)n->integer;
    if (n->op == FTB_OP_REAL)
        return n->real;
    if (n->op == FTB_OP_NEG)
        return -constant(w, m, ftb_work_arg(w, node, 0));
    if (name < 0 || name >= m->nfeeds || !m->feeds[name].constant || !m->feeds[name].data ||
        m->feeds[name].heads != 1)
        return NAN;
    return ftb_get_real(m->feeds[name].data, m->feeds[name].type, 0);
}

static bool is_matched(ftb_work *w, int node)
{
    int x, y;
    return node >= 0 && ftb_match(w, ftb_regroup(w, node), true, &x, &y) != FTB_FORM_ANY;
}

/* ---- chains */

typedef enum choice { ROWS, CONSTANTS } choice;

/* Those terms of a chain that leave. */
static uint32_t leaving(const ftb_work *w, const ftb_message *m, const ftb_chain *chain, choice which)
{
    uint32_t set = 0;
    for (int t = 0; t < chain->count; t++) {
        int node = chain->terms[t].node;
        double value = constant(w, m, node);
        bool leaves = which == ROWS ? ftb_work_row(w, node) : isfinite(value) && value != 0;
        set |= (uint32_t)leaves << t;
    }
    return set;
}

static uint32_t all_of(const ftb_chain *chain)
{
    return chain->count == 32 ? UINT32_MAX : (UINT32_C(1) << chain->count) - 1;
}

static ftb_monoid flipped(ftb_monoid monoid)
{
    return monoid == FTB_MIN ? FTB_MAX : monoid == FTB_MAX ? FTB_MIN : monoid;
}

static bool peel_product(ftb_work *w, const ftb_message *m, ftb_peeled *p)
{
    ftb_chain chain;
    bool inverse, sum = p->monoid == FTB_PLUS;
    if (!ftb_chain_of(w, &chain, p->core) || (!sum && !is_float(chain.type)))
        return false;
    uint32_t set = leaving(w, m, &chain, sum ? ROWS : CONSTANTS);
    if (set == all_of(&chain) || (!set && !chain.negative))
        return false;
    int core = ftb_chain_make(w, &chain, all_of(&chain) & ~set, &inverse), before = p->nsteps;
    if (core < 0 || inverse || (sum && !same_type(w, core, p->core)) ||
        p->nsteps + chain.count + 1 > FTB_MAX_STEPS)
        return false;
    if (chain.negative) {
        take(p, core, (ftb_step){.op = FTB_OP_NEG, .other = -1});
        p->monoid = flipped(p->monoid);
    }
    for (int t = 0; t < chain.count; t++)
        if (set >> t & 1) {
            ftb_operator op = chain.terms[t].inverse ? FTB_OP_DIV : FTB_OP_MUL;
            take(p, core, (ftb_step){.op = op, .other = chain.terms[t].node});
            if (!sum && constant(w, m, chain.terms[t].node) < 0)
                p->monoid = flipped(p->monoid);
        }
    return p->nsteps > before;
}

/* h and the row's part r, either of which may be meant negative. */
static bool take_sum(ftb_peeled *p, int core, bool core_negative, int r, bool r_negative, bool counted)
{
    ftb_step step = {.op = FTB_OP_ADD, .other = r, .counted = counted};
    if (p->nsteps + 2 > FTB_MAX_STEPS)
        return false;
    if (core_negative && r_negative && !take(p, core, (ftb_step){.op = FTB_OP_NEG, .other = -1}))
        return false;
    if (core_negative != r_negative) {
        step.op = FTB_OP_SUB;
        step.before = core_negative;
    }
    return take(p, core, step);
}

static bool peel_sum(ftb_work *w, const ftb_message *m, ftb_peeled *p)
{
    ftb_chain chain;
    bool core_negative, r_negative, sum = p->monoid == FTB_PLUS;
    if (!ftb_chain_of(w, &chain, p->core) || (!sum && !is_float(chain.type)))
        return false;
    uint32_t set = leaving(w, m, &chain, ROWS);
    if (!set || set == all_of(&chain))
        return false;
    int core = ftb_chain_make(w, &chain, all_of(&chain) & ~set, &core_negative);
    int r = ftb_chain_make(w, &chain, set, &r_negative);
    if (core < 0 || r < 0)
        return false;
    /* A sum that is split loses digits if its parts cancel: only for a kernel's form or fewer values. */
    if (sum && (!same_type(w, core, p->core) ||
                (!is_matched(w, core) && ftb_work_shape(w, core).width >= ftb_work_shape(w, p->core).width)))
        return false;
    if (!take_sum(p, core, core_negative, r, r_negative, sum && !p->mean))
        return false;
    if (core_negative)
        p->monoid = flipped(p->monoid);
    return true;
}

/* ---- sums */

static bool peel_matmul(ftb_work *w, ftb_peeled *p)
{
    int x = ftb_work_arg(w, p->core, 0), W = ftb_work_arg(w, p->core, 1), block = ftb_work_find(w, W);
    if (block < 0 || !w->names[block].block || ftb_work_at(w, p->core)->count != 2)
        return false; /* rows of a part of W have been taken apart already */
    const FtB_Block rows = w->names[block].rows;
    int apart = ftb_distribute(w, p->core);
    /* Narrow first: x @ W once per source, or once per result. */
    bool after = rows->ncols > rows->nrows || (apart < 0 && !ftb_work_col(w, p->core));
    if (after && same_type(w, x, p->core))
        return take(p, x, (ftb_step){.op = FTB_OP_MATMUL, .other = W});
    if (apart < 0)
        return false;
    p->core = apart;
    return true;
}

static bool peel_dot(ftb_work *w, ftb_peeled *p)
{
    for (int a = 0; a < 2; a++) {
        int x = ftb_work_arg(w, p->core, a), r = ftb_work_arg(w, p->core, 1 - a);
        if (ftb_work_row(w, r) && !ftb_work_row(w, x) && same_type(w, x, p->core) && is_matched(w, x))
            return take(p, x, (ftb_step){.op = FTB_OP_DOT, .other = r});
    }
    return false;
}

/* The sum over features of what a kernel knows, or of that times a row's values. */
static bool peel_features(ftb_work *w, const ftb_message *m, ftb_peeled *p)
{
    ftb_chain chain;
    bool inverse;
    int x = ftb_work_arg(w, p->core, 0), rest = x;
    if (ftb_work_col(w, x) || !same_type(w, x, p->core))
        return false;
    ftb_operator op = ftb_work_at(w, x)->op;
    if ((op == FTB_OP_MUL || op == FTB_OP_DIV) && ftb_chain_of(w, &chain, x))
        rest = ftb_chain_make(w, &chain, all_of(&chain) & ~leaving(w, m, &chain, ROWS), &inverse);
    return is_matched(w, rest) && take(p, x, (ftb_step){.op = ftb_work_at(w, p->core)->op, .other = -1});
}

static bool peel_plus(ftb_work *w, const ftb_message *m, ftb_peeled *p)
{
    switch (ftb_work_at(w, p->core)->op) {
    case FTB_OP_NEG:
    case FTB_OP_MUL:
    case FTB_OP_DIV:
        return peel_product(w, m, p);
    case FTB_OP_ADD:
    case FTB_OP_SUB:
        return peel_sum(w, m, p);
    case FTB_OP_MATMUL:
        return peel_matmul(w, p);
    case FTB_OP_DOT:
        return peel_dot(w, p);
    case FTB_OP_SUM:
    case FTB_OP_MEAN:
        return peel_features(w, m, p);
    default:
        return false;
    }
}

/* ---- least and greatest */

static bool peel_extreme(ftb_work *w, const ftb_message *m, ftb_peeled *p)
{
    const ftb_node n = *ftb_work_at(w, p->core);
    int x = n.count > 0 ? ftb_work_arg(w, p->core, 0) : -1,
        y = n.count > 1 ? ftb_work_arg(w, p->core, 1) : -1;
    switch (n.op) {
    case FTB_OP_NEG:
    case FTB_OP_MUL:
    case FTB_OP_DIV:
        return peel_product(w, m, p);
    case FTB_OP_ADD:
    case FTB_OP_SUB:
        return peel_sum(w, m, p);
    case FTB_OP_LEAKY_RELU:
    case FTB_OP_ELU: {
        double slope = constant(w, m, y);
        return isfinite(slope) && slope > 0 && take(p, x, (ftb_step){.op = n.op, .other = y});
    }
    case FTB_OP_MIN:
    case FTB_OP_MAX:
        if ((n.op == FTB_OP_MIN) != (p->monoid == FTB_MIN))
            return false;
        for (int a = 0; a < 2; a++, x = y, y = ftb_work_arg(w, p->core, 0))
            if (ftb_work_row(w, y) && !ftb_work_row(w, x) && same_type(w, x, p->core))
                return take(p, x, (ftb_step){.op = n.op, .other = y});
        return false;
    case FTB_OP_MATMUL:
        x = ftb_distribute(w, p->core);
        p->core = x >= 0 ? x : p->core;
        return x >= 0;
    default:
        return n.op < FTB_NOPERATORS && ftb_operators[n.op].rises &&
               take(p, x, (ftb_step){.op = n.op, .other = -1});
    }
}

/* ---- all of it */

/* Messages that are the same for all edges of a row. */
static bool peel_all(ftb_work *w, ftb_peeled *p)
{
    ftb_operator op = ftb_work_at(w, p->core)->op;
    bool literal = op > FTB_OP_NAME, plus = p->monoid == FTB_PLUS;
    bool once = p->mean || p->monoid == FTB_MIN || p->monoid == FTB_MAX || p->monoid == FTB_ANY;
    int one = -1;
    if (literal || !ftb_work_row(w, p->core) || (!plus && !once) || (one = ftb_work_integer(w, 1)) < 0)
        return false;
    int r = p->core;
    if (p->mean && !is_float(ftb_work_shape(w, r).type))
        r = ftb_work_op(w, FTB_OP_FP64, r, -1);
    if (r < 0)
        return false;
    p->all = true;
    p->core = one;
    p->steps[p->nsteps++] = (ftb_step){.op = FTB_OP_MUL, .other = r, .counted = plus && !once};
    return true;
}

void ftb_peel(ftb_work *w, const ftb_message *m, ftb_peeled *p)
{
    bool more = p->monoid == FTB_PLUS || p->monoid == FTB_MIN || p->monoid == FTB_MAX;
    if (peel_all(w, p))
        return;
    while (more && w->info == GrB_SUCCESS)
        more = p->monoid == FTB_PLUS ? peel_plus(w, m, p) : peel_extreme(w, m, p);
}

/* The count as a value that does not change the type of what it meets. */
static int count_as(ftb_work *w, int count, FtB_Type type)
{
    if (type == FTB_FP32)
        return ftb_work_op(w, FTB_OP_FP32, count, -1);
    return type == FTB_UINT64 ? ftb_work_op(w, FTB_OP_UINT64, count, -1) : count;
}

int ftb_peeled_post(ftb_work *w, const ftb_peeled *p, int h, int count)
{
    if (p->all) {
        int r = p->steps[0].other;
        return p->steps[0].counted
                   ? ftb_work_op(w, FTB_OP_MUL, count_as(w, count, ftb_work_shape(w, r).type), r)
                   : r;
    }
    FtB_Type type = ftb_work_shape(w, h).type;
    if (p->mean)
        h = ftb_work_op(w, FTB_OP_DIV, h, type == FTB_FP32 ? count_as(w, count, type) : count);
    for (int s = p->nsteps - 1; s >= 0 && h >= 0; s--) {
        const ftb_step *step = &p->steps[s];
        int other = step->other;
        if (step->counted)
            other = ftb_work_op(w, FTB_OP_MUL, count_as(w, count, ftb_work_shape(w, h).type), other);
        h = step->before ? ftb_work_op(w, step->op, other, h) : ftb_work_op(w, step->op, h, other);
    }
    return h;
}
