/* cuSPARSE's products as they are used at their best: descriptors, workspace and preprocessing once, then
 * launches. */
#pragma once

#include "handle.cuh"
#include "values.cuh"

#include <map>

namespace facts::sparse
{

template <class Id> struct Algorithm {
    const char *name;
    Id id;
};

constexpr Algorithm<cusparseSpMMAlg_t> spmm_algorithms[] = {{"DEFAULT", CUSPARSE_SPMM_ALG_DEFAULT},
                                                            {"CSR_ALG2", CUSPARSE_SPMM_CSR_ALG2},
                                                            {"CSR_ALG3", CUSPARSE_SPMM_CSR_ALG3},
                                                            {"CSR_ALG1", CUSPARSE_SPMM_CSR_ALG1}};
constexpr Algorithm<cusparseSpMVAlg_t> spmv_algorithms[] = {{"DEFAULT", CUSPARSE_SPMV_ALG_DEFAULT},
                                                            {"CSR_ALG1", CUSPARSE_SPMV_CSR_ALG1},
                                                            {"CSR_ALG2", CUSPARSE_SPMV_CSR_ALG2}};

/* Graphs on the device, each loaded when it is first asked for. */
class Graphs
{
  public:
    explicit Graphs(const Options &options_) : options(options_) {}
    const DeviceGraph &operator[](const std::string &name)
    {
        const auto at = loaded.find(name);
        return at != loaded.end() ? at->second
                                  : loaded.emplace(name, load_graph(name, options)).first->second;
    }

  private:
    const Options &options;
    std::map<std::string, DeviceGraph> loaded;
};

/* What a product with a block reads and writes. */
struct Operands {
    Operands(const DeviceGraph &g, int d, Type type)
        : values(type, static_cast<size_t>(g.nvals)),
          x(type, static_cast<size_t>(g.ncols) * static_cast<size_t>(d)),
          y(type, static_cast<size_t>(g.nrows) * static_cast<size_t>(d))
    {
        values.draw(1);
        x.draw(2);
    }
    Values values, x, y;
};

/* Runs preprocessing twice and tells the second's seconds: the first also loads code. A library that refuses
 * says so, and the product runs without. */
struct Preparation {
    double seconds = 0;
    std::string refused = {};
    template <class Call> void run(const char *what, Call call)
    {
        try {
            for (int k = 0; k < 2; k++) {
                synchronize();
                const double start = now();
                check(call(), what);
                synchronize();
                seconds = now() - start;
            }
        } catch (const Failure &e) {
            check(cudaDeviceSynchronize(), e.what());
            refused = e.what();
        }
    }
    Fields facts(const Buffer<unsigned char> &workspace, bool wanted) const
    {
        Fields f = {{"buffer_bytes", workspace.bytes()}};
        if (wanted && refused.empty())
            f.push_back({"preprocess_seconds", seconds});
        if (!refused.empty())
            f.push_back({"preprocess_refused", refused});
        return f;
    }
};

/* Y = A X with row-major X and Y; sums in single precision. */
class Spmm
{
  public:
    Spmm(const Handle &h, const DeviceGraph &g, const Values &values, const Values &x, const Values &y, int d,
         cusparseSpMMAlg_t algorithm_, bool prepare = true)
        : handle(h), algorithm(algorithm_), prepared(prepare)
    {
        a = make_csr({g.nrows, g.ncols, g.nvals}, g.rowptr.data(), g.colidx.data(), values.data(),
                     cuda_type(values.type));
        from = make_dense(g.ncols, d, x.data(), cuda_type(x.type), CUSPARSE_ORDER_ROW);
        to = make_dense(g.nrows, d, y.data(), cuda_type(y.type), CUSPARSE_ORDER_ROW);
        size_t bytes = 0;
        check(cusparseSpMM_bufferSize(handle, N, N, &one, a, from, &zero, to, CUDA_R_32F, algorithm, &bytes),
              "cusparseSpMM_bufferSize");
        workspace = make_workspace(bytes, "cusparseSpMM");
        if (prepare)
            preparation.run("cusparseSpMM_preprocess", [&] {
                return cusparseSpMM_preprocess(handle, N, N, &one, a, from, &zero, to, CUDA_R_32F, algorithm,
                                               workspace.data());
            });
    }
    void launch() const
    {
        check(cusparseSpMM(handle, N, N, &one, a, from, &zero, to, CUDA_R_32F, algorithm, workspace.data()),
              "cusparseSpMM");
    }
    Fields facts() const { return preparation.facts(workspace, prepared); }

