/* Patterns that list their rows (hypersparse.h): from numbered rows to all rows and back, and matrices over
 * the same rows. Lists are merged as they ascend, so that everything takes as long as what is listed. */
#include "core/hypersparse.h"

#include "core/search.h"
#include "core/words.h"

#include <unistd.h>

int64_t ftb_listed_rows = FTB_LISTED_ROWS;

/* ---- numbers */

ftb_pattern *ftb_pattern_number(ftb_pattern *p, int64_t all_rows, ftb_buffer *numbers)
{
    if (!p || !numbers) {
        ftb_pattern_release(p);
        ftb_buffer_release(numbers);
        return NULL;
    }
    p->numbers_owner = numbers;
    p->numbers = ftb_buffer_data(numbers);
    p->all_rows = all_rows;
    return p;
}

ftb_pattern *ftb_pattern_number_as(ftb_pattern *p, const ftb_pattern *like)
{
    if (!p || !like->numbers)
        return p;
    return ftb_pattern_number(p, like->all_rows, ftb_buffer_retain(like->numbers_owner));
}

/* Of sorted words each once; `to` may be NULL. */
static int64_t each_once(int64_t *to, const uint64_t *sorted, int64_t count)
{
    int64_t once = 0;
    for (int64_t t = 0; t < count; t++)
        if (t == 0 || sorted[t] != sorted[t - 1]) {
            if (to)
                to[once] = (int64_t)sorted[t];
            once++;
        }
    return once;
}

GrB_Info ftb_rows_list(ftb_buffer **numbers, int64_t **ranks, FtB_Context ctx, const int64_t *I,
                       int64_t count)
{
    const int threads = ftb_threads_for(ctx, count);
    uint64_t *words = ftb_new(ctx, count, sizeof *words), *scratch = ftb_new(ctx, count, sizeof *scratch);
    int64_t *rank = ftb_new(ctx, count, sizeof *rank), most = 1;
    *numbers = NULL;
    *ranks = NULL;
    if (words && scratch && rank) {
        for (int64_t t = 0; t < count; t++) {
            words[t] = (uint64_t)I[t];
            most = ftb_max(most, I[t]);
        }
        const int bits = 64 - __builtin_clzll((unsigned long long)most);
        const uint64_t *sorted = ftb_sort_by(words, scratch, count, 0, bits, threads);
        *numbers = ftb_buffer_new(ctx, each_once(NULL, sorted, count), sizeof(int64_t));
        if (*numbers)
            each_once(ftb_buffer_data(*numbers), sorted, count);
    }
    ftb_delete(words);
    ftb_delete(scratch);
    if (!*numbers) {
        ftb_delete(rank);
        return ftb_nomem();
    }
    const int64_t *list = ftb_buffer_data(*numbers), rows = (*numbers)->bytes / (int64_t)sizeof *list;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t t = 0; t < count; t++)
        rank[t] = ftb_first_not_below(list, rows, I[t]);
    *ranks = rank;
    return GrB_SUCCESS;
}

/* ---- all rows */

/* The same without the rows that are empty; `rows` are not. */
static ftb_pattern *without_empty(ftb_pattern *p, int64_t rows)
{
    ftb_buffer *rowptr = ftb_buffer_new(p->ctx, rows + 1, sizeof(int64_t)),
               *numbers = rowptr ? ftb_buffer_new(p->ctx, rows, sizeof(int64_t)) : NULL;
    ftb_pattern *q = NULL;
    if (numbers) {
        int64_t *to = ftb_buffer_data(rowptr), *number = ftb_buffer_data(numbers), at = 0;
        for (int64_t r = 0; r < p->nrows; r++)
            if (p->rowptr[r + 1] > p->rowptr[r]) {
                number[at++] = p->numbers[r];
                to[at] = p->rowptr[r + 1];
            }
        q = ftb_pattern_new(p->ctx, rows, p->ncols, rowptr, ftb_buffer_retain(p->colidx_owner));
        q = ftb_pattern_number(q, p->all_rows, numbers);
        if (q)
            q->multi = p->multi;
    } else {
        ftb_buffer_release(rowptr);
    }
    ftb_pattern_release(p);
    return q;
}

