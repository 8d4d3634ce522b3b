/* METIS, opened when a partition is first asked for. */
#ifndef FTB_METIS_H
#define FTB_METIS_H

#include "core/core.h"

enum { FTB_METIS_WHY = 400 }; /* bytes of a reason */

/* Its functions, of whatever width its numbers are. */
typedef struct ftb_metis_calls {
    int (*METIS_SetDefaultOptions)(void *options);
    int (*METIS_PartGraphKway)(void *nvertices, void *nweights, void *rowptr, void *column,
                               void *vertex_weight, void *vertex_size, void *weight, void *nparts,
                               void *shares, void *balance, void *options, void *cut, void *part);
} ftb_metis_calls;

typedef struct ftb_metis {
    ftb_metis_calls call;
    int bytes; /* of its numbers, 4 or 8; 0: there is none, because of */
    char why[FTB_METIS_WHY];
} ftb_metis;

/* Opens a library by its name or path. */
void ftb_metis_look(ftb_metis *m, const char *path);
/* This process's: FEATBLAS_METIS, else by its name. */
const ftb_metis *ftb_metis_here(void);

/* Labels of nparts parts, 1 to p's rows, of the square pattern p read without directions, by this METIS:
 * entries (i, j) and (j, i) are edges of i and j. seed 0: vertices in their order, else in another.
 * FTB_LIMIT: its numbers are too short; GrB_NOT_IMPLEMENTED: it is not there. */
GrB_Info ftb_metis_part(const ftb_metis *m, FtB_Context ctx, int32_t *labels, ftb_pattern *p, int64_t nparts,
                        uint64_t seed);

#endif
