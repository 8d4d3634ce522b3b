/* The steps of cuSPARSE's two interfaces to sparse products. */
#include "spgemm.cuh"

#include <algorithm>

namespace facts::sparse
{

namespace
{

constexpr cusparseOperation_t N = CUSPARSE_OPERATION_NON_TRANSPOSE;
const float one = 1, zero = 0;

size_t offset_bytes(Width width) { return width == Width::W32 ? 4 : 8; }
size_t column_bytes(Width width) { return width == Width::W64 ? 8 : 4; }
cusparseIndexType_t offset_type(Width width)
{
    return width == Width::W32 ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I;
}
cusparseIndexType_t column_type(Width width)
{
    return width == Width::W64 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
}

std::vector<int64_t> widened_indices(const Buffer<int> &narrow)
{
    const std::vector<int> all = narrow.download();
    return std::vector<int64_t>(all.begin(), all.end());
}

/* One product on its way through the steps. */
class Steps
{
  public:
    Steps(const Handle &h, const Operand &a_, const Operand &b_, const Method &m, Width width,
          SparseResult &c_, SpgemmFacts &facts_)
        : handle(h), method(m), c(c_), facts(facts_), a(a_, width), b(b_, width), free_before(0)
    {
        c = SparseResult{};
        free_before = free_memory();
        c.nrows = a_.graph.nrows;
        c.ncols = b_.graph.ncols;
        c.width = width;
        c.rowptr =
            allocated((static_cast<size_t>(c.nrows) + 1) * offset_bytes(width), "the result's offsets");
        result = make_csr({c.nrows, c.ncols, 0}, c.rowptr.data(), nullptr, nullptr, CUDA_R_32F,
                          offset_type(width), column_type(width));
        check(cusparseSpGEMM_createDescr(descriptor.made()), "cusparseSpGEMM_createDescr");
    }

    void run()
    {
        const auto estimate = [&](void *buffer) {
            return cusparseSpGEMM_workEstimation(handle, N, N, &one, a.matrix, b.matrix, &zero, result,
                                                 CUDA_R_32F, method.algorithm, descriptor, &bytes[1], buffer);
        };
        const auto compute = [&](void *buffer) {
            return cusparseSpGEMM_compute(handle, N, N, &one, a.matrix, b.matrix, &zero, result, CUDA_R_32F,
                                          method.algorithm, descriptor, &bytes[2], buffer);
        };
        const auto memory = [&](void *buffer, size_t *needed) {
            return cusparseSpGEMM_estimateMemory(handle, N, N, &one, a.matrix, b.matrix, &zero, result,
                                                 CUDA_R_32F, method.algorithm, descriptor, method.chunk,
                                                 &bytes[3], buffer, needed);
        };
        step("cusparseSpGEMM_workEstimation, size", [&] { return estimate(nullptr); });
        take(1, "cusparseSpGEMM_workEstimation");
        step("cusparseSpGEMM_workEstimation", [&] { return estimate(buffers[1].data()); });
        if (cusparseSpGEMM_getNumProducts(descriptor, &facts.products_told) != CUSPARSE_STATUS_SUCCESS)
            facts.products_told = -1;
        if (method.estimate) {
            step("cusparseSpGEMM_estimateMemory, size", [&] { return memory(nullptr, nullptr); });
            take(3, "cusparseSpGEMM_estimateMemory");
            step("cusparseSpGEMM_estimateMemory", [&] { return memory(buffers[3].data(), &bytes[2]); });
            release(3);
        } else {
            step("cusparseSpGEMM_compute, size", [&] { return compute(nullptr); });
        }
        take(2, "cusparseSpGEMM_compute");
        step("cusparseSpGEMM_compute", [&] { return compute(buffers[2].data()); });
        make_result();
        step("cusparseSpGEMM_copy", [&] {
            return cusparseSpGEMM_copy(handle, N, N, &one, a.matrix, b.matrix, &zero, result, CUDA_R_32F,
                                       method.algorithm, descriptor);
        });
    }

