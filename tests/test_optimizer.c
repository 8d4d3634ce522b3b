/* Optimisers against the textbooks' formulas in FP64 and against numbers that PyTorch gave; the same bits for
 * any threads and instruction set; schedules, early stopping, saved states, failing allocations. */
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/temporary.h"

#include "core/isa.h"
#include "featblas_nn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 6

/* ---- parameters */

static void *data_of(FtB_Block X)
{
    void *data;
    assert_ok(FtB_Block_shape(X, NULL, NULL, NULL, NULL, &data));
    FtB_Block_free(&X);
    return data;
}

static void *values_of(FtB_Parameter p)
{
    FtB_Block X;
    assert_ok(FtB_Parameter_value(&X, p));
    return data_of(X);
}

static void *gradient_of(FtB_Parameter p) /* to be written */
{
    FtB_Block X;
    assert_ok(FtB_Parameter_gradient(&X, p));
    assert_ok(FtB_Block_changed(X));
    return data_of(X);
}

static void put(void *array, FtB_Type type, int64_t k, double x)
{
    if (type == FTB_FP32)
        ((float *)array)[k] = (float)x;
    else
        ((double *)array)[k] = x;
}

static double get(const void *array, FtB_Type type, int64_t k)
{
    return type == FTB_FP32 ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

/* ---- the textbook: one value, one step */

typedef struct book {
    double w, m, v; /* m: momentum or first moment */
} book;

static void book_step(book *x, FtB_Update rule, const FtB_Optimizer_options *o, double g, double lr,
                      double decay, int t)
{
    if (rule == FTB_SGD) {
        g += decay * x->w;
        x->m = o->momentum * x->m + g;
        x->w -= lr * (o->nesterov ? g + o->momentum * x->m : x->m);
        return;
    }
    if (rule == FTB_ADAMW)
        x->w -= lr * decay * x->w;
    else
        g += decay * x->w;
    x->m = o->beta1 * x->m + (1 - o->beta1) * g;
    x->v = o->beta2 * x->v + (1 - o->beta2) * g * g;
    double m = x->m / (1 - pow(o->beta1, t)), v = x->v / (1 - pow(o->beta2, t));
    x->w -= lr * m / (sqrt(v) + o->eps);
}

/* ---- random cases */

typedef struct problem {
    FtB_Type type;
    FtB_Update rule;
    FtB_Optimizer_options options;
    int64_t size[3]; /* of the parameters; the last is a group of its own */
    double lr[2], decay[2];
    int skipped; /* a parameter that has no gradient in the first step; -1: none */
    uint64_t seed;
} problem;

static problem some_problem(rng *r)
{
    static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 33, 1000, 16383, 16384, 16385, 100003};
    problem p = {.type = rng_below(r, 2) ? FTB_FP32 : FTB_FP64,
                 .rule = (FtB_Update)(FTB_SGD + rng_below(r, 3)),
                 .options = {.size = sizeof p.options, .lr = 0.03},
                 .skipped = (int)rng_below(r, 6) - 3,
                 .seed = rng_bits(r)};
    p.options.weight_decay = rng_below(r, 2) ? 0.1 : -1;
    if (p.rule != FTB_SGD) {
        p.options.beta1 = 0.8;
        p.options.beta2 = 0.99;
        p.options.eps = 1e-3;
    } else if (rng_below(r, 3)) {
        p.options.momentum = 0.9;
        p.options.nesterov = rng_below(r, 2);
    }
    p.options.clip_value = rng_below(r, 2) ? 0.7 : 0;
    p.options.clip_norm = rng_below(r, 2) ? 0.5 + 3 * rng_unit(r) : 0;
    for (int k = 0; k < 3; k++)
        p.size[k] = sizes[rng_below(r, rng_below(r, 20) ? 8 : 12)];
    p.lr[0] = p.options.lr;
    p.lr[1] = 0.01;
    p.decay[0] = fmax(p.options.weight_decay, 0);
    p.decay[1] = rng_below(r, 2) ? 0.3 : 0;
    return p;
}

static double some_gradient(rng *r) { return 2 * rng_unit(r) - 0.8; }

