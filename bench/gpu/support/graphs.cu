/* The generators of docs/generators.md, written once more for a program that has nothing but a C++ compiler;
 * scripts/check.sh gpu holds them to the same entries as `featblas gen`. */
#include "graphs.cuh"
#include "philox.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <thread>

namespace facts
{

namespace
{

enum Stream : uint32_t { COLUMNS = 1, EDGES = 3, PERMUTE = 16 };

Draw draw(uint64_t seed, int64_t item, uint32_t number, uint32_t stream)
{
    return philox(seed, static_cast<uint32_t>(item), static_cast<uint32_t>(item >> 32), number, stream);
}

uint64_t word64(const Draw &d, int half)
{
    return uint64_t{d.word[2 * half]} | uint64_t{d.word[2 * half + 1]} << 32;
}

int64_t below(uint64_t x, uint64_t limit)
{
    return static_cast<int64_t>((static_cast<unsigned __int128>(x) * limit) >> 64);
}

/* Ranges of 0 .. n - 1, dealt to all cores; `piece` vertices at a time. */
template <class Work> void in_parallel(int64_t n, int64_t piece, Work work)
{
    std::vector<std::thread> threads;
    int64_t next = 0;
    const auto run = [&] {
        for (;;) {
            const int64_t from = __atomic_fetch_add(&next, piece, __ATOMIC_RELAXED);
            if (from >= n)
                return;
            work(from, std::min(from + piece, n));
        }
    };
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    for (unsigned t = 1; t < cores; t++)
        threads.emplace_back(run);
    run();
    for (std::thread &t : threads)
        t.join();
}

std::vector<int> permutation(int64_t count, uint64_t seed, uint32_t stream)
{
    std::vector<int> p(static_cast<size_t>(count));
    std::iota(p.begin(), p.end(), 0);
    for (int64_t k = count - 1; k > 0; k--)
        std::swap(
            p[static_cast<size_t>(k)],
            p[static_cast<size_t>(below(word64(draw(seed, k, 0, stream), 0), static_cast<uint64_t>(k) + 1))]);
    return p;
}

/* Draws in proportion to integer weights: the inverse of their running sum. */
struct Weighted {
    explicit Weighted(const std::vector<uint64_t> &weights) : sum(weights.size() + 1)
    {
        std::partial_sum(weights.begin(), weights.end(), sum.begin() + 1);
    }
    int64_t operator()(uint64_t x) const
    {
        const uint64_t at = static_cast<uint64_t>(below(x, sum.back()));
        return std::upper_bound(sum.begin(), sum.end(), at) - sum.begin() - 1;
    }
    std::vector<uint64_t> sum;
};

/* The logarithm and power of the generators, from correctly rounded operations alone. */
double logarithm(double x)
{
    int e;
    double m = std::frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    const double z = (m - 1) / (m + 1), z2 = z * z;
    double sum = 0;
    for (int n = 21; n >= 1; n -= 2)
        sum = sum * z2 + 1.0 / n;
    return 2 * z * sum + e * 0.69314718055994531;
}

double power(double x, double y)
{
    const double t = y * logarithm(x), n = std::floor(t / 0.69314718055994531 + 0.5),
                 r = t - n * 0.69314718055994531;
    double sum = 1;
    for (int k = 14; k >= 1; k--)
        sum = 1 + sum * r / k;
    return std::ldexp(sum, static_cast<int>(n));
}

/* Sorts the rows [start[i], start[i + 1]) and merges equal columns. */
Graph compacted(int64_t n, const std::vector<int64_t> &start, std::vector<int> columns)
{
    Graph g;
    g.nrows = g.ncols = static_cast<int>(n);
    g.rowptr.assign(static_cast<size_t>(n) + 1, 0);
    in_parallel(n, 256, [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; i++) {
            const auto first = columns.begin() + start[static_cast<size_t>(i)];
            const auto last = columns.begin() + start[static_cast<size_t>(i) + 1];
            std::sort(first, last);
            g.rowptr[static_cast<size_t>(i) + 1] = static_cast<int>(std::unique(first, last) - first);
        }
    });
    std::partial_sum(g.rowptr.begin(), g.rowptr.end(), g.rowptr.begin());
    g.colidx.resize(static_cast<size_t>(g.rowptr.back()));
    in_parallel(n, 256, [&](int64_t from, int64_t to) {
        for (size_t i = static_cast<size_t>(from); i < static_cast<size_t>(to); i++)
            std::copy_n(columns.begin() + start[i], g.rowptr[i + 1] - g.rowptr[i],
                        g.colidx.begin() + g.rowptr[i]);
    });
    return g;
}

} // namespace

