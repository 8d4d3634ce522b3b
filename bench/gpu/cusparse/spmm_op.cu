/* cusparseSpMMOp: products over other semirings, whose operators NVRTC compiles and cuSPARSE links into its
 * kernel. Timed: plus-times (beside cusparse-spmm's: what custom operators cost), max : src (the second
 * operand's value, the largest) and min-plus; `plan_seconds` is what linking takes, `compile_seconds` NVRTC.
 *
 * The preview's documentation does not say what its sums start from. Read off `what`: "add calls" - for rows
 * of several degrees the ones that were added and how often add was called, degree - 1 times if a row starts
 * from its first product and no lane pads it - and "largest of negatives", right only if nothing starts from
 * 0; `empty_row` is what a row without entries is left with. `wrong_outputs` counts outputs beyond the bound:
 * a wrong result is a fact here, so it ends no case. */
#include "products.cuh"

#include <nvrtc.h>

#include <cmath>
#include <sstream>

namespace facts::sparse
{

namespace
{

enum class Semiring { PLUS_TIMES, MAX_SRC, MIN_PLUS };

struct Operators {
    const char *name, *add, *mul;
    Semiring semiring;
};
const Operators operators[] = {{"plus-times", "a + b", "a * b", Semiring::PLUS_TIMES},
                               {"max : src", "a > b ? a : b", "b", Semiring::MAX_SRC},
                               {"min-plus", "a < b ? a : b", "a + b", Semiring::MIN_PLUS}};
/* Counts itself: a sum of n ones and m calls is n + 2048 m, exact below 2^24. */
const Operators counting = {"counting", "a + b + 2048.0f", "1.0f", Semiring::PLUS_TIMES};

void check_nvrtc(nvrtcResult result, const char *what)
{
    if (result != NVRTC_SUCCESS)
        throw Failure(std::string(what) + ": " + nvrtcGetErrorString(result));
}

/* A function of two floats, as the intermediate form that is linked later. */
std::string compiled(const char *name, const char *expression)
{
    const std::string text =
        std::string("__device__ float ") + name + "(float a, float b) { return " + expression + "; }\n";
    int major = 0, minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "device attribute");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "device attribute");
    const std::string architecture = "-arch=compute_" + std::to_string(10 * major + minor);
    const char *const options[] = {architecture.c_str(), "-rdc=true", "-dlto", "-std=c++17"};
    nvrtcProgram program = nullptr;
    check_nvrtc(nvrtcCreateProgram(&program, text.c_str(), nullptr, 0, nullptr, nullptr),
                "nvrtcCreateProgram");
    const nvrtcResult result = nvrtcCompileProgram(program, 4, options);
    std::string code;
    size_t size = 0;
    if (result == NVRTC_SUCCESS && nvrtcGetLTOIRSize(program, &size) == NVRTC_SUCCESS) {
        code.resize(size);
        if (size > 0 && nvrtcGetLTOIR(program, &code[0]) != NVRTC_SUCCESS)
            code.clear();
    }
    (void)nvrtcDestroyProgram(&program);
    check_nvrtc(result, "nvrtcCompileProgram");
    if (code.empty())
        throw Failure("nvrtcGetLTOIR: nothing");
    return code;
}

