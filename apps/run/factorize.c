/* featblas run cf: factors of ratings. Some ratings may be held out, whose error tells what the factors are
 * worth; users' factors go to one file and items' to another, with the ids of the ratings' file. */
#include "app.h"
#include "file_names.h"
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
    graph_names names; /* of the ratings' file */
    FtB_Block U, V;
    double mean, read_seconds, seconds;
    double held; /* bytes, once the ratings are there */
    int64_t nratings, nheld_out;
    FILE *out;   /* for people; NULL: nobody wants to know */
    char *table; /* with --stats: what is told of each round */
} cf;

static int check(const cf *w)
{
    const run_values *v = w->v;
    if (!isnan(v->lambda) && !(v->lambda > 0 && isfinite(v->lambda)))
        return app_fail(APP_USAGE, "--lambda: %g; expected more than 0", v->lambda);
    if (!isnan(v->rate) && !(v->rate > 0 && isfinite(v->rate)))
        return app_fail(APP_USAGE, "--rate: %g; expected more than 0", v->rate);
    if (isinf(v->offset))
        return app_fail(APP_USAGE, "--offset: %g; expected a finite number", v->offset);
    if (!isnan(v->rate) && v->method == RUN_SGD + FTB_FACTORIZE_ALS)
        return app_fail(APP_USAGE, "--rate: als has none");
    if (files_is_stdout(v->output) && files_is_stdout(v->items))
        return app_fail(APP_USAGE, "--output and --items both go to standard output");
    if (!isnan(v->held_out) && !(v->held_out > 0 && v->held_out < 1))
        return app_fail(APP_USAGE, "--held-out: %g; expected more than 0 and less than 1", v->held_out);
    return APP_OK;
}

static int failed(const cf *w, GrB_Info info, int stage)
{
    int64_t nrows = 0, ncols = 0, nvals = 0;
    (void)FtB_Matrix_shape(w->R, &nrows, &ncols, &nvals, NULL, NULL);
    return run_error(info, stage, &w->names, w->v, w->held + run_cf_room(w->v, nrows, ncols, nvals));
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

static GrB_Info factorize(cf *w, FILE *told)
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
                                       .held_out = w->nheld_out > 0 ? w->held_out : NULL, .explain = told));
}

/* ---- output */

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
            end += sprintf(end, "%lld", (long long)(i + w->names.base));
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
static GrB_Info write_block(const char *path, FtB_Format format, FtB_Block X, FtB_Labels labels)
{
    ftb_file *ids = NULL;
    int64_t nrows;
    GrB_Info info = FtB_Block_shape(X, &nrows, NULL, NULL, NULL, NULL);
    if (info == GrB_SUCCESS && labels)
        info = ftb_write_ids(&ids, ftb_context(), path, "ids", labels, nrows,
                             ftb_format_base(ftb_format_of(format)));
    if (info == GrB_SUCCESS)
        info = FtB_Block_write(X, path, format, 0);
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
    const FtB_Format format = format_of_output(path, FTB_TSV);
    if (format != FTB_TSV && format != FTB_CSV)
        return app_library_error(write_block(path, format, X, labels), APP_OUTPUT);
    GrB_Info info = ftb_file_create(&file, ftb_context(), path);
    if (info == GrB_SUCCESS)
        info = write_lines(w, file, format, X, labels);
    if (info == GrB_SUCCESS)
        info = ftb_file_commit(&file);
    ftb_file_discard(&file);
    return app_library_error(info, APP_OUTPUT);
}

/* ---- what is said */

/* How well ratings are predicted. */
static GrB_Info measure(const cf *w, run_errors *e)
{
    *e = (run_errors){.offset = w->mean, .ntrained = w->nratings, .nheld_out = w->nheld_out};
    GrB_Info info = FtB_factorize_error(&e->trained, w->U, w->V, w->train, w->mean);
    if (info == GrB_SUCCESS)
        info = FtB_factorize_error(&e->held_out, w->U, w->V, w->held_out, w->mean);
    return info;
}