/* Runs a problem by the library; returns the values, one after the other. */
static void *run(const problem *p)
{
    FtB_Optimizer o;
    FtB_Parameter x[3];
    rng r = {p->seed};
    int64_t total = 0;
    assert_ok(FtB_Optimizer_new(&o, p->rule, &p->options));
    for (int k = 0; k < 3; k++) {
        assert_ok(FtB_Parameter_new(&x[k], "w", 1, p->size[k], p->type));
        for (int64_t i = 0; i < p->size[k]; i++)
            put(values_of(x[k]), p->type, i, some_gradient(&r));
    }
    assert_ok(FtB_Optimizer_add(o, x, 2, NULL));
    assert_ok(FtB_Optimizer_add(
        o, x + 2, 1, FTB_GROUP_OPTIONS(.lr = p->lr[1], .weight_decay = p->decay[1] > 0 ? p->decay[1] : -1)));
    for (int t = 0; t < STEPS; t++) {
        for (int k = 0; k < 3; k++) {
            void *g = t == 0 && k == p->skipped ? NULL : gradient_of(x[k]);
            for (int64_t i = 0; i < p->size[k]; i++) {
                double value = some_gradient(&r);
                if (g)
                    put(g, p->type, i, value);
            }
        }
        assert_ok(FtB_Optimizer_step(o));
    }
    for (int k = 0; k < 3; k++)
        total += p->size[k];
    size_t size = FtB_Type_size(p->type);
    char *result = malloc((size_t)total * size + 1), *to = result;
    for (int k = 0; k < 3; k++) {
        memcpy(to, values_of(x[k]), (size_t)p->size[k] * size);
        to += (size_t)p->size[k] * size;
        FtB_Parameter_free(&x[k]);
    }
    FtB_Optimizer_free(&o);
    return result;
}

/* What the step takes gradients times, after they were cut. */
static double book_scale(const problem *p, double *const *g, int t)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < p->size[k]; i++) {
            if (p->options.clip_value > 0)
                g[k][i] = fmax(-p->options.clip_value, fmin(p->options.clip_value, g[k][i]));
            if (t > 0 || k != p->skipped)
                sum += g[k][i] * g[k][i];
        }
    double norm = sqrt(sum), most = p->options.clip_norm;
    return most > 0 && most / (norm + 1e-6) < 1 ? most / (norm + 1e-6) : 1;
}

static void expect(const problem *p, const void *result, int number)
{
    rng r = {p->seed};
    book *x[3];
    double *g[3], tolerance = p->type == FTB_FP32 ? 2e-5 : 1e-13;
    int64_t n = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = calloc((size_t)p->size[k] + 1, sizeof *x[k]);
        g[k] = calloc((size_t)p->size[k] + 1, sizeof *g[k]);
        for (int64_t i = 0; i < p->size[k]; i++)
            x[k][i].w = some_gradient(&r);
    }
    for (int t = 0; t < STEPS; t++) {
        for (int k = 0; k < 3; k++)
            for (int64_t i = 0; i < p->size[k]; i++)
                g[k][i] = some_gradient(&r);
        double scale = book_scale(p, g, t);
        for (int k = 0; k < 3; k++)
            for (int64_t i = 0; i < p->size[k]; i++)
                if (t > 0 || k != p->skipped)
                    book_step(&x[k][i], p->rule, &p->options, g[k][i] * scale, p->lr[k == 2],
                              p->decay[k == 2], k == p->skipped ? t : t + 1);
    }
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < p->size[k]; i++, n++)
            if (!(fabs(get(result, p->type, n) - x[k][i].w) <= tolerance))
                fail_msg("case %d, rule %d, parameter %d, value %d: %.17g; expected %.17g", number,
                         (int)p->rule, k, (int)i, get(result, p->type, n), x[k][i].w);
        free(x[k]);
        free(g[k]);
    }
}

static void textbook(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int number = 0; number < 150; number++) {
        problem p = some_problem(&r);
        size_t bytes = (size_t)(p.size[0] + p.size[1] + p.size[2]) * FtB_Type_size(p.type);
        FtB_Context_set_threads(NULL, 1);
        void *first = run(&p);
        expect(&p, first, number);
        for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
            ftb_isa_force(isa);
            FtB_Context_set_threads(NULL, 1 + isa);
            void *again = run(&p);
            assert_memory_equal(again, first, bytes);
            free(again);
        }
        ftb_isa_force(-1);
        free(first);
    }
    FtB_Context_set_threads(NULL, 0);
}

