/* GraphBLAS's header and handles, where the build has it: included before all others, so that its types are
 * used. */
#ifndef REF_HANDLES_H
#define REF_HANDLES_H

#ifdef FTB_GRAPHBLAS_ORACLE
#include <GraphBLAS.h>
#define REF_HANDLE(name) name
#else
#define REF_HANDLE(name) NULL
#endif

#endif
