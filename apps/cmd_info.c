/* featblas info: what a file holds. One pass over the entries, the degrees of both sides, and the exact
 * number of products of both projections. */
#include "core/hypersparse.h"
#include "core/search.h"
#include "cpu/dense_run.h"
#include "gpu/cublas.h"
#include "gpu/cusparse/cusparse.h"
#include "gpu/driver.h"
#include "io/io.h"
#include "reader.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct info_values {
    reader_values reader;
    int json, devices;
} info_values;

static const option info_options[] = {
    {.heading = "Output"},
    {.name = "json",
     .kind = OPTION_SET,
     .offset = offsetof(info_values, json),
     .value = 1,
     .help = "Print JSON."},
    {.name = "devices",
     .kind = OPTION_SET,
     .offset = offsetof(info_values, devices),
     .value = 1,
     .help = "Read no file: list the devices that --device takes, and the GPUs that are found."},
    {.name = NULL},
};

#define BINS 65 /* degree 0, then 2^(b-1) .. 2^b - 1 */

typedef struct side_facts { /* the degrees of the rows or of the columns */
    int64_t count, least, median, most, empty;
    double mean, products; /* products: sum over this side of degree squared */
    int64_t histogram[BINS];
} side_facts;

typedef struct matrix_facts {
    const char *path, *format;
    FtB_Edge_layout layout; /* of an edge list */
    FtB_Type type;
    int64_t nrows, ncols, nvals, width;
    int64_t listed; /* rows, of a hypersparse matrix; -1: it is none */
    int symmetric;  /* 1 pattern and values, 0 not, -1 not square */
    double least, most;
    side_facts rows, cols;
} matrix_facts;

static int by_value(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* Sorts the degrees, of which there are `held`; all others of the side are 0. */
static void describe_side(side_facts *f, int64_t count, int64_t *degree, int64_t held)
{
    double sum = 0;
    f->count = count;
    if (count == 0)
        return;
    qsort(degree, (size_t)held, sizeof *degree, by_value);
    f->histogram[0] = count - held;
    for (int64_t v = 0; v < held; v++) {
        int bin = 0;
        while (bin < BINS - 1 && degree[v] >> bin)
            bin++;
        f->histogram[bin]++;
        sum += (double)degree[v];
        f->products += (double)degree[v] * (double)degree[v];
    }
    const int64_t zeros = count - held, median = (count - 1) / 2 - zeros;
    f->least = zeros > 0 ? 0 : degree[0];
    f->median = median < 0 ? 0 : degree[median];
    f->most = held > 0 ? degree[held - 1] : 0;
    f->mean = sum / (double)count;
    f->empty = f->histogram[0];
}

/* The position of (i, j) among the rows that are held, or -1. */
static int64_t entry_at(const ftb_pattern *p, int64_t i, int64_t j)
{
    const int64_t r = p->numbers ? ftb_first_not_below(p->numbers, p->nrows, i) : i;
    if (r == p->nrows || ftb_row_number(p, r) != i)
        return -1;
    const int64_t e = ftb_first_entry(p, p->rowptr[r], p->rowptr[r + 1], j);
    return e < p->rowptr[r + 1] && ftb_col(p, e) == j ? e : -1;
}

static bool symmetric(const matrix_facts *f, const ftb_pattern *p, const void *values)
{
    size_t size = FtB_Type_size(f->type) * (size_t)f->width;
    for (int64_t r = 0; r < p->nrows; r++)
        for (int64_t e = p->rowptr[r]; e < p->rowptr[r + 1]; e++) {
            int64_t mirror = entry_at(p, ftb_col(p, e), ftb_row_number(p, r));
            if (mirror < 0 || (size && memcmp((const char *)values + size * (size_t)e,
                                              (const char *)values + size * (size_t)mirror, size) != 0))
                return false;
        }
    return true;
}

/* ---- gathering */

static void range_of(matrix_facts *f, const void *values)
{
    f->least = f->most = NAN;
    for (int64_t e = 0; values && e < f->nvals * f->width; e++) {
        double x = ftb_get_real(values, f->type, e);
        f->least = x < f->least || isnan(f->least) ? x : f->least;
        f->most = x > f->most || isnan(f->most) ? x : f->most;
    }
}

static int gather(matrix_facts *f, FtB_Matrix A)
{
    const void *values;
    GrB_Info info = FtB_Matrix_shape(A, &f->nrows, &f->ncols, &f->nvals, &f->width, &f->type);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_csr(A, NULL, NULL, &values);
    ftb_pattern *p = info == GrB_SUCCESS ? ftb_pattern_rows(A->pattern) : NULL, *both = p;
    if (p && p->numbers)
        info = ftb_pattern_both(p, &both);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_FAILURE);
    f->listed = p->numbers ? p->nrows : -1;
    int64_t *row_degree = calloc((size_t)p->nrows + 1, sizeof *row_degree);
    int64_t *col_degree = calloc((size_t)both->ncols + 1, sizeof *col_degree);
    int code = row_degree && col_degree ? APP_OK : app_fail(APP_MEMORY, "out of memory");
    if (code == APP_OK) {
        for (int64_t r = 0; r < p->nrows; r++)
            row_degree[r] = p->rowptr[r + 1] - p->rowptr[r];
        for (int64_t e = 0; e < f->nvals; e++)
            col_degree[ftb_col(both, e)]++;
        describe_side(&f->rows, f->nrows, row_degree, p->nrows);
        describe_side(&f->cols, f->ncols, col_degree, both->ncols);
        range_of(f, values);
        f->symmetric = f->nrows != f->ncols ? -1 : symmetric(f, p, values);
    }
    free(row_degree);
    free(col_degree);
    return code;
}

