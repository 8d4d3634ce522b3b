/* A launch: which blocks are there, and which of their lanes runs. Lanes hand over to each other directly;
 * the launch itself goes on when a block has no lane that is ready, and brings the next block. */
#include "simt_machine.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace simt
{

Launch now;
std::mutex one_at_a_time;

namespace
{

constexpr int64_t USUAL_STEPS = 100000000;
/* How often an access lets other lanes run, in launches of different seeds: some mistakes show only where
 * lanes run far ahead of others, some only where they take turns. */
constexpr unsigned PREEMPT[] = {0, 4, 32, 256};
constexpr size_t ALIGNED = 128, MOST_SHARED = 227 * 1024; /* of dynamic shared memory; on an H100 */

Stacks stacks;

void to_launch()
{
    Lane *const me = now.running;
    simt_switch(&me->at, now.at);
}

/* Goes on with some lane of this block that is ready; it may be the same. */
void next_lane()
{
    const std::vector<Lane *> &ready = now.block->ready;
    Lane *const me = now.running;
    /* Now and then the launch chooses, so that blocks side by side take turns; more often where there is no
     * choice here. */
    if (ready.empty() || (now.resident.size() > 1 && one_in(ready.size() == 1 ? 2 : 16))) {
        to_launch();
        return;
    }
    Lane *const next = ready[random_bits() % ready.size()];
    if (next == me)
        return;
    now.report->switches++;
    now.running = next;
    simt_switch(&me->at, next->at);
}

void lane_main()
{
    now.kernel->run(now.arguments);
    Lane &me = *now.running;
    land_stores(me);
    me.block->left++;
    me.warp->present &= ~(1u << me.lane);
    if (now.options.count && me.warp->present == 0)
        count_met(*me.warp);
    rest(State::LEFT);
    warp_without(me);
    block_without(me);
    give_way();
    __builtin_unreachable();
}

bool begin_block(Block &b, int id, size_t slot)
{
    b.id = id;
    b.slot = slot;
    b.index = index_of(static_cast<unsigned>(id), now.grid);
    b.left = b.at_barrier = 0;
    b.ready.clear();
    b.lanes.assign(now.block_size, Lane());
    b.warps.assign((now.block_size + WARP - 1) / WARP, Warp());
    b.variables.clear();
    b.variables.resize(now.shared_variables.size());
    b.epoch = 1;
    b.phases.clear();
    b.bulks.clear();
    b.shared = std::make_unique<unsigned char[]>(now.shared + ALIGNED);
    unsigned char *const start =
        b.shared.get() + (ALIGNED - reinterpret_cast<uintptr_t>(b.shared.get()) % ALIGNED);
    std::memset(start, 0xa5, now.shared); /* what was never written is nonsense */
    b.dynamic = Region(start, now.shared, "dynamic shared memory", Space::SHARED);
    for (unsigned t = 0; t < now.block_size; t++) {
        Lane &l = b.lanes[t];
        const size_t number = slot * now.block_size + t;
        l.stack = stacks.at(number);
        if (!l.stack) {
            fault(SIMT_LAUNCH, "no memory for the stacks of %u threads", now.block_size);
            return false;
        }
        l.at = fresh_fiber(l.stack, number, lane_main);
        l.block = &b;
        l.warp = &b.warps[t / WARP];
        l.thread = t;
        l.lane = t % WARP;
        l.id = id * static_cast<int>(now.block_size) + static_cast<int>(t);
        l.index = index_of(t, now.threads);
        l.clock[l.lane] = 1;
        l.warp->lanes.push_back(&l);
        l.warp->present |= 1u << l.lane;
        wake(l);
    }
    return true;
}

/* Nobody can go on: who waits where. */
void report_deadlock()
{
    for (const std::unique_ptr<Block> &b : now.resident) {
        unsigned waits = 0, for_copies = 0;
        const Lane *at_barrier = nullptr, *at_warp = nullptr;
        for (const Lane &l : b->lanes) {
            waits += l.state == State::AT_WARP;
            for_copies += l.state == State::AT_COPY;
            if (l.state == State::AT_BARRIER)
                at_barrier = &l;
            if (l.state == State::AT_WARP)
                at_warp = &l;
        }
        std::string where;
        if (at_barrier)
            where +=
                ", thread " + std::to_string(at_barrier->thread) + " at " + place_of(at_barrier->call.site);
        if (at_warp)
            where += ", thread " + std::to_string(at_warp->thread) + " at " + place_of(at_warp->call.site);
        if (for_copies > 0)
            where += ", " + std::to_string(for_copies) + " threads wait for copies";
        fault(SIMT_DEADLOCK,
              "block %d: %u threads wait at __syncthreads, %u at warp operations, %u have left%s", b->id,
              b->at_barrier, waits, b->left, where.c_str());
    }
}

/* Blocks that were not there yet, in random order. */
struct Waiting {
    explicit Waiting(unsigned count) : ids(count)
    {
        std::iota(ids.begin(), ids.end(), 0);
        for (size_t k = count; k > 1; k--)
            std::swap(ids[k - 1], ids[random_bits() % k]);
    }
    int take()
    {
        const int id = ids.back();
        ids.pop_back();
        return id;
    }
    std::vector<int> ids;
};

/* Some block that has a lane to run, which `current` is the number of then; NULL: none has. */
Block *choose_block(size_t &current)
{
    const size_t count = now.resident.size();
    current = random_bits() % count;
    for (size_t k = 0; k < count; k++) {
        Block *const b = now.resident[(current + k) % count].get();
        if (!b->ready.empty()) {
            current = (current + k) % count;
            return b;
        }
    }
    return nullptr;
}

/* From here on the shared variables are this block's. */
void enter(Block &b)
{
    if (now.block == &b)
        return;
    if (now.block)
        put_aside(*now.block);
    bring_back(b);
    now.block = &b;
}

/* Copies come at the latest when nobody can go on; whether somebody can then. */
bool land_all()
{
    for (const std::unique_ptr<Block> &b : now.resident) {
        if (b->bulks.empty())
            continue;
        enter(*b);
        land_bulks(*b);
        if (!b->ready.empty())
            return true;
    }
    return false;
}

void run_blocks(unsigned blocks)
{
    Waiting waiting(blocks);
    const size_t together = std::min<size_t>(blocks, static_cast<size_t>(std::max(now.options.resident, 1)));
    for (size_t slot = 0; slot < together; slot++) {
        now.resident.push_back(std::make_unique<Block>());
        if (!begin_block(*now.resident.back(), waiting.take(), slot))
            return;
    }
    size_t current = 0;
    while (!now.resident.empty()) {
        Block *const next = choose_block(current);
        if (!next) {
            if (land_all() && !now.abandoned)
                continue;
            if (!now.abandoned)
                report_deadlock();
            return;
        }
        enter(*next);
        now.running = next->ready[random_bits() % next->ready.size()];
        now.report->switches++;
        simt_switch(&now.at, now.running->at);
        now.running = nullptr;
        if (now.abandoned)
            return;
        if (next->left < now.block_size)
            continue;
        check_bulks(*next);
        now.block = nullptr; /* whose shared memory nobody needs any more */
        if (waiting.ids.empty())
            now.resident.erase(now.resident.begin() + static_cast<std::ptrdiff_t>(current));
        else if (!begin_block(*next, waiting.take(), next->slot))
            return;
    }
}

bool may_run(const simt_kernel *kernel, simt_dim grid, simt_dim block, size_t shared)
{
    const uint64_t threads = uint64_t{block.x} * block.y * block.z,
                   blocks = uint64_t{grid.x} * grid.y * grid.z;
    if (!kernel)
        fault(SIMT_LAUNCH, "there is no such kernel");
    else if (threads == 0 || threads > 1024 || block.z > 64)
        fault(SIMT_LAUNCH, "%s: a block of %u x %u x %u threads; 1 to 1024, z to 64", kernel->name, block.x,
              block.y, block.z);
    else if (blocks == 0 || grid.y > 65535 || grid.z > 65535)
        fault(SIMT_LAUNCH, "%s: a grid of %u x %u x %u blocks; at least one, y and z to 65535", kernel->name,
              grid.x, grid.y, grid.z);
    else if (blocks > INT32_MAX / threads)
        fault(SIMT_LAUNCH, "%s: more than 2^31 threads, which the emulator does not number", kernel->name);
    else if (shared > MOST_SHARED)
        fault(SIMT_LAUNCH, "%s: %zu bytes of dynamic shared memory; at most %zu", kernel->name, shared,
              MOST_SHARED);
    return now.report->faults == 0;
}

} // namespace

uint64_t random_bits()
{
    /* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016
     */
    now.random ^= now.random >> 12;
    now.random ^= now.random << 25;
    now.random ^= now.random >> 27;
    return now.random * 0x2545f4914f6cdd1d >> 16;
}

void give_way() { next_lane(); }

void rest(State state)
{
    Lane &me = *now.running;
    std::vector<Lane *> &ready = me.block->ready;
    ready[me.place] = ready.back();
    ready[me.place]->place = me.place;
    ready.pop_back();
    me.state = state;
}

void wake(Lane &lane)
{
    lane.state = State::READY;
    lane.place = lane.block->ready.size();
    lane.block->ready.push_back(&lane);
}

void abandon()
{
    now.abandoned = true;
    to_launch();
    __builtin_unreachable();
}

void step()
{
    if (++now.steps <= now.options.steps)
        return;
    fault(SIMT_ENDLESS, "more than %lld steps; the last one by %s", static_cast<long long>(now.options.steps),
          place_of(*now.running).c_str());
    abandon();
}

} // namespace simt

