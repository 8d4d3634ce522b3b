/* A result that is too large to keep: its rows are handed to a function, within a memory limit. */
#include "example.h"

/* Keeps the heaviest pair of all rows. */
typedef struct best {
    int64_t row, column;
    double weight;
} best;

static GrB_Info look(const FtB_Rows *rows, void *arg)
{
    best *b = arg;
    for (int64_t i = 0; i < rows->nrows; i++)
        for (int64_t e = rows->rowptr[i]; e < rows->rowptr[i + 1]; e++) {
            double weight = ((const double *)rows->values)[e];
            if (weight > b->weight)
                *b = (best){rows->row0 + i, ((const int32_t *)rows->colidx)[e], weight};
        }
    return GrB_SUCCESS;
}

int main(void)
{
    enum { N = 2000, PER_ROW = 8 };
    static int64_t rowptr[N + 1];
    static int32_t columns[N * PER_ROW];
    for (int i = 0; i < N; i++) {
        rowptr[i + 1] = rowptr[i] + PER_ROW;
        for (int e = 0; e < PER_ROW; e++)
            columns[i * PER_ROW + e] = (i % 97 + e * e * 7) % N; /* 0, 7, 28, 63, ... from i mod 97 */
    }
    FtB_Matrix R;
    FtB_Sink sink;
    FtB_Stats stats;
    best b = {-1, -1, 0};
    OK(FtB_Context_set_memory_limit(NULL, 64 << 20));
    OK(FtB_Matrix_wrap_csr(&R, FTB_FP64, N, N, 0, rowptr, columns, NULL)); /* width 0: every entry is 1 */
    OK(FtB_Sink_callback(&sink, look, &b));
    OK(FtB_project(sink, R, "cosine", FTB_PROJECT_OPTIONS(.triangle = true)));
    OK(FtB_Sink_get_stats(sink, &stats));
    printf("%lld pairs; the heaviest: %lld and %lld, %.3f\n", (long long)stats.nvals, (long long)b.row,
           (long long)b.column, b.weight);
    OK(FtB_Sink_free(&sink));
    OK(FtB_Matrix_free(&R));
    return 0;
}
