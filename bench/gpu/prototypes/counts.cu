/* Co-occurrence counts of movielens-20m, A'A: products per second (operations / seconds) with dense
 * accumulators in shared memory, with bitmaps for pairs of popular items, and with both, by threshold
 * (`items`: those below it are bitmaps). The triangle above the diagonal, 5.3e9 products; `dense, full` does
 * all 10.7e9. Results are read out as statistics, or stored compactly (`dense, stored`).
 *
 * Items are numbered by falling popularity, lists transposed and segments made on the host, which is not
 * timed; bitmaps are made in the timed part of `mix`, and alone as `bitmaps`. `bytes` are 8 for a product, a
 * word of shared memory read and written: over the rate of `shared`, the share of that limit; for bitmaps
 * `word_operations` (an AND and a population count of a pair's 32 users) are the measure instead.
 *
 * All is compared with a plain kernel, whose totals are known; and that with a host loop at toy size. */
#include "../support/facts.cuh"
#include "../support/graphs.cuh"
#include "counts_bits.cuh"
#include "counts_dense.cuh"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

namespace facts
{
using namespace counts;

namespace
{

/* Of movielens-20m with seed 1 (docs/generators.md): entries, products and entries of the result, all and off
 * the diagonal. */
constexpr int64_t KNOWN_ENTRIES = 20000000, KNOWN_PRODUCTS = 10669189738, KNOWN_COUNTS = 239628667,
                  KNOWN_OFF_DIAGONAL = 239605748;

/* The lists on the host, items numbered by falling popularity. */
struct Problem {
    explicit Problem(const Graph &g);
    std::vector<int2> segments(bool triangle, int first_column) const;
    int users, items;
    std::vector<int> rowptr, itemptr, degree;
    std::vector<uint16_t> ids; /* of each user, ascending; some more at the end for wide loads */
    std::vector<int> slot;     /* of each entry: where it is in its item's list */
};

Problem::Problem(const Graph &g) : users(g.nrows), items(g.ncols), rowptr(g.rowptr)
{
    if (items > 65536)
        throw Failure("more items than 16 bits number");
    std::vector<int> popular(static_cast<size_t>(items)), number(popular.size()), users_of(popular.size(), 0);
    for (const int j : g.colidx)
        users_of[static_cast<size_t>(j)]++;
    std::iota(popular.begin(), popular.end(), 0);
    std::stable_sort(popular.begin(), popular.end(), [&](int a, int b) {
        return users_of[static_cast<size_t>(a)] > users_of[static_cast<size_t>(b)];
    });
    itemptr.assign(popular.size() + 1, 0);
    for (size_t k = 0; k < popular.size(); k++) {
        number[static_cast<size_t>(popular[k])] = static_cast<int>(k);
        degree.push_back(users_of[static_cast<size_t>(popular[k])]);
        itemptr[k + 1] = itemptr[k] + degree[k];
    }
    ids.assign(g.colidx.size() + 16, 0);
    slot.resize(g.colidx.size());
    std::vector<int> next(itemptr.begin(), itemptr.end() - 1);
    for (int u = 0; u < users; u++) {
        const int from = rowptr[static_cast<size_t>(u)], to = rowptr[static_cast<size_t>(u) + 1];
        for (int p = from; p < to; p++)
            ids[static_cast<size_t>(p)] =
                static_cast<uint16_t>(number[static_cast<size_t>(g.colidx[static_cast<size_t>(p)])]);
        std::sort(ids.begin() + from, ids.begin() + to);
        for (int p = from; p < to; p++)
            slot[static_cast<size_t>(p)] = next[ids[static_cast<size_t>(p)]]++;
    }
}

/* For each entry of each item's list, the part of the user's list that the item's row has to count. */
std::vector<int2> Problem::segments(bool triangle, int first_column) const
{
    std::vector<int2> result(slot.size());
    for (int u = 0; u < users; u++) {
        const int from = rowptr[static_cast<size_t>(u)], to = rowptr[static_cast<size_t>(u) + 1];
        const int split = static_cast<int>(
            std::lower_bound(ids.begin() + from, ids.begin() + to, first_column) - ids.begin());
        for (int p = from; p < to; p++)
            result[static_cast<size_t>(slot[static_cast<size_t>(p)])] = {
                triangle ? std::max(p + 1, split) : from, to};
    }
    return result;
}

Statistics total(const std::vector<Statistics> &parts, size_t count)
{
    Statistics all = {};
    for (size_t k = 0; k < count; k++) {
        all.sum += parts[k].sum;
        all.placed += parts[k].placed;
        all.pairs += parts[k].pairs;
        all.largest = std::max(all.largest, parts[k].largest);
    }
    return all;
}

Statistics joined(const Statistics &a, const Statistics &b) { return total({a, b}, 2); }

void expect(const Statistics &got, const Statistics &expected)
{
    const auto text = [](const Statistics &s) {
        return std::to_string(s.pairs) + " pairs, sum " + std::to_string(s.sum) + ", largest " +
               std::to_string(s.largest) + ", placed " + std::to_string(s.placed);
    };
    if (got.pairs != expected.pairs || got.sum != expected.sum || got.largest != expected.largest ||
        got.placed != expected.placed)
        throw Failure("counts are " + text(got) + " instead of " + text(expected));
}

/* What is swept. */
struct Choice {
    int width = 16, ids = 4, lanes = 32, block = EMULATED ? 64 : 512; /* of dense rows */
    int items = 0;                                                    /* that are bitmaps */
    int tile = EMULATED ? 32 : 64, words = 3;                         /* of bitmaps */
};

using DenseKernel = void (*)(Lists, int, int, Statistics *);
using StoreKernel = void (*)(Lists, int, int, Stored);
using PairKernel = void (*)(const unsigned *, int, int, const int2 *, Statistics *);

template <int WIDTH> DenseKernel dense_kernel(int ids)
{
    return ids == 2 ? &dense_rows<WIDTH, 2> : ids == 4 ? &dense_rows<WIDTH, 4> : &dense_rows<WIDTH, 8>;
}

DenseKernel dense_kernel(int width, int ids)
{
    return width == 8 ? dense_kernel<8>(ids) : width == 16 ? dense_kernel<16>(ids) : dense_kernel<32>(ids);
}

/* A kernel's shared memory, with as much of a multiprocessor's as there is, so that several rows fit side by
 * side. */
template <class Kernel> void allow_rows(Kernel *kernel, size_t shared)
{
    allow_shared(kernel, shared);
#if !EMULATED
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared),
          "share of shared memory");
#endif
}