/* ---- PyTorch 2: w = (1, -2, 3), gradients 0.1 (i + 1) t - 0.25, five steps in FP64 */

typedef struct known {
    FtB_Update rule;
    FtB_Optimizer_options options;
    FtB_Schedule_options schedule;
    double w[3];
} known;

#define O(...)                                                                                               \
    {                                                                                                        \
        .size = sizeof(FtB_Optimizer_options), __VA_ARGS__                                                   \
    }
#define S(...)                                                                                               \
    {                                                                                                        \
        .size = sizeof(FtB_Schedule_options), __VA_ARGS__                                                    \
    }

static const known torch[] = {
    {FTB_SGD, O(.lr = 0.1), S(), {0.97499999999999964, -2.1750000000000007, 2.6749999999999998}},
    {FTB_SGD,
     O(.lr = 0.1, .momentum = 0.9, .weight_decay = 0.05),
     S(),
     {0.94528668050625009, -2.1743751911156255, 2.1863745202375}},
    {FTB_SGD,
     O(.lr = 0.1, .momentum = 0.9, .weight_decay = 0.05, .nesterov = true),
     S(),
     {0.90044973090030611, -2.2815503214169781, 1.8768513605250126}},
    {FTB_ADAM, O(), S(), {1.0172987196551411, -2.0192717424278306, 2.9548715970314503}},
    {FTB_ADAM,
     O(.beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.05),
     S(),
     {1.0001472719716722, -2.0072071456107259, 2.9511817551466746}},
    {FTB_ADAMW, O(), S(), {1.0167914264514479, -2.0182721574390836, 2.9533810219909959}},
    {FTB_ADAMW, O(.weight_decay = 0.1), S(), {1.0122348592362242, -2.0092938387829462, 2.9399927327287725}},
    {FTB_SGD,
     O(.lr = 0.1, .clip_norm = 0.5),
     S(),
     {1.0014003817150792, -2.0838265169086858, 2.8309465844675503}},
    {FTB_ADAM,
     O(.weight_decay = 0.05, .clip_norm = 0.3, .clip_value = 0.4),
     S(),
     {1.0046353560258283, -1.9910463116301185, 2.9508941640446515}},
    {FTB_SGD,
     O(.lr = 0.1),
     S(.rate = FTB_RATE_STEP, .every = 2, .factor = 0.5),
     {1.0037499999999997, -2.07375, 2.8487499999999999}},
    {FTB_SGD,
     O(.lr = 0.1),
     S(.rate = FTB_RATE_COSINE, .every = 4, .least = 0.1),
     {1.0106139610306788, -2.0475220779386425, 2.8943418830920367}},
};

static void as_pytorch(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof torch / sizeof *torch; k++) {
        FtB_Parameter p;
        FtB_Optimizer o;
        assert_ok(FtB_Parameter_new(&p, "w", 3, 1, FTB_FP64));
        double *w = values_of(p);
        w[0] = 1, w[1] = -2, w[2] = 3;
        assert_ok(FtB_Optimizer_new(&o, torch[k].rule, &torch[k].options));
        assert_ok(FtB_Optimizer_add(o, &p, 1, NULL));
        assert_ok(FtB_Optimizer_schedule(o, &torch[k].schedule));
        for (int t = 1; t <= 5; t++) {
            double *g = gradient_of(p);
            for (int i = 0; i < 3; i++)
                g[i] = 0.1 * (i + 1) * t - 0.25;
            assert_ok(FtB_Optimizer_step(o));
            assert_true(g[0] == 0.1 * t - 0.25); /* as it was, also where it is clipped */
            assert_ok(FtB_Optimizer_advance(o, NAN));
        }
        for (int i = 0; i < 3; i++)
            if (!(fabs(w[i] - torch[k].w[i]) < 1e-14))
                fail_msg("case %d: w[%d] is %.17g; PyTorch has %.17g", (int)k, i, w[i], torch[k].w[i]);
        FtB_Optimizer_free(&o);
        FtB_Parameter_free(&p);
    }
}

