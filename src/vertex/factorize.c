/* Factors of ratings: arguments, and round after round on working copies. */
#include "core/options.h"
#include "cpu/graph/factorize_run.h"
#include "vertex/algorithm.h"

#include <math.h>

typedef struct ratings {
    FtB_Factorize_options o;
    ftb_factorize w;
    ftb_rated held_out;
} ratings;

/* ---- arguments */

static GrB_Info check_factors(FtB_Block X, const char *name, int64_t nrows, bool written)
{
    GrB_Info info = ftb_arg_block_anywhere(&X, FTB_ARG(X), name, false);
    if (info != GrB_SUCCESS)
        return info;
    if (X->type != FTB_FP32 && X->type != FTB_FP64)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "%s: dtype %s; expected fp32 or fp64", name,
                        FtB_Type_name(X->type));
    if (X->nrows != nrows || X->ncols < 1 || X->ncols > FTB_FACTORS_MOST)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s is %lld x %lld; expected %lld x 1 to %d", name,
                        (long long)X->nrows, (long long)X->ncols, (long long)nrows, FTB_FACTORS_MOST);
    if (written && !X->owner->writable)
        return ftb_fail(GrB_INVALID_VALUE, "%s wraps memory that must not be written", name);
    return GrB_SUCCESS;
}

static GrB_Info check_ratings(FtB_Matrix *R, const char *name)
{
    const GrB_Info info = ftb_arg_matrix(R, FTB_ARG(*R), name, false);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_pattern *p = (*R)->pattern;
    if ((*R)->width > 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s has %lld values per entry; expected 1 or none", name,
                        (long long)(*R)->width);
    if (p->wide || p->nrows > FTB_INT32_LIMIT)
        return ftb_fail(FTB_LIMIT, "%s is %lld x %lld; expected fewer than 2^31 of each", name,
                        (long long)p->nrows, (long long)p->ncols);
    return GrB_SUCCESS;
}

static GrB_Info check_arguments(FtB_Block U, FtB_Block V, FtB_Matrix R, bool written)
{
    GrB_Info info = check_ratings(&R, "R");
    if (info == GrB_SUCCESS)
        info = check_factors(U, "U", R->pattern->nrows, written);
    if (info == GrB_SUCCESS)
        info = check_factors(V, "V", R->pattern->ncols, written);
    if (info != GrB_SUCCESS)
        return info;
    if (U->ncols != V->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "U has %lld factors and V %lld; expected as many",
                        (long long)U->ncols, (long long)V->ncols);
    if (U->type != V->type)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "U has dtype %s and V %s; expected the same",
                        FtB_Type_name(U->type), FtB_Type_name(V->type));
    if (written && U == V)
        return ftb_fail(GrB_INVALID_VALUE, "U and V are the same block; expected two");
    return GrB_SUCCESS;
}

static GrB_Info check_held_out(FtB_Matrix H, FtB_Matrix R)
{
    GrB_Info info = check_ratings(&H, "options: held_out");
    if (info == GrB_SUCCESS &&
        (H->pattern->nrows != R->pattern->nrows || H->pattern->ncols != R->pattern->ncols))
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "options: held_out is %lld x %lld; expected %lld x %lld as R",
                        (long long)H->pattern->nrows, (long long)H->pattern->ncols,
                        (long long)R->pattern->nrows, (long long)R->pattern->ncols);
    return info;
}

