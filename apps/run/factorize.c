/* featblas run cf: factors of ratings. Some ratings may be held out, whose error tells what the factors are
 * worth; users' factors go to one file and items' to another, with the ids of the ratings' file. */
#include "app.h"
#include "format_words.h"
#include "io/target.h"
#include "reader.h"
#include "run/programs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cf {
    const run_values *v;
    FtB_Matrix R, train, held_out;
    FtB_Labels users, items;
    FtB_Block U, V;
    double mean;
    int64_t nratings, nheld_out, base;
    FILE *out; /* for people; NULL: nobody wants to know */
} cf;

static int check(const cf *w)
{
    const run_values *v = w->v;
    if (!isnan(v->lambda) && !(v->lambda > 0))
        return app_fail(APP_USAGE, "--lambda: %g; expected more than 0", v->lambda);
    if (!isnan(v->rate) && !(v->rate > 0))
        return app_fail(APP_USAGE, "--rate: %g; expected more than 0", v->rate);
    if (!isnan(v->rate) && v->method == RUN_SGD + FTB_FACTORIZE_ALS)
        return app_fail(APP_USAGE, "--rate: als has none");
    if (v->output && v->items && strcmp(v->output, "-") == 0 && strcmp(v->items, "-") == 0)
        return app_fail(APP_USAGE, "--output and --items both go to standard output");
    if (!isnan(v->held_out) && !(v->held_out > 0 && v->held_out < 1))
        return app_fail(APP_USAGE, "--held-out: %g; expected more than 0 and less than 1", v->held_out);
    return APP_OK;
}

