/* Data sets of node classification and regression, as train and predict take them: a graph, features, and a
 * class or targets per vertex, split into parts. docs/datasets.md has the layouts on disk. */
#ifndef DATASET_H
#define DATASET_H

#include "featblas.h"

/* What the vertices are to learn. */
typedef enum dataset_task {
    DATASET_AUTO = 0, /* classes where a single column of whole numbers says them, else targets */
    DATASET_CLASSES,
    DATASET_TARGETS
} dataset_task;

/* Features of a graph that comes without; where it has features, they are not looked at. */
typedef enum dataset_made {
    DATASET_REQUIRED = 0, /* none: then that is an error */
    DATASET_ONE_HOT,      /* the identity matrix, sparse: a weight row per vertex */
    DATASET_DEGREE        /* one-hot of the degree, sparse: column min(entries in the row, 255) */
} dataset_made;
#define DATASET_DEGREES 256

/* Zeros are the defaults. Files that are NULL are looked for in the folder; those that are named are relative
 * to where the program runs. */
typedef struct dataset_options {
    const char *features;       /* file, sparse or dense */
    const char *labels;         /* file: a line per vertex */
    const char *split;          /* file: a word per vertex; for OGB's layout the name of a folder of split/ */
    dataset_made features_made; /* where there are no features */
    dataset_task task;
    int64_t nclasses;     /* classes are 0 .. nclasses - 1; 0: as many as the labels name */
    int64_t nfeatures;    /* columns that the features must have; 0: any */
    bool undirected;      /* store each edge both ways round, once */
    bool labels_optional; /* no labels, and no split, is no error: predict */
    bool split_optional;  /* labels without a split: predict that only compares */
} dataset_options;

typedef enum dataset_part { DATASET_TRAIN = 0, DATASET_VAL, DATASET_TEST, DATASET_PARTS } dataset_part;

typedef struct dataset {
    int64_t nvertices, nedges; /* nedges: entries of the graph */
    FtB_Matrix graph; /* nvertices x nvertices; row i gathers from its columns. Width 0, or 1 (FP32) where the
                         file has values */
    int64_t nfeatures;
    FtB_Matrix sparse_features; /* nvertices x nfeatures, width 0 or 1 (FP32); or NULL: */
    FtB_Block dense_features;   /* the same, FP32 */
    int64_t nclasses;           /* 0: targets, or no labels */
    int32_t *labels;            /* nvertices classes, -1: none; NULL: no classes */
    FtB_Block targets;          /* nvertices x ntargets, FP32, NaN: none; NULL: no targets */
    int64_t ntargets;
    bool binary;                       /* every target is 0, 1 or NaN */
    uint8_t *part[DATASET_PARTS];      /* masks, nvertices of 0 or 1; NULL, all of them: no split */
    int64_t part_count[DATASET_PARTS]; /* vertices in each */
} dataset;

/* Whether the folder at `path` holds features; false where there is no such folder. */
bool dataset_has_features(const char *path);
/* Whether `file` is one of those that dataset_load would read. */
bool dataset_reads(const char *path, const dataset_options *options, const char *file);
/* Loads the data set at `path`: a folder of the form of cora/ (edges.*, features.*, labels.*, split.*), one
 * of OGB's layout (raw/edge.csv.gz, ...), or a file with a graph. *set is filled on success only. FtB_error()
 * names the file, and the line where there is one. Memory is counted in the engaged context. FTB_IO,
 * FTB_FORMAT, GrB_INVALID_VALUE, GrB_DIMENSION_MISMATCH, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info dataset_load(dataset *set, const char *path, const dataset_options *options);
/* Releases what is in *set, and zeroes it; may be called twice, and for a zeroed one. */
void dataset_free(dataset *set);

/* "train", "val", "test". */
const char *dataset_part_name(dataset_part part);

#endif
