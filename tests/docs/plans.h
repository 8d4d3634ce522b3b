/* What docs/plans.md's fragments take for granted. */
#include "common.h"

static FtB_Plan plan;
static const char *key = "threads";
static const char *value = "1";
static double figure;
static FtB_Matrix A;
static FtB_Vector u, w;

/* Measuring takes half of a minute: test_calibrate does it. */
static GrB_Info compiled(GrB_Info (*call)(FtB_Context), FtB_Context ctx)
{
    return call && !ctx ? GrB_SUCCESS : GrB_NULL_POINTER;
}
#define FtB_Wisdom_calibrate(ctx) compiled(FtB_Wisdom_calibrate, ctx)

static void before(void)
{
    FtB_Block X, H;
    A = ring(6);
    OK(FtB_Vector_new(&u, FTB_FP32, 6));
    OK(FtB_Vector_new(&w, FTB_FP32, 6));
    OK(FtB_Block_new(&X, 6, 8, FTB_FP32));
    OK(FtB_Block_new(&H, 6, 8, FTB_FP32));
    OK(FtB_mxm_plan(&plan, H, NULL, NULL, FTB_PLUS_SRC, ring(6), X, NULL, FTB_ESTIMATE));
}

static void after(const char *where) { no_error(where, GrB_SUCCESS); }
