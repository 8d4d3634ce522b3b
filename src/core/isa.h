/* Instruction sets. CMake compiles a kernel file once per cell (cmake/Cells.cmake)
 * with FTB_ISA set; cells define the same names with a suffix, and callers pick one at run time:
 *
 *     void FTB_CELL(ftb_sum)(...) {...}              in the kernel file
 *     FTB_CELLS(void, ftb_sum, (...))                in its header: declares ftb_sum_baseline, ...
 *     FTB_PICK(ftb_sum)(...)                         in the caller
 *
 * Cells are compiled without contraction and reassociation, so that they give identical bits where they do
 * not fuse additions by name (spmm_lanes.h, fours.h). */
#ifndef FTB_ISA_H
#define FTB_ISA_H

#include <stdint.h>

#define FTB_ISA_BASELINE 0 /* what the compiler assumes by default */
#define FTB_ISA_AVX2 1     /* AVX2, FMA, BMI2, POPCNT */
#define FTB_ISA_AVX512 2   /* the same with AVX-512 F, BW, CD, DQ, VL */

/* The best instruction set that this machine runs and that was compiled; the environment variable
 * FEATBLAS_ISA (baseline, avx2, avx512) lowers it. Decided once per process. */
int ftb_isa(void);
const char *ftb_isa_name(int isa);
/* The same for rows of so many bytes: of AVX-512, where they are one of AVX2's vectors, that. Wider ones
 * would move and add what is not there; of fewer bytes, AVX2's own tails take longer. */
int ftb_isa_for(int64_t bytes);
/* Lowers (or restores, -1) the choice: for tests, between calls. Returns what ftb_isa() now gives. */
int ftb_isa_force(int isa);

#define FTB_ISA_JOIN(a, b) a##b
#define FTB_ISA_PASTE(a, b) FTB_ISA_JOIN(a, b)

#ifdef FTB_ISA
#if FTB_ISA == FTB_ISA_AVX512
#define FTB_CELL(name) FTB_ISA_PASTE(name, _avx512)
#elif FTB_ISA == FTB_ISA_AVX2
#define FTB_CELL(name) FTB_ISA_PASTE(name, _avx2)
#else
#define FTB_CELL(name) FTB_ISA_PASTE(name, _baseline)
#endif
#endif

#ifdef FTB_X86_CELLS
#define FTB_CELLS(type, name, arguments)                                                                     \
    type name##_baseline arguments;                                                                          \
    type name##_avx2 arguments;                                                                              \
    type name##_avx512 arguments;
#define FTB_PICK_OF(isa, name)                                                                               \
    ((isa) == FTB_ISA_AVX512 ? name##_avx512 : (isa) == FTB_ISA_AVX2 ? name##_avx2 : name##_baseline)
#else
#define FTB_CELLS(type, name, arguments) type name##_baseline arguments;
#define FTB_PICK_OF(isa, name) (name##_baseline)
#endif
#define FTB_PICK(name) FTB_PICK_OF(ftb_isa(), name)
/* Of kernels for two types, name_f32 and name_f64. */
#define FTB_PICK_REAL(name, type) ((type) == FTB_FP32 ? FTB_PICK(name##_f32) : FTB_PICK(name##_f64))

#endif
