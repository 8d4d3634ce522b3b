/* featblas demo: two bipartite networks projected with several weights, a table, a graph neural network, and
 * pictures. */
#include "app.h"
#include "demo.h"
#include "file_names.h"
#include "gen/davis.h"
#include "gen/gen.h"
#include "picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct demo_values {
    common_values common;
} demo_values;

static const option demo_options[] = {{.name = NULL}};

enum { COUNT, JACCARD, NEWMAN, COSINE, NWEIGHTS };
enum { SHOWN = 10 };
static const char *const weights[NWEIGHTS] = {"count", "jaccard", "newman", "cosine"};

typedef struct pair {
    int i, j;
    double weight[NWEIGHTS];
} pair;

typedef struct demo {
    const char *folder;
    FtB_Matrix women;             /* women x events */
    FtB_Matrix between[NWEIGHTS]; /* women x women */
    FtB_Labels names, events;
    pair pairs[DAVIS_WOMEN * DAVIS_WOMEN / 2];
    int npairs;
} demo;

static const char *path_in(char *buffer, size_t room, const demo *d, const char *name)
{
    snprintf(buffer, room, "%s/%s", d->folder, name);
    return buffer;
}

/* ---- the Southern Women */

static GrB_Info project_women(demo *d)
{
    GrB_Info info = FtB_Matrix_wrap_csr(&d->women, FTB_FP32, DAVIS_WOMEN, DAVIS_EVENTS, 0, davis_rowptr,
                                        davis_colidx, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Labels_new(&d->names, DAVIS_WOMEN, davis_women);
    if (info == GrB_SUCCESS)
        info = FtB_Labels_new(&d->events, DAVIS_EVENTS, davis_events);
    for (int w = 0; w < NWEIGHTS && info == GrB_SUCCESS; w++) {
        info = FtB_Matrix_new(&d->between[w], FTB_FP64, DAVIS_WOMEN, DAVIS_WOMEN, 1);
        if (info == GrB_SUCCESS)
            info = FtB_project(d->between[w], d->women, weights[w], FTB_PROJECT_OPTIONS(.onto = FTB_ROWS));
    }
    return info;
}

static double entry(FtB_Matrix A, int i, int j)
{
    const int64_t *rowptr;
    const void *colidx, *values;
    FtB_Matrix_csr(A, &rowptr, &colidx, &values);
    for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++)
        if (((const int32_t *)colidx)[e] == j)
            return ((const double *)values)[e];
    return 0;
}

static int by_newman(const void *x, const void *y)
{
    const pair *a = x, *b = y;
    double u = a->weight[NEWMAN], v = b->weight[NEWMAN];
    return u != v ? (u < v) - (u > v) : a->i != b->i ? a->i - b->i : a->j - b->j;
}

static void gather_pairs(demo *d)
{
    for (int i = 0; i < DAVIS_WOMEN; i++)
        for (int j = i + 1; j < DAVIS_WOMEN; j++) {
            pair p = {.i = i, .j = j};
            for (int w = 0; w < NWEIGHTS; w++)
                p.weight[w] = entry(d->between[w], i, j);
            if (p.weight[COUNT] > 0)
                d->pairs[d->npairs++] = p;
        }
    qsort(d->pairs, (size_t)d->npairs, sizeof *d->pairs, by_newman);
}

static void print_pair(const pair *p)
{
    char who[64];
    snprintf(who, sizeof who, "%s - %s", davis_women[p->i], davis_women[p->j]);
    printf("   %-24s%10.0f", who, p->weight[COUNT]);
    for (int w = 1; w < NWEIGHTS; w++)
        printf("%10.3f", p->weight[w]);
    putchar('\n');
}

static void print_pairs(const demo *d)
{
    int alike = 0; /* the pair with the largest Jaccard index */
    for (int p = 0; p < d->npairs; p++)
        if (d->pairs[p].weight[JACCARD] > d->pairs[alike].weight[JACCARD])
            alike = p;
    printf(
        "1. The Southern Women: 18 women, 14 social events, 89 attendances (Davis, Gardner, Gardner 1941)\n\n"
        "   Two women are linked if they met. %d of 153 pairs did; the strongest by Newman's weight:\n\n"
        "   %-24s",
        d->npairs, "");
    for (int w = 0; w < NWEIGHTS; w++)
        printf("%10s", weights[w]);
    putchar('\n');
    for (int p = 0; p < SHOWN && p < d->npairs; p++)
        print_pair(&d->pairs[p]);
    if (alike >= SHOWN) {
        puts("   ...");
        print_pair(&d->pairs[alike]);
    }
    puts("\n   count    events in common\n"
         "   jaccard  ... as a share of the events that either was at\n"
         "   newman   ... each counted 1 / (guests - 1): small events bind more than large ones\n"
         "   cosine   ... over the square root of the product of their numbers of events\n\n"
         "   What one sees: two circles, around Evelyn, Theresa, Laura and Brenda, and around Nora, Sylvia "
         "and\n"
         "   Katherina. Counting alone puts the first circle ahead; Newman's weight puts the second first, "
         "since\n"
         "   its events were small. Flora and Olivia, at two events each, were at the same two: Jaccard and\n"
         "   cosine are 1.\n");
}

