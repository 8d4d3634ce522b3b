/* What src/expr/scalar.h and real.h take from C's headers, which NVRTC does not have. */
#ifndef FTB_C_TYPES_CUH
#define FTB_C_TYPES_CUH

#ifdef FTB_EMULATED
#include <math.h>
#include <stdint.h>
#include <string.h>
#else
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define UINT32_C(x) x##u
#define UINT64_C(x) x##ull
#define INT8_MIN (-128)
#define INT8_MAX 127
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295u
#define INT64_MAX 0x7fffffffffffffffll
#define INT64_MIN (-INT64_MAX - 1)
#define UINT64_MAX 0xffffffffffffffffull
#define HUGE_VALF __int_as_float(0x7f800000)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
#define INFINITY HUGE_VALF
#define NAN __int_as_float(0x7fc00000)
#endif

#define restrict __restrict__

#endif