/* ---- learning rates */

static FtB_Optimizer one_value(FtB_Parameter *p, FtB_Update rule)
{
    FtB_Optimizer o;
    assert_ok(FtB_Parameter_new(p, "w", 1, 1, FTB_FP64));
    *(double *)gradient_of(*p) = 1;
    assert_ok(FtB_Optimizer_new(&o, rule, FTB_OPTIMIZER_OPTIONS(.lr = 1)));
    assert_ok(FtB_Optimizer_add(o, p, 1, NULL));
    return o;
}

static void schedules(void **state)
{
    (void)state;
    /* as ReduceLROnPlateau(factor=0.5, patience=2, threshold=0.1, min_lr=0.2) */
    static const double metric[] = {1,   0.95, 0.8,  0.79, 0.78, 0.77, 0.5,  NAN,  0.5,
                                    0.5, 0.46, 0.44, 0.44, 0.44, 0.44, 0.44, 0.44, 0.44};
    static const double lr[] = {1,    1,    1,    1,    1,    0.5, 0.5, 0.5, 0.5,
                                0.25, 0.25, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2};
    for (int maximise = 0; maximise < 2; maximise++) {
        FtB_Parameter p;
        FtB_Optimizer o = one_value(&p, FTB_SGD);
        assert_ok(FtB_Optimizer_schedule(o, FTB_SCHEDULE_OPTIONS(.rate = FTB_RATE_PLATEAU, .every = 2,
                                                                 .factor = 0.5, .threshold = 0.1,
                                                                 .least = 0.2, .maximise = maximise)));
        for (int t = 0; t < 18; t++) {
            assert_ok(FtB_Optimizer_advance(o, maximise ? -metric[t] : metric[t]));
            assert_true(FtB_Optimizer_lr(o, 0) == lr[t]);
        }
        FtB_Optimizer_free(&o);
        FtB_Parameter_free(&p);
    }
    FtB_Parameter p;
    FtB_Optimizer o = one_value(&p, FTB_SGD);
    assert_ok(FtB_Optimizer_schedule(o, FTB_SCHEDULE_OPTIONS(.rate = FTB_RATE_STEP, .warmup = 4, .every = 2,
                                                             .factor = 0.5, .least = 0.2)));
    static const double warm[] = {0.25, 0.5, 0.75, 1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2};
    for (int t = 0; t < 12; t++) {
        double before = *(double *)values_of(p);
        assert_true(FtB_Optimizer_lr(o, 0) == warm[t]);
        assert_ok(FtB_Optimizer_step(o));
        assert_true(*(double *)values_of(p) == before - warm[t]);
        assert_ok(FtB_Optimizer_advance(o, 1));
    }
    assert_ok(FtB_Optimizer_set_lr(o, -1, 3));
    assert_true(fabs(FtB_Optimizer_lr(o, 0) - 0.6) < 1e-15);
    assert_ok(FtB_Optimizer_schedule(o, NULL));
    assert_true(FtB_Optimizer_lr(o, 0) == 3 && isnan(FtB_Optimizer_lr(o, 1)) &&
                isnan(FtB_Optimizer_lr(NULL, 0)));
    assert_ok(FtB_Optimizer_schedule(o, FTB_SCHEDULE_OPTIONS(.rate = FTB_RATE_COSINE, .every = 10)));
    for (int t = 0; t < 20; t++) {
        double expected = t < 10 ? 1.5 * (1 + cos(acos(-1) * t / 10)) : 0;
        assert_true(fabs(FtB_Optimizer_lr(o, 0) - expected) < 1e-14);
        assert_ok(FtB_Optimizer_advance(o, NAN));
    }
    FtB_Optimizer_free(&o);
    FtB_Parameter_free(&p);
}

/* ---- early stopping */

