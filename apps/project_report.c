/* featblas project: what it says. */
#include "project_parts.h"

#include "core/words.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define TEXT_SPEED 150e6 /* bytes per second of text, for predictions */
#define SLOW_OUTPUT 1.0  /* seconds from which the output's time is worth a word */

void project_help_weights(void)
{
    int count = 0;
    const ftb_weight *w = ftb_weights(&count);
    puts("Weights of the pair of i and j, which share the vertices k in S. w(k,i) is the value of an entry,\n"
         "d(v) the number of entries of v, s(v) their sum, |v| the root of the sum of their squares,\n"
         "N the number of vertices k, n the number of projected vertices.\n");
    for (int at = 0; at < count; at++)
        printf("  %-20s %s\n  %-20s %s%s\n", w[at].name, w[at].formula, "", w[at].summary,
               w[at].unweighted ? "; values are not used" : "");
}

double project_figure(const project *p, const char *key)
{
    double value = NAN;
    return FtB_Plan_get(p->plan, key, &value) == GrB_SUCCESS ? value : NAN;
}

static const char *plural(int64_t n, const char *one, const char *many) { return n == 1 ? one : many; }

static void print_input(FILE *out, const project *p)
{
    char a[32], b[32], c[32];
    fprintf(out, "%s x %s, %s %s", app_thousands(a, p->nrows), app_thousands(b, p->ncols),
            app_thousands(c, p->nvals), plural(p->nvals, "entry", "entries"));
}

void project_announce(const project *p)
{
    char a[32], b[32];
    int64_t products = (int64_t)project_figure(p, "products");
    if (p->values->reader.common.quiet)
        return;
    app_progress_clear();
    fputs("projecting ", stderr);
    print_input(stderr, p);
    app_print(stderr, " onto %s %s: %s %s\n", app_thousands(a, p->vertices), p->onto,
              app_thousands(b, products), plural(products, "product", "products"));
    if (p->values->reader.common.verbose)
        app_print(stderr, "read in %.2f s; weight %s\n", p->read_seconds, p->weight);
}

void project_warn(const project *p)
{
    if (project_figure(p, "wraps") > 0)
        fputs(
            "featblas: warning: whole numbers may leave their 64 bits and wrap; write fp64(a) for a, and so "
            "on\n",
            stderr);
}

void project_summarise(const project *p, const FtB_Stats *stats)
{
    char a[32], b[32];
    const project_values *v = p->values;
    if (v->reader.common.quiet || (!v->output && v->stats >= 0))
        return;
    const char *name = v->output && strcmp(v->output, "-") != 0 ? v->output : "standard output";
    fflush(stdout);
    app_print(stderr, "%s: %s %s, %.1f s, peak %s\n", name, app_thousands(a, stats->nvals),
              plural(stats->nvals, "pair", "pairs"), app_seconds(), app_bytes(b, (double)app_peak_memory()));
    if ((!p->titles && !project_ids(p)) || !project_has_positions(v))
        return;
    if (p->ids_path && access(p->ids_path, F_OK) == 0)
        app_print(stderr, "%s: the ids of its positions\n", p->ids_path);
    else
        app_print(stderr, "%s: has positions, whose ids are lost; a file would have them beside it\n", name);
}

/* ---- statistics */

/* A number, or null where there is none: JSON knows neither NaN nor infinity. */
static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *describe_input(const project *p)
{
    return json_pack("{s:s, s:I, s:I, s:I}", "path", p->input, "nrows", (json_int_t)p->nrows, "ncols",
                     (json_int_t)p->ncols, "nvals", (json_int_t)p->nvals);
}

static int stats_json(const project *p, const FtB_Stats *s)
{
    json_t *result = json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "nrows", (json_int_t)s->nrows,
                               "ncols", (json_int_t)s->ncols, "nvals", (json_int_t)s->nvals, "nonempty_rows",
                               (json_int_t)s->nonempty_rows, "max_row", (json_int_t)s->max_row, "sum",
                               number(s->sum), "min", number(s->min), "max", number(s->max));
    return app_print_json(json_pack(
        "{s:o, s:s, s:I, s:s, s:I, s:o, s:f, s:f, s:I}", "input", describe_input(p), "onto",
        p->options.onto == FTB_COLS ? "cols" : "rows", "vertices", (json_int_t)p->vertices, "weight",
        p->weight, "products", (json_int_t)project_figure(p, "products"), "result", result, "read_seconds",
        p->read_seconds, "seconds", p->seconds, "peak_bytes", (json_int_t)app_peak_memory()));
}