Graph make_chung_lu(int64_t nvertices, int64_t edges, bool symmetric, uint64_t seed)
{
    std::vector<uint64_t> weights(static_cast<size_t>(nvertices));
    for (size_t r = 0; r < weights.size(); r++)
        weights[r] = 1 + static_cast<uint64_t>(0x1p32 * power(static_cast<double>(r + 1), -0.5));
    const Weighted weighted(weights);
    const std::vector<int> name = permutation(nvertices, seed, PERMUTE);
    std::vector<int64_t> start(static_cast<size_t>(nvertices) + 2, 0);
    const auto each = [&](auto &&use) {
        in_parallel(edges, 4096, [&](int64_t from, int64_t to) {
            for (int64_t t = from; t < to; t++) {
                const Draw d = draw(seed, t, 0, EDGES);
                const int64_t i = weighted(word64(d, 0)), j = weighted(word64(d, 1));
                if (i == j)
                    continue;
                use(name[static_cast<size_t>(i)], name[static_cast<size_t>(j)]);
                if (symmetric)
                    use(name[static_cast<size_t>(j)], name[static_cast<size_t>(i)]);
            }
        });
    };
    /* Counts land two places to the right, so that after storing start[i] is where row i begins. */
    each([&](int i, int) { __atomic_fetch_add(&start[static_cast<size_t>(i) + 2], 1, __ATOMIC_RELAXED); });
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<int> columns(static_cast<size_t>(start.back()));
    each([&](int i, int j) {
        columns[static_cast<size_t>(
            __atomic_fetch_add(&start[static_cast<size_t>(i) + 1], 1, __ATOMIC_RELAXED))] = j;
    });
    return compacted(nvertices, start, std::move(columns));
}