    void run_reuse()
    {
        const auto estimate = [&](void *buffer) {
            return cusparseSpGEMMreuse_workEstimation(handle, N, N, a.matrix, b.matrix, result,
                                                      method.algorithm, descriptor, &bytes[1], buffer);
        };
        const auto count = [&](void *second, void *third, void *fourth) {
            return cusparseSpGEMMreuse_nnz(handle, N, N, a.matrix, b.matrix, result, method.algorithm,
                                           descriptor, &bytes[2], second, &bytes[3], third, &bytes[4],
                                           fourth);
        };
        const auto copy = [&](void *buffer) {
            return cusparseSpGEMMreuse_copy(handle, N, N, a.matrix, b.matrix, result, method.algorithm,
                                            descriptor, &bytes[5], buffer);
        };
        step("cusparseSpGEMMreuse_workEstimation, size", [&] { return estimate(nullptr); });
        take(1, "cusparseSpGEMMreuse_workEstimation");
        step("cusparseSpGEMMreuse_workEstimation", [&] { return estimate(buffers[1].data()); });
        step("cusparseSpGEMMreuse_nnz, size", [&] { return count(nullptr, nullptr, nullptr); });
        for (const int k : {2, 3, 4})
            take(k, "cusparseSpGEMMreuse_nnz");
        step("cusparseSpGEMMreuse_nnz",
             [&] { return count(buffers[2].data(), buffers[3].data(), buffers[4].data()); });
        release(1);
        release(2);
        make_result();
        step("cusparseSpGEMMreuse_copy, size", [&] { return copy(nullptr); });
        take(5, "cusparseSpGEMMreuse_copy");
        step("cusparseSpGEMMreuse_copy", [&] { return copy(buffers[5].data()); });
        release(3);
        facts.symbolic_seconds = facts.seconds;
        step("cusparseSpGEMMreuse_compute", [&] {
            return cusparseSpGEMMreuse_compute(handle, N, N, &one, a.matrix, b.matrix, &zero, result,
                                               CUDA_R_32F, method.algorithm, descriptor);
        });
    }

  private:
    template <class Call> void step(const char *what, Call call)
    {
        const double start = now();
        check(call(), what);
        check(cudaDeviceSynchronize(), what);
        facts.seconds += now() - start;
    }

    Buffer<unsigned char> allocated(size_t size, const char *what)
    {
        const double start = now();
        Buffer<unsigned char> taken = make_workspace(size, what);
        facts.allocation_seconds += now() - start;
        const size_t left = free_memory();
        facts.peak = std::max(facts.peak, free_before > left ? free_before - left : 0);
        return taken;
    }

    /* The documentation's buffers by their numbers. */
    void take(int number, const char *what)
    {
        facts.asked = std::max(facts.asked, bytes[number]);
        buffers[number] = allocated(bytes[number], what);
    }

    void release(int number) { buffers[number] = Buffer<unsigned char>(); }

    /* Room for the entries that cuSPARSE counted, unless the count is absurd. */
    void make_result()
    {
        int64_t nrows = 0, ncols = 0;
        check(cusparseSpMatGetSize(result, &nrows, &ncols, &facts.nvals), "cusparseSpMatGetSize");
        if (facts.nvals < 0 || facts.nvals > c.nrows * c.ncols)
            throw Failure("wrong: cuSPARSE counts " + std::to_string(facts.nvals) + " entries");
        c.nvals = facts.nvals;
        const size_t n = static_cast<size_t>(c.nvals);
        c.colidx = allocated(n * column_bytes(c.width), "the result's columns");
        c.values = allocated(n * sizeof(float), "the result's values");
        check(cudaMemset(c.values.data(), POISON, c.values.bytes()), "filling an output");
        check(cusparseCsrSetPointers(result, c.rowptr.data(), c.colidx.data(), c.values.data()),
              "cusparseCsrSetPointers");
    }

    const Handle &handle;
    const Method &method;
    SparseResult &c;
    SpgemmFacts &facts;
    Described a, b;
    size_t free_before;
    size_t bytes[6] = {};
    Buffer<unsigned char> buffers[6]; /* outlive the descriptor, which points into them */
    SparseMatrix result;
    SpgemmDescriptor descriptor;
};

} // namespace

Operand::Operand(const Graph &g, uint64_t seed) : graph(g), values(Type::F32, static_cast<size_t>(g.nvals()))
{
    values.draw(seed);
}

Described::Described(const Operand &o, Width width)
{
    void *rowptr = o.graph.rowptr.data(), *colidx = o.graph.colidx.data();
    if (width != Width::W32) {
        wide_rowptr = Buffer<int64_t>(widened_indices(o.graph.rowptr));
        rowptr = wide_rowptr.data();
    }
    if (width == Width::W64) {
        wide_colidx = Buffer<int64_t>(widened_indices(o.graph.colidx));
        colidx = wide_colidx.data();
    }
    matrix = make_csr({o.graph.nrows, o.graph.ncols, o.graph.nvals}, rowptr, colidx, o.values.data(),
                      CUDA_R_32F, offset_type(width), column_type(width));
}

Fields SpgemmFacts::fields() const
{
    return {{"symbolic_seconds", symbolic_seconds},
            {"allocation_seconds", allocation_seconds},
            {"products_told", products_told},
            {"nvals_out", nvals},
            {"buffer_bytes", asked},
            {"peak_bytes", peak}};
}

void multiply(const Handle &handle, const Operand &a, const Operand &b, const Method &method, Width width,
              SparseResult &c, SpgemmFacts &facts)
{
    facts = SpgemmFacts{};
    Steps steps(handle, a, b, method, width, c, facts);
    if (method.reuse)
        steps.run_reuse();
    else
        steps.run();
}

} // namespace facts::sparse
