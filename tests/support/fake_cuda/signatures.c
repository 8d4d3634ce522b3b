/* What gpu/driver.h, gpu/nvrtc.h and gpu/cublas.h declare is what the toolkit's headers say. Compiled where
 * nvcc is, never run. */
#include "gpu/cublas.h"
#include "gpu/driver.h"
#include "gpu/nvrtc.h"

#include <cublas_v2.h>
#include <cuda.h>
#include <nvrtc.h>

#define SAME(name, arguments)                                                                                \
    _Static_assert(__builtin_types_compatible_p(unsigned(*) arguments, __typeof__(&name)), #name);
FTB_CUDA_CALLS(SAME)
FTB_NVRTC_CALLS(SAME)
FTB_CUBLAS_CALLS(SAME)
#undef SAME

#define IS(ours, theirs) _Static_assert((int)(ours) == (int)CU_DEVICE_ATTRIBUTE_##theirs, #ours)
_Static_assert((int)FTB_CUDA_ORDINAL == (int)CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, "FTB_CUDA_ORDINAL");
IS(FTB_CUDA_CLOCK, CLOCK_RATE);
IS(FTB_CUDA_MULTIPROCESSORS, MULTIPROCESSOR_COUNT);
IS(FTB_CUDA_BUS, PCI_BUS_ID);
IS(FTB_CUDA_SLOT, PCI_DEVICE_ID);
IS(FTB_CUDA_MEMORY_CLOCK, MEMORY_CLOCK_RATE);
IS(FTB_CUDA_MEMORY_WIDTH, GLOBAL_MEMORY_BUS_WIDTH);
IS(FTB_CUDA_L2, L2_CACHE_SIZE);
IS(FTB_CUDA_DOMAIN, PCI_DOMAIN_ID);
IS(FTB_CUDA_MAJOR, COMPUTE_CAPABILITY_MAJOR);
IS(FTB_CUDA_MINOR, COMPUTE_CAPABILITY_MINOR);
IS(FTB_CUDA_SHARED_OPTIN, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
#undef IS

#define IS(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
IS(FTB_CUBLAS_MAJOR, MAJOR_VERSION);
IS(FTB_CUBLAS_MINOR, MINOR_VERSION);
IS(FTB_CUBLAS_N, CUBLAS_OP_N);
IS(FTB_CUBLAS_T, CUBLAS_OP_T);
IS(FTB_CUBLAS_PEDANTIC, CUBLAS_PEDANTIC_MATH);
IS(FTB_CUBLAS_ALLOC_FAILED, CUBLAS_STATUS_ALLOC_FAILED);
IS(FTB_CUBLAS_ARCH_MISMATCH, CUBLAS_STATUS_ARCH_MISMATCH);
IS(FTB_CUBLAS_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED);
