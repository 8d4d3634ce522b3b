/* What docs/nn.md's fragments take for granted. */
#include "common.h"

enum { n = 34, classes = 2, nrows = n, ncols = 16 };
static FtB_Context ctx;
static FtB_Matrix A;
static FtB_Block X, Y;
static FtB_Tape tape;
static FtB_Optimizer adam;
static FtB_Parameter W;
static FtB_Layer layer;
static FtB_Var x, y, hidden, gate, h, e, loss, src, dst, edge;
static int32_t labels[n];
static uint8_t train[n] = {1, 1}, mask[n];
static double p = 0.5;

static void before(void)
{
    A = ring(n);
    OK(FtB_Block_new(&X, n, 16, FTB_FP32));
    OK(FtB_Tape_new(&tape, 1));
    OK(FtB_Parameter_new(&W, "W", 32, 5, FTB_FP32));
    x = hidden = gate = h = e = FtB_input(tape, X);
}

static void after(const char *where) { no_error(where, FtB_Tape_status(tape)); }
