/* What `featblas sample` writes: files of each batch, and what was drawn in all. */
#include "sample/sample_parts.h"

#include "core/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool sample_is_text(const sample_work *w) { return w->v->format == 1; }

static const char *list_ending(const sample_work *w) { return sample_is_text(w) ? "tsv" : "npy"; }

int sample_make_folder(sample_work *w)
{
    size_t names = 0;
    if (!w->v->output)
        return APP_OK;
    for (int r = 0; r < w->nrelations; r++)
        names +=
            strlen(w->relation[r].name) + strlen(w->relation[r].source) + strlen(w->relation[r].destination);
    w->room = strlen(w->v->output) + names + 64;
    w->path = malloc(w->room);
    if (!w->path)
        return app_fail(APP_MEMORY, "out of memory");
    if (mkdir(w->v->output, 0777) != 0 && errno != EEXIST)
        return app_fail(APP_OUTPUT, "%s: cannot make the folder: %s", w->v->output, strerror(errno));
    return APP_OK;
}

const char *sample_path(sample_work *w, int64_t batch, const char *what, int hop, const char *ending)
{
    int length = snprintf(w->path, w->room, "%s/%06lld.%s", w->v->output, (long long)batch, what);
    if (hop >= 0)
        length += snprintf(w->path + length, w->room - (size_t)length, "%d", hop);
    snprintf(w->path + length, w->room - (size_t)length, ".%s", ending);
    return w->path;
}

GrB_Info sample_write_list(const char *path, FtB_Ids list, int64_t base)
{
    FtB_Block X;
    void *values;
    GrB_Info info = FtB_Block_new(&X, list.count, 1, FTB_INT64);
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(X, NULL, NULL, NULL, NULL, &values);
    for (int64_t t = 0; info == GrB_SUCCESS && t < list.count; t++)
        ((int64_t *)values)[t] = list.at[t] < 0 ? list.at[t] : list.at[t] + base;
    if (info == GrB_SUCCESS)
        info = FtB_Block_write(X, path, FTB_FORMAT_AUTO, 0);
    FtB_Block_free(&X);
    return info;
}

GrB_Info sample_write_matrix(sample_work *w, FtB_Matrix A, int64_t batch, const char *what, int hop)
{
    return FtB_Matrix_write(A, sample_path(w, batch, what, hop, sample_is_text(w) ? "tsv" : "npz"),
                            FTB_FORMAT_AUTO, NULL, NULL, 0);
}

/* Trees, which are seeds' places, from 0. */
static GrB_Info write_trees(const char *path, const int32_t *trees, int64_t count)
{
    int64_t *list = malloc(sizeof *list * (size_t)(count + 1));
    for (int64_t t = 0; t < count && list; t++)
        list[t] = trees[t];
    const GrB_Info info = list ? sample_write_list(path, FtB_Ids_of(list, count), 0) : ftb_nomem();
    free(list);
    return info;
}

int sample_write(sample_work *w, FtB_Sample s, int64_t batch)
{
    const FtB_Ids vertices = FtB_Sample_vertices(s);
    const int32_t *trees = FtB_Sample_trees(s);
    GrB_Info info = sample_write_list(sample_path(w, batch, "vertices", -1, list_ending(w)), vertices,
                                      sample_is_text(w) ? w->names.base : 0);
    if (info == GrB_SUCCESS && trees)
        info = write_trees(sample_path(w, batch, "trees", -1, list_ending(w)), trees, vertices.count);
    for (int h = 0; h < w->nhops && info == GrB_SUCCESS; h++) {
        info = sample_write_matrix(w, FtB_Sample_layer(s, h), batch, "hop", h);
        if (info == GrB_SUCCESS && w->v->edges)
            info = sample_write_list(sample_path(w, batch, "edges", h, list_ending(w)),
                                     FtB_Sample_edges(s, h), 0);
    }
    return app_library_error(info, APP_OUTPUT);
}

