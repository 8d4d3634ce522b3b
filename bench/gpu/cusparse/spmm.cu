/* cuSPARSE's products Y = A X of a sparse matrix and a row-major block, at their best: descriptors and
 * workspace made once, preprocessed, 32-bit indices and offsets; all algorithms, single and half precision
 * storage with sums in single precision, d from 32 to 512. Edges have random values: cuSPARSE reads an array
 * of them in any case, so that ones would take as long. Read off: who wins where, what it reaches of the
 * gather rate (`bytes` are the gathered ones), and what preprocessing brings and costs (`preprocess`: false
 * is the same without). */
#include "products.cuh"

namespace facts::sparse
{

namespace
{

class Measurements
{
  public:
    explicit Measurements(Group &group_) : group(group_), handle(make_handle()), graphs(group_.options()) {}

    void block(const std::string &name, int d, Type type, bool both)
    {
        const Fields parameters = {{"graph", name}, {"d", d}, {"dtype", name_of(type)}};
        group.attempt(parameters, [&] {
            const DeviceGraph &g = graphs[name];
            Operands b(g, d, type);
            for (const auto &algorithm : spmm_algorithms)
                one(g, d, b, algorithm, true);
            for (const auto &algorithm : spmm_algorithms)
                if (both && algorithm.id != CUSPARSE_SPMM_CSR_ALG2)
                    one(g, d, b, algorithm, false);
        });
    }

  private:
    void one(const DeviceGraph &g, int d, Operands &b, const Algorithm<cusparseSpMMAlg_t> &algorithm,
             bool prepare)
    {
        const Fields parameters = {{"graph", g.name},
                                   {"d", d},
                                   {"dtype", name_of(b.x.type)},
                                   {"algorithm", algorithm.name},
                                   {"index", 32},
                                   {"preprocess", prepare}};
        double &taken = per_feature[g.name + algorithm.name + name_of(b.x.type)];
        if (5 * taken * d > group.left() / 4) { /* a case is at least five launches */
            group.record(parameters, {}, {{"outcome", "left out: too slow for the time that is left"}});
            return;
        }
        group.attempt(parameters, [&] {
            b.y.fill(POISON);
            const Spmm product(handle, g, b.values, b.x, b.y, d, algorithm.id, prepare);
            Case c;
            c.parameters = parameters;
            c.bytes = static_cast<double>(g.nvals) * d * static_cast<double>(bytes_of(b.x.type));
            c.operations = 2.0 * static_cast<double>(g.nvals) * d;
            c.launch = [&] { product.launch(); };
            c.check = [&] {
                return checked(spmm_error(g, b.values, b.x, b.y, d, group.toy()), bound_of(b.y.type));
            };
            c.facts = [&] { return product.facts(); };
            c.seconds = 0.3;
            taken = std::max(taken, group.run(c) / d);
        });
    }

    Group &group;
    Handle handle;
    Graphs graphs;
    std::map<std::string, double> per_feature;
};

} // namespace

} // namespace facts::sparse

void facts::sparse_spmm(Group &group)
{
    using namespace sparse;
    Measurements measure(group);
    const std::vector<int> widths =
        group.toy() ? std::vector<int>{32, 8} : std::vector<int>{128, 32, 512, 64, 256};
    for (const std::string &name : graph_names())
        for (const Type type : {Type::F32, Type::F16, Type::BF16})
            measure.block(name, widths[0], type, type == Type::F32);
    for (const Type type : {Type::F32, Type::F16, Type::BF16})
        for (size_t w = 1; w < widths.size(); w++)
            for (const std::string &name : graph_names())
                measure.block(name, widths[w], type, false);
}
