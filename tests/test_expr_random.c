/* Random expressions over operands of every type, width and stride, against a small recursive evaluator
 * written from docs/semirings.md; every instruction set must give the same bits.
 * Labels: property */
#include "support/check.h"

#include "core/isa.h"
#include "cpu/interpreter.h"
#include "expr/expr.h"
#include "oracle/ref_expr.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CASES rng_cases(4000)
#define ITEMS FTB_BATCH

static const char *const spelling[NKINDS] = {[ADD] = "+",
                                             [SUB] = "-",
                                             [MUL] = "*",
                                             [DIV] = "/",
                                             [LT] = "<",
                                             [LE] = "<=",
                                             [GT] = ">",
                                             [GE] = ">=",
                                             [EQ] = "==",
                                             [NE] = "!=",
                                             [AND] = "&&",
                                             [OR] = "||",
                                             [NEG] = "-",
                                             [NOT] = "!",
                                             [MIN] = "min",
                                             [MAX] = "max",
                                             [IDIV] = "idiv",
                                             [LEAKY] = "leaky_relu",
                                             [BITAND] = "bitand",
                                             [BITOR] = "bitor",
                                             [BITXOR] = "bitxor",
                                             [DOT] = "dot",
                                             [POW] = "pow",
                                             [ELU] = "elu",
                                             [ABS] = "abs",
                                             [RELU] = "relu",
                                             [STEP] = "step",
                                             [FLOOR] = "floor",
                                             [CEIL] = "ceil",
                                             [SQRT] = "sqrt",
                                             [SUM] = "sum",
                                             [MEAN] = "mean",
                                             [EXP] = "exp",
                                             [LOG] = "log",
                                             [LOG1P] = "log1p",
                                             [TANH] = "tanh",
                                             [SIGMOID] = "sigmoid",
                                             [TO_BOOL] = "bool",
                                             [TO_INT8] = "int8",
                                             [TO_INT16] = "int16",
                                             [TO_INT32] = "int32",
                                             [TO_INT64] = "int64",
                                             [TO_UINT8] = "uint8",
                                             [TO_UINT16] = "uint16",
                                             [TO_UINT32] = "uint32",
                                             [TO_UINT64] = "uint64",
                                             [TO_FP32] = "fp32",
                                             [TO_FP64] = "fp64"};

typedef struct pool {
    node nodes[512];
    int used;
} pool;

static node *make(pool *p, form kind, int nkids)
{
    node *n = &p->nodes[p->used++];
    memset(n, 0, sizeof *n);
    n->kind = kind;
    n->nkids = nkids;
    return n;
}

static node *leaf(pool *p, rng *r)
{
    static const struct {
        const char *text;
        bool real;
    } literals[] = {{"0", 0},   {"1", 0},   {"3", 0},    {"300", 0}, {"70000", 0},
                    {"0.5", 1}, {"0.1", 1}, {"2.25", 1}, {"1e40", 1}};
    int64_t pick = rng_below(r, 14);
    if (pick >= 9) {
        node *n = make(p, NAME, 0);
        n->name = (int)rng_below(r, NNAMES);
        return n;
    }
    node *n = make(p, literals[pick].real ? REAL : INTEGER, 0);
    n->literal = literals[pick].text;
    n->real = atof(n->literal);
    n->integer = atoll(n->literal);
    return n;
}

/* FP32 has functions of its own (test_expr_kernels); here they are asked in FP64, where the C library's
 * bits are expected. An exponent is an operand: a literal 2 is computed as a product. */
static node *in_fp64(pool *p, node *x)
{
    node *n = make(p, TO_FP64, 1);
    n->kid[0] = x;
    return n;
}

static node *random_tree(pool *p, rng *r, int depth)
{
    if (depth == 0 || rng_below(r, 6) == 0)
        return leaf(p, r);
    form k = (form)(ADD + rng_below(r, NKINDS - ADD));
    int nkids = k == SELECT                           ? 3
                : k == VECTOR                         ? 2 + (int)rng_below(r, 2)
                : (k <= OR || (k >= MIN && k <= ELU)) ? 2
                                                      : 1;
    node *n = make(p, k, nkids);
    for (int c = 0; c < nkids; c++)
        n->kid[c] = random_tree(p, r, depth - 1);
    if (k == POW || k == ELU || (k >= EXP && k <= SIGMOID))
        n->kid[0] = in_fp64(p, n->kid[0]);
    if (k == POW || k == ELU) {
        n->kid[1] = make(p, NAME, 0);
        n->kid[1]->name = (int)rng_below(r, NNAMES);
    }
    n->component = (int)rng_below(r, 3);
    return n;
}

