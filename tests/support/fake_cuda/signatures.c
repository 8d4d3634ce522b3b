/* What gpu/driver.h and gpu/nvrtc.h declare is what the toolkit's headers say. Compiled where nvcc is, never
 * run. */
#include "gpu/driver.h"
#include "gpu/nvrtc.h"

#include <cuda.h>
#include <nvrtc.h>

#define SAME(name, arguments)                                                                                \
    _Static_assert(__builtin_types_compatible_p(unsigned(*) arguments, __typeof__(&name)), #name);
FTB_CUDA_CALLS(SAME)
FTB_NVRTC_CALLS(SAME)
#undef SAME

#define IS(ours, theirs) _Static_assert((int)(ours) == (int)CU_DEVICE_ATTRIBUTE_##theirs, #ours)
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
