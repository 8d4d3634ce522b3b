/* Multi-hop neighbour sampling without replacement: edges picked per second (operations / seconds) by
 * schedule, method of picking, lanes for a vertex, blocks a multiprocessor and tickets taken at once; for one
 * batch of 1024 seeds and for 64 of them together.
 *
 * `places`, `list`, `block per seed` and `queue` keep the whole tree, without renumbering: picks lie where
 * their place in the tree is, -1 where a vertex has fewer neighbours. `list` reads each level's size back on
 * the host; `places` launches bounds and is measured as launches and as a replayed graph. `unique` keeps
 * every vertex once and renumbers the edges, `queue unique` samples from every vertex once a hop but
 * renumbers nothing: compare the two with each other only through their numbers of launches and edges.
 *
 * Launches rotate over batches of different seeds, since one batch's data would stay in the L2. Every case is
 * compared with host loops, pick by pick. */
#include "../support/facts.cuh"
#include "sampler_host.cuh"
#include "sampler_launch.cuh"
#include "sampler_tree.cuh"
#include "sampler_unique.cuh"

#include <cmath>
#include <map>
#include <memory>

namespace facts
{
using namespace sampler;

namespace
{

/* One graph, fanout and number of batches, with its seeds, and what is to come out. */
class Bench
{
  public:
    Bench(Group &group_, const Graph &host_, const DeviceGraph &graph, const std::vector<int> &fanouts,
          int nbatches_);
    void run_telling();
    void run_sweeps();

  private:
    Fields parameters(const char *variant, const Choice &c) const;
    const Tree &tree(int method);
    const Kept &kept(int method);
    Case tree_case(const char *variant, const Choice &c, int launches);
    const int *seeds_of(int rotation) const { return seeds.data() + rotation * nseeds; }
    Sampling sampling(int rotation) const;
    int next_rotation(const std::shared_ptr<int> &count) const { return (*count)++ % rotations; }
    void run(Case &c);
    void attempt(const char *variant, const Choice &c, const std::function<void()> &work);
    void run_places(const Choice &c, bool recorded);
    void run_list(const Choice &c);
    void run_block_per_seed(const Choice &c);
    void run_queue(const Choice &c);
    void run_queue_unique(const Choice &c);
    template <bool HASHED> void run_unique(const Choice &c, bool recorded);
    template <bool HASHED> Fields check_unique(const Unique<HASHED> &unique, int method);
    void launch_places(cudaStream_t stream, const Choice &c, int rotation);