namespace
{

/* A row's columns: drawn until `degree` distinct ones are found, after 8 draws each uniformly. */
void draw_row(int64_t i, int degree, int ncols, const Weighted *popularity, const std::vector<int> &name,
              uint64_t seed, std::vector<uint64_t> &seen, int *columns)
{
    int found = 0;
    for (uint32_t number = 0; found < degree; number++) {
        const Draw d = draw(seed, i, number, COLUMNS);
        for (int half = 0; half < 2 && found < degree; half++) {
            const uint64_t x = word64(d, half);
            const bool popular = popularity && number < 8u * static_cast<uint32_t>(degree) + 8;
            size_t j =
                static_cast<size_t>(popular ? (*popularity)(x) : below(x, static_cast<uint64_t>(ncols)));
            if (!name.empty())
                j = static_cast<size_t>(name[j]);
            if (seen[j >> 6] >> (j & 63) & 1)
                continue;
            seen[j >> 6] |= uint64_t{1} << (j & 63);
            columns[found++] = static_cast<int>(j);
        }
    }
    for (int k = 0; k < degree; k++)
        seen[static_cast<size_t>(columns[k]) >> 6] = 0;
    std::sort(columns, columns + degree);
}

Graph make_rows(int ncols, const std::vector<int> &degree, const Weighted *popularity,
                const std::vector<int> &name, uint64_t seed)
{
    Graph g;
    g.nrows = static_cast<int>(degree.size());
    g.ncols = ncols;
    g.rowptr.assign(degree.size() + 1, 0);
    std::partial_sum(degree.begin(), degree.end(), g.rowptr.begin() + 1);
    g.colidx.resize(static_cast<size_t>(g.rowptr.back()));
    in_parallel(g.nrows, 256, [&](int64_t from, int64_t to) {
        std::vector<uint64_t> seen(static_cast<size_t>(ncols) / 64 + 1, 0);
        for (int64_t i = from; i < to; i++)
            draw_row(i, degree[static_cast<size_t>(i)], ncols, popularity, name, seed, seen,
                     g.colidx.data() + g.rowptr[static_cast<size_t>(i)]);
    });
    return g;
}

/* The activity of a row at quantile v, in scales (docs/generators.md, bipartite). */
double excess(double v)
{
    const double flat = 1.0 / 1024;
    return 1 / std::sqrt(v + flat) - 1 / std::sqrt(1 + flat);
}

int64_t degree_at(int64_t rank, int nrows, int ncols, int min_degree, int64_t scale)
{
    const double v = (static_cast<double>(rank) + 0.5) / nrows;
    const double d = min_degree + static_cast<double>(scale) * 0x1p-16 * excess(v);
    return d < ncols ? static_cast<int64_t>(d) : ncols;
}

std::vector<int> skewed_degrees(int nrows, int ncols, int64_t nvals, int min_degree, uint64_t seed)
{
    const std::vector<int> row_of_rank = permutation(nrows, seed, PERMUTE);
    const auto sum = [&](int64_t scale) {
        int64_t all = 0;
        for (int64_t rank = 0; rank < nrows; rank++)
            all += degree_at(rank, nrows, ncols, min_degree, scale);
        return all;
    };
    int64_t low = 0, high = int64_t{1} << 48;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        (sum(middle) <= nvals ? low : high) = middle;
    }
    std::vector<int> degree(static_cast<size_t>(nrows));
    for (int64_t rank = 0; rank < nrows; rank++)
        degree[static_cast<size_t>(row_of_rank[static_cast<size_t>(rank)])] =
            static_cast<int>(degree_at(rank, nrows, ncols, min_degree, low));
    for (int64_t missing = nvals - sum(low); missing > 0;)
        for (int64_t rank = 0; rank < nrows && missing > 0; rank++) {
            int &d = degree[static_cast<size_t>(row_of_rank[static_cast<size_t>(rank)])];
            missing -= d < ncols;
            d += d < ncols;
        }
    return degree;
}

} // namespace

Graph make_rand(int nvertices, int every_fifth, int others, uint64_t seed)
{
    std::vector<int> degree(static_cast<size_t>(nvertices), others);
    for (size_t i = 0; i < degree.size(); i += 5)
        degree[i] = every_fifth;
    return make_rows(nvertices, degree, nullptr, {}, seed);
}

Graph make_movielens(int nrows, int ncols, int64_t nvals, int min_degree, uint64_t seed)
{
    const std::vector<int> degree = skewed_degrees(nrows, ncols, nvals, min_degree, seed);
    std::vector<uint64_t> weights(static_cast<size_t>(ncols));
    for (size_t r = 0; r < weights.size(); r++) {
        const double x = (static_cast<double>(r) + 0.5) / ncols, rest = 1 - x;
        weights[r] = 1 + static_cast<uint64_t>(0x1p28 * rest * rest * rest / (x + 0.001));
    }
    const Weighted popularity(weights);
    return make_rows(ncols, degree, &popularity, permutation(ncols, seed, PERMUTE + 1), seed);
}