/* Row pointers of all rows; NULL on failure. */
static ftb_buffer *pointers_of_all(const ftb_pattern *p)
{
    int64_t *rowptr = p->all_rows < INT64_MAX ? ftb_new(p->ctx, p->all_rows + 1, sizeof *rowptr) : NULL;
    if (!rowptr)
        return NULL;
    int64_t i = 0;
    for (int64_t r = 0; r < p->nrows; r++)
        while (i <= p->numbers[r])
            rowptr[i++] = p->rowptr[r];
    while (i <= p->all_rows)
        rowptr[i++] = p->nvals;
    return ftb_buffer_adopt(p->ctx, rowptr);
}

ftb_pattern *ftb_pattern_whole(ftb_pattern *p)
{
    if (!p || !p->numbers)
        return p;
    int64_t rows = 0;
    for (int64_t r = 0; r < p->nrows; r++)
        rows += p->rowptr[r + 1] > p->rowptr[r];
    if (ftb_listed_fits(p->all_rows, p->nvals))
        return ftb_pattern_of_listed(rows < p->nrows ? without_empty(p, rows) : p);
    ftb_buffer *rowptr = pointers_of_all(p);
    ftb_pattern *q =
        ftb_pattern_new(p->ctx, p->all_rows, p->ncols, rowptr, ftb_buffer_retain(p->colidx_owner));
    if (q)
        q->multi = p->multi;
    ftb_pattern_release(p);
    return q;
}

/* Rows and columns of `listed` that have entries; NULL on failure. */
static ftb_pattern *number_columns(ftb_pattern *listed)
{
    const int64_t nvals = listed->nvals;
    int64_t *J = ftb_new(listed->ctx, nvals, sizeof *J), *ranks = NULL;
    ftb_buffer *columns = NULL, *colidx = NULL;
    if (J) {
        ftb_cast(J, FTB_INT64, listed->colidx, listed->wide ? FTB_INT64 : FTB_INT32, nvals);
        ftb_rows_list(&columns, &ranks, listed->ctx, J, nvals);
    }
    const int64_t ncols = columns ? columns->bytes / (int64_t)sizeof(int64_t) : 0;
    if (ranks && (colidx = ftb_buffer_new(listed->ctx, nvals, ftb_col_size(ncols))))
        ftb_cast(ftb_buffer_data(colidx), ftb_col_size(ncols) == 8 ? FTB_INT64 : FTB_INT32, ranks, FTB_INT64,
                 nvals);
    ftb_delete(J);
    ftb_delete(ranks);
    ftb_pattern *p =
        ftb_pattern_new(listed->ctx, listed->nrows, ncols, ftb_buffer_retain(listed->rowptr_owner), colidx);
    if (!p) {
        ftb_buffer_release(columns);
        return NULL;
    }
    p->multi = listed->multi;
    p->columns_owner = columns;
    p->columns = ftb_buffer_data(columns);
    return ftb_pattern_number_as(p, listed);
}

GrB_Info ftb_pattern_both(ftb_pattern *listed, ftb_pattern **both)
{
    pthread_mutex_lock(&listed->lock);
    if (!listed->both)
        listed->both = number_columns(listed);
    *both = listed->both;
    pthread_mutex_unlock(&listed->lock);
    return *both ? GrB_SUCCESS : ftb_nomem();
}

/* Whether row pointers of all rows fit the machine's memory: what the system promises beyond that ends in
 * the program's death. */
static bool affordable(int64_t nrows)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages <= 0 || size <= 0 || nrows / size < pages / (long)sizeof(int64_t);
}