static void stats_text(const project *p, const FtB_Stats *s)
{
    char a[32], b[32];
    double positions = (double)s->nrows * (double)s->ncols;
    printf("input            ");
    print_input(stdout, p);
    putchar('\n');
    app_print(stdout, "onto             %s %s\n", app_thousands(a, p->vertices), p->onto);
    app_print(stdout, "weight           %s\n", p->weight);
    printf("products         %s\n", app_thousands(a, (int64_t)project_figure(p, "products")));
    printf("pairs            %s, %.3g %% of %s x %s\n", app_thousands(a, s->nvals),
           positions > 0 ? 100 * (double)s->nvals / positions : 0, app_thousands(b, s->nrows), b);
    printf("rows             %s with pairs, at most %s in one\n", app_thousands(a, s->nonempty_rows),
           app_thousands(b, s->max_row));
    if (s->nvals > 0)
        printf("weights          %.10g to %.10g, mean %.10g, sum %.17g\n", s->min, s->max,
               s->sum / (double)s->nvals, s->sum);
    printf("time             %.2f s, and %.2f s reading; peak %s\n", p->seconds, p->read_seconds,
           app_bytes(a, (double)app_peak_memory()));
}

int project_print_stats(const project *p, const FtB_Stats *stats)
{
    if (p->values->stats == 1)
        return stats_json(p, stats);
    stats_text(p, stats);
    return APP_OK;
}

/* ---- dry run */

/* Seconds as "0.2 s", "14 s", "6 min", "2.5 h". */
static const char *duration(char *buffer, double s)
{
    if (s < 9.95)
        snprintf(buffer, 32, "%.2g s", s);
    else if (s < 120)
        snprintf(buffer, 32, "%.0f s", s);
    else if (s < 7200)
        snprintf(buffer, 32, "%.0f min", s / 60);
    else
        snprintf(buffer, 32, "%.1f h", s / 3600);
    return buffer;
}

/* Counts below ten million in full, larger ones as 2.97e9. */
static const char *count_text(char *buffer, double n)
{
    if (n < 1e7)
        return app_thousands(buffer, (int64_t)n);
    return app_scientific(buffer, n, 3);
}

/* What a text file of the pairs takes: two ids, a weight of about 8 characters, separators. */
static double text_bytes(const project *p, double entries)
{
    double digits = p->vertices > 1 ? ceil(log10((double)p->vertices)) : 1;
    return entries * (2 * digits + 8 + 3);
}

static int dry_run_json(const project *p)
{
    static const char *const keys[] = {"products",      "entries_bound", "entries_estimate",
                                       "entries_error", "bytes",         "limit",
                                       "chunks",        "threads",       "seconds"};
    json_t *plan = json_object();
    for (size_t k = 0; plan && k < sizeof keys / sizeof *keys; k++) {
        double x = project_figure(p, keys[k]);
        json_object_set_new(plan, keys[k],
                            x == floor(x) && fabs(x) < 0x1p53 ? json_integer((json_int_t)x) : number(x));
    }
    return app_print_json(json_pack("{s:o, s:s, s:I, s:s, s:o}", "input", describe_input(p), "onto",
                                    p->options.onto == FTB_COLS ? "cols" : "rows", "vertices",
                                    (json_int_t)p->vertices, "weight", p->weight, "plan", plan));
}

int project_dry_run(const project *p)
{
    char a[32], b[32], c[32];
    double entries = project_figure(p, "entries_estimate"), error = project_figure(p, "entries_error");
    double seconds = project_figure(p, "seconds"), threads = project_figure(p, "threads");
    if (p->values->stats == 1)
        return dry_run_json(p);
    printf("input            ");
    print_input(stdout, p);
    putchar('\n');
    app_print(stdout, "onto             %s %s\n", app_thousands(a, p->vertices), p->onto);
    printf("products         %s exactly\n", app_thousands(a, (int64_t)project_figure(p, "products")));
    printf("result           at most %s, about %s", count_text(a, project_figure(p, "entries_bound")),
           count_text(b, entries));
    if (error > 0)
        printf(" +- %.2g %%", 100 * error);
    printf(" entries%s; %s in memory\n",
           p->options.where || p->options.use_min_weight ? " before filters over weights" : "",
           app_bytes(c, 12 * entries + 8 * (double)p->vertices));
    printf("memory           %s, %s chunk%s; least limit %s\n", app_bytes(a, project_figure(p, "bytes")),
           app_thousands(b, (int64_t)project_figure(p, "chunks")),
           project_figure(p, "chunks") == 1 ? "" : "s", ftb_bytes_text(c, project_figure(p, "limit")));
    printf("time             about %s on %.0f thread%s", duration(a, seconds), threads,
           threads == 1 ? "" : "s");
    double writing = text_bytes(p, entries) / TEXT_SPEED;
    if (writing > SLOW_OUTPUT)
        printf("; text output would take %s", duration(c, writing));
    putchar('\n');
    if (p->values->explain || p->values->reader.common.verbose)
        return app_library_error(FtB_Plan_explain(p->plan, stdout), APP_OUTPUT);
    return APP_OK;
}
