/* Graph attention (Velickovic et al. 2018), 4 heads of 8: the score of an edge is leaky_relu(a . x_i + b .
 * x_j), its weight the softmax over the neighbours of i, and the result the weighted sum of their features.
 */
#include "example.h"

#include <math.h>

enum { N = 30, E = 4 * N, HEADS = 4, D = 8, COLS = HEADS * D };

static double x[N][COLS], h[N][COLS], a[COLS], b[COLS], g[N][COLS], l[N][HEADS], r[N][HEADS];

int main(void)
{
    int64_t from[E], to[E];
    for (int e = 0; e < E; e++)
        to[e] = ((from[e] = e / 4) + e % 4 * 5) % N;
    for (int t = 0; t < N * COLS; t++)
        x[t / COLS][t % COLS] = a[t % COLS] = b[t * 7 % COLS] = sin(t);
    enum { X, H, G, L, R, LEFT, RIGHT, BLOCKS };
    void *const memory[] = {x, h, g, l, r, a, b};
    const int64_t rows[] = {N, N, N, N, N, 1, 1}, cols[] = {COLS, COLS, COLS, HEADS, HEADS, COLS, COLS};
    const char *score = "plus : leaky_relu(dst + src, 0.2)";
    FtB_Matrix A, S;
    FtB_Block whole, block[BLOCKS]; /* each as a view by heads */
    for (int n = 0; n < BLOCKS; n++) {
        OK(FtB_Block_wrap(&whole, memory[n], rows[n], cols[n], cols[n], FTB_FP64));
        OK(FtB_Block_heads(&block[n], whole, HEADS));
        OK(FtB_Block_free(&whole)); /* the view lives on */
    }
    OK(FtB_Matrix_build(&A, FTB_FP64, N, N, 0, E, from, to, NULL, FTB_DUP_ERROR, NULL));
    OK(FtB_Matrix_like(&S, A, HEADS, FTB_FP64));
    /* Half a score per vertex and head, a score per edge and head, weights, and the sums. */
    OK(FtB_eWiseMult(block[L], NULL, NULL, "dot(x, y)", block[X], block[LEFT], NULL));
    OK(FtB_eWiseMult(block[R], NULL, NULL, "dot(x, y)", block[X], block[RIGHT], NULL));
    OK(FtB_mxm(S, A, NULL, score, block[L], block[R], FTB_DESC_ST1));
    OK(FtB_softmax(S, S, FTB_BY_ROW));
    OK(FtB_mxm(block[H], NULL, NULL, FTB_PLUS_MUL, S, block[X], NULL));
    /* The last three steps in one, which stores nothing per edge. */
    OK(FtB_attention(block[G], A, NULL, score, block[L], block[R], block[X], NULL, NULL));
    for (int t = 0; t < N * COLS; t++) {
        int i = t / COLS, c = t % COLS, first = c / D * D;
        double sum = 0, total = 0;
        for (int e = 4 * i; e < 4 * i + 4; e++) {
            double s = 0;
            for (int f = first; f < first + D; f++)
                s += a[f] * x[i][f] + b[f] * x[to[e]][f];
            s = exp(s > 0 ? s : 0.2 * s);
            sum += s * x[to[e]][c];
            total += s;
        }
        CHECK(fabs(h[i][c] - sum / total) < 1e-9 && fabs(g[i][c] - sum / total) < 1e-9);
    }
    for (int n = 0; n < BLOCKS; n++)
        OK(FtB_Block_free(&block[n]));
    OK(FtB_Matrix_free(&A));
    OK(FtB_Matrix_free(&S));
    return 0;
}
