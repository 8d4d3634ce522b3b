/* Which compiled instruction set to run. */
#include "core/isa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"baseline", "avx2", "avx512"};

static int machine_isa(void)
{
#ifdef FTB_X86_CELLS
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt"))
        return FTB_ISA_BASELINE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return FTB_ISA_AVX2;
    return FTB_ISA_AVX512;
#else
    return FTB_ISA_BASELINE;
#endif
}

static int wanted_isa(void)
{
    const char *text = getenv("FEATBLAS_ISA");
    for (int isa = FTB_ISA_BASELINE; text && isa <= FTB_ISA_AVX512; isa++)
        if (strcmp(text, names[isa]) == 0)
            return isa;
    return FTB_ISA_AVX512;
}

/* -1: not decided yet. Threads that race to decide come to the same answer. */
static atomic_int chosen = -1;

int ftb_isa(void)
{
    int isa = atomic_load_explicit(&chosen, memory_order_relaxed);
    return isa >= 0 ? isa : ftb_isa_force(-1);
}

int ftb_isa_for(int64_t bytes)
{
    const int64_t avx2 = 32; /* bytes of its vectors */
    const int isa = ftb_isa();
    return isa == FTB_ISA_AVX512 && bytes == avx2 ? FTB_ISA_AVX2 : isa;
}

int ftb_isa_force(int isa)
{
    int most = machine_isa();
    int wish = isa < 0 ? wanted_isa() : isa;
    int choice = wish < most ? wish : most;
    atomic_store_explicit(&chosen, choice, memory_order_relaxed);
    return choice;
}

const char *ftb_isa_name(int isa)
{
    return isa >= FTB_ISA_BASELINE && isa <= FTB_ISA_AVX512 ? names[isa] : "unknown";
}