  private:
    static constexpr cusparseOperation_t N = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const float one = 1, zero = 0;
    const Handle &handle;
    cusparseSpMMAlg_t algorithm;
    bool prepared;
    Buffer<unsigned char> workspace; /* outlives the descriptors, which may point into it */
    SparseMatrix a;
    DenseMatrix from, to;
    Preparation preparation;
};

/* y = A x. */
class Spmv
{
  public:
    Spmv(const Handle &h, const DeviceGraph &g, const Values &values, const Values &x, const Values &y,
         cusparseSpMVAlg_t algorithm_)
        : handle(h), algorithm(algorithm_)
    {
        a = make_csr({g.nrows, g.ncols, g.nvals}, g.rowptr.data(), g.colidx.data(), values.data(),
                     cuda_type(values.type));
        from = make_vector(g.ncols, x.data(), cuda_type(x.type));
        to = make_vector(g.nrows, y.data(), cuda_type(y.type));
        size_t bytes = 0;
        check(cusparseSpMV_bufferSize(handle, N, &one, a, from, &zero, to, CUDA_R_32F, algorithm, &bytes),
              "cusparseSpMV_bufferSize");
        workspace = make_workspace(bytes, "cusparseSpMV");
        preparation.run("cusparseSpMV_preprocess", [&] {
            return cusparseSpMV_preprocess(handle, N, &one, a, from, &zero, to, CUDA_R_32F, algorithm,
                                           workspace.data());
        });
    }
    void launch() const
    {
        check(cusparseSpMV(handle, N, &one, a, from, &zero, to, CUDA_R_32F, algorithm, workspace.data()),
              "cusparseSpMV");
    }
    Fields facts() const { return preparation.facts(workspace, true); }

  private:
    static constexpr cusparseOperation_t N = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const float one = 1, zero = 0;
    const Handle &handle;
    cusparseSpMVAlg_t algorithm;
    Buffer<unsigned char> workspace;
    SparseMatrix a;
    DenseVector from, to;
    Preparation preparation;
};

/* How Z', which lies as row-major Z, is told to cuSPARSE. */
enum class Second {
    COLUMNS,
    TRANSPOSED
}; /* a column-major d x n matrix; or row-major n x d, to be transposed */

/* A dot of a row of X and a row of Z for each entry of the pattern. */
class Sddmm
{
  public:
    Sddmm(const Handle &h, const DeviceGraph &g, const Values &x, const Values &z, const Values &dots, int d,
          Second second)
        : handle(h), right(second == Second::TRANSPOSED ? CUSPARSE_OPERATION_TRANSPOSE : N)
    {
        a = make_dense(g.nrows, d, x.data(), cuda_type(x.type), CUSPARSE_ORDER_ROW);
        b = second == Second::TRANSPOSED
                ? make_dense(g.ncols, d, z.data(), cuda_type(z.type), CUSPARSE_ORDER_ROW)
                : make_dense(d, g.ncols, z.data(), cuda_type(z.type), CUSPARSE_ORDER_COL);
        c = make_csr({g.nrows, g.ncols, g.nvals}, g.rowptr.data(), g.colidx.data(), dots.data(),
                     cuda_type(dots.type));
        size_t bytes = 0;
        check(cusparseSDDMM_bufferSize(handle, N, right, &one, a, b, &zero, c, CUDA_R_32F,
                                       CUSPARSE_SDDMM_ALG_DEFAULT, &bytes),
              "cusparseSDDMM_bufferSize");
        workspace = make_workspace(bytes, "cusparseSDDMM");
        preparation.run("cusparseSDDMM_preprocess", [&] {
            return cusparseSDDMM_preprocess(handle, N, right, &one, a, b, &zero, c, CUDA_R_32F,
                                            CUSPARSE_SDDMM_ALG_DEFAULT, workspace.data());
        });
    }
    void launch() const
    {
        check(cusparseSDDMM(handle, N, right, &one, a, b, &zero, c, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT,
                            workspace.data()),
              "cusparseSDDMM");
    }
    Fields facts() const { return preparation.facts(workspace, true); }

  private:
    static constexpr cusparseOperation_t N = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const float one = 1, zero = 0;
    const Handle &handle;
    cusparseOperation_t right;
    Buffer<unsigned char> workspace;
    DenseMatrix a, b;
    SparseMatrix c;
    Preparation preparation;
};

} // namespace facts::sparse