PairKernel pair_kernel(int tile, int words)
{
    if (tile == 32)
        return words == 1 ? &count_pairs<32, 1> : &count_pairs<32, 3>;
    return words == 1 ? &count_pairs<64, 1> : &count_pairs<64, 3>;
}

class Bench
{
  public:
    Bench(Group &group_, const Graph &g);
    void run_dense(const Choice &c);
    void run_full(const Choice &c);
    void run_stored(const Choice &c);
    void run_pairs(const Choice &c);
    void run_bitmaps(const Choice &c);
    void run_mix(const Choice &c);

  private:
    Fields parameters(const char *variant, const Choice &c, bool dense, bool bits) const;
    void attempt(const char *variant, const Choice &c, bool dense, bool bits,
                 const std::function<void()> &work);
    void check_plain(const Graph &g);
    Lists lists(const Buffer<int2> &segments, bool triangle, int first_column) const;
    Statistics truth(int items);
    void launch_dense(const Choice &c, const Lists &l);
    Statistics dense_total() const { return total(rows.download(), static_cast<size_t>(problem.items)); }
    struct Bitmaps {
        Buffer<unsigned> words;
        Buffer<int2> tiles;
        Buffer<Statistics> found;
    };
    Bitmaps bitmaps(const Choice &c) const;
    void launch_bitmaps(const Choice &c, const Bitmaps &b);
    void launch_pairs(const Choice &c, const Bitmaps &b);

