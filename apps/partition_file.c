/* Files of partitions (partition_file.h). */
#include "partition_file.h"

#include "app.h"
#include "format_words.h"

static int take_labels(int32_t *labels, int64_t n, int64_t *nparts, const char *path, FtB_Block X)
{
    int64_t rows, cols, ld, most = 0;
    const int64_t *values;
    void *at;
    GrB_Info info = FtB_Block_shape(X, &rows, &cols, &ld, NULL, &at);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_INPUT);
    values = at;
    if (rows != n || (cols != 1 && n > 0))
        return app_fail(APP_INPUT, "%s: %lld x %lld numbers; expected %lld, one for each vertex", path,
                        (long long)rows, (long long)cols, (long long)n);
    for (int64_t v = 0; v < n; v++) {
        const int64_t label = values[v * ld];
        if (label < 0 || label >= *nparts)
            return app_fail(APP_INPUT, "%s: vertex %lld is in part %lld; expected 0 to %lld", path,
                            (long long)v, (long long)label, (long long)*nparts - 1);
        labels[v] = (int32_t)label;
        most = label > most ? label : most;
    }
    *nparts = most + 1;
    return APP_OK;
}

int partition_read(int32_t *labels, int64_t n, int64_t *nparts, const char *path)
{
    FtB_Block X;
    int code =
        app_library_error(FtB_Block_read(&X, path, FTB_BLOCK_READ_OPTIONS(.type = FTB_INT64)), APP_INPUT);
    if (code == APP_OK)
        code = take_labels(labels, n, nparts, path, X);
    FtB_Block_free(&X);
    return code;
}

int partition_write(const int32_t *labels, int64_t n, const char *path)
{
    FtB_Block X;
    GrB_Info info = FtB_Block_wrap_const(&X, labels, n, 1, 1, FTB_INT32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_write(X, path, format_of_output(path, FTB_TSV), 0);
    FtB_Block_free(&X);
    return app_library_error(info, APP_OUTPUT);
}