/* Y = A X over a semiring. */
class SpmmOp
{
  public:
    SpmmOp(const Handle &handle, const DeviceGraph &g, const Values &values, const Values &x, const Values &y,
           int d, const Operators &o)
    {
        const double start = now();
        const std::string add = compiled("add_op", o.add), mul = compiled("mul_op", o.mul),
                          epilogue = compiled("epilogue", "a");
        const double middle = now();
        a = make_csr({g.nrows, g.ncols, g.nvals}, g.rowptr.data(), g.colidx.data(), values.data(),
                     cuda_type(values.type));
        from = make_dense(g.ncols, d, x.data(), cuda_type(x.type), CUSPARSE_ORDER_ROW);
        to = make_dense(g.nrows, d, y.data(), cuda_type(y.type), CUSPARSE_ORDER_ROW);
        size_t bytes = 0;
        check(cusparseSpMMOp_createPlan(handle, plan.made(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                        CUSPARSE_OPERATION_NON_TRANSPOSE, a, from, to, CUDA_R_32F,
                                        CUSPARSE_SPMM_OP_ALG_DEFAULT, add.data(), add.size(), mul.data(),
                                        mul.size(), epilogue.data(), epilogue.size(), &bytes),
              "cusparseSpMMOp_createPlan");
        compile_seconds = middle - start;
        plan_seconds = now() - middle;
        workspace = make_workspace(bytes, "cusparseSpMMOp");
    }
    void launch() const { check(cusparseSpMMOp(plan, workspace.data()), "cusparseSpMMOp"); }
    Fields facts() const
    {
        return {{"buffer_bytes", workspace.bytes()},
                {"compile_seconds", compile_seconds},
                {"plan_seconds", plan_seconds}};
    }

  private:
    double compile_seconds = 0, plan_seconds = 0;
    Buffer<unsigned char> workspace;
    SparseMatrix a;
    DenseMatrix from, to;
    OperatorPlan plan;
};

/* Outputs of rows with entries that are further from the plain result than the bound; a thread each. */
template <class T>
__global__ void count_wrong(const int *rowptr, const int *colidx, const T *values, const T *x, const T *y,
                            int nrows, int d, Semiring semiring, float bound, unsigned long long *wrong,
                            unsigned *worst)
{
    const int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (at >= int64_t{nrows} * d)
        return;
    const int i = static_cast<int>(at / d), f = static_cast<int>(at % d);
    double sum = 0, magnitude = 0, largest = -1e30, smallest = 1e30;
    for (int e = rowptr[i]; e < rowptr[i + 1]; e++) {
        const double value = double{widened(values[e])},
                     source = double{widened(x[int64_t{colidx[e]} * d + f])};
        sum += value * source;
        magnitude += fabs(value * source);
        largest = fmax(largest, source);
        smallest = fmin(smallest, value + source);
    }
    if (rowptr[i] == rowptr[i + 1])
        return;
    const bool sums = semiring == Semiring::PLUS_TIMES;
    const double expected = sums ? sum : semiring == Semiring::MAX_SRC ? largest : smallest;
    const float error = error_of(double{widened(y[at])}, expected, sums ? magnitude : 1);
    keep_worst(worst, error);
    if (error > bound)
        atomicAdd(wrong, 1ull);
}

struct Wrong {
    int64_t outputs;
    double error;
};

Wrong wrong_on_device(const DeviceGraph &g, const Values &values, const Values &x, const Values &y, int d,
                      Semiring semiring)
{
    const Worst worst;
    Buffer<unsigned long long> wrong(1);
    wrong.zero();
    with_type(y.type, [&](auto t) {
        using T = decltype(t);
        LAUNCH((count_wrong<T>), divide_up(int64_t{g.nrows} * d, 256), 256, 0, g.rowptr.data(),
               g.colidx.data(), values.as<T>(), x.as<T>(), y.as<T>(), g.nrows, d, semiring,
               static_cast<float>(bound_of(y.type)), wrong.data(), worst.data());
    });
    const double error = worst.read();
    return {static_cast<int64_t>(wrong.download()[0]), error};
}

/* The counting kernel, tried at toy size: after a copy of the plain result there is nothing wrong, with one
 * output changed there is one. */
void try_counting(const DeviceGraph &g, const Semiring semiring)
{
    const int d = 4;
    Operands o(g, d, Type::F32);
    const std::vector<int> rowptr = g.rowptr.download(), colidx = g.colidx.download();
    std::vector<float> v(o.values.count), x(o.x.count), y(o.y.count, 0);
    check(cudaMemcpy(v.data(), o.values.data(), 4 * v.size(), cudaMemcpyDeviceToHost), "copy");
    check(cudaMemcpy(x.data(), o.x.data(), 4 * x.size(), cudaMemcpyDeviceToHost), "copy");
    for (size_t i = 0; i < static_cast<size_t>(g.nrows); i++)
        for (size_t e = static_cast<size_t>(rowptr[i]); e < static_cast<size_t>(rowptr[i + 1]); e++)
            for (size_t f = 0; f < d; f++) {
                const float s = x[static_cast<size_t>(colidx[e]) * d + f];
                float &to = y[i * d + f];
                const bool first = e == static_cast<size_t>(rowptr[i]);
                if (semiring == Semiring::PLUS_TIMES)
                    to += v[e] * s;
                else if (semiring == Semiring::MAX_SRC)
                    to = first ? s : std::max(to, s);
                else
                    to = first ? v[e] + s : std::min(to, v[e] + s);
            }
    size_t full = 0;
    while (rowptr[full] == rowptr[full + 1])
        full++;
    for (const int64_t expected : {0, 1}) {
        y[full * d] += expected ? 0.5f : 0.0f;
        check(cudaMemcpy(o.y.data(), y.data(), 4 * y.size(), cudaMemcpyHostToDevice), "copy");
        const Wrong found = wrong_on_device(g, o.values, o.x, o.y, d, semiring);
        if (found.outputs != expected)
            throw Failure("the check finds " + std::to_string(found.outputs) + " wrong outputs among " +
                          std::to_string(expected));
    }
}

void time_operators(Group &group, const Handle &handle, const DeviceGraph &g, int d, Type type)
{
    Operands o(g, d, type);
    for (const Operators &op : operators) {
        const Fields parameters = {{"graph", g.name},        {"d", d},
                                   {"dtype", name_of(type)}, {"algorithm", "DEFAULT"},
                                   {"semiring", op.name},    {"index", 32}};
        group.attempt(parameters, [&] {
            if (group.toy())
                try_counting(g, op.semiring);
            o.y.fill(POISON);
            const SpmmOp product(handle, g, o.values, o.x, o.y, d, op);
            Case c;
            c.parameters = parameters;
            c.bytes = static_cast<double>(g.nvals) * d * static_cast<double>(bytes_of(type));
            c.launch = [&] { product.launch(); };
            c.check = [&] {
                const Wrong wrong = wrong_on_device(g, o.values, o.x, o.y, d, op.semiring);
                return Fields{{"error", wrong.error}, {"wrong_outputs", wrong.outputs}};
            };
            c.facts = [&] { return product.facts(); };
            c.seconds = 0.2;
            group.run(c);
        });
    }
}

/* Rows of several degrees: around a warp's width, and long enough to be split. */
const int degrees[] = {0, 1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 100, 257, 1000};

Graph graph_of_degrees()
{
    Graph g;
    g.name = "degrees";
    g.ncols = 1000;
    g.rowptr.push_back(0);
    for (const int degree : degrees) {
        for (int j = 0; j < degree; j++)
            g.colidx.push_back(j);
        g.rowptr.push_back(static_cast<int>(g.colidx.size()));
        g.nrows++;
    }
    return g;
}

/* A product on the rows of several degrees; returns the first column. */
std::vector<float> probe(const Handle &handle, const DeviceGraph &g, Operands &o, int d, const Operators &op)
{
    o.y.fill(POISON);
    const SpmmOp product(handle, g, o.values, o.x, o.y, d, op);
    product.launch();
    synchronize();
    std::vector<float> y(o.y.count), column;
    check(cudaMemcpy(y.data(), o.y.data(), 4 * y.size(), cudaMemcpyDeviceToHost), "copy from the device");
    for (size_t i = 0; i < y.size(); i += static_cast<size_t>(d))
        column.push_back(y[i]);
    return column;
}

void probe_counts(Group &group, const Handle &handle, const DeviceGraph &g, int d)
{
    const Fields parameters = {{"what", "add calls"}, {"d", d}, {"dtype", "fp32"}};
    group.attempt(parameters, [&] {
        Operands o(g, d, Type::F32);
        const std::vector<float> y = probe(handle, g, o, d, counting);
        std::ostringstream rows;
        for (size_t i = 1; i < y.size(); i++)
            rows << (i > 1 ? ", " : "") << degrees[i] << ": " << std::fmod(y[i], 2048.0f) << " ones in "
                 << std::floor(y[i] / 2048.0f) << " calls";
        group.record(parameters, {}, {{"rows", rows.str()}, {"empty_row", static_cast<double>(y[0])}});
    });
}

void probe_negatives(Group &group, const Handle &handle, const DeviceGraph &g, int d)
{
    const Fields parameters = {{"what", "largest of negatives"}, {"d", d}, {"dtype", "fp32"}};
    group.attempt(parameters, [&] {
        Operands o(g, d, Type::F32);
        o.x.draw(2, Sign::NEGATIVE);
        const std::vector<float> y = probe(handle, g, o, d, operators[1]);
        const Wrong wrong = wrong_on_device(g, o.values, o.x, o.y, d, Semiring::MAX_SRC);
        std::ostringstream zeros;
        for (size_t i = 1; i < y.size(); i++)
            if (!(y[i] < 0))
                zeros << (zeros.str().empty() ? "" : " ") << degrees[i];
        group.record(parameters, {},
                     {{"wrong_outputs", wrong.outputs},
                      {"error", wrong.error},
                      {"degrees_not_negative", zeros.str()},
                      {"empty_row", static_cast<double>(y[0])}});
    });
}

} // namespace

} // namespace facts::sparse

void facts::sparse_spmm_op(Group &group)
{
    using namespace sparse;
    const Handle handle = make_handle();
    Graphs graphs(group.options());
    const auto block = [&](const std::string &name, int d, Type type) {
        group.attempt({{"graph", name}, {"d", d}, {"dtype", name_of(type)}},
                      [&] { time_operators(group, handle, graphs[name], d, type); });
    };
    const int middle = group.toy() ? 32 : 128;
    const std::vector<std::string> names = graph_names();
    block(names[0], middle, Type::F32);
    group.attempt({{"what", "probes"}}, [&] {
        const DeviceGraph rows(graph_of_degrees());
        for (const int d : {32, 128}) {
            probe_counts(group, handle, rows, d);
            probe_negatives(group, handle, rows, d);
        }
    });
    block(names[0], middle, Type::F16);
    for (size_t k = 1; k < names.size(); k++)
        block(names[k], middle, Type::F32);
    for (const int d : {32, 512})
        for (const std::string &name : names)
            block(name, group.toy() ? 8 : d, Type::F32);
}