Graph transposed(const Graph &g)
{
    Graph t;
    t.name = g.name + "'";
    t.nrows = g.ncols;
    t.ncols = g.nrows;
    t.rowptr.assign(static_cast<size_t>(g.ncols) + 2, 0);
    t.colidx.resize(g.colidx.size());
    for (const int j : g.colidx)
        t.rowptr[static_cast<size_t>(j) + 2]++;
    std::partial_sum(t.rowptr.begin(), t.rowptr.end(), t.rowptr.begin());
    for (int i = 0; i < g.nrows; i++)
        for (int e = g.rowptr[static_cast<size_t>(i)]; e < g.rowptr[static_cast<size_t>(i) + 1]; e++)
            t.colidx[static_cast<size_t>(
                t.rowptr[static_cast<size_t>(g.colidx[static_cast<size_t>(e)]) + 1]++)] = i;
    t.rowptr.pop_back();
    return t;
}

std::vector<std::string> graph_names()
{
    return {"rand-100k", "reddit-like", "products-like", "arxiv-like", "proteins-like"};
}

namespace
{

struct Kind {
    const char *name;
    int64_t nvertices, edges;
    bool symmetric;
};
const Kind like[] = {{"reddit-like", 233000, 57400000, true},
                     {"proteins-like", 132500, 39550000, true},
                     {"products-like", 2400000, 61850000, true},
                     {"arxiv-like", 169343, 1170000, false}};

Graph make_graph(const std::string &name, bool toy, uint64_t seed)
{
    if (name == "rand-100k")
        return toy ? make_rand(90, 40, 6, seed) : make_rand(100000, 2000, 100, seed);
    if (name == "movielens-20m")
        return toy ? make_movielens(300, 90, 4000, 3, seed)
                   : make_movielens(138493, 26744, 20000000, 20, seed);
    for (const Kind &k : like) {
        if (name != k.name)
            continue;
        const int64_t n = toy ? 150 : k.nvertices;
        const int64_t degree = std::min<int64_t>(k.edges / k.nvertices, 40); /* of a toy: at most 40 */
        return make_chung_lu(n, toy ? n * degree : k.edges, k.symmetric, seed);
    }
    throw Failure("unknown graph " + name);
}

struct Closer {
    void operator()(std::FILE *f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, Closer>;

/* A kept graph: rows, columns and entries as 64-bit integers, then row pointers and columns of 32 bits. */
bool read_kept(Graph &g, const std::string &path)
{
    const File f(std::fopen(path.c_str(), "rb"));
    int64_t head[3];
    if (!f || std::fread(head, sizeof head, 1, f.get()) != 1)
        return false;
    g.nrows = static_cast<int>(head[0]);
    g.ncols = static_cast<int>(head[1]);
    g.rowptr.resize(static_cast<size_t>(head[0]) + 1);
    g.colidx.resize(static_cast<size_t>(head[2]));
    return std::fread(g.rowptr.data(), sizeof(int), g.rowptr.size(), f.get()) == g.rowptr.size() &&
           std::fread(g.colidx.data(), sizeof(int), g.colidx.size(), f.get()) == g.colidx.size();
}

void keep(const Graph &g, const std::string &path)
{
    const int64_t head[3] = {g.nrows, g.ncols, g.nvals()};
    const std::string temporary = path + ".part";
    File f(std::fopen(temporary.c_str(), "wb"));
    const bool wrote =
        f && std::fwrite(head, sizeof head, 1, f.get()) == 1 &&
        std::fwrite(g.rowptr.data(), sizeof(int), g.rowptr.size(), f.get()) == g.rowptr.size() &&
        std::fwrite(g.colidx.data(), sizeof(int), g.colidx.size(), f.get()) == g.colidx.size();
    if (!wrote || std::fclose(f.release()) != 0 || std::rename(temporary.c_str(), path.c_str()) != 0)
        throw Failure("cannot write " + path);
}

} // namespace

Graph load_graph(const std::string &name, const Options &options)
{
    const std::string path = options.graphs + "/" + name + "-" + std::to_string(options.seed) +
                             (options.toy ? "-toy" : "") + ".graph";
    Graph g;
    if (options.graphs.empty() || !read_kept(g, path)) {
        g = make_graph(name, options.toy, options.seed);
        if (!options.graphs.empty())
            keep(g, path);
    }
    g.name = name;
    return g;
}

} // namespace facts
