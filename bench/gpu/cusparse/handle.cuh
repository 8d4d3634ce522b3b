/* cuSPARSE's handle and descriptors, each freed by its owner, and calls whose failure is an exception. */
#pragma once

#include "support/device.cuh"

#include <cusparse.h>
#include <string>
#include <utility>

namespace facts::sparse
{

using facts::check;
inline void check(cusparseStatus_t status, const char *what)
{
    /* An error that the library leaves behind would be blamed on the next launch: what went wrong is in its
     * status, and a fault stays. */
    (void)cudaGetLastError();
    if (status == CUSPARSE_STATUS_SUCCESS)
        return;
    throw Failure(std::string(what) + ": " + cusparseGetErrorName(status) + ", " +
                  cusparseGetErrorString(status));
}

template <class Descriptor, class Destroyed, cusparseStatus_t (*destroy)(Destroyed)> class Owned
{
  public:
    Owned() = default;
    Owned(Owned &&other) noexcept : descriptor(std::exchange(other.descriptor, nullptr)) {}
    Owned &operator=(Owned &&other) noexcept
    {
        std::swap(descriptor, other.descriptor);
        return *this;
    }
    ~Owned()
    {
        if (descriptor)
            (void)destroy(descriptor);
    }
    Descriptor *made() { return &descriptor; } /* for the call that creates it */
    operator Descriptor() const { return descriptor; }

  private:
    Descriptor descriptor = nullptr;
};

using Handle = Owned<cusparseHandle_t, cusparseHandle_t, cusparseDestroy>;
using SparseMatrix = Owned<cusparseSpMatDescr_t, cusparseConstSpMatDescr_t, cusparseDestroySpMat>;
using DenseMatrix = Owned<cusparseDnMatDescr_t, cusparseConstDnMatDescr_t, cusparseDestroyDnMat>;
using DenseVector = Owned<cusparseDnVecDescr_t, cusparseConstDnVecDescr_t, cusparseDestroyDnVec>;
using SpgemmDescriptor = Owned<cusparseSpGEMMDescr_t, cusparseSpGEMMDescr_t, cusparseSpGEMM_destroyDescr>;
using OperatorPlan = Owned<cusparseSpMMOpPlan_t, cusparseSpMMOpPlan_t, cusparseSpMMOp_destroyPlan>;

inline Handle make_handle()
{
    Handle h;
    check(cusparseCreate(h.made()), "cusparseCreate");
    return h;
}

struct Shape {
    int64_t nrows, ncols, nvals;
};

/* Compressed rows with offsets and columns of 32 or 64 bits each. */
inline SparseMatrix make_csr(const Shape &s, void *rowptr, void *colidx, void *values, cudaDataType type,
                             cusparseIndexType_t offsets = CUSPARSE_INDEX_32I,
                             cusparseIndexType_t columns = CUSPARSE_INDEX_32I)
{
    SparseMatrix m;
    check(cusparseCreateCsr(m.made(), s.nrows, s.ncols, s.nvals, rowptr, colidx, values, offsets, columns,
                            CUSPARSE_INDEX_BASE_ZERO, type),
          "cusparseCreateCsr");
    return m;
}

inline DenseMatrix make_dense(int64_t nrows, int64_t ncols, void *values, cudaDataType type,
                              cusparseOrder_t order)
{
    DenseMatrix m;
    check(cusparseCreateDnMat(m.made(), nrows, ncols, order == CUSPARSE_ORDER_ROW ? ncols : nrows, values,
                              type, order),
          "cusparseCreateDnMat");
    return m;
}

inline DenseVector make_vector(int64_t size, void *values, cudaDataType type)
{
    DenseVector v;
    check(cusparseCreateDnVec(v.made(), size, values, type), "cusparseCreateDnVec");
    return v;
}

inline size_t free_memory()
{
    size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "free memory");
    return free;
}

/* What a call asks for, refused before it is tried when the device has less. */
inline Buffer<unsigned char> make_workspace(size_t bytes, const char *what)
{
    const size_t free = free_memory(), kept = size_t{256} << 20; /* for kernels and the library itself */
    if (bytes > free || free - bytes < kept)
        throw Failure(std::string(what) + ": asks for " + std::to_string(bytes) + " bytes, " +
                      std::to_string(free) + " are free");
    return Buffer<unsigned char>(bytes);
}

} // namespace facts::sparse
