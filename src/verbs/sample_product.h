/* Entries of rows picked by draws or by their values: and numbers for what was picked: what the verbs
 * `sample` and `relabel` compute. */
#ifndef FTB_SAMPLE_PRODUCT_H
#define FTB_SAMPLE_PRODUCT_H

#include "core/draw_tables.h"
#include "expr/expr.h"

/* Of row rows[r] of p, some entries: which, FtB_Selector says. Draws are those of core/draws.h, of the row's
 * vertex, or LABOR's of the columns'; draw t is the pick's or the entry's number in its row.
 *
 * Called twice. With entries NULL it fills in rowptr, by which entries and columns get their room; with them
 * it fills these, and rowptr again where there are less. */
typedef struct ftb_sample_product {
    FtB_Context ctx;
    ftb_pattern *p;
    const int64_t *rows; /* the host's, each one of p's; NULL: 0 .. nrows - 1 */
    int64_t nrows;
    FtB_Selector selector;
    bool replace;
    int64_t k; /* picks of a row, < 0: all */
    double threshold;
    int iterations; /* of LABOR's importance */
    uint64_t seed, stream;
    const uint64_t *seeds; /* row r's is seeds[trees[r]]; NULL: seed */
    const int32_t *trees;
    int64_t ntrees;          /* that have seeds; 0: the host knows how many, and picks */
    const uint64_t *streams; /* with trees: row r's is streams[trees[r]]; NULL: stream */
    const void *values; /* those of p's entries, which are the key itself, one each; NULL: they are not. As
                           operands are, the device's */
    FtB_Type type;
    struct ftb_map *key;  /* WEIGHTED, TOPK, THRESHOLD, BERNOULLI: values of entries, compiled for the host */
    const int64_t *times; /* of p's entries: row r has none that is later than until[r]; or until[trees[r]] */
    const int64_t *until; /* NULL, as `times`: all are there */
    const int64_t *excluded; /* places among p's entries that are not, ascending */
    int64_t nexcluded;
    /* WEIGHTED: slots of the key's tables, for all of p's entries (ftb_alias_slot), the device's; values and
     * key are the host's then, who says what is wrong with a row that has none. NULL: they are made as needed
     */
    const void *tables;
    const double *norms; /* FASTGCN: of p's columns, sums of squares, each with those before it */
    double *scale;       /* out, with the entries: what their values are to be multiplied by; NULL: nothing
                            is (ftb_sample_scales) */
    int64_t *rowptr;     /* nrows + 1 */
    int64_t *entries;    /* of p, in each row ascending; with replacement they come again */
    void *columns;       /* theirs, as p has them */
    int64_t *work;       /* rises by the entries and rows that were looked at; NULL: not counted */
} ftb_sample_product;

/* Whether some entries are not there. */
static inline bool ftb_sample_filters(const ftb_sample_product *s) { return s->times || s->nexcluded > 0; }

/* Whether picks stand for others, too, so that sums over a row are right in the mean. */
static inline bool ftb_sample_scales(const ftb_sample_product *s)
{
    return s->selector == FTB_SAMPLE_FASTGCN || s->selector == FTB_SAMPLE_LADIES ||
           (s->selector == FTB_SAMPLE_LABOR && s->iterations > 0);
}

/* Numbers for vertices, what the verb `relabel` computes: picked ones that are not among the known get
 * numbers behind them, ascending by tree, then by vertex; the same again gets the same number. */
typedef struct ftb_relabel_product {
    FtB_Context ctx;
    const int64_t *known; /* vertices 0 .. nknown - 1; of one that comes again the first counts */
    int64_t nknown;
    int64_t bound;        /* vertices are below it */
    const int32_t *trees; /* of the known ones: vertices of two trees are never the same; NULL: one tree */
    int64_t ntrees;       /* trees are below it */
    int64_t nrows, row0;  /* rows are those of known[row0 ...], */
    const int32_t *row_trees; /* or, unless NULL, other vertices', of these trees */
    const int64_t *rowptr;
    const void *columns; /* of p's width: vertices picked by each row */
    bool wide;
    bool apart; /* every pick gets a number of its own, in order */
    int32_t
        *local; /* out, also on failure: their numbers, in each row ascending; may be `columns` unless wide */
    int64_t *entries;      /* of p, put into that order, too; NULL: there are none */
    int64_t *vertices;     /* out: the known ones and behind them the new ones, ftb_new()ed, */
    int32_t *vertex_trees; /* and their trees, where there are trees */
    int64_t nfresh;
    int64_t *work; /* rises by what was looked up, and by the table's length; NULL: not counted */
} ftb_relabel_product;

#endif
