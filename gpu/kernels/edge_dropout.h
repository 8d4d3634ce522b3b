/* Dropout of entries, a head at a time, as the host and the kernels agree on it. Read by C, nvcc and NVRTC.
 */
#ifndef FTB_EDGE_DROPOUT_H
#define FTB_EDGE_DROPOUT_H

typedef struct ftb_edge_dropout {
    unsigned below; /* a draw below it drops; 0: none does */
    float kept;     /* what the others are multiplied by */
    unsigned key[2];
    const unsigned *key_at; /* where it is, in place of that; else NULL */
} ftb_edge_dropout;

#endif