static GrB_Info check_options(FtB_Factorize_options *o, const FtB_Factorize_options *given, FtB_Matrix R)
{
    GrB_Info info = ftb_options_read(o, sizeof *o, given, "FtB_factorize", "FTB_FACTORIZE");
    if (info != GrB_SUCCESS)
        return info;
    if ((int)o->method < FTB_FACTORIZE_SGD || (int)o->method > FTB_FACTORIZE_GRADIENT)
        return ftb_fail(GrB_INVALID_VALUE, "options: method is %d; expected one of FTB_FACTORIZE_*",
                        (int)o->method);
    if (!(o->lambda >= 0 && isfinite(o->lambda)) || !(o->rate >= 0 && isfinite(o->rate)) ||
        !isfinite(o->offset) || o->rounds < 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "options: lambda %g, rate %g, offset %g, rounds %lld; expected finite ones, and but "
                        "for offset 0 or more",
                        o->lambda, o->rate, o->offset, (long long)o->rounds);
    if (o->once && o->method == FTB_FACTORIZE_SGD)
        return ftb_fail(GrB_INVALID_VALUE, "options: once is for ALS and GRADIENT");
    o->lambda = o->lambda > 0 ? o->lambda : 0.05;
    o->rounds = o->rounds > 0 ? o->rounds : o->method == FTB_FACTORIZE_ALS ? 10 : 20;
    return o->held_out ? check_held_out(o->held_out, R) : GrB_SUCCESS;
}

/* ---- rounds */

/* A quarter of what makes the steps of the row or column with the most ratings overshoot, whose factors have
 * dot products of about 1 with each other. */
static double gradient_rate(const ftb_factorize *w)
{
    const int64_t *start = w->rows.p->rowptr;
    int64_t most = 1;
    for (int64_t i = 0; i < w->nrows; i++)
        most = ftb_max(most, start[i + 1] - start[i]);
    for (int64_t j = 0; j < w->ncols; j++)
        most = ftb_max(most, (int64_t)w->column_counts[j]);
    return 0.25 / (double)most;
}

static GrB_Info prepare(ratings *r, FtB_Block U, FtB_Block V, FtB_Matrix R)
{
    const FtB_Factorize_options *o = &r->o;
    ftb_factorize *w = &r->w;
    GrB_Info info;
    FTB_CHECK(ftb_factorize_new(w));
    FTB_CHECK(ftb_rated_new(&w->rows, w, R, o->offset, "R"));
    if (o->held_out)
        FTB_CHECK(ftb_rated_new(&r->held_out, w, o->held_out, o->offset, "options: held_out"));
    if (o->resume) {
        ftb_factorize_take(w, w->U, U);
        ftb_factorize_take(w, w->V, V);
    } else {
        ftb_factorize_draw(w, o->seed ? o->seed : w->ctx->seed);
    }
    FTB_CHECK(ftb_factorize_clear_empty(w));
    FTB_CHECK(o->method == FTB_FACTORIZE_SGD ? ftb_rating_blocks_new(w) : ftb_rated_turn(w));
    if (o->method == FTB_FACTORIZE_GRADIENT)
        FTB_CHECK(ftb_factorize_new_next(w));
    w->lambda = o->lambda;
    w->once = o->once;
    w->rate = o->rate > 0 ? o->rate : o->method == FTB_FACTORIZE_GRADIENT ? gradient_rate(w) : 0.02;
done:
    return info;
}

static GrB_Info mean_error(double *rmse, const ftb_factorize *w, const ftb_rated *rated)
{
    double sum = 0;
    const GrB_Info info = ftb_factorize_error_run(&sum, w, rated);
    *rmse = rated->p->nvals > 0 ? sqrt(sum / (double)rated->p->nvals) : 0;
    return info;
}

static GrB_Info tell(const ratings *r, int64_t round, double seconds)
{
    double trained = 0, held_out = 0;
    GrB_Info info = mean_error(&trained, &r->w, &r->w.rows);
    if (info == GrB_SUCCESS && r->held_out.p)
        info = mean_error(&held_out, &r->w, &r->held_out);
    if (info != GrB_SUCCESS)
        return info;
    fprintf(r->o.explain, "%-9lld %12.6f ", (long long)round, trained);
    if (r->held_out.p)
        fprintf(r->o.explain, "%12.6f ", held_out);
    fprintf(r->o.explain, "%10.6f\n", seconds);
    return GrB_SUCCESS;
}

