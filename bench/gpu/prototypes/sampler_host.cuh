/* What the sampler's kernels must pick: plain host loops over the same counters, one vertex after another by
 * the textbook form of each method, and numbers given in the order in which vertices are first seen. */
#pragma once

#include "../support/graphs.cuh"
#include "sampler.cuh"

#include <algorithm>
#include <numeric>
#include <thread>

namespace facts
{
namespace sampler
{

/* Pieces of 0 .. n - 1, one for each core. */
template <class Work> void on_all_cores(int64_t n, Work work)
{
    const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < cores; t++)
        threads.emplace_back([=] { work(n * t / cores, n * (t + 1) / cores); });
    for (std::thread &t : threads)
        t.join();
}

inline bool contains(const std::vector<int> &list, int x)
{
    return std::find(list.begin(), list.end(), x) != list.end();
}

/* Which of a vertex's neighbours are picked, in order. */
inline void host_positions(const Sampling &s, int method, const Where &w, int degree,
                           std::vector<int> &picked)
{
    const auto below = [&](int number, int limit) {
        const Draw d = philox(s.seed, static_cast<uint32_t>(w.vertex), 0, w.batch,
                              static_cast<uint32_t>(w.hop << 24 | number / 4));
        return static_cast<int>(uint64_t{d.word[number % 4]} * static_cast<uint64_t>(limit) >> 32);
    };
    const int k = s.fanout(w.hop);
    picked.clear();
    if (degree <= k) {
        picked.resize(static_cast<size_t>(degree));
        std::iota(picked.begin(), picked.end(), 0);
    } else if (method == FLOYD) {
        for (int j = degree - k; j < degree; j++) {
            const int t = below(static_cast<int>(picked.size()), j + 1);
            picked.push_back(contains(picked, t) ? j : t);
        }
    } else {
        for (int number = 0; number < s.most_draws && static_cast<int>(picked.size()) < k; number++) {
            const int t = below(number, degree);
            if (!contains(picked, t))
                picked.push_back(t);
        }
        for (int t = 0; static_cast<int>(picked.size()) < k; t++)
            if (!contains(picked, t))
                picked.push_back(t);
    }
}

/* The picked neighbours of a vertex into k places, -1 beyond the last; of none, for a vertex of -1. */
inline int host_picks(const Sampling &s, const Graph &g, int method, const Where &w, std::vector<int> &picked,
                      int *out)
{
    const int k = s.fanout(w.hop);
    std::fill_n(out, k, -1);
    if (w.vertex < 0)
        return 0;
    const int first = g.rowptr[static_cast<size_t>(w.vertex)];
    host_positions(s, method, w, g.rowptr[static_cast<size_t>(w.vertex) + 1] - first, picked);
    for (size_t i = 0; i < picked.size(); i++)
        out[i] = g.colidx[static_cast<size_t>(first + picked[i])];
    return static_cast<int>(picked.size());
}

/* A sample that keeps the whole tree. */
struct Tree {
    std::vector<int> picks; /* as the kernels lay them out */
    int64_t edges = 0, tasks = 0;
};

inline Tree host_tree(const Sampling &s, const Graph &g, int method, int nbatches, const int *seeds)
{
    Tree tree;
    tree.picks.resize(static_cast<size_t>(s.first_pick(s.hops - 1, nbatches)) +
                      static_cast<size_t>(nbatches) * static_cast<size_t>(s.places(s.hops - 1)) *
                          static_cast<size_t>(s.fanout(s.hops - 1)));
    const int *vertices = seeds;
    for (int hop = 0; hop < s.hops; hop++) {
        int *out = tree.picks.data() + s.first_pick(hop, nbatches);
        on_all_cores(int64_t{nbatches} * s.places(hop), [&, vertices, out, hop](int64_t from, int64_t to) {
            std::vector<int> picked;
            int64_t edges = 0, tasks = 0;
            for (int64_t place = from; place < to; place++) {
                const Where w = {s.first_batch + static_cast<uint32_t>(place / s.places(hop)),
                                 vertices[place], hop};
                edges += host_picks(s, g, method, w, picked, out + place * s.fanout(hop));
                tasks += w.vertex >= 0;
            }
            __atomic_fetch_add(&tree.edges, edges, __ATOMIC_RELAXED);
            __atomic_fetch_add(&tree.tasks, tasks, __ATOMIC_RELAXED);
        });
        vertices = out;
    }
    return tree;
}

/* A sample in which every vertex is kept once. */
struct Kept {
    std::vector<int> sizes;                   /* vertices known before each hop, and in the end */
    std::vector<uint32_t> nodes;              /* their keys, by number */
    std::vector<std::vector<uint32_t>> edges; /* of each hop: numbers, NO_KEY where there is no pick */
    int64_t count = 0, tasks = 0;             /* edges; vertices that were sampled from, once for each hop */
    uint64_t sum = 0;                         /* of fingerprints */
};

/* Gives numbers to what a hop picked: `first` is where each key was first seen, `number` what a place gave.
 */
inline void number_in_order(Kept &kept, std::vector<int64_t> &first, std::vector<int> &number,
                            std::vector<uint32_t> &picks)
{
    const int64_t before = static_cast<int64_t>(number.size()), keys = static_cast<int64_t>(first.size());
    std::vector<char> seen_first(picks.size(), 0);
    on_all_cores(keys, [&](int64_t from,
                           int64_t to) { /* each core its keys, all picks in order */
                                         for (size_t p = 0; p < picks.size(); p++)
                                             if (picks[p] >= from && picks[p] < to && first[picks[p]] < 0) {
                                                 first[picks[p]] = before + static_cast<int64_t>(p);
                                                 seen_first[p] = 1;
                                             }
    });
    number.resize(number.size() + picks.size(), -1);
    for (size_t p = 0; p < picks.size(); p++)
        if (seen_first[p]) {
            number[static_cast<size_t>(before) + p] = static_cast<int>(kept.nodes.size());
            kept.nodes.push_back(picks[p]);
        }
    on_all_cores(static_cast<int64_t>(picks.size()), [&](int64_t from, int64_t to) {
        for (size_t p = static_cast<size_t>(from); p < static_cast<size_t>(to); p++)
            if (picks[p] < static_cast<uint32_t>(keys))
                picks[p] = static_cast<uint32_t>(number[static_cast<size_t>(first[picks[p]])]);
    });
}

inline Kept host_kept(const Sampling &s, const Graph &g, int method, int nbatches,
                      const std::vector<uint32_t> &seeds)
{
    Kept kept;
    std::vector<int64_t> first(static_cast<size_t>(nbatches) * static_cast<size_t>(s.nvertices), -1);
    std::vector<int> number;
    std::vector<uint32_t> picks = seeds;
    number_in_order(kept, first, number, picks);
    for (int hop = 0; hop < s.hops; hop++) {
        const int k = s.fanout(hop);
        const int64_t nnodes = static_cast<int64_t>(kept.nodes.size());
        kept.sizes.push_back(static_cast<int>(nnodes));
        picks.assign(static_cast<size_t>(nnodes * k), ~0u);
        on_all_cores(nnodes, [&](int64_t from, int64_t to) {
            std::vector<int> picked, out(MAX_FANOUT);
            int64_t edges = 0;
            uint64_t sum = 0;
            for (int64_t i = from; i < to; i++) {
                const uint32_t key = kept.nodes[static_cast<size_t>(i)],
                               n = static_cast<uint32_t>(s.nvertices);
                const int found =
                    host_picks(s, g, method, {s.first_batch + key / n, static_cast<int>(key % n), hop},
                               picked, out.data());
                edges += found;
                for (int j = 0; j < k; j++) {
                    const uint32_t pick =
                        j < found ? key / n * n + static_cast<uint32_t>(out[static_cast<size_t>(j)]) : ~0u;
                    picks[static_cast<size_t>(i * k + j)] = pick;
                    sum += fingerprint(key, hop, j, pick);
                }
            }
            __atomic_fetch_add(&kept.count, edges, __ATOMIC_RELAXED);
            __atomic_fetch_add(&kept.sum, sum, __ATOMIC_RELAXED);
        });
        kept.tasks += nnodes;
        number_in_order(kept, first, number, picks);
        kept.edges.push_back(picks);
    }
    kept.sizes.push_back(static_cast<int>(kept.nodes.size()));
    return kept;
}

/* Philox as published, and both methods pick every position equally often: what a comparison of kernels with
 * the loops above cannot show. */
inline void check_methods()
{
    const Draw d = philox(0, 0, 0, 0, 0);
    if (d.word[0] != 0x6627e8d5u || d.word[1] != 0xe169c58du || d.word[2] != 0xbc57ac4cu ||
        d.word[3] != 0x9b00dbd8u)
        throw Failure("Philox is not Philox");
    Sampling s = {};
    s.seed = 5;
    s.fanout0 = 5;
    s.most_draws = 512;
    const int degree = 17, tries = 20000;
    for (int method = FLOYD; method <= REJECTION; method++) {
        std::vector<int> picked, hits(degree, 0);
        for (int v = 0; v < tries; v++) {
            host_positions(s, method, {0, v, 0}, degree, picked);
            for (const int p : picked)
                hits[static_cast<size_t>(p)]++;
        }
        const double expected = tries * 5.0 / degree, deviation = std::sqrt(expected * (1 - 5.0 / degree));
        for (const int h : hits)
            if (std::abs(h - expected) > 5 * deviation)
                throw Failure("picks are not uniform");
    }
}

} // namespace sampler
} // namespace facts