static int level(const node *n)
{
    switch (n->kind) {
    case SELECT:
        return 0;
    case OR:
        return 1;
    case AND:
        return 2;
    case LT:
    case LE:
    case GT:
    case GE:
    case EQ:
    case NE:
        return 3;
    case ADD:
    case SUB:
        return 4;
    case MUL:
    case DIV:
        return 5;
    case NEG:
    case NOT:
        return 6;
    default:
        return 7;
    }
}

/* Writes n with parentheses only where `least`, the level of its place, asks for them. */
static char *print(char *to, const node *n, int least)
{
    int own = level(n);
    bool comparison = own == 3;
    if (own < least)
        to += sprintf(to, "(");
    if (n->kind == NAME)
        to += sprintf(to, "n%d", n->name);
    else if (n->kind <= REAL)
        to += sprintf(to, "%s", n->literal);
    else if (n->kind <= OR) {
        to = print(to, n->kid[0], own + comparison);
        to += sprintf(to, " %s ", spelling[n->kind]);
        to = print(to, n->kid[1], own + 1);
    } else if (n->kind <= NOT) {
        to += sprintf(to, "%s", spelling[n->kind]);
        to = print(to, n->kid[0], own);
    } else if (n->kind == SELECT) {
        to = print(to, n->kid[0], 1);
        to += sprintf(to, " ? ");
        to = print(to, n->kid[1], 0);
        to += sprintf(to, " : ");
        to = print(to, n->kid[2], 0);
    } else if (n->kind == COMPONENT) {
        to = print(to, n->kid[0], 7);
        to += sprintf(to, "[%d]", n->component);
    } else {
        to += n->kind == VECTOR ? sprintf(to, "[") : sprintf(to, "%s(", spelling[n->kind]);
        for (int c = 0; c < n->nkids; c++) {
            to = print(to, n->kid[c], 0);
            to += sprintf(to, "%s", c + 1 < n->nkids ? ", " : n->kind == VECTOR ? "]" : ")");
        }
    }
    if (own < least)
        to += sprintf(to, ")");
    return to;
}

/* ---- running both */

/* paired: n0 and n1, n2 and n3, ... have the same type and width. */
static void world_fill(world *w, rng *r, char *memory, bool paired)
{
    static const double special[] = {0, -0.0, 1, -1, 0.5, HUGE_VAL, -HUGE_VAL, NAN, 1e20, -1e20, 3e-310};
    for (int n = 0; n < NNAMES; n++) {
        char *data = memory + (size_t)n * ITEMS * 8 * 8;
        bool second = paired && n % 2;
        FtB_Type type = second ? w->names[n - 1].type : rng_type(r), compute = ftb_type_compute(type);
        int64_t width = second            ? w->names[n - 1].width
                        : rng_below(r, 3) ? 1
                                          : 3,
                uniform = rng_below(r, 4) == 0,
                stride = uniform ? 0 : width + (rng_below(r, 3) == 0 ? rng_below(r, 4) : 0);
        for (int64_t v = 0; v < ITEMS * 8; v++) {
            double x = rng_below(r, 20) == 0 ? special[rng_below(r, 11)]
                       : rng_below(r, 2)     ? (double)rng_below(r, 9) - 4
                                             : 20 * rng_unit(r) - 10;
            char stored[8], *to = data + (size_t)v * FtB_Type_size(compute);
            ftb_cast(stored, type, &x, FTB_FP64, 1);
            if (ftb_type_integer(type) && rng_below(r, 8) == 0)
                rng_any_values(r, stored, type, 1);
            ftb_cast(to, compute, stored, type, 1);
        }
        snprintf(w->label[n], sizeof w->label[n], "n%d", n);
        w->names[n] = (ftb_name){.name = w->label[n], .type = type, .width = width};
        w->operands[n] = (ftb_operand){data, stride};
    }
}