GrB_Info ftb_pattern_all_rows(ftb_pattern *p, const char *name)
{
    GrB_Info info = GrB_SUCCESS;
    if (!p->listed)
        return info;
    pthread_mutex_lock(&p->lock);
    if (!p->rowptr) {
        ftb_buffer *made = affordable(p->nrows) ? pointers_of_all(p->listed) : NULL;
        if (made) {
            p->rowptr_owner = made;
            p->rowptr = ftb_buffer_data(made);
        } else {
            info = affordable(p->nrows) ? ftb_nomem()
                                        : ftb_fail(GrB_OUT_OF_MEMORY, "they do not fit the machine's memory");
        }
    }
    pthread_mutex_unlock(&p->lock);
    if (info == GrB_SUCCESS)
        return info;
    char bytes[FTB_WORDS];
    return ftb_wrap_error(
        info,
        "%s (%lld x %lld, %lld entries) is hypersparse, and this call wants %s of row pointers; FtB_mxm "
        "without a block as mask, FtB_apply, FtB_select, FtB_eWiseAdd, FtB_eWiseMult, FtB_reduce to a vector "
        "or a number, FtB_extract, FtB_assign, FtB_transpose and FtB_softmax do without: ",
        name, (long long)p->nrows, (long long)p->ncols, (long long)p->nvals,
        ftb_bytes_text(bytes, ((double)p->nrows + 1) * sizeof(int64_t)));
}

/* ---- matrices */

GrB_Info ftb_matrix_rows(FtB_Matrix *R, FtB_Matrix A)
{
    return ftb_matrix_view(R, A, ftb_pattern_retain(ftb_pattern_rows(A->pattern)));
}

GrB_Info ftb_matrix_whole(FtB_Matrix A)
{
    if (!A->pattern->numbers)
        return GrB_SUCCESS;
    ftb_pattern *whole = ftb_pattern_whole(ftb_pattern_retain(A->pattern));
    if (!whole)
        return ftb_nomem();
    ftb_pattern_release(A->pattern);
    A->pattern = whole;
    return GrB_SUCCESS;
}

/* Copies what A has in those rows: columns, and values where `values` is not NULL. */
static void copy_rows(char *colidx, char *values, FtB_Matrix A, const ftb_pattern *p, const int64_t *starts,
                      const int64_t *rowptr, int64_t count)
{
    const size_t column = ftb_col_size(p->ncols), entry = (size_t)A->width * FtB_Type_size(A->type);
    for (int64_t s = 0; s < count; s++) {
        const size_t to = (size_t)rowptr[s], from = (size_t)starts[s],
                     n = (size_t)(rowptr[s + 1] - rowptr[s]);
        memcpy(colidx + to * column, (const char *)p->colidx + from * column, n * column);
        if (values)
            memcpy(values + to * entry, (const char *)ftb_values(A) + from * entry, n * entry);
    }
}

/* starts[s]: p's first entry of row number[s]; rowptr: how many there are in all, up to each of them. */
static void find_rows(const ftb_pattern *p, const int64_t *number, int64_t count, int64_t *starts,
                      int64_t *rowptr)
{
    for (int64_t s = 0; s < count; s++) {
        int64_t r = p->numbers ? ftb_first_not_below(p->numbers, p->nrows, number[s]) : number[s];
        const bool there = r < p->nrows && ftb_row_number(p, r) == number[s];
        starts[s] = there ? p->rowptr[r] : 0;
        rowptr[s + 1] = rowptr[s] + (there ? p->rowptr[r + 1] - p->rowptr[r] : 0);
    }
}

GrB_Info ftb_matrix_at_rows(FtB_Matrix *R, FtB_Matrix A, ftb_buffer *numbers, int64_t count)
{
    const ftb_pattern *p = ftb_pattern_rows(A->pattern);
    const int64_t *number = ftb_buffer_data(numbers);
    ftb_buffer *rowptr = ftb_buffer_new(A->ctx, count + 1, sizeof(int64_t)), *colidx = NULL, *values = NULL;
    int64_t *starts = ftb_new(A->ctx, count, sizeof *starts);
    GrB_Info info = GrB_SUCCESS;
    *R = NULL;
    if (!rowptr || !starts)
        FTB_CHECK(ftb_nomem());
    int64_t *to = ftb_buffer_data(rowptr);
    find_rows(p, number, count, starts, to);
    colidx = ftb_buffer_new(A->ctx, to[count], ftb_col_size(p->ncols));
    values = A->width ? ftb_buffer_new(A->ctx, to[count] * A->width, FtB_Type_size(A->type)) : NULL;
    if (!colidx || (A->width && !values))
        FTB_CHECK(ftb_nomem());
    copy_rows(ftb_buffer_data(colidx), values ? ftb_buffer_data(values) : NULL, A, p, starts, to, count);
    ftb_pattern *q =
        ftb_pattern_new(A->ctx, count, p->ncols, ftb_buffer_retain(rowptr), ftb_buffer_retain(colidx));
    if (q)
        q->multi = p->multi;
    q = ftb_pattern_number(q, A->pattern->nrows, ftb_buffer_retain(numbers));
    info = ftb_matrix_make(R, A->ctx, A->type, A->width, q, ftb_buffer_retain(values));
done:
    ftb_buffer_release(rowptr);
    ftb_buffer_release(colidx);
    ftb_buffer_release(values);
    ftb_delete(starts);
    return info;
}