/* ---- printing */

static void print_side(const char *name, const side_facts *f)
{
    char a[32], b[32], c[32];
    printf("%-16s degree min %s, median %s, mean %.4g, max %s; %" PRId64 " empty\n", name,
           app_thousands(a, f->least), app_thousands(b, f->median), f->mean, app_thousands(c, f->most),
           f->empty);
    int64_t most = 1;
    for (int b0 = 0; b0 < BINS; b0++)
        most = f->histogram[b0] > most ? f->histogram[b0] : most;
    for (int bin = 0; bin < BINS; bin++) {
        if (!f->histogram[bin])
            continue;
        char range[48];
        int64_t low = bin ? INT64_C(1) << (bin - 1) : 0, high = bin ? 2 * low - 1 : 0;
        snprintf(range, sizeof range, low == high ? "%" PRId64 : "%" PRId64 "..%" PRId64, low, high);
        printf("  %18s  %12s ", range, app_thousands(a, f->histogram[bin]));
        for (int64_t dot = 0; dot < (f->histogram[bin] * 40 + most - 1) / most; dot++)
            putchar('#');
        putchar('\n');
    }
}

static double density(const matrix_facts *f)
{
    double positions = (double)f->nrows * (double)f->ncols;
    return positions > 0 ? (double)f->nvals / positions : 0;
}

static void print_text(const matrix_facts *f)
{
    char a[32], b[32], c[32], layout[READER_TEXT];
    app_print(stdout, "file             %s, %s\n", f->path, f->format);
    if (f->layout.delimiter)
        app_print(stdout, "fields           %s\n", reader_describe(layout, &f->layout));
    printf("matrix           %s x %s, %s entries, %.3g %% of all positions\n", app_thousands(a, f->nrows),
           app_thousands(b, f->ncols), app_thousands(c, f->nvals), 100 * density(f));
    if (f->listed >= 0)
        printf("held             as the %s rows that have entries (hypersparse)\n",
               app_thousands(a, f->listed));
    if (f->width == 0)
        puts("values           none: every entry is 1");
    else
        printf("values           %s, %.10g to %.10g\n", FtB_Type_name(f->type), f->least, f->most);
    printf("symmetric        %s\n", f->symmetric < 0 ? "no, not square" : f->symmetric ? "yes" : "no");
    printf("products         %s onto columns (A'A), %s onto rows (AA')\n",
           app_thousands(a, (int64_t)f->rows.products), app_thousands(b, (int64_t)f->cols.products));
    print_side("rows", &f->rows);
    print_side("columns", &f->cols);
}

static json_t *side_json(const side_facts *f)
{
    json_t *bins = json_array();
    for (int bin = 0; bin < BINS; bin++)
        if (f->histogram[bin])
            json_array_append_new(bins, json_pack("[I, I]", bin ? (json_int_t)1 << (bin - 1) : 0,
                                                  (json_int_t)f->histogram[bin]));
    return json_pack("{s:I, s:I, s:I, s:f, s:I, s:I, s:o}", "count", (json_int_t)f->count, "min",
                     (json_int_t)f->least, "median", (json_int_t)f->median, "mean", f->mean, "max",
                     (json_int_t)f->most, "empty", (json_int_t)f->empty, "histogram", bins);
}

static json_t *layout_json(const FtB_Edge_layout *l)
{
    json_t *json = json_pack("{s:s%, s:b, s:b, s:i, s:i}", "delimiter", &l->delimiter, (size_t)1, "header",
                             l->header, "adjacency", l->adjacency, "row", l->row, "col", l->col);
    if (json && l->value > 0)
        json_object_set_new(json, "value", json_integer(l->value));
    return json;
}

