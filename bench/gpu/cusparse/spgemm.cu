/* cuSPARSE's products of sparse matrices, all algorithms and the reuse interface: time, memory asked for, and
 * where each fails. A A of arxiv-like; X'X of a growing number of movielens-20m's users up to all (1e10
 * products in 2.4e8 entries: many to one); products of rows of growing degree until the result passes 2^31
 * entries (few to one), there also with 64-bit indices.
 *
 * One line for each, with `outcome`: "done", or the call that failed with its status and what had been asked
 * for by then, or what is wrong with a result: some come back with success and without entries. `seconds` are
 * those of cuSPARSE's calls by the host's clock, without allocation; the reuse interface's `symbolic_seconds`
 * are those that new values would save. */
#include "spgemm.cuh"

#include <map>

namespace facts::sparse
{

namespace
{

const Method methods[] = {{"DEFAULT", CUSPARSE_SPGEMM_DEFAULT, 1, false, false},
                          {"ALG3 0.05", CUSPARSE_SPGEMM_ALG3, 0.05f, false, true},
                          {"ALG3 0.2", CUSPARSE_SPGEMM_ALG3, 0.2f, false, true},
                          {"ALG2", CUSPARSE_SPGEMM_ALG2, 1, false, true},
                          {"reuse", CUSPARSE_SPGEMM_DEFAULT, 1, true, false},
                          {"ALG1", CUSPARSE_SPGEMM_ALG1, 1, false, false},
                          {"ALG3 1", CUSPARSE_SPGEMM_ALG3, 1, false, true}};

/* Products that C = A B takes: for each entry of A the length of B's row. */
int64_t count_products(const Graph &a, const Graph &b)
{
    int64_t products = 0;
    for (const int k : a.colidx)
        products += b.rowptr[static_cast<size_t>(k) + 1] - b.rowptr[static_cast<size_t>(k)];
    return products;
}

const char *name_of(Width width)
{
    return width == Width::W32 ? "32" : width == Width::W64 ? "64" : "64-bit offsets, 32-bit columns";
}

class Measurements
{
  public:
    explicit Measurements(Group &group_) : group(group_), handle(make_handle()) {}

    void all(const std::string &name, const Graph &a, const Graph &b, const std::vector<Width> &widths)
    {
        const int64_t products = count_products(a, b);
        group.attempt({{"graph", name}, {"products", products}}, [&] {
            const Operand left(a, 1), right(b, 2);
            for (const Width width : widths)
                for (const Method &m : methods)
                    one(name, left, right, products, m, width);
        });
    }

  private:
    void one(const std::string &name, const Operand &a, const Operand &b, int64_t products,
             const Method &method, Width width)
    {
        const Fields parameters = {
            {"graph", name}, {"dtype", "fp32"}, {"algorithm", method.name}, {"index", name_of(width)}};
        group.attempt(parameters, [&] {
            const double expected = per_product[method.name] * static_cast<double>(products);
            Fields told = {{"products", products}};
            std::vector<double> samples;
            SpgemmFacts facts;
            std::string outcome = "done";
            if (expected > group.left()) {
                outcome = "left out: too slow for the time that is left";
            } else {
                try {
                    const Fields checks = sample(a, b, method, width, facts, samples);
                    told.insert(told.end(), checks.begin(), checks.end());
                    per_product[method.name] = samples[0] / static_cast<double>(products);
                } catch (const Failure &e) {
                    outcome = e.what();
                    (void)cudaGetLastError();
                    check(cudaDeviceSynchronize(), e.what()); /* after a fault the group ends */
                }
            }
            const Fields more = facts.fields();
            told.insert(told.end(), more.begin(), more.end());
            told.push_back({"outcome", outcome});
            group.record(parameters, samples, told);
        });
    }

    /* One product that is checked, and three more if they are quick; the first also loads code. */
    Fields sample(const Operand &a, const Operand &b, const Method &method, Width width, SpgemmFacts &facts,
                  std::vector<double> &samples)
    {
        SparseResult c;
        multiply(handle, a, b, method, width, c, facts);
        samples.push_back(facts.seconds);
        const Fields checks = check_product(a, b, c, group.toy());
        for (int k = 0; k < 3 && samples[0] < 0.7 && group.left() > 5; k++) {
            multiply(handle, a, b, method, width, c, facts);
            samples.push_back(facts.seconds);
        }
        if (samples.size() > 1)
            samples.erase(samples.begin());
        return checks;
    }

    Group &group;
    Handle handle;
    std::map<std::string, double> per_product;
};

/* The first of `all`'s rows. */
Graph first_rows(const Graph &all, int nrows)
{
    Graph g;
    g.nrows = nrows;
    g.ncols = all.ncols;
    g.rowptr.assign(all.rowptr.begin(), all.rowptr.begin() + nrows + 1);
    g.colidx.assign(all.colidx.begin(), all.colidx.begin() + g.rowptr.back());
    return g;
}

} // namespace

} // namespace facts::sparse

void facts::sparse_spgemm(Group &group)
{
    using namespace sparse;
    Measurements measure(group);
    const bool toy = group.toy();
    const auto narrow = std::vector<Width>{Width::W32};
    const auto even = [&](int degree, const std::vector<Width> &widths) {
        const std::string name = "even rows, degree " + std::to_string(degree);
        group.attempt({{"graph", name}}, [&] {
            const Graph g = make_rand(toy ? 200 : 100000, degree, degree, group.options().seed);
            measure.all(name, g, g, widths);
        });
    };
    Graph users;
    const auto together = [&](int part) {
        const std::string name = "movielens-20m X'X, 1/" + std::to_string(part) + " of the users";
        group.attempt({{"graph", name}}, [&] {
            if (users.nrows == 0)
                users = load_graph("movielens-20m", group.options());
            const Graph x = first_rows(users, users.nrows / part);
            measure.all(name, transposed(x), x, narrow);
        });
    };
    group.attempt({{"graph", "arxiv-like"}}, [&] {
        const Graph g = load_graph("arxiv-like", group.options());
        measure.all(g.name, g, g, narrow);
    });
    together(64);
    together(16);
    together(1);
    /* 1e10 places: results of 4e8, 2.06e9 and 2.26e9 entries, on both sides of 2^31 = 2.15e9 */
    even(toy ? 5 : 64, narrow);
    even(toy ? 9 : 152, narrow);
    even(toy ? 12 : 160, {Width::W32, Width::W64_OFFSETS, Width::W64});
    together(4);
}
