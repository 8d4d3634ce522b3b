/* What values of matrices may be stored as, for kernels that read any of it (stored.cuh). Read by C, nvcc and
 * NVRTC. */
#ifndef FTB_STORED_TYPES_H
#define FTB_STORED_TYPES_H

enum {
    FTB_STORED_BOOL,
    FTB_STORED_I8,
    FTB_STORED_I16,
    FTB_STORED_I32,
    FTB_STORED_I64,
    FTB_STORED_U8,
    FTB_STORED_U16,
    FTB_STORED_U32,
    FTB_STORED_U64,
    FTB_STORED_F32,
    FTB_STORED_F64,
    FTB_STORED_F16,
    FTB_STORED_BF16
};

#endif
