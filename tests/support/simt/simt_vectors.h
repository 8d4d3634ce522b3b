/* CUDA's vector types. A copy goes through one register of their size, so that it is one access of 8 or 16
 * bytes, as it is for the device. All are zeros at first: a compiler would guard shared variables of a type
 * that begins without values. */
#ifndef SIMT_VECTORS_H
#define SIMT_VECTORS_H

#include "simt_calls.h"

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

#define SIMT_INLINE __attribute__((always_inline)) inline
#define SIMT_COPIES(name)                                                                                    \
    constexpr name() : whole() {}                                                                            \
    SIMT_INLINE name(const name &other) : whole(other.whole) {}                                              \
    SIMT_INLINE name &operator=(const name &other)                                                           \
    {                                                                                                        \
        whole = other.whole;                                                                                 \
        return *this;                                                                                        \
    }
#define SIMT_PAIR(T, name)                                                                                   \
    struct alignas(2 * sizeof(T)) name##2                                                                    \
    {                                                                                                        \
        typedef T whole_type __attribute__((vector_size(2 * sizeof(T))));                                    \
        union {                                                                                              \
            struct {                                                                                         \
                T x, y;                                                                                      \
            };                                                                                               \
            whole_type whole;                                                                                \
        };                                                                                                   \
        SIMT_INLINE name##2(T x_, T y_) : whole(whole_type{x_, y_}) {}                                       \
        SIMT_COPIES(name##2)                                                                                 \
    };                                                                                                       \
    SIMT_INLINE name##2 make_##name##2(T x, T y) { return name##2(x, y); }
#define SIMT_VECTORS(T, name)                                                                                \
    SIMT_PAIR(T, name)                                                                                       \
    struct alignas(4 * sizeof(T)) name##4                                                                    \
    {                                                                                                        \
        typedef T whole_type __attribute__((vector_size(4 * sizeof(T))));                                    \
        union {                                                                                              \
            struct {                                                                                         \
                T x, y, z, w;                                                                                \
            };                                                                                               \
            whole_type whole;                                                                                \
        };                                                                                                   \
        SIMT_INLINE name##4(T x_, T y_, T z_, T w_) : whole(whole_type{x_, y_, z_, w_}) {}                   \
        SIMT_COPIES(name##4)                                                                                 \
    };                                                                                                       \
    SIMT_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }
SIMT_VECTORS(float, float)
SIMT_VECTORS(int, int)
SIMT_VECTORS(unsigned, uint)
SIMT_VECTORS(unsigned short, ushort)
SIMT_PAIR(double, double)
#undef SIMT_VECTORS
#undef SIMT_PAIR
#undef SIMT_COPIES

#endif
