/* cuSPARSE's dot of a row of X and a row of Z for each edge, preprocessed, with both ways to tell it that Z'
 * lies as row-major Z. Half precision is tried with results of its own type and of single precision. `bytes`
 * are the gathered ones, a row of Z for each edge. Read off: the share of the gather rate, and which of the
 * ways is supported. */
#include "products.cuh"

namespace facts::sparse
{

namespace
{

struct Way {
    const char *name;
    Second second;
};
constexpr Way ways[] = {{"column-major", Second::COLUMNS}, {"row-major transposed", Second::TRANSPOSED}};

/* So that about four million edges are checked; prime, so that no place in a row is always left out. */
int check_stride(int64_t nvals)
{
    for (const int prime : {1, 3, 7, 17})
        if (nvals / prime < 4000000)
            return prime;
    return 31;
}

/* Whether any way worked. */
bool measure(Group &group, const Handle &handle, const DeviceGraph &g, int d, Type type, Type output)
{
    double taken = 0;
    const size_t width = static_cast<size_t>(d);
    Values x(type, static_cast<size_t>(g.nrows) * width), z(type, static_cast<size_t>(g.ncols) * width),
        dots(output, static_cast<size_t>(g.nvals));
    x.draw(1);
    z.draw(2);
    for (const Way &way : ways) {
        const Fields parameters = {{"graph", g.name},
                                   {"d", d},
                                   {"dtype", name_of(type)},
                                   {"output", name_of(output)},
                                   {"algorithm", "DEFAULT"},
                                   {"second", way.name},
                                   {"index", 32}};
        group.attempt(parameters, [&] {
            dots.fill(POISON);
            const Sddmm product(handle, g, x, z, dots, d, way.second);
            Case c;
            c.parameters = parameters;
            c.bytes = static_cast<double>(g.nvals) * d * static_cast<double>(bytes_of(type));
            c.operations = 2.0 * static_cast<double>(g.nvals) * d;
            c.launch = [&] { product.launch(); };
            c.check = [&] {
                return checked(sddmm_error(g, x, z, dots, d, check_stride(g.nvals), group.toy()),
                               bound_of(output));
            };
            c.facts = [&] { return product.facts(); };
            c.samples = 7;
            c.seconds = 0.2;
            taken += group.run(c);
        });
    }
    return taken > 0;
}

} // namespace

} // namespace facts::sparse

void facts::sparse_sddmm(Group &group)
{
    using namespace sparse;
    const Handle handle = make_handle();
    Graphs graphs(group.options());
    const auto block = [&](const std::string &name, int d, Type type, Type output) {
        bool worked = false;
        group.attempt({{"graph", name}, {"d", d}, {"dtype", name_of(type)}, {"output", name_of(output)}},
                      [&] { worked = measure(group, handle, graphs[name], d, type, output); });
        return worked;
    };
    const std::vector<int> widths =
        group.toy() ? std::vector<int>{32, 8} : std::vector<int>{128, 32, 512, 64, 256};
    const std::vector<std::string> names = graph_names();
    block(names[0], widths[0], Type::F32, Type::F32);
    const bool wide = block(names[0], widths[0], Type::F16, Type::F32);
    block(names[0], widths[0], Type::F16, Type::F16);
    block(names[0], widths[0], Type::BF16, Type::F32);
    block(names[0], widths[0], Type::BF16, Type::BF16);
    const Type of_half = wide ? Type::F32 : Type::F16;
    for (size_t w = 0; w < widths.size(); w++)
        for (size_t k = w == 0 ? 1 : 0; k < names.size(); k++) {
            block(names[k], widths[w], Type::F32, Type::F32);
            block(names[k], widths[w], Type::F16, of_half);
        }
}