static int print_json(const matrix_facts *f)
{
    json_t *root =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:s, s:f, s:b, s:I, s:I, s:o, s:o}", "path", f->path,
                  "format", f->format, "nrows", (json_int_t)f->nrows, "ncols", (json_int_t)f->ncols, "nvals",
                  (json_int_t)f->nvals, "width", (json_int_t)f->width, "type", FtB_Type_name(f->type),
                  "density", density(f), "symmetric", f->symmetric == 1, "products_onto_cols",
                  (json_int_t)f->rows.products, "products_onto_rows", (json_int_t)f->cols.products, "rows",
                  side_json(&f->rows), "cols", side_json(&f->cols));
    if (root && !isnan(f->least)) {
        json_object_set_new(root, "min", json_real(f->least));
        json_object_set_new(root, "max", json_real(f->most));
    }
    if (root && f->listed >= 0)
        json_object_set_new(root, "listed_rows", json_integer(f->listed));
    if (root && f->layout.delimiter)
        json_object_set_new(root, "edge_list", layout_json(&f->layout));
    return app_print_json(root);
}

/* What GPUs have beside what their line says, for all of them the same. */
static void print_libraries(void)
{
    const ftb_found *dense = &ftb_cublas_here()->found, *sparse = &ftb_cusparse_here()->found;
    if (dense->version)
        printf("Large dense products run there by cuBLAS %d.%d.\n", dense->version / 1000,
               dense->version % 1000 / 10);
    else
        app_print(stdout, "Large dense products run there without cuBLAS: %s.\n", dense->why);
    if (sparse->version)
        printf("Sparse products can be tried by cuSPARSE %d.%d.\n", sparse->version / 1000,
               sparse->version % 1000 / 10);
    else
        app_print(stdout, "Sparse products cannot be tried by cuSPARSE: %s.\n", sparse->why);
}

static json_t *version_json(const ftb_found *f)
{
    return f->version ? json_sprintf("%d.%d", f->version / 1000, f->version % 1000 / 10) : json_null();
}

static json_t *device_json(const char *name, const char *about, int64_t memory)
{
    json_t *row = json_pack("{s:s, s:s, s:I}", "name", name, "about", about, "memory", (json_int_t)memory);
    if (row && strncmp(name, "gpu", 3) == 0) {
        json_object_set_new(row, "cublas", version_json(&ftb_cublas_here()->found));
        json_object_set_new(row, "cusparse", version_json(&ftb_cusparse_here()->found));
    }
    return row;
}

/* The host comes first, then GPUs. */
static int print_devices(bool json)
{
    const char *name, *about;
    int64_t memory;
    json_t *list = json_array();
    int n = 0;
    for (; FtB_Device_describe(n, &name, &about, &memory) == GrB_SUCCESS; n++) {
        if (json)
            json_array_append_new(list, device_json(name, about, memory));
        else
            printf("%-8s %s\n", name, about);
    }
    if (json) {
        json_dumpf(list, stdout, JSON_INDENT(2));
        putchar('\n');
    } else if (ftb_driver_here()->count == 0) {
        app_print(stdout, "There is no GPU to use: %s.\n", ftb_driver_here()->why);
    } else {
        print_libraries();
    }
    if (!json && ftb_dense_slow())
        printf("On the processor %s.\n", ftb_dense_slow());
    json_decref(list);
    return APP_OK;
}

static int run_info(const void *values, int count, char *const *operands)
{
    const info_values *v = values;
    if (v->devices && count > 0)
        return app_fail(APP_USAGE, "--devices reads no file; unexpected operand '%s'", operands[0]);
    if (v->devices)
        return print_devices(v->json);
    if (count == 0)
        return app_fail(APP_USAGE, "info needs FILE|- (featblas info --help)");
    matrix_facts f = {.path = strcmp(operands[0], "-") == 0 ? "standard input" : operands[0]};
    FtB_Matrix A = NULL;
    reader_values reader = v->reader;
    reader_found found;
    reader.common.quiet = true; /* what is found is printed below */
    int code = reader_read(&reader, operands[0], &A, NULL, NULL, &found);
    if (code == APP_OK) {
        f.format = found.layout.adjacency ? "adjacency lists" : ftb_format_of(found.format)->title;
        f.layout = found.layout;
        code = gather(&f, A);
    }
    app_progress_clear();
    if (code == APP_OK && v->json)
        code = print_json(&f);
    else if (code == APP_OK)
        print_text(&f);
    FtB_Matrix_free(&A);
    return code;
}

const command command_info = {
    .name = "info",
    .operands = "FILE|-",
    .max_operands = 1,
    .summary = "describe a matrix or graph file",
    .description =
        "Prints format, dimensions, entries, values, degrees of rows and columns with a histogram in powers "
        "of two, whether the matrix is symmetric, and how many products its projections take. "
        "With --devices, what work can be placed on, and the GPUs that are found, or why there is none.",
    .examples = "  $ featblas info graph.mtx\n"
                "  $ featblas info ratings.csv --columns userId,movieId,rating --json\n"
                "  $ featblas info --devices\n",
    .reads = true,
    .options = info_options,
    .size = sizeof(info_values),
    .run = run_info,
};