using namespace simt;

extern "C" int64_t simt_launch(const simt_kernel *kernel, simt_dim grid, simt_dim block, size_t shared,
                               void **arguments, const simt_options *options, simt_report *report)
{
    const std::lock_guard<std::mutex> alone(one_at_a_time);
    simt_report own;
    now = Launch();
    now.report = report ? report : &own;
    *now.report = simt_report();
    if (options)
        now.options = *options;
    if (now.options.steps == 0)
        now.options.steps = USUAL_STEPS;
    now.report->seed = now.options.seed;
    now.random = (now.options.seed + 1) * 0x9e3779b97f4a7c15 | 1;
    for (int k = 0; k < 4; k++) /* seeds are small numbers, whose first draws would be alike */
        random_bits();
    now.kernel = kernel;
    now.arguments = arguments;
    now.grid = {grid.x, grid.y, grid.z};
    now.threads = {block.x, block.y, block.z};
    now.shared = shared;
    if (may_run(kernel, grid, block, shared)) {
        note_run(kernel);
        now.block_size = block.x * block.y * block.z;
        now.shared_variables = shared_variables();
        now.preempt = PREEMPT[random_bits() % (sizeof PREEMPT / sizeof *PREEMPT)];
        now.delays = one_in(2);
        forget_accesses();
        const Watch watch;
        run_blocks(grid.x * grid.y * grid.z);
    }
    now.resident.clear();
    now.running = nullptr;
    return now.report->faults;
}

extern "C" uint3 simt_thread_index(void) { return now.running->index; }
extern "C" uint3 simt_block_index(void) { return now.running->block->index; }
extern "C" uint3 simt_block_size(void) { return now.threads; }
extern "C" uint3 simt_grid_size(void) { return now.grid; }
extern "C" unsigned simt_lane(void) { return now.running->lane; }
extern "C" void *simt_dynamic_shared(void) { return now.running->block->dynamic.start; }
extern "C" void simt_give_way(void)
{
    step();
    land_stores(*now.running);
    give_way();
}
