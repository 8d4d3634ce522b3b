/* A METIS that checks what it is given and cuts vertices in their order: so that all but METIS itself is
 * tested where it is not. Compiled with numbers of 32 and of 64 bits (FAKE_METIS_BITS), and without a
 * function that is needed (FAKE_METIS_LACKS). FAKE_METIS_ANSWERS in the environment: a status that it gives
 * in place of a partition. */
#include <stdint.h>
#include <stdlib.h>

#if FAKE_METIS_BITS == 64
typedef int64_t number;
#else
typedef int32_t number;
#endif

enum { OK = 1, WRONG = -2, OPTIONS = 40 };

int METIS_SetDefaultOptions(void *options);
int METIS_SetDefaultOptions(void *options)
{
    for (int t = 0; t < OPTIONS; t++)
        ((number *)options)[t] = -1;
    return OK;
}

#ifndef FAKE_METIS_LACKS
/* The weight of an edge; 0: there is none, -1: more than one. */
static number weight_of(const number *rowptr, const number *column, const number *weight, number i, number j)
{
    number found = 0;
    for (number e = rowptr[i]; e < rowptr[i + 1]; e++)
        if (column[e] == j)
            found = found ? -1 : weight ? weight[e] : 1;
    return found;
}

int METIS_PartGraphKway(void *nvertices, void *nweights, void *rows, void *columns, void *vertex_weight,
                        void *vertex_size, void *weights, void *nparts, void *shares, void *balance,
                        void *options, void *cut, void *parts);
int METIS_PartGraphKway(void *nvertices, void *nweights, void *rows, void *columns, void *vertex_weight,
                        void *vertex_size, void *weights, void *nparts, void *shares, void *balance,
                        void *options, void *cut, void *parts)
{
    const number n = *(number *)nvertices, k = *(number *)nparts, *rowptr = rows, *column = columns,
                 *weight = weights;
    number *part = parts, *edges = cut;
    const char *answer = getenv("FAKE_METIS_ANSWERS");
    if (answer)
        return atoi(answer);
    if (*(number *)nweights != 1 || vertex_weight || vertex_size || shares || balance || options || n < 1 ||
        k < 2 || rowptr[0] != 0)
        return WRONG;
    for (number v = 0; v < n; v++)
        part[v] = (number)((int64_t)v * k / n);
    *edges = 0;
    for (number i = 0; i < n; i++)
        for (number e = rowptr[i]; e < rowptr[i + 1]; e++) {
            const number j = column[e];
            if (j < 0 || j >= n || j == i || weight_of(rowptr, column, weight, i, j) < 1 ||
                weight_of(rowptr, column, weight, j, i) != (weight ? weight[e] : 1))
                return WRONG;
            *edges += i < j && part[i] != part[j] ? weight ? weight[e] : 1 : 0;
        }
    return OK;
}
#endif