static GrB_Info run(ratings *r)
{
    const FtB_Factorize_options *o = &r->o;
    GrB_Info info = GrB_SUCCESS;
    if (o->explain)
        fprintf(o->explain, r->held_out.p ? "%-9s %12s %12s %10s\n" : "%-9s %12s %.0s%10s\n", "round", "rmse",
                "held out", "seconds");
    for (int64_t round = 0; round < o->rounds && info == GrB_SUCCESS; round++) {
        const double start = ftb_seconds();
        info = ftb_progress(r->w.ctx, (double)round, (double)o->rounds, "rounds");
        if (info == GrB_SUCCESS)
            info = o->method == FTB_FACTORIZE_SGD   ? ftb_factorize_descend_run(&r->w, round)
                   : o->method == FTB_FACTORIZE_ALS ? ftb_factorize_solve_run(&r->w)
                                                    : ftb_factorize_gradient_run(&r->w);
        const double seconds = ftb_seconds() - start;
        if (info == GrB_SUCCESS && !ftb_factorize_finite(&r->w))
            info = ftb_fail(GrB_NO_VALUE,
                            "factors grew beyond all bounds in round %lld; expected a lower "
                            "rate than %g",
                            (long long)round + 1, r->w.rate);
        if (info == GrB_SUCCESS && o->explain)
            info = tell(r, round + 1, seconds);
    }
    return info;
}

GrB_Info FtB_factorize(FtB_Block U, FtB_Block V, FtB_Matrix R, const FtB_Factorize_options *options)
{
    const FtB_Context ctx = ftb_context();
    ratings r = {.o = {.size = 0}};
    GrB_Info info;
    FTB_CHECK(check_arguments(U, V, R, true));
    FTB_CHECK(check_options(&r.o, options, R));
    FTB_CHECK(ftb_buffer_ask(U->owner, FTB_UPDATE));
    FTB_CHECK(ftb_buffer_ask(V->owner, FTB_UPDATE));
    r.w = (ftb_factorize){
        .ctx = ctx, .type = U->type, .nrows = U->nrows, .ncols = V->nrows, .nfactors = U->ncols};
    FTB_CHECK(prepare(&r, U, V, R));
    FTB_CHECK(run(&r));
    ftb_factorize_give(&r.w, U, r.w.U);
    ftb_factorize_give(&r.w, V, r.w.V);
    FTB_CHECK(FtB_Block_changed(U));
    FTB_CHECK(FtB_Block_changed(V));
done:
    ftb_factorize_delete(&r.w);
    ftb_delete(r.held_out.value);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    return info;
}

GrB_Info FtB_factorize_error(double *rmse, FtB_Block U, FtB_Block V, FtB_Matrix R, double offset)
{
    const FtB_Context ctx = ftb_context();
    ftb_factorize w = {.ctx = ctx};
    GrB_Info info;
    if (!rmse)
        FTB_CHECK(ftb_fail(GrB_NULL_POINTER, "rmse is NULL; expected where the error goes"));
    FTB_CHECK(check_arguments(U, V, R, false));
    if (!isfinite(offset))
        FTB_CHECK(ftb_fail(GrB_INVALID_VALUE, "offset is %g; expected a finite one", offset));
    FTB_CHECK(ftb_buffer_ask(U->owner, FTB_READ));
    FTB_CHECK(ftb_buffer_ask(V->owner, FTB_READ));
    w.type = U->type;
    w.nrows = U->nrows;
    w.ncols = V->nrows;
    w.nfactors = U->ncols;
    FTB_CHECK(ftb_factorize_new(&w));
    FTB_CHECK(ftb_rated_new(&w.rows, &w, R, offset, "R"));
    ftb_factorize_take(&w, w.U, U);
    ftb_factorize_take(&w, w.V, V);
    FTB_CHECK(mean_error(rmse, &w, &w.rows));
done:
    ftb_factorize_delete(&w);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    return info;
}
