/* What docs/vertex-programs.md's fragments take for granted. */
#include "common.h"

#include <featblas_vertex.h>

enum { n = 100 };
static FtB_Matrix A, tasks, ratings, others;
static FtB_Block R, D, T, L, P, most, levels, parents, labels, each, share, depth, order, U, V, F;
static FtB_Program rank, sssp, heat, bfs, urgent, factors;
static FtB_Run run;
static int64_t sources[64], source, total;
static double mean = 1, rmse;

static void before(void)
{
    float *dist, *first;
    A = ring(n);
    OK(FtB_Matrix_new(&tasks, FTB_FP32, n, n, 1));
    OK(FtB_select(tasks, NULL, NULL, "i < j", A, NULL));
    ratings = ring(n);
    others = ring(n);
    OK(FtB_Block_new(&U, n, 8, FTB_FP32));
    OK(FtB_Block_new(&V, n, 8, FTB_FP32));
    OK(FtB_Block_new(&F, n, 8, FTB_FP32));
    OK(FtB_Block_new(&R, n, 1, FTB_FP64));
    OK(FtB_Block_new(&T, n, 1, FTB_FP32));
    OK(FtB_Block_new(&most, n, 1, FTB_FP32));
    OK(FtB_Block_new(&D, n, 64, FTB_FP32));
    OK(FtB_Block_new(&L, n, 1, FTB_INT32));
    OK(FtB_Block_new(&P, n, 1, FTB_INT64));
    OK(FtB_Block_new(&levels, n, 64, FTB_INT32));
    OK(FtB_Block_new(&parents, n, 64, FTB_INT64));
    OK(FtB_Block_new(&labels, n, 1, FTB_INT64));
    OK(FtB_Block_new(&each, n, 1, FTB_INT64));
    OK(FtB_Block_new(&share, n, 1, FTB_FP64));
    OK(FtB_Block_new(&depth, n, 1, FTB_INT32));
    OK(FtB_Block_new(&order, n, 1, FTB_INT64));
    OK(FtB_Block_shape(D, NULL, NULL, NULL, NULL, (void **)&dist));
    OK(FtB_Block_shape(T, NULL, NULL, NULL, NULL, (void **)&first));
    first[7] = 1;
    for (int v = 0; v < n; v++)
        for (int c = 0; c < 64; c++)
            dist[64 * v + c] = v == c ? 0 : INFINITY;
    for (int c = 0; c < 64; c++)
        sources[c] = c;
    OK(FtB_Program_new(&sssp, FTB_PROGRAM(.send = "dist", .combine = "min : message + edge",
                                          .apply = "dist = min(dist, received)")));
}

static void after(const char *where) { no_error(where, GrB_SUCCESS); }
