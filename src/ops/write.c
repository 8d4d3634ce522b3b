/* C<M> = accum(C, T): the write rule of the GraphBLAS C API 2.0, section 2.3.
 *
 *     Z = accum ? union of C and T, accum where both have an entry : T
 *     C = Z where the mask admits; elsewhere nothing with replace, else what C had
 *
 * The accumulator sees C's values as x and T's as y in their own dtypes, and its result is cast once.
 * A result that is T or C as a whole, such as a product that was computed under its mask, is not
 * copied. */
#include "ops/merge.h"

GrB_Info ftb_mask_check(FtB_Matrix M, const ftb_flags *flags, int64_t nrows, int64_t ncols)
{
    if (!M)
        return GrB_SUCCESS;
    if (M->pattern->nrows != nrows || M->pattern->ncols != ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "the mask is %lld x %lld, but the output is %lld x %lld",
                        (long long)M->pattern->nrows, (long long)M->pattern->ncols, (long long)nrows,
                        (long long)ncols);
    if (M->width > 1 && !flags->structural)
        return ftb_fail(
            GrB_DOMAIN_MISMATCH,
            "the mask has entries of width %lld, which are neither true nor false: the descriptor must "
            "say structural",
            (long long)M->width);
    return GrB_SUCCESS;
}

/* Whether entries of C may stay. */
static bool keeps(FtB_Matrix M, const ftb_flags *flags, FtB_Op accum)
{
    return accum || ((M || flags->complement) && !flags->replace);
}

GrB_Info ftb_accum_error(GrB_Info info)
{
    const bool about =
        info == GrB_INVALID_VALUE || info == GrB_DOMAIN_MISMATCH || info == GrB_DIMENSION_MISMATCH;
    return about ? ftb_wrap_error(info, "accum: ") : info;
}

GrB_Info ftb_write_check(FtB_Matrix C, FtB_Matrix M, const ftb_flags *flags, FtB_Op accum, FtB_Type type,
                         int64_t width)
{
    GrB_Info info = ftb_mask_check(M, flags, C->pattern->nrows, C->pattern->ncols);
    if (info != GrB_SUCCESS || !keeps(M, flags, accum))
        return info;
    if (C->width != width)
        return ftb_fail(
            GrB_DIMENSION_MISMATCH,
            "entries of the output have width %lld, those of the result %lld: they cannot be kept side "
            "by side",
            (long long)C->width, (long long)width);
    if (!accum || width == 0)
        return GrB_SUCCESS;
    ftb_map *map = NULL;
    ftb_map_input x = {&width, C->type, width, width}, y = {&width, type, width, width};
    info = ftb_accum_error(ftb_map_new(&map, C->ctx, accum, &x, &y, NULL, 0));
    if (info == GrB_SUCCESS && map->width != width)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "accum: makes %lld values of entries of width %lld",
                        (long long)map->width, (long long)width);
    ftb_map_delete(map);
    return info;
}

/* Parallel edges have no partner to be accumulated with. */
static GrB_Info check_multi(FtB_Matrix C, FtB_Op accum, FtB_Matrix T)
{
    if (accum && (C->pattern->multi || T->pattern->multi))
        return ftb_fail(GrB_INVALID_VALUE, "%s has parallel edges, which cannot be accumulated",
                        C->pattern->multi ? "the output" : "the result");
    return GrB_SUCCESS;
}

GrB_Info ftb_write(FtB_Matrix C, FtB_Matrix M, const ftb_flags *flags, FtB_Op accum, FtB_Matrix T)
{
    GrB_Info info = ftb_write_check(C, M, flags, accum, T->type, T->width);
    if (info == GrB_SUCCESS)
        info = check_multi(C, accum, T);
    if (info != GrB_SUCCESS)
        return info;
    bool masked = M || flags->complement;
    if (!masked && (!accum || C->pattern->nvals == 0))
        return ftb_matrix_become(C, T);
    if ((info = ftb_matrix_whole(T)) != GrB_SUCCESS)
        return info;
    const ftb_merge_rule rule = {
        .left = C,
        .right = T,
        .mask = M,
        .structural = flags->structural,
        .complement = flags->complement,
        .lone_left = accum != NULL,
        .lone_right = true,
        .outside = !flags->replace,
        .combine = accum != NULL,
        .op = T->width > 0 ? accum : NULL,
        .type = C->type,
        .width = T->width,
    };
    FtB_Matrix Z = NULL;
    int same = 0;
    info = ftb_merge(&Z, &same, C->ctx, &rule);
    if (info != GrB_SUCCESS)
        return info;
    if (same == 2)
        return ftb_matrix_become(C, T);
    if (same == 0) {
        info = ftb_matrix_become(C, Z);
        if (info != GrB_SUCCESS) {
            FtB_Matrix_free(&Z);
            return info;
        }
    }
    FtB_Matrix_free(&T);
    return GrB_SUCCESS;
}