/* Each rating is held out with that chance; factors are made of the others, about their mean. */
static GrB_Info split(cf *w)
{
    const run_values *v = w->v;
    int64_t nrows, ncols, width;
    FtB_Type type;
    char share[40];
    double sum = 0;
    GrB_Info info = FtB_Matrix_shape(w->R, &nrows, &ncols, NULL, &width, &type);
    snprintf(share, sizeof share, "%.17g", isnan(v->held_out) ? 0 : v->held_out);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&w->train, type, nrows, ncols, width);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&w->held_out, type, nrows, ncols, width);
    if (info == GrB_SUCCESS)
        info = FtB_select_sample(w->held_out, NULL, -1, share, w->R,
                                 FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_BERNOULLI,
                                                    .seed = (uint64_t)(v->seed < 0 ? 0 : v->seed)));
    if (info == GrB_SUCCESS)
        info = FtB_select(w->train, w->held_out, NULL, "1", w->R, FTB_DESC_SC);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_shape(w->train, NULL, NULL, &w->nratings, NULL, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_shape(w->held_out, NULL, NULL, &w->nheld_out, NULL, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_reduce_scalar(&sum, FTB_FP64, "plus", w->train);
    const double mean = w->nratings > 0 ? sum / (double)w->nratings : 0;
    w->mean = !isnan(v->offset) ? v->offset
              : isfinite(mean)  ? mean
                                : 0; /* else the library names who is not */
    return info;
}

static GrB_Info factorize(cf *w)
{
    const run_values *v = w->v;
    const int64_t k = v->factors > 0 ? v->factors : 32;
    int64_t nrows, ncols;
    GrB_Info info = FtB_Matrix_shape(w->R, &nrows, &ncols, NULL, NULL, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&w->U, nrows, k, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&w->V, ncols, k, FTB_FP32);
    if (info != GrB_SUCCESS)
        return info;
    return FtB_factorize(w->U, w->V, w->train,
                         FTB_FACTORIZE(.method = v->method < 0 ? FTB_FACTORIZE_SGD
                                                               : (FtB_Factorize_method)(v->method - RUN_SGD),
                                       .rounds = v->rounds, .lambda = isnan(v->lambda) ? 0 : v->lambda,
                                       .rate = isnan(v->rate) ? 0 : v->rate, .offset = w->mean,
                                       .seed = (uint64_t)(v->seed < 0 ? 0 : v->seed),
                                       .held_out = w->nheld_out > 0 ? w->held_out : NULL, .explain = w->out));
}

/* ---- output */

/* As the name's ending says; NULL: it says none. */
static const ftb_format *format_of(const char *path)
{
    const ftb_format *f;
    (void)ftb_format_ending(&f, path);
    return f;
}

static bool is_table(const char *path)
{
    const ftb_format *f = format_of(path);
    return strcmp(path, "-") == 0 || f == ftb_format_of(FTB_TSV) || f == ftb_format_of(FTB_CSV);
}

/* A line for each row, which begins with its id. */
static GrB_Info write_lines(const cf *w, ftb_file *file, FtB_Format format, FtB_Block X, FtB_Labels labels)
{
    enum { NUMBER = 24 };
    int64_t nrows, k, ld;
    void *values;
    GrB_Info info = FtB_Block_shape(X, &nrows, &k, &ld, NULL, &values);
    char *line = malloc((size_t)(ftb_label_room(labels) + (k + 1) * NUMBER));
    if (!line)
        return ftb_nomem();
    for (int64_t i = 0; i < nrows && info == GrB_SUCCESS; i++) {
        char *end = line;
        if (labels)
            end = ftb_put_label(end, format, labels, i);
        else
            end += sprintf(end, "%lld", (long long)(i + w->base));
        for (int64_t f = 0; f < k; f++)
            end += sprintf(end, "%c%.9g", format == FTB_CSV ? ',' : '\t',
                           (double)((const float *)values)[i * ld + f]);
        *end++ = '\n';
        info = ftb_file_write(file, line, end - line);
    }
    free(line);
    return info;
}

/* Rows without ids, which are in a table beside the file then. */
static GrB_Info write_block(const char *path, FtB_Block X, FtB_Labels labels)
{
    ftb_file *ids = NULL;
    int64_t nrows;
    GrB_Info info = FtB_Block_shape(X, &nrows, NULL, NULL, NULL, NULL);
    if (info == GrB_SUCCESS && labels)
        info = ftb_write_ids(&ids, ftb_context(), path, "ids", labels, nrows,
                             format_of(path) ? ftb_format_base(format_of(path)) : 0);
    if (info == GrB_SUCCESS)
        info = FtB_Block_write(X, path, FTB_FORMAT_AUTO, 0);
    if (info == GrB_SUCCESS && ids)
        info = ftb_file_commit(&ids);
    ftb_file_discard(&ids);
    return info;
}

static int write_factors(const cf *w, const char *path, FtB_Block X, FtB_Labels labels)
{
    ftb_file *file = NULL;
    if (!path)
        return APP_OK;
    app_progress_yield(path);
    if (!is_table(path))
        return app_library_error(write_block(path, X, labels), APP_OUTPUT);
    GrB_Info info = ftb_file_create(&file, ftb_context(), path);
    if (info == GrB_SUCCESS)
        info = write_lines(w, file, format_of(path) == ftb_format_of(FTB_CSV) ? FTB_CSV : FTB_TSV, X, labels);
    if (info == GrB_SUCCESS)
        info = ftb_file_commit(&file);
    ftb_file_discard(&file);
    return app_library_error(info, APP_OUTPUT);
}

static int tell(const cf *w, double seconds)
{
    double trained = 0, held_out = 0;
    char numbers[2][32];
    if (!w->out)
        return APP_OK;
    GrB_Info info = FtB_factorize_error(&trained, w->U, w->V, w->train, w->mean);
    if (info == GrB_SUCCESS)
        info = FtB_factorize_error(&held_out, w->U, w->V, w->held_out, w->mean);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_INPUT);
    app_end();
    fprintf(w->out, "rmse %.6f of %s ratings", trained, app_thousands(numbers[0], w->nratings));
    if (w->nheld_out > 0)
        fprintf(w->out, ", %.6f of %s held out", held_out, app_thousands(numbers[1], w->nheld_out));
    fprintf(w->out, "; about %.6g; in %.3f s\n", w->mean, seconds);
    return APP_OK;
}

int run_cf(const run_values *v, const char *path)
{
    const bool piped = (v->output && strcmp(v->output, "-") == 0) || (v->items && strcmp(v->items, "-") == 0);
    cf w = {.v = v, .out = v->reader.common.quiet ? NULL : piped ? stderr : stdout};
    reader_found found;
    int code = check(&w);
    if (code == APP_OK)
        code = reader_read(&v->reader, path, &w.R, &w.users, &w.items, &found);
    if (code == APP_OK) {
        w.base = ftb_format_base(ftb_format_of(found.format));
        code = app_library_error(split(&w), APP_INPUT);
    }
    if (w.out)
        app_progress_stop();
    const double start = app_seconds();
    if (code == APP_OK)
        code = app_library_error(factorize(&w), APP_INPUT);
    const double seconds = app_seconds() - start;
    if (code == APP_OK)
        code = write_factors(&w, v->output, w.U, w.users);
    if (code == APP_OK)
        code = write_factors(&w, v->items, w.V, w.items);
    if (code == APP_OK)
        code = tell(&w, seconds);
    FtB_Matrix *const matrices[] = {&w.R, &w.train, &w.held_out};
    for (int m = 0; m < 3; m++)
        FtB_Matrix_free(matrices[m]);
    FtB_Labels_free(&w.users);
    FtB_Labels_free(&w.items);
    FtB_Block_free(&w.U);
    FtB_Block_free(&w.V);
    return code;
}