static int64_t lines_of(const char *text)
{
    int64_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static int tell(const cf *w)
{
    run_errors e;
    char numbers[2][32];
    if (!w->out && w->v->stats < 0)
        return APP_OK;
    int code = graph_error(measure(w, &e), APP_INPUT, &w->names);
    if (code != APP_OK)
        return code;
    app_end();
    if (w->v->stats >= 0)
        return run_stats(&(run_facts){.path = w->names.path,
                                      .program = "cf",
                                      .what = "rounds",
                                      .A = w->R,
                                      .X = w->U,
                                      .items = w->V,
                                      .supersteps = lines_of(w->table) - 1,
                                      .read_seconds = w->read_seconds,
                                      .seconds = w->seconds,
                                      .errors = &e,
                                      .json = w->v->stats == RUN_STATS_JSON},
                         w->table);
    fprintf(w->out, "rmse %.6f of %s ratings", e.trained, app_thousands(numbers[0], e.ntrained));
    if (e.nheld_out > 0)
        fprintf(w->out, ", %.6f of %s held out", e.held_out, app_thousands(numbers[1], e.nheld_out));
    fprintf(w->out, "; about %.6g; in %.3f s\n", e.offset, w->seconds);
    return APP_OK;
}

/* ---- all of it */

static int read_ratings(cf *w)
{
    reader_found found;
    int code = reader_read(&w->v->reader, w->names.path, &w->R, &w->names.rows, &w->names.cols, &found);
    if (code == APP_OK) {
        w->names.base = ftb_format_base(ftb_format_of(found.format));
        w->held = run_held(w->v);
        code = failed(w, split(w), APP_INPUT);
    }
    w->read_seconds = app_seconds();
    if (code == APP_OK && w->nratings + w->nheld_out == 0)
        return app_fail(APP_INPUT, "%s: has no ratings", w->names.path);
    if (code == APP_OK && !isnan(w->v->held_out) && (w->nratings == 0 || w->nheld_out == 0))
        return app_fail(APP_USAGE, "--held-out: %.10g holds out %s of the %lld ratings", w->v->held_out,
                        w->nratings == 0 ? "all" : "none", (long long)(w->nratings + w->nheld_out));
    return code;
}

/* Rounds are told to people as they end, or, with --stats, kept for these. */
static int work(cf *w)
{
    size_t size = 0;
    const bool kept = w->v->stats >= 0;
    FILE *told = kept ? open_memstream(&w->table, &size) : w->out;
    if (kept && !told)
        return app_fail(APP_MEMORY, "out of memory");
    if (told && !kept)
        app_progress_stop();
    const double start = app_seconds();
    int code = failed(w, factorize(w, told), APP_INPUT);
    w->seconds = app_seconds() - start;
    if (kept && fclose(told) != 0 && code == APP_OK)
        code = app_fail(APP_MEMORY, "out of memory");
    char *name = w->table ? strstr(w->table, "held out") : NULL; /* one word, as other columns' names are */
    if (name)
        name[strlen("held")] = '_';
    return code;
}

int run_cf(const run_values *v, const char *path)
{
    const bool piped = files_is_stdout(v->output) || files_is_stdout(v->items);
    cf w = {.v = v,
            .names = {.path = path, .lists = true},
            .out = v->reader.common.quiet ? NULL
                   : piped                ? stderr
                                          : stdout};
    int code = check(&w);
    if (code == APP_OK)
        code = read_ratings(&w);
    if (code == APP_OK)
        code = work(&w);
    if (code == APP_OK)
        code = write_factors(&w, v->output, w.U, w.names.rows);
    if (code == APP_OK)
        code = write_factors(&w, v->items, w.V, w.names.cols);
    if (code == APP_OK)
        code = tell(&w);
    FtB_Matrix *const matrices[] = {&w.R, &w.train, &w.held_out};
    for (int m = 0; m < 3; m++)
        FtB_Matrix_free(matrices[m]);
    FtB_Labels_free(&w.names.rows);
    FtB_Labels_free(&w.names.cols);
    FtB_Block_free(&w.U);
    FtB_Block_free(&w.V);
    free(w.table);
    return code;
}
