/* Opens the drawing module, hands it matrices, and writes what it makes. */
#include "picture.h"

#include "app.h"
#include "core/core.h"
#include "file_names.h"
#include "io/io.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#define MODULE "featblas_draw.so"
#define SMALL 3000           /* rows and columns that get names */
#define SMALL_VALUES 1000000 /* entries whose values are shown */

/* The folder of this executable. */
static bool own_folder(char *folder, size_t room)
{
#ifdef __APPLE__
    uint32_t size = (uint32_t)room;
    if (_NSGetExecutablePath(folder, &size) != 0)
        return false;
#else
    ssize_t length = readlink("/proc/self/exe", folder, room - 1);
    if (length < 0)
        return false;
    folder[length] = '\0';
#endif
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* Beside the executable (as built), or where it was installed relative to it. */
static draw_function *open_module(void)
{
    char folder[2048], path[4096];
    static const char *const places[] = {"", FEATBLAS_MODULE_DIR "/"};
    void *module = NULL;
    draw_function *draw = NULL;
    if (!own_folder(folder, sizeof folder))
        return NULL;
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        snprintf(path, sizeof path, "%s/%s" MODULE, folder, places[p]);
        if (access(path, R_OK) == 0)
            break;
    }
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = module ? dlsym(module, "featblas_draw") : NULL;
    memcpy(&draw, &symbol, sizeof draw); /* ISO C has no conversion between the two kinds of pointer */
    return draw;
}

int picture_write(draw_request *request, const char *path)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    char message[512];
    request->png = files_is_png(path);
    draw_function *draw = open_module();
    if (!draw)
        return app_fail(APP_FAILURE, "the drawing module " MODULE " cannot be opened: %s", dlerror());
    if (draw(request, &bytes, &size, message, sizeof message) != 0)
        return app_fail(APP_FAILURE, "%s", message);
    const int code = app_library_error(ftb_file_put(ftb_context(), path, bytes, (int64_t)size), APP_OUTPUT);
    free(bytes);
    return code;
}

/* Names by label, or by number from base; NULL without either. */
static const char **names_of(int64_t count, FtB_Labels labels, int64_t base)
{
    if (count > SMALL || (!labels && base < 0))
        return NULL;
    const size_t digits = 24;
    const size_t head = ((size_t)count + 1) * sizeof(char *);
    const char **names = malloc(head + (labels ? 0 : (size_t)count * digits));
    char *text = (char *)names + head;
    for (int64_t v = 0; v < count && names; v++, text += digits) {
        if (labels) {
            names[v] = FtB_Labels_get(labels, v);
            continue;
        }
        snprintf(text, digits, "%" PRId64, v + base);
        names[v] = text;
    }
    return names;
}

/* Whether ids are consecutive numbers, as positions in files are, and where they begin. */
static bool consecutive(int64_t count, FtB_Labels labels, int64_t base, int64_t *first)
{
    char want[24];
    *first = 0;
    if (!labels) {
        *first = base > 0 ? base : 0;
        return true;
    }
    if (count == 0 || (sscanf(FtB_Labels_get(labels, 0), "%" SCNd64, first) != 1))
        return count == 0;
    for (int64_t v = 0; v < count; v++) {
        snprintf(want, sizeof want, "%" PRId64, *first + v);
        if (strcmp(want, FtB_Labels_get(labels, v)) != 0) {
            *first = 0;
            return false;
        }
    }
    return true;
}

int picture_matrix(draw_matrix *m, FtB_Matrix A, const graph_names *names)
{
    int64_t width, nvals;
    FtB_Type type;
    const void *colidx, *values;
    double *copy = NULL;
    GrB_Info info = FtB_Matrix_shape(A, &m->nrows, &m->ncols, &nvals, &width, &type);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_csr(A, &m->rowptr, &colidx, &values);
    if (info != GrB_SUCCESS)
        return graph_error(info, APP_FAILURE, names);
    if (m->ncols > FTB_INT32_LIMIT)
        return app_fail(APP_FAILURE, "%lld columns are too many to draw", (long long)m->ncols);
    m->colidx = colidx;
    if (width > 0 && nvals <= SMALL_VALUES) {
        if (!(copy = malloc((size_t)(nvals + 1) * sizeof *copy)))
            return app_fail(APP_MEMORY, "out of memory");
        for (int64_t e = 0; e < nvals; e++) /* of wider entries the first value is shown */
            copy[e] = ftb_get_real(values, type, e * width);
    }
    m->values = copy;
    m->row_texts = !consecutive(m->nrows, names->rows, names->base, &m->row_base);
    m->col_texts = !consecutive(m->ncols, names->cols, names->base, &m->col_base);
    m->row_names = names_of(m->nrows, names->rows, names->base);
    m->col_names = names_of(m->ncols, names->cols, names->base);
    return APP_OK;
}

void picture_release(draw_matrix *m)
{
    free((void *)m->values);
    free((void *)m->row_names);
    free((void *)m->col_names);
    m->values = NULL;
    m->row_names = m->col_names = NULL;
}