/* ---- a larger network, generated */

static const gen_bipartite larger = {
    .nrows = 50000, .ncols = 4000, .nvals = 2000000, .min_degree = 5, .values = GEN_RATINGS};

static int time_weight(FtB_Matrix R, const char *weight)
{
    FtB_Sink sink = NULL;
    FtB_Plan plan = NULL;
    FtB_Stats stats;
    double products = 0, start = 0, seconds = 0;
    char many[32];
    const FtB_Project_options *options = FTB_PROJECT_OPTIONS(.triangle = true);
    GrB_Info info = FtB_Sink_stats(&sink);
    if (info == GrB_SUCCESS)
        info = FtB_project_plan(&plan, sink, R, weight, options, FTB_ESTIMATE);
    if (info == GrB_SUCCESS)
        info = FtB_Plan_get(plan, "products", &products);
    if (info == GrB_SUCCESS) {
        start = app_seconds();
        info = FtB_project(sink, R, weight, options);
        seconds = app_seconds() - start;
    }
    if (info == GrB_SUCCESS)
        info = FtB_Sink_get_stats(sink, &stats);
    if (info == GrB_SUCCESS) {
        app_progress_clear();
        printf("   %-24s%10s pairs %8.2f s %10.2g products/s\n", weight, app_thousands(many, stats.nvals),
               seconds, products / seconds);
    }
    FtB_Plan_free(&plan);
    FtB_Sink_free(&sink);
    return app_library_error(info, APP_FAILURE);
}

static int draw_larger(const demo *d, FtB_Matrix R, FtB_Matrix C, const char *file)
{
    char path[1024];
    draw_request r = {.kind = DRAW_PATTERN, .count = 2};
    r.matrix[0].title = "Ratings";
    r.matrix[0].row_kind = "users";
    r.matrix[1].title = "Items rated together";
    r.matrix[0].col_kind = r.matrix[1].row_kind = r.matrix[1].col_kind = "items";
    const graph_names nameless = {.path = "the demo", .base = -1};
    int code = picture_matrix(&r.matrix[0], R, &nameless);
    if (code == APP_OK)
        code = picture_matrix(&r.matrix[1], C, &nameless);
    if (code == APP_OK)
        code = picture_write(&r, path_in(path, sizeof path, d, file));
    picture_release(&r.matrix[0]);
    picture_release(&r.matrix[1]);
    return code;
}

static int run_larger(const demo *d)
{
    static const char *const timed[] = {"count", "jaccard", "plus : a / (a + b)"};
    gen_graph g = {0};
    FtB_Matrix R = NULL, C = NULL;
    if (gen_make_bipartite(&g, &larger, 1) != GrB_SUCCESS)
        return app_fail(APP_MEMORY, "%s", gen_error());
    printf(
        "2. A generated network: 50,000 users, 4,000 items, 2,000,000 ratings, projected onto the items\n\n");
    int code = app_library_error(gen_matrix(&R, &g), APP_FAILURE);
    for (size_t t = 0; t < sizeof timed / sizeof *timed && code == APP_OK; t++)
        code = time_weight(R, timed[t]);
    if (code == APP_OK)
        code = app_library_error(FtB_Matrix_new(&C, FTB_FP32, larger.ncols, larger.ncols, 1), APP_FAILURE);
    if (code == APP_OK)
        code = app_library_error(FtB_project(C, R, "count", NULL), APP_FAILURE);
    if (code == APP_OK)
        code = draw_larger(d, R, C, "ratings.png");
    putchar('\n');
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&R);
    gen_free(&g);
    return code;
}

/* ---- files */

typedef struct picture {
    const char *file;
    draw_kind kind;
    int count, which[2]; /* of the three matrices below */
} picture;

