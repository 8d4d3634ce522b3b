/* Values of three types as cuSPARSE takes them, and the checks of its products: one thread an output, obvious
 * loops, sums in double precision. */
#pragma once

#include "support/facts.cuh"
#include "support/graphs.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cusparse.h>

namespace facts::sparse
{

enum class Type { F32, F16, BF16 };

const char *name_of(Type type);
cudaDataType cuda_type(Type type);
inline size_t bytes_of(Type type) { return type == Type::F32 ? 4 : 2; }
/* How far a result stored in this type may be from the exact one, over the sum of the terms' magnitudes. The
 * narrow types have room for a few roundings on the way: an algorithm that splits rows may add up its parts
 * in the output. Not noticed: one missing term among more than 1 / bound of them. */
double bound_of(Type type);

/* Calls use(T{}) with the type's T. */
template <class Use> auto with_type(Type type, Use use)
{
    if (type == Type::F16)
        return use(__half{});
    if (type == Type::BF16)
        return use(__nv_bfloat16{});
    return use(float{});
}

enum class Sign { MIXED, NEGATIVE };

/* An array in device memory. */
struct Values {
    Values(Type type_, size_t count_) : type(type_), count(count_), memory(count_ * bytes_of(type_)) {}
    template <class T> T *as() const { return reinterpret_cast<T *>(memory.data()); }
    void *data() const { return memory.data(); }
    /* Magnitudes in [1/8, 1), so that no product of two is near the narrow types' smallest. */
    void draw(uint64_t seed, Sign sign = Sign::MIXED);
    /* A byte everywhere: what an output holds before. */
    void fill(int byte);
    Type type;
    size_t count;
    Buffer<unsigned char> memory;
};

/* Large and finite in every type: an output that was not written is noticed, and a product with 0 leaves no
 * trace. */
constexpr int POISON = 0x7b;
/* Not a number in every type. */
constexpr int NOT_A_NUMBER = 0xff;

/* Entries of two arrays that differ in a bit; units of 2 bytes. */
int64_t differing(const void *a, const void *b, size_t bytes);

/* Values that no sum of products here can be: POISON's, and what is no number. */
int64_t wild(const Values &v);

/* Largest error of Y = A X, over the sum of magnitudes; d = 1: of y = A x. At toy size a loop on the host is
 * asked as well, and whether a wrong output is noticed. */
double spmm_error(const DeviceGraph &a, const Values &values, const Values &x, const Values &y, int d,
                  bool toy);

/* Largest error of the dots of X's and Z's rows along the entries; of every `stride`th one, but none may be
 * wild. */
double sddmm_error(const DeviceGraph &a, const Values &x, const Values &z, const Values &dots, int d,
                   int stride, bool toy);

/* {"error", x}, or an exception when it is too large. */
Fields checked(double error, double bound);

/* The worst of what a kernel's threads found, kept on the device. */
class Worst
{
  public:
    Worst() : found(1) { found.zero(); }
    unsigned *data() const { return found.data(); }
    double read() const;

  private:
    Buffer<unsigned> found;
};

inline __host__ __device__ float widened(float x) { return x; }
inline __host__ __device__ float widened(__half x) { return __half2float(x); }
inline __host__ __device__ float widened(__nv_bfloat16 x) { return __bfloat162float(x); }

/* An error over the sum of magnitudes; infinite for what is no number, and for anything but 0 where nothing
 * is added. */
inline __host__ __device__ float error_of(double got, double expected, double magnitude)
{
    const double difference = fabs(got - expected);
    const double error = difference == 0 ? 0 : difference / magnitude;
    return error <= 1e30 ? static_cast<float>(error) : 1e30f;
}

/* Errors are not negative, so their bits are in the order of their values; most threads only look. */
inline __device__ void keep_worst(unsigned *worst, float error)
{
    if (__float_as_uint(error) > *worst)
        atomicMax(worst, __float_as_uint(error));
}

} // namespace facts::sparse