/* ---- relations */

static GrB_Info write_type(sample_work *w, FtB_Relation_sample s, int type, int64_t batch, char *what)
{
    const FtB_Ids vertices = FtB_Relation_sample_vertices(s, type);
    const int32_t *trees = FtB_Relation_sample_trees(s, type);
    const char *name;
    int64_t base = 0;
    GrB_Info info = FtB_Relations_type(w->list, type, &name, NULL, NULL);
    if (info != GrB_SUCCESS)
        return info;
    if (sample_is_text(w))
        (void)sample_base(w, type, &base, NULL, NULL); /* sample_read has refused those that have none */
    snprintf(what, w->room, "%s.vertices", name);
    info = sample_write_list(sample_path(w, batch, what, -1, list_ending(w)), vertices, base);
    snprintf(what, w->room, "%s.trees", name);
    return info == GrB_SUCCESS && trees
               ? write_trees(sample_path(w, batch, what, -1, list_ending(w)), trees, vertices.count)
               : info;
}

static GrB_Info write_relation(sample_work *w, FtB_Relation_sample s, int r, int64_t batch, char *what)
{
    const sample_relation *of = &w->relation[r];
    GrB_Info info = GrB_SUCCESS;
    for (int h = 0; h < w->nhops && info == GrB_SUCCESS; h++) {
        snprintf(what, w->room, "%s-%s-%s.hop", of->source, of->name, of->destination);
        info = sample_write_matrix(w, FtB_Relation_sample_layer(s, r, h), batch, what, h);
        snprintf(what, w->room, "%s-%s-%s.edges", of->source, of->name, of->destination);
        if (info == GrB_SUCCESS && w->v->edges)
            info = sample_write_list(sample_path(w, batch, what, h, list_ending(w)),
                                     FtB_Relation_sample_edges(s, r, h), 0);
    }
    return info;
}

int sample_write_relations(sample_work *w, FtB_Relation_sample s, int64_t batch)
{
    char *what = malloc(w->room);
    GrB_Info info = what ? GrB_SUCCESS : ftb_nomem();
    for (int t = 0; t < FtB_Relations_types(w->list) && info == GrB_SUCCESS; t++)
        info = write_type(w, s, t, batch, what);
    for (int r = 0; r < w->nrelations && info == GrB_SUCCESS; r++)
        info = write_relation(w, s, r, batch, what);
    free(what);
    return app_library_error(info, APP_OUTPUT);
}

/* ---- statistics */

static void print_rate(int64_t count, const char *what, double seconds)
{
    char a[32];
    printf("%s %s in %.3f s: %.2f million a second\n", app_thousands(a, count), what, seconds,
           seconds > 0 ? (double)count / seconds / 1e6 : 0);
}

void sample_print(const sample_work *w)
{
    char a[32], b[32], c[32];
    int64_t all = 0;
    app_end();
    printf("%s seeds in %s batches\n", app_thousands(a, w->nseeds), app_thousands(b, w->batches));
    if (w->v->walk) {
        printf("%s walks of %lld steps, of which %s ended before\n",
               app_thousands(a, w->nseeds * (w->v->walks ? w->v->walks : 1)), (long long)w->v->walk,
               app_thousands(b, w->ended));
        print_rate(w->steps, "steps", w->seconds);
        return;
    }
    printf("%-6s %15s %15s %15s\n", "hop", "edges", "new vertices", "duplicates");
    for (int h = 0; h < w->nhops; h++) {
        all += w->picked[h];
        printf("%-6d %15s %15s %15s\n", h, app_thousands(a, w->picked[h]), app_thousands(b, w->found[h + 1]),
               app_thousands(c, w->picked[h] - w->found[h + 1]));
    }
    if (w->v->negative)
        printf("%s pairs without an entry\n", app_thousands(a, w->negatives));
    print_rate(all, "edges", w->seconds);
}
