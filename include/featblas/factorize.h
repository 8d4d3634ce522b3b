/* Factors of a matrix of ratings, by which collaborative filtering predicts those that are not there. Part of
 * featblas_vertex.h; docs/vertex-programs.md. */
#ifndef FEATBLAS_FACTORIZE_H
#define FEATBLAS_FACTORIZE_H

#ifndef FEATBLAS_VERTEX_H
#error "include <featblas_vertex.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** How factors are found. With e(i, j) = R(i, j) - offset - dot(U(i,:), V(j,:)), all of them make
 *
 *     sum e(i, j)^2 + lambda (dot(U(i,:), U(i,:)) + dot(V(j,:), V(j,:)))      over the entries of R
 *
 * small. */
typedef enum FtB_Factorize_method {
    FTB_FACTORIZE_SGD = 0, /**< stochastic gradient descent: both factors of a rating take a step at once,
                              rating after rating */
    FTB_FACTORIZE_ALS,     /**< alternating least squares: for V as it is the best U, then for U the best V */
    FTB_FACTORIZE_GRADIENT /**< a step along the gradient of all ratings together; GraphMat's SGD */
} FtB_Factorize_method;

/** Options of FtB_factorize; made by FTB_FACTORIZE(.method = FTB_FACTORIZE_ALS). Zero means the default. */
typedef struct FtB_Factorize_options {
    size_t size;                 /**< set by the macro */
    FtB_Factorize_method method; /**< SGD */
    int64_t rounds;              /**< passes over the ratings; 20, of ALS 10 */
    double lambda;               /**< how much large factors cost; 0.05 */
    double rate;                 /**< of a step; 0.02; GRADIENT: 0.25 over the most ratings that a row or a
                                      column has */
    double offset;               /**< what ratings are about, such as their mean; 0 */
    bool once;     /**< ALS, GRADIENT: lambda counts once for a row or a column, however many ratings it has;
                      else ALS is ALS-WR (Zhou et al., 2008) */
    bool resume;   /**< U and V hold the first guess; else it is drawn */
    uint64_t seed; /**< of the first guess; 0: the context's */
    FtB_Matrix held_out; /**< ratings that explain tells the error of, too; nrows x ncols; NULL: none */
    FILE *explain; /**< gets a line for every round: the root of the mean of e^2, and seconds; NULL: nobody
                      wants to know */
} FtB_Factorize_options;

/** Factorizes a matrix of ratings: R(i, j) ~ offset + dot(U(i,:), V(j,:)) where R has entries. Rows and
 * columns of R without entries get factors of 0. Bits depend on the arguments, not on threads.
 *  @param[in,out] U nrows x k, FP32 or FP64, in which all is computed; k from 1 to 512.
 *  @param[in,out] V ncols x k, of U's dtype; other memory than U's.
 *  @param R nrows x ncols of width <= 1, below 2^31 each: ratings, of any real dtype; 1 where there are no
 * values. @param options NULL for the defaults.
 *  Work of a round: SGD, GRADIENT 6 k operations a rating; ALS 2 k^2, and k^3 / 3 a row and a column. Memory:
 * two values a rating, and 4 to 16 bytes more of SGD, of the others R's transpose; the factors once more, of
 * GRADIENT twice.
 *  @return GrB_NULL_POINTER, GrB_DIMENSION_MISMATCH, GrB_DOMAIN_MISMATCH, GrB_INVALID_VALUE (an option, a
 * rating that is not finite), GrB_NO_VALUE (factors grew beyond all bounds, for which the rate is too high;
 * or have no one best value, for which lambda is too small), GrB_OUT_OF_MEMORY, FTB_LIMIT, FTB_CANCELLED.
 *
 * Gemulla et al., "Large-scale matrix factorization with distributed stochastic gradient descent", KDD 2011;
 * Hu, Koren and Volinsky, "Collaborative filtering for implicit feedback datasets", ICDM 2008. */
GrB_Info FtB_factorize(FtB_Block U, FtB_Block V, FtB_Matrix R, const FtB_Factorize_options *options);

/** The error of factors: the root of the mean of (R(i, j) - offset - dot(U(i,:), V(j,:)))^2 over the entries.
 *  @param[out] rmse 0 without entries. @param U,V,R as of FtB_factorize. @param offset what ratings are
 * about.
 *  @return as FtB_factorize. */
GrB_Info FtB_factorize_error(double *rmse, FtB_Block U, FtB_Block V, FtB_Matrix R, double offset);

#define FTB_FACTORIZE(...) FTB_OPTIONS_OF(FtB_Factorize_options, __VA_ARGS__)

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
