/* What the host and the kernels of running sums (scan.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_SCAN_TILES_H
#define FTB_SCAN_TILES_H

enum {
    FTB_SCAN_BLOCK = 256,
    FTB_SCAN_EACH = 8, /* values of a thread */
    FTB_SCAN_TILE = FTB_SCAN_BLOCK * FTB_SCAN_EACH
};

/* to[0 .. n - 1] become the sums of the values before them, to[n] the sum of all. */
typedef struct ftb_scan_arguments {
    const int *counts; /* the values; NULL: they are in `to` */
    long long *to;
    long long n;
    long long *sums; /* of each tile; NULL: a block does all of it */
} ftb_scan_arguments;

#endif
