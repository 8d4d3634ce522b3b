/* Which of cuSPARSE's modes give the same bits every time. Ten products each, on a graph with skewed rows:
 * five times new descriptors, workspace and preprocessing with two launches each, into outputs that hold
 * something else before. `identical` of `tries` have the first one's bits, `differing` is the largest number
 * of their units of 2 bytes that differ; one more try into an output full of what is no number tells
 * `ignores_output`: beta is 0. Read off: what a planner may use where a caller asks for the same bits. That
 * ten are identical proves nothing on other shapes. */
#include "products.cuh"
#include "spgemm.cuh"

#include <algorithm>

namespace facts::sparse
{

namespace
{

constexpr int TRIES = 10;

/* make() returns an object with launch(), which fills `output`. */
template <class Make> Fields repeated(Values &output, Make make)
{
    Values first(output.type, output.count);
    int identical = 0;
    int64_t worst = 0;
    for (int k = 0; k < TRIES; k += 2) {
        const auto product = make();
        for (int again = 0; again < 2; again++) {
            output.fill(POISON - 7 * (k + again));
            product.launch();
            synchronize();
            if (k + again == 0)
                check(
                    cudaMemcpy(first.data(), output.data(), output.memory.bytes(), cudaMemcpyDeviceToDevice),
                    "copy on the device");
            const int64_t units = differing(first.data(), output.data(), output.memory.bytes());
            identical += units == 0;
            worst = std::max(worst, units);
        }
    }
    output.fill(NOT_A_NUMBER);
    make().launch();
    synchronize();
    return {{"tries", TRIES},
            {"identical", identical},
            {"differing", worst},
            {"ignores_output", wild(output) == 0}};
}

/* Records what `make`'s products do; what they computed was checked by other groups. */
template <class Make> void record(Group &group, const Fields &parameters, Values &output, Make make)
{
    group.attempt(parameters, [&] { group.record(parameters, {}, repeated(output, make)); });
}

void try_spmm(Group &group, const Handle &handle, const DeviceGraph &g, int d, Type type)
{
    Values values(type, static_cast<size_t>(g.nvals)),
        x(type, static_cast<size_t>(g.ncols) * static_cast<size_t>(d)),
        y(type, static_cast<size_t>(g.nrows) * static_cast<size_t>(d));
    values.draw(1);
    x.draw(2);
    for (const auto &algorithm : spmm_algorithms)
        record(group,
               {{"what", "spmm"},
                {"graph", g.name},
                {"d", d},
                {"dtype", name_of(type)},
                {"algorithm", algorithm.name}},
               y, [&] { return Spmm(handle, g, values, x, y, d, algorithm.id); });
}

void try_spmv(Group &group, const Handle &handle, const DeviceGraph &g, Type type)
{
    Values values(type, static_cast<size_t>(g.nvals)), x(type, static_cast<size_t>(g.ncols)),
        y(Type::F32, static_cast<size_t>(g.nrows));
    values.draw(1);
    x.draw(2);
    for (const auto &algorithm : spmv_algorithms)
        record(group,
               {{"what", "spmv"}, {"graph", g.name}, {"dtype", name_of(type)}, {"algorithm", algorithm.name}},
               y, [&] { return Spmv(handle, g, values, x, y, algorithm.id); });
}

void try_sddmm(Group &group, const Handle &handle, const DeviceGraph &g, int d, Type type)
{
    Values x(type, static_cast<size_t>(g.nrows) * static_cast<size_t>(d)),
        z(type, static_cast<size_t>(g.ncols) * static_cast<size_t>(d)),
        dots(Type::F32, static_cast<size_t>(g.nvals));
    x.draw(1);
    z.draw(2);
    record(
        group,
        {{"what", "sddmm"}, {"graph", g.name}, {"d", d}, {"dtype", name_of(type)}, {"algorithm", "DEFAULT"}},
        dots, [&] { return Sddmm(handle, g, x, z, dots, d, Second::COLUMNS); });
}

void try_spgemm(Group &group, const Handle &handle, const Operand &a, const Method &method)
{
    const Fields parameters = {
        {"what", "spgemm"}, {"graph", a.graph.name}, {"dtype", "fp32"}, {"algorithm", method.name}};
    group.attempt(parameters, [&] {
        SparseResult first, c;
        SpgemmFacts facts;
        multiply(handle, a, a, method, Width::W32, first, facts);
        int identical = 0, same_structure = 0;
        int64_t worst = 0;
        for (int k = 0; k < TRIES; k++) {
            multiply(handle, a, a, method, Width::W32, c, facts);
            const bool same = c.nvals == first.nvals &&
                              differing(c.rowptr.data(), first.rowptr.data(), c.rowptr.bytes()) == 0 &&
                              differing(c.colidx.data(), first.colidx.data(), c.colidx.bytes()) == 0;
            same_structure += same;
            const int64_t units =
                same ? differing(c.values.data(), first.values.data(), c.values.bytes()) : c.nvals;
            identical += same && units == 0;
            worst = std::max(worst, units);
        }
        group.record(parameters, {},
                     {{"tries", TRIES},
                      {"identical", identical},
                      {"same_structure", same_structure},
                      {"differing", worst}});
    });
}

const Method sparse_methods[] = {
    {"ALG1", CUSPARSE_SPGEMM_ALG1, 1, false, false},
    {"ALG2", CUSPARSE_SPGEMM_ALG2, 1, false, true},
    {"ALG3 0.2", CUSPARSE_SPGEMM_ALG3, 0.2f, false, true},
    {"reuse", CUSPARSE_SPGEMM_DEFAULT, 1, true, false},
    {"reuse, deterministic", CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC, 1, true, false},
    {"reuse, nondeterministic", CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC, 1, true, false},
};

} // namespace

} // namespace facts::sparse

void facts::sparse_reproducible(Group &group)
{
    using namespace sparse;
    const Handle handle = make_handle();
    Graphs graphs(group.options());
    const int d = group.toy() ? 32 : 128;
    const auto with_graph = [&](const std::string &name, auto work) {
        group.attempt({{"graph", name}}, [&] { work(graphs[name]); });
    };
    for (const char *const name : {"reddit-like", "arxiv-like"}) {
        for (const Type type : {Type::F32, Type::F16, Type::BF16})
            with_graph(name, [&](const DeviceGraph &g) { try_spmm(group, handle, g, d, type); });
        for (const Type type : {Type::F32, Type::F16, Type::BF16})
            with_graph(name, [&](const DeviceGraph &g) { try_spmv(group, handle, g, type); });
        for (const Type type : {Type::F32, Type::F16})
            with_graph(name, [&](const DeviceGraph &g) { try_sddmm(group, handle, g, d, type); });
    }
    group.attempt({{"what", "spgemm"}}, [&] {
        const Operand a(load_graph("arxiv-like", group.options()), 1);
        for (const Method &method : sparse_methods)
            try_spgemm(group, handle, a, method);
    });
}