    Group &group;
    Problem problem;
    Buffer<uint16_t> ids;
    Buffer<int> rowptr, itemptr;
    Buffer<int2> triangle;
    Buffer<Statistics> rows;
    Buffer<unsigned> matrix; /* the plain kernel's counts */
    Statistics all = {};     /* of the triangle */
    int user_words;          /* of a bitmap */
};

Bench::Bench(Group &group_, const Graph &g)
    : group(group_), problem(g), ids(problem.ids), rowptr(problem.rowptr), itemptr(problem.itemptr),
      triangle(problem.segments(true, 0)), rows(static_cast<size_t>(problem.items)),
      matrix(static_cast<size_t>(problem.items) * static_cast<size_t>(problem.items)),
      user_words(divide_up(divide_up(problem.users, WARP), STAGE_WORDS) * STAGE_WORDS)
{
    matrix.zero();
    LAUNCH(plain_products, problem.items, EMULATED ? 64 : 256, 0, lists(triangle, true, 0), matrix.data());
    synchronize();
    all = truth(problem.items);
    check_plain(g);
}

/* The plain kernel's totals are the known ones, or, at toy size, each of its counts a host loop's. */
void Bench::check_plain(const Graph &g)
{
    if (!group.toy()) {
        if (group.options().seed == 1 &&
            (g.nvals() != KNOWN_ENTRIES || all.pairs != KNOWN_OFF_DIAGONAL / 2 ||
             static_cast<int64_t>(all.sum) != (KNOWN_PRODUCTS - KNOWN_ENTRIES) / 2))
            throw Failure("the plain kernel's totals are not the known ones");
        return;
    }
    const size_t n = static_cast<size_t>(problem.items);
    std::vector<unsigned> expected(n * n, 0);
    for (int u = 0; u < g.nrows; u++)
        for (int p = g.rowptr[static_cast<size_t>(u)]; p < g.rowptr[static_cast<size_t>(u) + 1]; p++)
            for (int q = g.rowptr[static_cast<size_t>(u)]; q < g.rowptr[static_cast<size_t>(u) + 1]; q++)
                expected[static_cast<size_t>(g.colidx[static_cast<size_t>(p)]) * n +
                         static_cast<size_t>(g.colidx[static_cast<size_t>(q)])]++;
    std::vector<unsigned> users_of(n), popular(n), got = matrix.download();
    for (size_t j = 0; j < n; j++)
        users_of[j] = expected[j * n + j];
    std::iota(popular.begin(), popular.end(), 0u);
    std::stable_sort(popular.begin(), popular.end(),
                     [&](unsigned a, unsigned b) { return users_of[a] > users_of[b]; });
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (got[i * n + j] != (j > i ? expected[popular[i] * n + popular[j]] : 0))
                throw Failure("the plain kernel's counts are not the host's");
}

/* Statistics of the pairs of items below `items`, from the plain counts. */
Statistics Bench::truth(int items)
{
    LAUNCH(plain_statistics, items, EMULATED ? 64 : 256, 0, matrix.data(), problem.items, items, rows.data());
    synchronize();
    return total(rows.download(), static_cast<size_t>(items));
}

Lists Bench::lists(const Buffer<int2> &segments, bool triangle_, int first_column) const
{
    return {problem.items, ids.data(), itemptr.data(), segments.data(), triangle_, first_column};
}

Fields Bench::parameters(const char *variant, const Choice &c, bool dense, bool bits) const
{
    Fields fields = {{"graph", "movielens-20m"}, {"variant", variant}};
    if (bits)
        fields.insert(fields.end(), {{"items", c.items}, {"tile", c.tile}, {"words", c.words}});
    if (dense)
        fields.insert(fields.end(),
                      {{"width", c.width}, {"ids", c.ids}, {"lanes", c.lanes}, {"block", c.block}});
    return fields;
}

void Bench::attempt(const char *variant, const Choice &c, bool dense, bool bits,
                    const std::function<void()> &work)
{
    group.attempt(parameters(variant, c, dense, bits), work);
}