static void stopping(void **state)
{
    (void)state;
    static const double loss[] = {NAN, 3, 2, 2.5, 1.95, 1.8, 1.5, NAN, 1.6, 1.45, 1.2};
    for (int maximise = 0; maximise < 2; maximise++) {
        FtB_Parameter p[2];
        FtB_Stopper s;
        double best;
        int64_t epoch;
        bool stop = true;
        assert_ok(FtB_Parameter_new(&p[0], "w", 2, 3, FTB_FP32));
        assert_ok(FtB_Parameter_new(&p[1], "b", 1, 1, FTB_FP64));
        assert_ok(FtB_Stopper_new(
            &s, p, 2, FTB_STOPPER_OPTIONS(.patience = 3, .threshold = 0.1, .maximise = maximise)));
        assert_ok(FtB_Stopper_best(s, &best, &epoch));
        assert_true(isnan(best) && epoch == -1);
        assert_fails(GrB_INVALID_VALUE, "no epoch", FtB_Stopper_restore(s));
        int t = 0;
        for (;; t++) {
            ((float *)values_of(p[0]))[5] = (float)t;
            *(double *)values_of(p[1]) = t;
            assert_ok(FtB_Stopper_see(s, maximise ? -loss[t] : loss[t], &stop));
            if (stop)
                break;
        }
        assert_int_equal(t, 9); /* best at 6: 7, 8, 9 were not better */
        assert_ok(FtB_Stopper_best(s, &best, &epoch));
        assert_true(best == (maximise ? -1.5 : 1.5) && epoch == 6);
        assert_ok(FtB_Stopper_restore(s));
        assert_true(((float *)values_of(p[0]))[5] == 6 && *(double *)values_of(p[1]) == 6);
        FtB_Stopper_free(&s);
        FtB_Parameter_free(&p[0]);
        FtB_Parameter_free(&p[1]);
    }
}

/* ---- saved states */

/* A run of 10 steps has the same bits as one of 4 that is saved, loaded, and goes on. */
static void resumed(void **state)
{
    (void)state;
    for (int rule = FTB_SGD; rule <= FTB_ADAMW; rule++) {
        FtB_Parameter p[2], q[2];
        FtB_Optimizer o[2];
        FtB_Tensors t;
        for (int k = 0; k < 2; k++) {
            assert_ok(FtB_Parameter_new(&p[k], "lin.weight", 3, 4 + k, k ? FTB_FP32 : FTB_FP64));
            assert_ok(FtB_Parameter_new(&q[k], "lin.weight", 3, 4 + k, k ? FTB_FP32 : FTB_FP64));
        }
        for (int k = 0; k < 2; k++) {
            assert_ok(FtB_Optimizer_new(&o[k], (FtB_Update)rule,
                                        FTB_OPTIMIZER_OPTIONS(.momentum = rule == FTB_SGD ? 0.9 : 0)));
            assert_ok(FtB_Optimizer_add(o[k], k ? q : p, 2, NULL));
            assert_ok(
                FtB_Optimizer_schedule(o[k], FTB_SCHEDULE_OPTIONS(.rate = FTB_RATE_PLATEAU, .every = 1)));
        }
        for (int step = 0; step < 10; step++) {
            if (step == 4) {
                assert_ok(FtB_Optimizer_set_lr(o[0], 0, 0.3));
                assert_ok(FtB_Tensors_new(&t));
                assert_ok(FtB_Optimizer_save(o[0], t));
                assert_ok(FtB_Tensors_write(t, temp_path("state")));
                FtB_Tensors_free(&t);
                assert_ok(FtB_Tensors_read(&t, temp_path("state")));
                assert_ok(FtB_Optimizer_load(o[1], t));
                FtB_Tensors_free(&t);
                for (int k = 0; k < 2; k++)
                    memcpy(values_of(q[k]), values_of(p[k]), (size_t)(3 * (4 + k)) * (k ? 4 : 8));
            }
            for (int k = 0; k < 2; k++)
                for (int64_t i = 0; i < 3 * (4 + k); i++) {
                    put(gradient_of(p[k]), k ? FTB_FP32 : FTB_FP64, i, sin((double)(i + 7 * step)));
                    put(gradient_of(q[k]), k ? FTB_FP32 : FTB_FP64, i, sin((double)(i + 7 * step)));
                }
            for (int k = step < 4 ? 0 : 1; k >= 0; k--) {
                assert_ok(FtB_Optimizer_step(o[k]));
                assert_ok(FtB_Optimizer_advance(o[k], 1));
            }
        }
        for (int k = 0; k < 2; k++) {
            assert_memory_equal(values_of(p[k]), values_of(q[k]), (size_t)(3 * (4 + k)) * (k ? 4 : 8));
            assert_true(FtB_Optimizer_lr(o[0], 0) == FtB_Optimizer_lr(o[1], 0));
        }
        for (int k = 0; k < 2; k++) {
            FtB_Optimizer_free(&o[k]);
            FtB_Parameter_free(&p[k]);
            FtB_Parameter_free(&q[k]);
        }
    }
}

