/* Sinks: where producers of rows deliver them. */
#ifndef FTB_SINK_H
#define FTB_SINK_H

#include "core/core.h"

/* What a sink is told before the rows come. */
typedef struct ftb_sink_shape {
    FtB_Context ctx; /* of the operation */
    int64_t nrows, ncols;
    int64_t nvals; /* entries to come, -1: unknown */
    FtB_Type type; /* compute type of the values */
    int64_t width;
    int64_t base;   /* text formats count ids from here (1; edge lists without labels 0) */
    bool symmetric; /* rows hold one triangle of a symmetric result */
    int64_t room;   /* bytes for the sink's buffers, if more than its least; 0: an eighth of what is left */
} ftb_sink_shape;

typedef struct ftb_sink_methods {
    const char *name;
    GrB_Info (*begin)(FtB_Sink sink, const ftb_sink_shape *shape);
    GrB_Info (*rows)(FtB_Sink sink,
                     const FtB_Rows *rows); /* ascending, one thread at a time; may use threads */
    GrB_Info (*end)(FtB_Sink sink);         /* commit */
    void (*abort)(FtB_Sink sink);           /* roll back; also after a failed end */
    void (*destroy)(FtB_Sink sink);         /* frees state; begin may never have been called */
    int64_t (*least)(FtB_Sink sink, const ftb_sink_shape *shape); /* bytes of its buffers; NULL: none */
} ftb_sink_methods;

/* Statistics of one row; ftb_row_stats_of() makes them, so that they have the same bits everywhere: value n
 * is of lane n % LANES, and lanes l and l + LANES / 2 are joined first. A device that makes them does the
 * same. */
enum { FTB_ROW_STATS_LANES = 8 };
typedef struct ftb_row_stats {
    int64_t nvals;        /* entries */
    double sum, min, max; /* of its values; min > max: no value, or only NaN */
} ftb_row_stats;

struct FtB_Sink_opaque {
    uint32_t magic;
    FtB_Context ctx;
    const ftb_sink_methods *methods;
    FtB_Stats stats;      /* kept by the wrappers below for every kind of sink */
    double carry;         /* what the sum lost to rounding (Neumaier) */
    ftb_row_stats *block; /* of a few rows, while open */
    int64_t next;         /* rows below it have come */
    bool open, used, single_use;
    int digits;
    int64_t base; /* -1: the shape's */
    ftb_sink_shape shape;
    void *state;
};

/* Every producer of rows calls these, which check order, keep the statistics and call the methods. */
GrB_Info ftb_sink_begin(FtB_Sink sink, const ftb_sink_shape *shape);
/* Least bytes that an open sink takes beside what it keeps; of a sink that was begun with no more room. */
int64_t ftb_sink_least(FtB_Sink sink, const ftb_sink_shape *shape);
GrB_Info ftb_sink_rows(FtB_Sink sink, const FtB_Rows *rows);
GrB_Info ftb_sink_end(FtB_Sink sink);
void ftb_sink_abort(FtB_Sink sink);
/* A producer whose sink only counts need not store rows: where ftb_sink_counts() holds, it may hand over
 * the statistics of rows row0 .. row0 + nrows - 1 instead of the rows. */
bool ftb_sink_counts(FtB_Sink sink);
GrB_Info ftb_sink_count_rows(FtB_Sink sink, int64_t row0, int64_t nrows, const ftb_row_stats *rows);
/* values: nvals x width of `type`, in column order; NULL for width 0. */
void ftb_row_stats_of(ftb_row_stats *row, const void *values, FtB_Type type, int64_t nvals, int64_t width);

/* A sink of the given kind with `state` bytes of zeroed state; *sink is only set on success. */
GrB_Info ftb_sink_new(FtB_Sink *sink, FtB_Context ctx, const ftb_sink_methods *methods, size_t state);
GrB_Info ftb_sink_check(FtB_Sink sink);
int64_t ftb_sink_room(const ftb_sink_shape *shape); /* bytes for buffers */

#endif