/* All rows: with 8 bits only those whose items have no more than 255 users, the others with 16. */
void Bench::launch_dense(const Choice &c, const Lists &l)
{
    const int narrow = static_cast<int>(
        std::lower_bound(problem.degree.begin(), problem.degree.end(), 255, std::greater<int>()) -
        problem.degree.begin());
    const int from[2] = {0, c.width == 8 ? narrow : problem.items}, to[2] = {from[1], problem.items};
    for (int part = 0; part < 2; part++) {
        if (from[part] == to[part])
            continue;
        const int width = c.width == 8 && part == 0 ? 16 : c.width,
                  columns = problem.items - l.begin(from[part]);
        const size_t shared = static_cast<size_t>(divide_up(columns, 32 / width)) * sizeof(unsigned);
        const DenseKernel kernel = dense_kernel(width, c.ids);
        allow_rows(kernel, shared);
        LAUNCH(kernel, to[part] - from[part], c.block, shared, l, from[part], c.lanes, rows.data());
    }
}

/* A plain guard before anything is launched. */
void require_fit(const Choice &c, const Statistics &all, int columns)
{
    if (c.width < 32 && all.largest > 65535)
        throw Failure("a count is beyond 16 bits");
    /* Beside the accumulators, a row's read-out has up to a kilobyte. */
    const int width = std::max(c.width, 16);
    if (static_cast<size_t>(columns) * static_cast<size_t>(width == 32 ? 4 : 2) + 2048 > shared_per_block())
        throw Failure("a row of accumulators does not fit into shared memory");
}

void Bench::run_dense(const Choice &c)
{
    attempt("dense", c, true, false, [&] {
        require_fit(c, all, problem.items);
        Case result;
        result.parameters = parameters("dense", c, true, false);
        result.operations = static_cast<double>(all.sum);
        result.bytes = 8 * result.operations;
        check(cudaMemset(rows.data(), 0xff, rows.bytes()), "poison");
        result.launch = [&] { launch_dense(c, lists(triangle, true, 0)); };
        result.check = [&] {
            expect(dense_total(), all);
            return Fields{{"error", 0.0}};
        };
        result.facts = [&] {
            const size_t row = static_cast<size_t>(divide_up(problem.items, 32 / c.width)) * sizeof(unsigned);
            return Fields{{"blocks", resident_blocks(dense_kernel(c.width, c.ids), c.block, row)}};
        };
        group.run(result);
    });
}

/* Both triangles and the diagonal. */
void Bench::run_full(const Choice &c)
{
    attempt("dense, full", c, true, false, [&] {
        require_fit(c, all, problem.items);
        /* The diagonal's counts are the items' users. */
        if (c.width < 32 && problem.degree[0] > 65535)
            throw Failure("the diagonal is beyond 16 bits");
        Statistics expected = joined(all, all);
        for (int i = 0; i < problem.items; i++)
            add_count(expected, i, i, static_cast<unsigned>(problem.degree[static_cast<size_t>(i)]));
        if (!group.toy() && group.options().seed == 1 &&
            (expected.pairs != KNOWN_COUNTS || static_cast<int64_t>(expected.sum) != KNOWN_PRODUCTS))
            throw Failure("the full result's totals are not the known ones");
        const Buffer<int2> whole(problem.segments(false, 0));
        Case result;
        result.parameters = parameters("dense, full", c, true, false);
        result.operations = static_cast<double>(expected.sum);
        result.bytes = 8 * result.operations;
        check(cudaMemset(rows.data(), 0xff, rows.bytes()), "poison");
        result.launch = [&] { launch_dense(c, lists(whole, false, 0)); };
        result.check = [&] {
            expect(dense_total(), expected);
            return Fields{{"error", 0.0}};
        };
        group.run(result);
    });
}