    Group &group;
    const Graph &host;
    Sampling base;
    std::string fanout_names;
    int nbatches, nseeds, rotations;
    Buffer<int> seeds, picks;
    Buffer<uint32_t> keys; /* of the seeds */
    std::vector<int> host_seeds;
    std::map<int, Tree> trees; /* without their picks, which are on the device */
    std::map<int, Buffer<int>> expected_picks;
    std::map<int, Kept> kepts;
};

Bench::Bench(Group &group_, const Graph &host_, const DeviceGraph &graph, const std::vector<int> &fanouts,
             int nbatches_)
    : group(group_), host(host_), nbatches(nbatches_)
{
    base.rowptr = graph.rowptr.data();
    base.colidx = graph.colidx.data();
    base.nvertices = graph.nrows;
    base.seed = group.options().seed + 0x5eed;
    base.first_batch = 0;
    base.batch_size = group.toy() ? 2 : 1024;
    base.hops = static_cast<int>(fanouts.size());
    base.fanout0 = fanouts[0];
    base.fanout1 = fanouts[1];
    base.fanout2 = base.hops > 2 ? fanouts[2] : 0;
    base.most_draws = group.toy() ? 20 : 512; /* so low at toy size that it is reached */
    for (const int k : fanouts)
        fanout_names += (fanout_names.empty() ? "" : ",") + std::to_string(k);
    nseeds = nbatches * base.batch_size;
    rotations = nbatches > 1 || group.toy() ? 2 : 16;
    std::vector<uint32_t> seed_keys;
    for (int b = 0; b < rotations * nbatches; b++) {
        /* Numbers are shuffled already; steps of a prime that does not divide their count give distinct
         * seeds. */
        const uint64_t start = philox(base.seed, static_cast<uint32_t>(b), 0, 0, ~0u).word[0];
        for (int k = 0; k < base.batch_size; k++) {
            host_seeds.push_back(static_cast<int>((start + static_cast<uint64_t>(k) * 1000003u) %
                                                  static_cast<uint64_t>(base.nvertices)));
            seed_keys.push_back(static_cast<uint32_t>(host_seeds.back() + b % nbatches * base.nvertices));
        }
    }
    seeds = Buffer<int>(host_seeds);
    keys = Buffer<uint32_t>(seed_keys);
    const int last = base.hops - 1;
    picks = Buffer<int>(static_cast<size_t>(base.first_pick(last, nbatches) +
                                            nbatches * base.places(last) * base.fanout(last)));
}

Sampling Bench::sampling(int rotation) const
{
    Sampling s = base;
    s.first_batch = static_cast<uint32_t>(rotation * nbatches);
    return s;
}

Fields Bench::parameters(const char *variant, const Choice &c) const
{
    return {{"graph", host.name},
            {"fanouts", fanout_names},
            {"batches", nbatches},
            {"variant", variant},
            {"method", c.method == FLOYD ? "floyd" : "rejection"},
            {"lanes", c.lanes},
            {"block", c.block}};
}

const Tree &Bench::tree(int method)
{
    if (!trees.count(method)) {
        Tree made = host_tree(base, host, method, nbatches, host_seeds.data());
        expected_picks[method] = Buffer<int>(made.picks);
        made.picks = {};
        trees[method] = std::move(made);
    }
    return trees[method];
}

const Kept &Bench::kept(int method)
{
    if (!kepts.count(method)) {
        std::vector<uint32_t> seed_keys(static_cast<size_t>(nseeds));
        for (size_t k = 0; k < seed_keys.size(); k++)
            seed_keys[k] = static_cast<uint32_t>(host_seeds[k]) + static_cast<uint32_t>(k) /
                                                                      static_cast<uint32_t>(base.batch_size) *
                                                                      static_cast<uint32_t>(base.nvertices);
        kepts[method] = host_kept(base, host, method, nbatches, seed_keys);
    }
    return kepts[method];
}

/* What the schedules that keep the tree have in common. */
Case Bench::tree_case(const char *variant, const Choice &c, int launches)
{
    Case result;
    const Tree &expected = tree(c.method);
    result.parameters = parameters(variant, c);
    result.parameters.push_back({"launches", launches});
    result.operations = static_cast<double>(expected.edges);
    /* Row pointers of each vertex, and each edge read and written; sectors that are touched are several times
     * that. */
    result.bytes = 8.0 * static_cast<double>(expected.tasks) + 8.0 * static_cast<double>(expected.edges);
    result.seconds = 0.1;
    check(cudaMemset(picks.data(), 0xff, picks.bytes()), "clearing device memory");
    result.check = [this, method = c.method] {
        const Buffer<int> &right = expected_picks.at(method);
        Buffer<int> different(1);
        different.zero();
        LAUNCH(count_different, 2 * multiprocessors(), EMULATED ? 64 : SAMPLER_BLOCK, 0, picks.data(),
               right.data(), static_cast<int>(right.size()), different.data());
        synchronize();
        const int wrong = different.download()[0];
        if (wrong > 0 || right.size() != picks.size())
            throw Failure(std::to_string(wrong) + " picks differ from the host's");
        return Fields{{"error", 0.0}};
    };
    return result;
}

/* Runs a case, whose result must still be right when all rotations have been launched and it is the first
 * one's turn again: what one launch has to leave behind for the next is checked, too. */
void Bench::run(Case &c)
{
    const std::function<Fields()> compare = c.check;
    c.check = [this, compare, launch = c.launch] {
        compare();
        for (int r = 1; r < rotations; r++)
            launch();
        /* Places below a missing vertex are written by some schedules only. */
        check(cudaMemset(picks.data(), 0xff, picks.bytes()), "clearing device memory");
        launch();
        synchronize();
        return compare();
    };
    group.run(c);
}

void Bench::attempt(const char *variant, const Choice &c, const std::function<void()> &work)
{
    group.attempt(parameters(variant, c), work);
}

void Bench::launch_places(cudaStream_t stream, const Choice &c, int rotation)
{
    (void)stream; /* the emulation has but one */
    const Sampling s = sampling(rotation);
    const auto kernel = instance(c.lanes, c.method, [](auto l, auto m) {
        return &level_by_places<decltype(l)::value, decltype(m)::value>;
    });
    const int *vertices = seeds_of(rotation);
    for (int hop = 0; hop < s.hops; hop++) {
        const int nplaces = nbatches * s.places(hop);
        int *out = picks.data() + s.first_pick(hop, nbatches);
        LAUNCH_ON(stream, kernel, divide_up(int64_t{nplaces} * c.lanes, c.block), c.block,
                  list_bytes(c.block, c.lanes), s, hop, vertices, nplaces, out);
        vertices = out;
    }
}

void Bench::run_places(const Choice &c, bool recorded)
{
    const char *variant = recorded ? "places, graph" : "places";
    attempt(variant, c, [&] {
        Case result = tree_case(variant, c, recorded ? 1 : base.hops);
        const auto count = std::make_shared<int>(0);
        std::vector<std::unique_ptr<Recorded>> graphs;
        for (int r = 0; recorded && r < rotations; r++)
            graphs.push_back(
                std::make_unique<Recorded>([=](cudaStream_t stream) { launch_places(stream, c, r); }));
        result.launch = [&] {
            const int rotation = next_rotation(count);
            if (recorded)
                graphs[static_cast<size_t>(rotation)]->replay();
            else
                launch_places(nullptr, c, rotation);
        };
        run(result);
    });
}

void Bench::run_list(const Choice &c)
{
    attempt("list", c, [&] {
        Case result = tree_case("list", c, base.hops);
        const auto count = std::make_shared<int>(0);
        const size_t most = static_cast<size_t>(nbatches) * static_cast<size_t>(base.places(base.hops - 1));
        const Buffer<Task> lists[2] = {Buffer<Task>(most), Buffer<Task>(most)};
        Buffer<int> counters(2);
        counters.zero();
        const auto kernel = instance(c.lanes, c.method, [](auto l, auto m) {
            return &level_by_list<decltype(l)::value, decltype(m)::value>;
        });
        result.launch = [&] {
            const int rotation = next_rotation(count);
            const Sampling s = sampling(rotation);
            int ntasks = nseeds;
            for (int hop = 0; hop < s.hops && ntasks > 0; hop++) {
                LAUNCH(kernel, divide_up(int64_t{ntasks} * c.lanes, c.block), c.block,
                       list_bytes(c.block, c.lanes), s, hop, seeds_of(rotation), lists[hop & 1].data(),
                       ntasks, picks.data() + s.first_pick(hop, nbatches), lists[(hop + 1) & 1].data(),
                       counters.data());
                if (hop + 1 < s.hops)
                    check(cudaMemcpy(&ntasks, counters.data() + ((hop + 1) & 1), sizeof ntasks,
                                     cudaMemcpyDeviceToHost),
                          "size of a level");
                if (ntasks > static_cast<int>(most))
                    throw Failure("a level's size is beyond its bound");
            }
        };
        run(result);
    });
}

void Bench::run_block_per_seed(const Choice &c)
{
    attempt("block per seed", c, [&] {
        Case result = tree_case("block per seed", c, 1);
        const auto count = std::make_shared<int>(0);
        const auto kernel = instance(c.lanes, c.method, [](auto l, auto m) {
            return &block_per_seed<decltype(l)::value, decltype(m)::value>;
        });
        result.launch = [&] {
            const int rotation = next_rotation(count);
            LAUNCH(kernel, nseeds, c.block, seed_block_bytes(base, c.block, c.lanes), sampling(rotation),
                   seeds_of(rotation), nbatches, picks.data());
        };
        run(result);
    });
}

void Bench::run_queue(const Choice &c)
{
    attempt("queue", c, [&] {
        Case result = tree_case("queue", c, 1);
        const auto count = std::make_shared<int>(0);
        const int capacity = nbatches * (base.places(1) + (base.hops > 2 ? base.places(2) : 0));
        const QueueMemory memory(capacity, nseeds);
        const size_t shared = list_bytes(c.block, c.lanes);
        const auto kernel = instance(c.lanes, c.method, [](auto l, auto m) {
            return &persistent_queue<decltype(l)::value, decltype(m)::value, false>;
        });
        const int grid = persistent_grid(kernel, c, shared);
        result.parameters.push_back({"blocks", grid / multiprocessors()});
        result.parameters.push_back({"queue_batch", c.queue_batch});
        result.launch = [&] {
            const int launch = *count, rotation = next_rotation(count);
            LAUNCH_TOGETHER(kernel, grid, c.block, shared, sampling(rotation),
                            memory.queue(seeds_of(rotation), nseeds, launch, c.queue_batch), nbatches,
                            picks.data());
        };
        const auto compare = result.check;
        result.check = [&] {
            memory.check_end(*count - 1, tree(c.method).tasks - nseeds);
            return compare();
        };
        result.facts = [&] {
            memory.check_running();
            return Fields{{"tasks", tree(c.method).tasks}};
        };
        run(result);
    });
}

void Bench::run_queue_unique(const Choice &c)
{
    attempt("queue unique", c, [&] {
        const Kept &expected = kept(c.method);
        int64_t bound = nseeds, all = 0;
        for (int hop = 0; hop < base.hops; hop++) {
            bound = std::min(bound, int64_t{nbatches} * base.nvertices);
            all += bound;
            bound *= 1 + base.fanout(hop);
        }
        const QueueMemory memory(static_cast<int>(all - nseeds), nseeds);
        const int64_t words = (int64_t{nbatches} * base.nvertices + 31) / 32;
        const Buffer<unsigned> marks(static_cast<size_t>(words * (base.hops - 1)));
        const Buffer<Task> served(static_cast<size_t>(all));
        const Buffer<int> found(static_cast<size_t>(all) * MAX_FANOUT);
        const size_t shared = list_bytes(c.block, c.lanes);
        const auto kernel = instance(c.lanes, c.method, [](auto l, auto m) {
            return &persistent_queue<decltype(l)::value, decltype(m)::value, true>;
        });
        const int grid = persistent_grid(kernel, c, shared);
        const auto count = std::make_shared<int>(0);
        Case result;
        result.parameters = parameters("queue unique", c);
        result.parameters.push_back({"launches", 2}); /* the bits are cleared */
        result.parameters.push_back({"blocks", grid / multiprocessors()});
        result.parameters.push_back({"queue_batch", c.queue_batch});
        result.operations = static_cast<double>(expected.count);
        result.seconds = 0.1;
        result.launch = [&] {
            const int launch = *count, rotation = next_rotation(count);
            const int *from = reinterpret_cast<const int *>(keys.data()) + rotation * nseeds;
            Queue q = memory.queue(from, nseeds, launch, c.queue_batch);
            q.marks = marks.data();
            q.mark_words = static_cast<int>(words);
            q.served = served.data();
            check(cudaMemset(marks.data(), 0, marks.bytes()), "clearing device memory");
            LAUNCH_TOGETHER(kernel, grid, c.block, shared, sampling(rotation), q, nbatches, found.data());
        };
        result.check = [&] {
            memory.check_end(*count - 1, expected.tasks - nseeds);
            Buffer<unsigned long long> sum(1);
            sum.zero();
            LAUNCH(sum_fingerprints, 2 * multiprocessors(), EMULATED ? 64 : SAMPLER_BLOCK, 0, base,
                   served.data(), found.data(), static_cast<int>(expected.tasks), sum.data());
            synchronize();
            if (sum.download()[0] != expected.sum)
                throw Failure("the picks are not the host's");
            return Fields{{"error", 0.0}};
        };
        result.facts = [&] {
            memory.check_running();
            return Fields{{"tasks", expected.tasks}, {"nodes", static_cast<int64_t>(expected.sizes.back())}};
        };
        run(result);
    });
}

template <bool HASHED> Fields Bench::check_unique(const Unique<HASHED> &unique, int method)
{
    const Kept &expected = kept(method);
    const std::vector<int> sizes = unique.sizes.download();
    if (!std::equal(expected.sizes.begin(), expected.sizes.end(), sizes.begin()))
        throw Failure("the levels' sizes are not the host's");
    const std::vector<uint32_t> nodes = unique.nodes.download(), edges = unique.edges.download();
    if (!std::equal(expected.nodes.begin(), expected.nodes.end(), nodes.begin()))
        throw Failure("the vertices' numbers are not the host's");
    for (size_t hop = 0; hop < expected.edges.size(); hop++)
        if (!std::equal(expected.edges[hop].begin(), expected.edges[hop].end(),
                        edges.begin() + unique.first_edge[hop]))
            throw Failure("the edges of hop " + std::to_string(hop) + " are not the host's");
    return {{"error", 0.0}};
}

template <bool HASHED> void Bench::run_unique(const Choice &c, bool recorded)
{
    const char *variant = HASHED ? (recorded ? "unique, hashed, graph" : "unique, hashed")
                                 : (recorded ? "unique, direct, graph" : "unique, direct");
    attempt(variant, c, [&] {
        const Kept &expected = kept(c.method);
        Unique<HASHED> unique(base, nbatches);
        const auto put = [&](cudaStream_t stream, int r) {
            unique.launch(stream, keys.data() + r * nseeds, static_cast<uint32_t>(r * nbatches), c.lanes,
                          c.method, c.block);
        };
        const auto count = std::make_shared<int>(0);
        std::vector<std::unique_ptr<Recorded>> graphs;
        for (int r = 0; recorded && r < rotations; r++)
            graphs.push_back(std::make_unique<Recorded>([&put, r](cudaStream_t stream) { put(stream, r); }));
        Case result;
        result.parameters = parameters(variant, c);
        result.parameters.push_back({"launches", recorded ? 1 : unique.launches()});
        result.operations = static_cast<double>(expected.count);
        result.seconds = 0.1;
        result.launch = [&] {
            const int rotation = next_rotation(count);
            if (recorded)
                graphs[static_cast<size_t>(rotation)]->replay();
            else
                put(nullptr, rotation);
        };
        result.check = [&] { return check_unique(unique, c.method); };
        result.facts = [&] {
            return Fields{{"nodes", static_cast<int64_t>(expected.sizes.back())},
                          {"table_bytes", unique.table_bytes()}};
        };
        run(result);
    });
}

void Bench::run_telling()
{
    const Choice c;
    run_queue(c);
    run_places(c, true);
    run_block_per_seed(c);
    run_places(c, false);
    run_list(c);
    run_unique<false>(c, true);
    run_unique<false>(c, false);
    run_unique<true>(c, true);
    run_queue_unique(c);
}

void Bench::run_sweeps()
{
    for (const int method : {FLOYD, REJECTION})
        for (const int lanes : {8, 16, 32}) {
            Choice c;
            c.method = method;
            c.lanes = lanes;
            if (method == FLOYD && lanes == 8)
                continue; /* was the first */
            run_queue(c);
            run_places(c, true);
            run_block_per_seed(c);
            if (lanes == 8 && nbatches == 1) {
                run_list(c);
                run_unique<true>(c, true);
                run_queue_unique(c);
            }
        }
    for (const int batch : {2, 4, 8}) {
        Choice c;
        c.queue_batch = batch;
        run_queue(c);
        if (group.toy())
            return;
    }
    for (const int block : {64, 256}) {
        Choice c;
        c.block = block;
        run_block_per_seed(c);
        run_places(c, true);
        run_queue(c);
    }
    for (const int blocks : {1, 2, 4}) {
        Choice c;
        c.blocks = blocks;
        run_queue(c);
    }
}

} // namespace

void prototype_sampler(Group &group)
{
    check_methods();
    std::map<std::string, std::pair<Graph, std::unique_ptr<DeviceGraph>>> graphs;
    const auto measure = [&](const char *name, const std::vector<int> &fanouts, int nbatches, bool sweeps) {
        group.attempt({{"graph", name}, {"batches", nbatches}}, [&] {
            auto &entry = graphs[name];
            if (!entry.second) {
                entry.first = load_graph(name, group.options());
                entry.second = std::make_unique<DeviceGraph>(entry.first);
            }
            Bench bench(group, entry.first, *entry.second, fanouts, nbatches);
            bench.run_telling();
            if (sweeps)
                bench.run_sweeps();
        });
    };
    const std::vector<int> deep = group.toy() ? std::vector<int>{15, 3, 2} : std::vector<int>{15, 10, 5};
    const std::vector<int> shallow = group.toy() ? std::vector<int>{10, 4} : std::vector<int>{15, 10};
    const int many = group.toy() ? 2 : 64;
    measure("products-like", deep, 1, true);
    measure("products-like", deep, many, !group.toy());
    if (group.toy()) {
        measure("arxiv-like", shallow, 1, false);
        return;
    }
    measure("reddit-like", deep, 1, true);
    measure("reddit-like", deep, many, false);
    measure("products-like", shallow, 1, false);
    measure("reddit-like", shallow, many, false);
    /* Many vertices here have fewer neighbours than the fanout, or none. */
    measure("arxiv-like", deep, 1, false);
}

} // namespace facts
