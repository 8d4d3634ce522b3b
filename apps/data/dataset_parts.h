/* What the files of the data set's loader share. */
#ifndef DATASET_PARTS_H
#define DATASET_PARTS_H

#include "data/dataset.h"
#include "io/input.h"

#define DATASET_VERTICES (INT64_C(1) << 40) /* at most, of edges that are tables */
#define DATASET_PATH 4096                   /* room for a path */

/* Where the files of a data set are; "" for one that is not there. */
typedef struct dataset_files {
    char graph[DATASET_PATH], features[DATASET_PATH], labels[DATASET_PATH], split[DATASET_PATH];
    char count[DATASET_PATH]; /* of OGB's layout: a file with the number of vertices */
    bool ogb;                 /* edges go from their first vertex to their second; split is a folder */
} dataset_files;

/* ---- finding (dataset_files.c) */

GrB_Info dataset_find(dataset_files *files, const char *path, const dataset_options *options);
bool dataset_is_folder(const char *path);
/* *format: of the content; *dense: numbers at every position, of a table or an array. */
GrB_Info dataset_probe(const char *path, const ftb_format **format, bool *dense);
/* folder/stem with an ending of a format, of the first one in the order of ranks; false: none. */
bool dataset_find_file(char *path, const char *folder, const char *stem);
extern const char *const dataset_split_stems[DATASET_PARTS]; /* of OGB's files in a split's folder */
GrB_Info dataset_join(char *path, const char *folder, const char *name);

/* ---- lines of small texts (dataset_lines.c); blank ones, and those that begin with # or %, are passed over
 */

typedef struct dataset_lines {
    ftb_input *in;
    ftb_text text;
    char *first, *at, *end; /* of the batch */
    int64_t line;           /* of the word last returned, from 1 */
} dataset_lines;
GrB_Info dataset_lines_open(dataset_lines *l, const char *path);
/* *word: without blanks at its ends, NULL after the last; valid until the next call. */
GrB_Info dataset_lines_next(dataset_lines *l, const char **word, int64_t *length);
void dataset_lines_close(dataset_lines *l);
/* Says where row `row` of nrows (from 0) is: "path:line" of a text, else "path: row 17". Returns the buffer.
 */
char *dataset_where(char buffer[DATASET_PATH + 64], const char *path, int64_t row, int64_t nrows);

/* ---- parts (dataset_graph.c, dataset_features.c, dataset_labels.c, dataset_split.c) */

/* nvertices: as far as it is known, else -1. */
GrB_Info dataset_read_graph(dataset *set, const dataset_files *files, int64_t nvertices,
                            const dataset_options *options);
GrB_Info dataset_read_features(dataset *set, const char *path, const dataset_options *options);
GrB_Info dataset_make_features(dataset *set, const dataset_options *options);
/* Numbers as they are in the file, FP64: before the graph is there, of whose vertices they may be the count.
 */
GrB_Info dataset_read_values(FtB_Block *values, const char *path);
GrB_Info dataset_take_labels(dataset *set, FtB_Block values, const char *path,
                             const dataset_options *options);
GrB_Info dataset_read_split(dataset *set, const dataset_files *files, const dataset_options *options);

#endif
