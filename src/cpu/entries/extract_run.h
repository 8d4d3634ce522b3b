/* Rows and columns of a matrix by lists, on the host. */
#ifndef FTB_EXTRACT_RUN_H
#define FTB_EXTRACT_RUN_H

#include "core/core.h"

/* Columns that are wanted: `sorted`, ascending, of which number q becomes column from[q] (NULL: q). */
typedef struct ftb_column_list {
    const int64_t *sorted; /* NULL: all, as they are */
    const int64_t *from;
    int64_t count;
} ftb_column_list;

typedef struct ftb_extract_job {
    FtB_Context ctx;
    const ftb_pattern *p;
    const int64_t *rows; /* row s of the result is row rows[s]; NULL: s */
    int64_t nrows;
    ftb_column_list columns;
    /* of the result */
    int64_t *rowptr;
    void *colidx;
    bool wide;
    int64_t *entries; /* that its entries are in p */
} ftb_extract_job;

/* rowptr[s + 1] = entries of row s. */
GrB_Info ftb_extract_count(const ftb_extract_job *job);
/* Fills colidx and entries, once rowptr holds row pointers. */
GrB_Info ftb_extract_fill(const ftb_extract_job *job);
/* to's entry e = from's entry entries[e], of so many bytes. */
void ftb_extract_values(FtB_Context ctx, void *to, const void *from, const int64_t *entries, int64_t count,
                        size_t bytes);

/* Rows and columns, ascending; NULL: so many as there are, all of them. */
typedef struct ftb_region {
    const int64_t *rows;
    int64_t nrows;
    const int64_t *columns;
    int64_t ncolumns;
} ftb_region;
/* keep[e] = whether entry e of p, whose rows may be numbered, is inside, or outside. */
void ftb_mark_region(FtB_Context ctx, uint8_t *keep, const ftb_pattern *p, const ftb_region *region,
                     bool inside);
/* The pattern of all places inside, over the region's rows alone. rowptr: one more than those. */
void ftb_fill_region(FtB_Context ctx, const ftb_region *region, int64_t *rowptr, void *colidx, bool wide);
/* I[e] and J[e]: row and column of entry e of p, whose rows may be numbered, by lists (NULL: as they are). */
void ftb_place_entries(FtB_Context ctx, const ftb_pattern *p, const int64_t *rows, const int64_t *columns,
                       int64_t *I, int64_t *J);

#endif