static int draw_women(const demo *d)
{
    enum { EVENTS, TOGETHER, STRENGTH };
    static const picture pictures[] = {{"events.png", DRAW_GRAPH, 1, {EVENTS}},
                                       {"women.svg", DRAW_GRAPH, 1, {STRENGTH}},
                                       {"women.png", DRAW_GRAPH, 1, {STRENGTH}},
                                       {"pattern.svg", DRAW_PATTERN, 2, {EVENTS, TOGETHER}},
                                       {"pattern.png", DRAW_PATTERN, 2, {EVENTS, TOGETHER}}};
    draw_matrix m[3] = {{.title = "Who was at which event", .row_kind = "women", .col_kind = "events"},
                        {.title = "Events in common", .row_kind = "women", .col_kind = "women"},
                        {.title = "Who met, by Newman's weight", .row_kind = "women", .col_kind = "women"}};
    char path[1024];
    const graph_names both = {.path = "the demo", .base = -1, .rows = d->names, .cols = d->events},
                      women = {.path = "the demo", .base = -1, .rows = d->names, .cols = d->names};
    int code = picture_matrix(&m[EVENTS], d->women, &both);
    if (code == APP_OK)
        code = picture_matrix(&m[TOGETHER], d->between[COUNT], &women);
    if (code == APP_OK)
        code = picture_matrix(&m[STRENGTH], d->between[NEWMAN], &women);
    for (size_t p = 0; p < sizeof pictures / sizeof *pictures && code == APP_OK; p++) {
        draw_request r = {.kind = pictures[p].kind, .count = pictures[p].count};
        for (int k = 0; k < r.count; k++)
            r.matrix[k] = m[pictures[p].which[k]];
        code = picture_write(&r, path_in(path, sizeof path, d, pictures[p].file));
    }
    for (int k = 0; k < 3; k++)
        picture_release(&m[k]);
    return code;
}

static void print_files(const demo *d)
{
    printf("4. Written to %s\n\n"
           "   women.svg, women.png      the women's network, drawn by Newman's weight\n"
           "   events.png                the network it was made from\n"
           "   pattern.svg, pattern.png  the matrix before and after, with the events in common\n"
           "   ratings.png               the pattern of the generated network before and after\n"
           "   karate.svg                what the neural network learned of the club's members\n"
           "   women.csv                 the data, to try other weights:\n\n"
           "   $ %s project %s/women.csv --onto rows --weight jaccard --top-k 3 -o -\n"
           "   $ %s project %s/women.csv --onto rows --semiring 'plus : 1 / (dk * dk)' -o -\n",
           d->folder, app_program, d->folder, app_program, d->folder);
}

/* Runs to the end of what works. */
static int run_all(demo *d)
{
    char path[1024];
    int code = app_library_error(project_women(d), APP_FAILURE);
    if (code != APP_OK)
        return code;
    gather_pairs(d);
    app_progress_clear();
    print_pairs(d);
    code = app_library_error(FtB_Matrix_write(d->women, path_in(path, sizeof path, d, "women.csv"), FTB_CSV,
                                              d->names, d->events, 0),
                             APP_OUTPUT);
    if (code == APP_OK)
        code = draw_women(d);
    if (code == APP_OK)
        code = run_larger(d);
    if (code == APP_OK)
        code = demo_learn(path_in(path, sizeof path, d, "karate.svg"));
    if (code == APP_OK)
        print_files(d);
    return code;
}

static int run_demo(const void *values, int count, char *const *operands)
{
    demo d = {.folder = count > 0 ? operands[0] : "featblas-demo"};
    (void)values;
    int code = files_check_folder(d.folder);
    if (code == APP_OK && mkdir(d.folder, 0777) != 0 && errno != EEXIST)
        code = app_fail(APP_OUTPUT, "%s: cannot make the folder: %s", d.folder, strerror(errno));
    if (code == APP_OK)
        code = run_all(&d);
    for (int w = 0; w < NWEIGHTS; w++)
        FtB_Matrix_free(&d.between[w]);
    FtB_Matrix_free(&d.women);
    FtB_Labels_free(&d.names);
    FtB_Labels_free(&d.events);
    return code;
}

const command command_demo = {
    .name = "demo",
    .operands = "[DIR]",
    .max_operands = 1,
    .summary = "project a small real network and a generated one, train on a third, and draw them",
    .description =
        "Projects the Southern Women, 18 women at 14 social events, with several weights, and times "
        "projections of a generated network of 2,000,000 ratings. Trains a graph neural network on Zachary's "
        "karate club. Writes pictures and the data to DIR, "
        "by default featblas-demo.",
    .examples = "  $ featblas demo\n  $ featblas demo pictures\n",
    .options = demo_options,
    .writes = true,
    .size = sizeof(demo_values),
    .run = run_demo};