void Bench::run_stored(const Choice &c)
{
    attempt("dense, stored", c, true, false, [&] {
        require_fit(c, all, problem.items);
        const size_t n = static_cast<size_t>(problem.items), pairs = static_cast<size_t>(all.pairs);
        Buffer<unsigned long long> cursor(1), wrong(1);
        const Buffer<unsigned long long> starts(n);
        const Buffer<int> row_counts(n);
        const Buffer<uint16_t> columns(pairs);
        const Buffer<unsigned> values(pairs);
        const Stored out = {cursor.data(),     starts.data(),  pairs,
                            row_counts.data(), columns.data(), values.data()};
        const StoreKernel kernel = c.width == 32 ? &dense_rows_stored<32, 4> : &dense_rows_stored<16, 4>;
        const size_t shared = static_cast<size_t>(divide_up(problem.items, 32 / c.width)) * sizeof(unsigned);
        allow_rows(kernel, shared);
        Case result;
        result.parameters = parameters("dense, stored", c, true, false);
        result.operations = static_cast<double>(all.sum);
        result.bytes = 8 * result.operations;
        result.launch = [&] {
            cursor.zero();
            LAUNCH(kernel, problem.items, c.block, shared, lists(triangle, true, 0), 0, c.lanes, out);
        };
        result.check = [&] {
            wrong.zero();
            LAUNCH(compare_stored, problem.items, EMULATED ? 64 : 256, 0, matrix.data(), problem.items, out,
                   wrong.data());
            synchronize();
            const std::vector<int> found = row_counts.download();
            const int64_t stored = std::accumulate(found.begin(), found.end(), int64_t{0});
            if (wrong.download()[0] != 0 || stored != all.pairs || cursor.download()[0] != pairs)
                throw Failure(std::to_string(wrong.download()[0]) + " entries of " + std::to_string(stored) +
                              " that were stored are wrong");
            return Fields{{"error", 0.0}};
        };
        result.facts = [&] { return Fields{{"stored_bytes", columns.bytes() + values.bytes()}}; };
        group.run(result);
    });
}

Bench::Bitmaps Bench::bitmaps(const Choice &c) const
{
    if (c.items % c.tile != 0 || c.items > problem.items)
        throw Failure("items of bitmaps are no multiple of the tile, or too many");
    if (static_cast<size_t>(c.items) * sizeof(unsigned) > shared_per_block())
        throw Failure("the words of 32 users do not fit into shared memory");
    std::vector<int2> tiles;
    for (int i = 0; i < c.items / c.tile; i++)
        for (int j = i; j < c.items / c.tile; j++)
            tiles.push_back({i, j});
    Bitmaps b = {Buffer<unsigned>(static_cast<size_t>(user_words) * static_cast<size_t>(c.items)),
                 Buffer<int2>(tiles), Buffer<Statistics>(tiles.size())};
    return b;
}

void Bench::launch_bitmaps(const Choice &c, const Bitmaps &b)
{
    const size_t shared = static_cast<size_t>(c.items) * sizeof(unsigned);
    allow_shared(make_bitmaps, shared);
    LAUNCH(make_bitmaps, user_words, EMULATED ? 64 : BITMAP_BLOCK, shared, rowptr.data(), ids.data(),
           problem.users, c.items, b.words.data());
}

void Bench::launch_pairs(const Choice &c, const Bitmaps &b)
{
    const PairKernel kernel = pair_kernel(c.tile, c.words);
    LAUNCH(kernel, static_cast<int>(b.tiles.size()), PAIR_BLOCK, 0, b.words.data(), user_words, c.items,
           b.tiles.data(), b.found.data());
}

void Bench::run_pairs(const Choice &c)
{
    attempt("bitmaps, pairs", c, false, true, [&] {
        const Bitmaps b = bitmaps(c);
        launch_bitmaps(c, b);
        const Statistics expected = truth(c.items);
        Case result;
        result.parameters = parameters("bitmaps, pairs", c, false, true);
        result.operations = static_cast<double>(expected.sum);
        result.launch = [&] { launch_pairs(c, b); };
        result.check = [&] {
            expect(total(b.found.download(), b.found.size()), expected);
            return Fields{{"error", 0.0}};
        };
        result.facts = [&] {
            return Fields{
                {"word_operations", 0.5 * c.items * (c.items - 1) * divide_up(problem.users, WARP)}};
        };
        group.run(result);
    });
}

