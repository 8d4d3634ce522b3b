/* What comes after what. Each lane has a clock, and knows those of its warp as __syncwarp told them; each
 * block counts its barriers, before which all that its threads did lies behind. Shuffles and votes tell
 * nothing, as CUDA says.
 *
 * Beyond that, lanes learn through words that they watch. What a lane knows and has done at a fence goes with
 * its atomic and volatile writes after it (PTX: a release pattern); a lane that reads such a word, and then
 * comes to a fence, knows it, too (an acquire pattern). A fence of another thread does not do, even before a
 * barrier: PTX wants it between the barrier and the write, by the thread that writes. */
#include "simt_machine.h"

#include <algorithm>
#include <cstring>

namespace simt
{

namespace
{

Known joined(const Known &a, const Known &b)
{
    if (!b || a == b)
        return a;
    if (!a)
        return b;
    Knowledge all = *a;
    for (const auto &[block, epoch] : b->blocks) {
        uint32_t &mine = all.blocks[block];
        mine = std::max(mine, epoch);
    }
    for (const auto &[warp, clocks] : b->warps) {
        std::array<uint32_t, WARP> &mine = all.warps.try_emplace(warp).first->second;
        for (size_t k = 0; k < WARP; k++)
            mine[k] = std::max(mine[k], clocks[k]);
    }
    return std::make_shared<const Knowledge>(std::move(all));
}

int warp_number(int block, unsigned thread)
{
    return block * static_cast<int>((now.block_size + WARP - 1) / WARP) + static_cast<int>(thread / WARP);
}

/* All that the lane knows, and what it did itself so far. What it does from here on is new. */
Known snapshot(Lane &lane)
{
    Knowledge own;
    own.blocks[lane.block->id] = lane.block->epoch;
    std::copy(lane.clock, lane.clock + WARP, own.warps[warp_number(lane.block->id, lane.thread)].begin());
    lane.clock[lane.lane]++;
    return joined(lane.known, std::make_shared<const Knowledge>(std::move(own)));
}

bool known_of_others(const Lane &lane, const Access &other)
{
    const int size = static_cast<int>(now.block_size), block = other.thread / size;
    const unsigned thread = static_cast<unsigned>(other.thread % size);
    const auto blocks = lane.known->blocks.find(block);
    if (blocks != lane.known->blocks.end() && other.epoch < blocks->second)
        return true;
    const auto warps = lane.known->warps.find(warp_number(block, thread));
    return warps != lane.known->warps.end() && other.clock <= warps->second[thread % WARP];
}

} // namespace

bool comes_after(const Lane &lane, const Access &other)
{
    if (other.thread < 0 || other.thread == lane.id)
        return true;
    const unsigned thread = static_cast<unsigned>(other.thread - (lane.id - static_cast<int>(lane.thread)));
    if (thread < now.block_size && /* of the same block */
        (other.epoch < lane.block->epoch ||
         (thread / WARP == lane.thread / WARP && other.clock <= lane.clock[thread % WARP])))
        return true;
    return lane.known && known_of_others(lane, other);
}

/* After __syncwarp all lanes of `mask` know what any of them knew, and what they do from here on is new. */
void order_warp(Warp &w, unsigned mask)
{
    uint32_t all[WARP] = {0};
    Known known;
    for (const Lane *l : w.lanes)
        if (mask >> l->lane & 1) {
            known = joined(known, l->known);
            for (unsigned k = 0; k < WARP; k++)
                all[k] = std::max(all[k], l->clock[k]);
        }
    for (Lane *l : w.lanes)
        if (mask >> l->lane & 1) {
            l->known = known;
            std::memcpy(l->clock, all, sizeof all);
            l->clock[l->lane]++;
        }
}

void order_block(Block &b)
{
    b.epoch++;
    Known known;
    for (const Lane &l : b.lanes)
        known = joined(known, l.known);
    for (Lane &l : b.lanes)
        l.known = known;
}

void fence(Lane &lane, Scope scope)
{
    lane.known = joined(lane.known, lane.seen);
    lane.seen.reset();
    lane.released_to_block = snapshot(lane);
    if (scope == Scope::DEVICE)
        lane.released = lane.released_to_block;
}

void hand_over(Lane &lane, Known &to) { to = joined(to, snapshot(lane)); }

void take_over(Lane &lane, const Known &known) { lane.known = joined(lane.known, known); }

/* An atomic or volatile access of a word. An atomic operation hands on what the word had, besides its own. */
void watch(Lane &lane, Flag &flag, unsigned how)
{
    const bool same_block = flag.owner == lane.block->id;
    if (how & READS) {
        lane.seen = joined(lane.seen, flag.device);
        if (same_block)
            lane.seen = joined(lane.seen, flag.block);
    }
    if (!(how & WRITES))
        return;
    const bool hands_on = (how & READS) != 0;
    flag.device = hands_on ? joined(flag.device, lane.released) : lane.released;
    flag.block = hands_on && same_block ? joined(flag.block, lane.released_to_block) : lane.released_to_block;
    flag.owner = lane.block->id;
}

} // namespace simt

using namespace simt;

extern "C" void simt_fence(bool of_block)
{
    land_stores(*now.running);
    fence(*now.running, of_block ? Scope::BLOCK : Scope::DEVICE);
}

extern "C" int simt_load_acquire(const int *at)
{
    Lane &me = *now.running;
    const Known before = me.seen;
    me.seen.reset();
    access_word(at, sizeof *at, READS | STRONG, __builtin_return_address(0));
    me.known = joined(me.known, me.seen);
    me.seen = before;
    return *at;
}

extern "C" void simt_store_release(int *at, int value)
{
    Lane &me = *now.running;
    const Known device = me.released, block = me.released_to_block;
    land_stores(me);
    me.released = me.released_to_block = snapshot(me);
    access_word(at, sizeof *at, WRITES | STRONG, __builtin_return_address(0));
    me.released = device;
    me.released_to_block = block;
    *at = value;
}