/* The pattern of p's rows over `count` numbers, which have all that p lists. */
static ftb_pattern *spread(ftb_pattern *p, ftb_buffer *numbers, int64_t count)
{
    const int64_t *number = ftb_buffer_data(numbers);
    if (p->nrows == count) /* the same numbers */
        return ftb_pattern_retain(p);
    ftb_buffer *rowptr = ftb_buffer_new(p->ctx, count + 1, sizeof(int64_t));
    int64_t *to = rowptr ? ftb_buffer_data(rowptr) : NULL, r = 0;
    for (int64_t s = 0; to && s < count; s++) {
        r += r < p->nrows && p->numbers[r] == number[s];
        to[s + 1] = p->rowptr[r];
    }
    ftb_pattern *q = ftb_pattern_new(p->ctx, count, p->ncols, rowptr, ftb_buffer_retain(p->colidx_owner));
    if (q)
        q->multi = p->multi;
    return ftb_pattern_number(q, p->all_rows, ftb_buffer_retain(numbers));
}

/* Writes the numbers that a or b has to `to`, which may be NULL; returns how many there are. */
static int64_t unite(int64_t *to, const int64_t *a, int64_t na, const int64_t *b, int64_t nb)
{
    int64_t count = 0;
    for (int64_t x = 0, y = 0; x < na || y < nb; count++) {
        const int64_t least = y == nb || (x < na && a[x] < b[y]) ? a[x] : b[y];
        x += x < na && a[x] == least;
        y += y < nb && b[y] == least;
        if (to)
            to[count] = least;
    }
    return count;
}

/* The union of listed rows, or NULL. */
static ftb_buffer *unite_rows(FtB_Context ctx, const ftb_pattern *a, const ftb_buffer *b, int64_t nb,
                              int64_t *count)
{
    const int64_t *other = b ? ftb_buffer_data(b) : NULL;
    *count = unite(NULL, a->numbers, a->nrows, other, nb);
    ftb_buffer *numbers = ftb_buffer_new(ctx, *count, sizeof(int64_t));
    if (numbers)
        unite(ftb_buffer_data(numbers), a->numbers, a->nrows, other, nb);
    return numbers;
}

GrB_Info ftb_matrix_align(FtB_Matrix aligned[3], FtB_Matrix A, FtB_Matrix B, FtB_Matrix M)
{
    const FtB_Matrix all[] = {A, B, M};
    ftb_buffer *numbers = NULL;
    int64_t count = 0;
    GrB_Info info = GrB_SUCCESS;
    aligned[0] = aligned[1] = aligned[2] = NULL;
    for (int n = 0; n < 3; n++) {
        if (!all[n])
            continue;
        ftb_buffer *more = unite_rows(A->ctx, all[n]->pattern->listed, numbers, count, &count);
        ftb_buffer_release(numbers);
        if (!(numbers = more))
            return ftb_nomem();
    }
    for (int n = 0; n < 3 && info == GrB_SUCCESS; n++)
        if (all[n])
            info = ftb_matrix_view(&aligned[n], all[n], spread(all[n]->pattern->listed, numbers, count));
    ftb_buffer_release(numbers);
    for (int n = 0; n < 3 && info != GrB_SUCCESS; n++)
        FtB_Matrix_free(&aligned[n]);
    return info;
}