static bool same_cell(FtB_Type t, const void *got, int64_t at, cell want)
{
    if (!ref_real(t))
        return ftb_get_integer(got, t, at) == want.i;
    double x = ftb_get_real(got, t, at);
    return isnan(x) ? isnan(want.d) : x == want.d && !signbit(x) == !signbit(want.d);
}

static void check_items(const world *w, const node *root, const char *text, const ftb_program *p,
                        const void *out, int64_t count, rng *r)
{
    int64_t width = ftb_program_width(p);
    for (int n = 0; n < 12; n++) {
        int64_t t = n == 0 ? 0 : n == 1 ? count - 1 : rng_below(r, count);
        value z = ref_expr_value(w, root, t);
        if (z.type != ftb_program_type(p) || z.width != width)
            fail_msg("%s: %s x %d; expected %s x %d", text, FtB_Type_name(ftb_program_type(p)), (int)width,
                     FtB_Type_name(z.type), z.width);
        for (int f = 0; f < z.width; f++)
            if (!same_cell(z.type, out, t * width + f, z.at[f]))
                fail_msg("%s: item %d, value %d of %s: %.17g (%lld); expected %.17g (%lld)", text, (int)t, f,
                         FtB_Type_name(z.type), ftb_get_real(out, z.type, t * width + f),
                         (long long)ftb_get_integer(out, z.type, t * width + f),
                         ref_cell_real(z.type, z.at[f]), (long long)z.at[f].i);
    }
}

static void assert_same_bits(FtB_Type t, const void *x, const void *y, int64_t count, const char *text,
                             int isa)
{
    for (int64_t v = 0; v < count; v++) {
        size_t size = FtB_Type_size(t);
        bool same = memcmp((const char *)x + (size_t)v * size, (const char *)y + (size_t)v * size, size) == 0;
        if (!same && !(ref_real(t) && isnan(ftb_get_real(x, t, v)) && isnan(ftb_get_real(y, t, v))))
            fail_msg("%s: %s gives other bits than baseline at %d", text, ftb_isa_name(isa), (int)v);
    }
}

/* Compiles, runs for every instruction set, compares; false if the expression is rightly refused. */
static bool run_case(const world *w, const node *root, const char *text, rng *r, char *out[2])
{
    FtB_Context ctx = ftb_context();
    ftb_expr *e = NULL;
    ftb_program *p = NULL;
    assert_ok(ftb_expr_parse(&e, ctx, text, "test", 0));
    GrB_Info info = ftb_program_new(&p, ctx, e, NNAMES, w->names, false);
    ftb_expr_release(e);
    bool valid = ref_expr_value(w, root, 0).width > 0;
    if (valid != (info == GrB_SUCCESS))
        fail_msg("%s: %d, %s; expected %s", text, (int)info, FtB_error(), valid ? "success" : "an error");
    if (!valid)
        return false;
    static const int64_t counts[] = {1, 2, 15, 16, 17, 100, 1000, ITEMS};
    int64_t count = counts[rng_below(r, 8)];
    for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
        if (ftb_isa_force(isa) != isa)
            continue;
        ftb_interpreter *m = NULL;
        assert_ok(ftb_interpreter_new(&m, ctx, p));
        for (int twice = 0; twice < 2; twice++) /* nothing of a run may show in the next */
            ftb_interpreter_run(m, count, w->operands, out[isa != FTB_ISA_BASELINE]);
        ftb_interpreter_delete(m);
        if (isa != FTB_ISA_BASELINE)
            assert_same_bits(ftb_program_type(p), out[0], out[1], count * ftb_program_width(p), text, isa);
    }
    ftb_isa_force(-1);
    check_items(w, root, text, p, out[0], count, r);
    ftb_program_delete(p);
    return true;
}