static void other_states(void **state)
{
    (void)state;
    FtB_Parameter p, q;
    FtB_Optimizer adam = one_value(&p, FTB_ADAM), sgd = one_value(&q, FTB_SGD);
    FtB_Tensors t;
    FtB_Block X;
    assert_ok(FtB_Tensors_new(&t));
    assert_fails(GrB_INVALID_VALUE, "tensors: has the state of no optimizer; expected that of adam",
                 FtB_Optimizer_load(adam, t));
    assert_ok(FtB_Optimizer_save(sgd, t));
    assert_fails(GrB_INVALID_VALUE, "has the state of sgd", FtB_Optimizer_load(adam, t));
    assert_ok(FtB_Optimizer_save(adam, t));
    assert_ok(FtB_Optimizer_load(adam, t));
    assert_ok(FtB_Tensors_get(&X, t, "optimizer.steps", NULL, NULL));
    *(int64_t *)data_of(X) = -1;
    assert_fails(GrB_INVALID_VALUE, "optimizer.steps", FtB_Optimizer_load(adam, t));
    assert_ok(FtB_Optimizer_save(adam, t));
    assert_ok(FtB_Block_new(&X, 1, 2, FTB_FP64));
    assert_ok(FtB_Tensors_set(t, "optimizer.0.w.second", X, -1, NULL));
    assert_fails(GrB_INVALID_VALUE, "tensor 'optimizer.0.w.second' is 1 x 2 fp64; expected 1 x 1 fp64",
                 FtB_Optimizer_load(adam, t));
    FtB_Block_free(&X);
    FtB_Tensors_free(&t);
    FtB_Optimizer_free(&adam);
    FtB_Optimizer_free(&sgd);
    FtB_Parameter_free(&p);
    FtB_Parameter_free(&q);
}

/* ---- refused */