/* Making the bitmaps alone; that they are right shows in what is counted from them. */
void Bench::run_bitmaps(const Choice &c)
{
    attempt("bitmaps", c, false, true, [&] {
        const Bitmaps b = bitmaps(c);
        const Statistics expected = truth(c.items);
        Case result;
        result.parameters = parameters("bitmaps", c, false, true);
        result.launch = [&] { launch_bitmaps(c, b); };
        result.bytes = static_cast<double>(b.words.bytes());
        result.check = [&] {
            launch_pairs(c, b);
            synchronize();
            expect(total(b.found.download(), b.found.size()), expected);
            return Fields{{"error", 0.0}};
        };
        group.run(result);
    });
}

void Bench::run_mix(const Choice &c)
{
    attempt("mix", c, true, true, [&] {
        require_fit(c, all, problem.items - c.items);
        const Bitmaps b = bitmaps(c);
        const Statistics popular = truth(c.items);
        const Buffer<int2> rest(problem.segments(true, c.items));
        const Lists l = lists(rest, true, c.items);
        check(cudaMemset(rows.data(), 0xff, rows.bytes()), "poison");
        Case result;
        result.parameters = parameters("mix", c, true, true);
        result.operations = static_cast<double>(all.sum);
        result.launch = [&] {
            launch_bitmaps(c, b);
            launch_pairs(c, b);
            launch_dense(c, l);
        };
        result.check = [&] {
            expect(joined(total(b.found.download(), b.found.size()), dense_total()), all);
            return Fields{{"error", 0.0}};
        };
        /* What the two parts have to do, and the dense one alone; a part's own time is the difference to the
         * whole. */
        const auto parts = [&] {
            const std::vector<double> alone = time_launches([&] { launch_dense(c, l); }, 5, 0.2);
            return Fields{{"bitmap_products", static_cast<int64_t>(popular.sum)},
                          {"dense_seconds", median(alone)}};
        };
        result.facts = parts;
        group.run(result);
    });
}

Choice with_items(int items)
{
    Choice c;
    c.items = items;
    return c;
}

void run_telling(Bench &bench, const std::vector<int> &items)
{
    for (const int width : {16, 32, 8}) {
        Choice c;
        c.width = width;
        bench.run_dense(c);
    }
    for (const int n : items)
        bench.run_mix(with_items(n));
    bench.run_stored({});
    for (const int n : items)
        bench.run_pairs(with_items(n));
    for (const int n : items)
        bench.run_bitmaps(with_items(n));
    Choice wide;
    wide.width = 32;
    bench.run_full(wide);
    bench.run_stored(wide);
}

void run_sweeps(Bench &bench, const std::vector<int> &items, bool toy)
{
    for (const int tile : {32, 64})
        for (const int words : {1, 3})
            for (const int n : toy ? std::vector<int>{64} : std::vector<int>{1024, 2048, 4096}) {
                Choice c;
                c.items = n;
                c.tile = tile;
                c.words = words;
                bench.run_pairs(c);
            }
    for (const int width : {16, 32, 8})
        for (const int block : toy ? std::vector<int>{96} : std::vector<int>{256, 512, 1024})
            for (const int n : toy ? std::vector<int>{2, 8} : std::vector<int>{2, 4, 8})
                for (const int lanes : {8, 16, 32}) {
                    Choice c;
                    c.width = width;
                    c.block = block;
                    c.ids = n;
                    c.lanes = lanes;
                    if (!toy || lanes == 4 * n)
                        bench.run_dense(c);
                }
    for (const int n : items) {
        Choice c = with_items(n);
        c.width = 32;
        bench.run_mix(c);
    }
}

} // namespace

void prototype_counts(Group &group)
{
    const Graph g = load_graph("movielens-20m", group.options());
    Bench bench(group, g);
    const std::vector<int> items =
        group.toy() ? std::vector<int>{64} : std::vector<int>{1024, 2048, 512, 4096, 256, 8192};
    run_telling(bench, items);
    run_sweeps(bench, items, group.toy());
}

} // namespace facts
