/* Generated data sets as folders: texts that the shell's tools can look at. */
#include "learn/labelled.h"
#include "app.h"
#include "io/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The edges as the lower triangle of a symmetric file: every edge is in the graph both ways round. */
static GrB_Info save_edges(const char *path, const gen_graph *g)
{
    const int64_t n = g->nrows;
    FtB_Context ctx = ftb_context();
    FtB_Sink sink = NULL;
    int64_t *rowptr = ftb_new0(ctx, n + 1, sizeof *rowptr);
    int32_t *colidx = ftb_new(ctx, g->nvals / 2, sizeof *colidx);
    GrB_Info info = rowptr && colidx ? FtB_Sink_file(&sink, path, FTB_MTX, NULL) : ftb_nomem();
    for (int64_t i = 0; i < n && info == GrB_SUCCESS; i++) {
        int64_t at = rowptr[i];
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1] && g->colidx[e] < i; e++)
            colidx[at++] = g->colidx[e];
        rowptr[i + 1] = at;
    }
    if (info == GrB_SUCCESS)
        info = ftb_sink_begin(sink, &(ftb_sink_shape){.ctx = ctx,
                                                      .nrows = n,
                                                      .ncols = n,
                                                      .nvals = rowptr[n],
                                                      .type = FTB_BOOL,
                                                      .base = 1,
                                                      .symmetric = true});
    if (info == GrB_SUCCESS)
        info = ftb_sink_rows(
            sink,
            &(FtB_Rows){
                .nrows = n, .ncols = n, .rowptr = rowptr, .colidx = colidx, .type = FTB_BOOL, .width = 0});
    if (info == GrB_SUCCESS)
        info = ftb_sink_end(sink);
    else if (sink)
        ftb_sink_abort(sink);
    FtB_Sink_free(&sink);
    ftb_delete(rowptr);
    ftb_delete(colidx);
    return info;
}

static GrB_Info save_block(const char *path, const void *data, int64_t nrows, int64_t ncols, FtB_Type type)
{
    FtB_Block X;
    GrB_Info info = FtB_Block_wrap_const(&X, data, nrows, ncols, ncols, type);
    if (info == GrB_SUCCESS)
        info = FtB_Block_write(X, path, FTB_FORMAT_AUTO, 0);
    FtB_Block_free(&X);
    return info;
}

static GrB_Info save_split(const char *path, const gen_labelled *s)
{
    static const char *const words[] = {"train\n", "val\n", "test\n"};
    const int64_t n = s->graph.nrows;
    FtB_Context ctx = ftb_context();
    char *text = ftb_new(ctx, n, 6), *end = text;
    GrB_Info info = text ? GrB_SUCCESS : ftb_nomem();
    for (int64_t v = 0; text && v < n; v++)
        end = stpcpy(end, words[s->part[0][v] ? 0 : s->part[1][v] ? 1 : 2]);
    if (info == GrB_SUCCESS)
        info = ftb_file_put(ctx, path, text, end - text);
    ftb_delete(text);
    return info;
}

enum { NAME_ROOM = 16 };

static const char *file_in(char *path, size_t length, const char *name)
{
    snprintf(path + length, NAME_ROOM, "/%s", name);
    return path;
}

int labelled_save(const char *folder, const gen_labelled *s)
{
    const int64_t n = s->graph.nrows;
    const size_t length = strlen(folder);
    char *path = malloc(length + NAME_ROOM);
    if (!path)
        return app_fail(APP_MEMORY, "out of memory");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        const int code = app_fail(APP_OUTPUT, "%s: cannot make the folder: %s", folder, strerror(errno));
        free(path);
        return code;
    }
    memcpy(path, folder, length);
    GrB_Info info = save_edges(file_in(path, length, "edges.mtx"), &s->graph);
    if (info == GrB_SUCCESS)
        info = save_block(file_in(path, length, "features.mtx"), s->features, n, s->nfeatures, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = save_block(file_in(path, length, "labels.txt"), s->labels, n, 1, FTB_INT32);
    if (info == GrB_SUCCESS)
        info = save_split(file_in(path, length, "split.txt"), s);
    free(path);
    return app_library_error(info, APP_OUTPUT);
}
