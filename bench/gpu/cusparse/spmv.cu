/* cuSPARSE's products y = A x, all algorithms, preprocessed; single precision, and half precision storage
 * with sums and output in single precision. `bytes` is what any such product must move: the matrix, x and y
 * once each. Read off: the share of the read bandwidth, and which algorithm it takes on even and on skewed
 * rows. */
#include "products.cuh"

namespace facts::sparse
{

namespace
{

void measure(Group &group, const Handle &handle, const DeviceGraph &g, Type type, Type output)
{
    Values values(type, static_cast<size_t>(g.nvals)), x(type, static_cast<size_t>(g.ncols)),
        y(output, static_cast<size_t>(g.nrows));
    values.draw(1);
    x.draw(2);
    for (const auto &algorithm : spmv_algorithms) {
        const Fields parameters = {{"graph", g.name},
                                   {"dtype", name_of(type)},
                                   {"output", name_of(output)},
                                   {"algorithm", algorithm.name},
                                   {"index", 32}};
        group.attempt(parameters, [&] {
            y.fill(POISON);
            const Spmv product(handle, g, values, x, y, algorithm.id);
            Case c;
            c.parameters = parameters;
            c.bytes = static_cast<double>(values.memory.bytes() + x.memory.bytes() + y.memory.bytes() +
                                          g.rowptr.bytes() + g.colidx.bytes());
            c.operations = 2.0 * static_cast<double>(g.nvals);
            c.launch = [&] { product.launch(); };
            c.check = [&] { return checked(spmm_error(g, values, x, y, 1, group.toy()), bound_of(output)); };
            c.facts = [&] { return product.facts(); };
            c.seconds = 0.2;
            group.run(c);
        });
    }
}

} // namespace

} // namespace facts::sparse

void facts::sparse_spmv(Group &group)
{
    using namespace sparse;
    const Handle handle = make_handle();
    for (const std::string &name : graph_names())
        group.attempt({{"graph", name}}, [&] {
            const DeviceGraph g(load_graph(name, group.options()));
            measure(group, handle, g, Type::F32, Type::F32);
            measure(group, handle, g, Type::F16, Type::F32);
            measure(group, handle, g, Type::BF16, Type::F32);
        });
}