static void test_random(void **state)
{
    (void)state;
    rng r = rng_new();
    static pool p;
    static world w;
    char *memory = malloc((size_t)NNAMES * ITEMS * 64),
         *out[2] = {malloc(ITEMS * MAX_WIDTH * 8), malloc(ITEMS * MAX_WIDTH * 8)};
    char *text = malloc(1 << 16);
    assert_true(memory && out[0] && out[1] && text);
    int valid = 0;
    for (int c = 0; c < CASES; c++) {
        if (c % 50 == 0)
            world_fill(&w, &r, memory, false);
        p.used = 0;
        const node *root = random_tree(&p, &r, 1 + (int)rng_below(&r, 4));
        print(text, root, 0);
        valid += run_case(&w, root, text, &r, out);
    }
    printf("%d of %d expressions are valid\n", valid, CASES);
    assert_true(valid > CASES / 4);
    free(memory);
    free(out[0]);
    free(out[1]);
    free(text);
}

/* ---- symmetry */

static const char *const pairs[] = {"n0", "n1", "n2", "n3", "n4", "n5", NULL}; /* n6 and n7 stay */

/* A copy of n with the names of each pair exchanged. */
static node *exchanged(pool *p, const node *n)
{
    node *copy = make(p, n->kind, n->nkids);
    *copy = *n;
    if (n->kind == NAME && n->name < 6)
        copy->name = n->name ^ 1;
    for (int c = 0; c < n->nkids; c++)
        copy->kid[c] = exchanged(p, n->kid[c]);
    return copy;
}

/* x op exchanged(x) for an operator whose value cannot show the order; or |x - exchanged(x)|. */
static node *symmetric_tree(pool *p, rng *r)
{
    static const form commutes[] = {ADD, MUL, EQ, NE, AND, OR, MIN, MAX, DOT, SUB, LT};
    form k = commutes[rng_below(r, 11)];
    node *n = make(p, k == LT ? OR : k, 2), *x = random_tree(p, r, 1 + (int)rng_below(r, 3));
    n->kid[0] = x;
    n->kid[1] = exchanged(p, x);
    if (k == LT) { /* x < y || x > y */
        node *less = make(p, LT, 2), *greater = make(p, GT, 2);
        less->kid[0] = greater->kid[0] = n->kid[0];
        less->kid[1] = greater->kid[1] = n->kid[1];
        n->kid[0] = less;
        n->kid[1] = greater;
    }
    if (k == SUB) {
        node *outer = make(p, rng_below(r, 2) ? ABS : MUL, 1);
        outer->nkids = outer->kind == ABS ? 1 : 2;
        outer->kid[0] = outer->kid[1] = n;
        return outer;
    }
    return n;
}

/* Exchanging the operands of each pair must leave every bit. */
static void check_exchange(const world *w, const node *root, const char *text, rng *r)
{
    world other = *w;
    for (int n = 0; n < 6; n++)
        other.operands[n] = w->operands[n ^ 1];
    for (int n = 0; n < 20; n++) {
        int64_t t = rng_below(r, ITEMS);
        value x = ref_expr_value(w, root, t), y = ref_expr_value(&other, root, t);
        assert_int_equal(x.width, y.width);
        for (int f = 0; f < x.width; f++)
            if (x.at[f].u != y.at[f].u && !(ref_real(x.type) && isnan(x.at[f].d) && isnan(y.at[f].d)))
                fail_msg("%s is called symmetric; item %d: %.17g and %.17g", text, (int)t,
                         ref_cell_real(x.type, x.at[f]), ref_cell_real(y.type, y.at[f]));
    }
}

static void test_symmetry(void **state)
{
    (void)state;
    rng r = rng_new();
    static pool p;
    static world w;
    static char text[1 << 16];
    char *memory = malloc((size_t)NNAMES * ITEMS * 64);
    assert_non_null(memory);
    int plain = 0;
    for (int c = 0; c < CASES; c++) {
        if (c % 50 == 0)
            world_fill(&w, &r, memory, true);
        p.used = 0;
        bool built = c % 2;
        const node *root = built ? symmetric_tree(&p, &r) : random_tree(&p, &r, 1 + (int)rng_below(&r, 3));
        ftb_expr *e;
        print(text, root, 0);
        assert_ok(ftb_expr_parse(&e, ftb_context(), text, "test", 0));
        bool symmetric = ftb_expr_symmetric(e, pairs);
        ftb_expr_release(e);
        if (built && !symmetric)
            fail_msg("%s is not called symmetric", text);
        plain += symmetric && !built;
        if (symmetric)
            check_exchange(&w, root, text, &r);
    }
    printf("%d symmetric among the others\n", plain);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_symmetry)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