static void refused(void **state)
{
    (void)state;
    FtB_Parameter p;
    FtB_Optimizer o, made = one_value(&p, FTB_ADAM);
    FtB_Stopper s;
#define NEW(rule, ...) FtB_Optimizer_new(&o, rule, FTB_OPTIMIZER_OPTIONS(__VA_ARGS__))
    assert_fails(GrB_INVALID_VALUE, "rule is 9", NEW((FtB_Update)9, .lr = 1));
    assert_null(o);
    assert_fails(GrB_INVALID_VALUE, "lr is -1", NEW(FTB_SGD, .lr = -1));
    assert_fails(GrB_INVALID_VALUE, "lr is nan", NEW(FTB_SGD, .lr = NAN));
    assert_fails(GrB_INVALID_VALUE, "momentum is 1", NEW(FTB_SGD, .momentum = 1));
    assert_fails(GrB_INVALID_VALUE, "beta1 is 1", NEW(FTB_ADAM, .beta1 = 1));
    assert_fails(GrB_INVALID_VALUE, "beta2 is -0.5", NEW(FTB_ADAM, .beta2 = -0.5));
    assert_fails(GrB_INVALID_VALUE, "eps is -1", NEW(FTB_ADAM, .eps = -1));
    assert_fails(GrB_INVALID_VALUE, "clip_norm is -1", NEW(FTB_ADAM, .clip_norm = -1));
    assert_fails(GrB_INVALID_VALUE, "clip_value is nan", NEW(FTB_ADAM, .clip_value = NAN));
    assert_fails(GrB_INVALID_VALUE, "nesterov is for", NEW(FTB_SGD, .nesterov = true));
    assert_fails(GrB_INVALID_VALUE, "FTB_OPTIMIZER_OPTIONS",
                 FtB_Optimizer_new(&o, FTB_SGD, &(FtB_Optimizer_options){0}));
    assert_fails(GrB_NULL_POINTER, "o is NULL", FtB_Optimizer_new(NULL, FTB_SGD, NULL));
    assert_fails(GrB_NULL_POINTER, "o is NULL", FtB_Optimizer_step(NULL));
    assert_fails(GrB_INVALID_VALUE, "'w' is in the optimiser already", FtB_Optimizer_add(made, &p, 1, NULL));
    assert_fails(GrB_NULL_POINTER, "parameters NULL", FtB_Optimizer_add(made, NULL, 1, NULL));
    assert_fails(GrB_INVALID_VALUE, "lr is -1",
                 FtB_Optimizer_add(made, NULL, 0, FTB_GROUP_OPTIONS(.lr = -1)));
    assert_fails(GrB_NULL_POINTER, "parameter is NULL",
                 FtB_Optimizer_add(made, (FtB_Parameter[]){NULL}, 1, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "group is 1", FtB_Optimizer_set_lr(made, 1, 1));
    assert_fails(GrB_INVALID_VALUE, "lr is -2", FtB_Optimizer_set_lr(made, 0, -2));
    assert_fails(GrB_INVALID_VALUE, "every of a cosine",
                 FtB_Optimizer_schedule(made, FTB_SCHEDULE_OPTIONS(.rate = FTB_RATE_COSINE)));
    assert_fails(GrB_INVALID_VALUE, "factor is 2",
                 FtB_Optimizer_schedule(made, FTB_SCHEDULE_OPTIONS(.factor = 2)));
    assert_fails(GrB_INVALID_VALUE, "patience is -1",
                 FtB_Stopper_new(&s, &p, 1, FTB_STOPPER_OPTIONS(.patience = -1)));
    FtB_Optimizer_free(&made);
    /* a norm that is not finite changes nothing */
    assert_ok(NEW(FTB_SGD, .clip_norm = 1));
    assert_ok(FtB_Optimizer_add(o, &p, 1, NULL));
    *(double *)gradient_of(p) = NAN;
    assert_fails(GrB_INVALID_VALUE, "norm of the gradients is", FtB_Optimizer_step(o));
    assert_true(*(double *)values_of(p) == 0);
    /* neither does a gradient of what is not trained */
    *(double *)gradient_of(p) = 1;
    assert_ok(FtB_Parameter_set_trained(p, false));
    assert_ok(FtB_Optimizer_step(o));
    assert_true(*(double *)values_of(p) == 0);
    FtB_Optimizer_free(&o);
    assert_ok(FtB_Optimizer_free(&o));
    FtB_Parameter_free(&p);
}

/* ---- failing allocations */

static GrB_Info work(void *arg)
{
    (void)arg;
    FtB_Parameter p[2] = {0};
    FtB_Optimizer o = NULL;
    FtB_Stopper s = NULL;
    FtB_Tensors t = NULL;
    GrB_Info info = FtB_Parameter_new(&p[0], "a", 2, 3, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Parameter_new(&p[1], "b", 1, 20000, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_Optimizer_new(&o, FTB_ADAM, FTB_OPTIMIZER_OPTIONS(.clip_norm = 1));
    if (info == GrB_SUCCESS)
        info = FtB_Optimizer_add(o, p, 2, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Stopper_new(&s, p, 2, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Tensors_new(&t);
    if (info == GrB_SUCCESS)
        info = FtB_Optimizer_save(o, t);
    if (info == GrB_SUCCESS)
        info = FtB_Optimizer_load(o, t);
    FtB_Tensors_free(&t);
    FtB_Stopper_free(&s);
    FtB_Optimizer_free(&o);
    FtB_Parameter_free(&p[0]);
    FtB_Parameter_free(&p[1]);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    fail_every_allocation(work, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(textbook),  cmocka_unit_test(as_pytorch),
        cmocka_unit_test(schedules), cmocka_unit_test(stopping),
        cmocka_unit_test(resumed),   cmocka_unit_test(other_states),
        cmocka_unit_test(refused),   cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
