/* __syncthreads and its reductions. Threads that have left do not count: since Volta a barrier waits for "all
 * non-exited threads in the block" (CUDA C++ Programming Guide, compute capability 7.x). Threads that are
 * there must be at the same one: hardware would let different ones meet, but CUDA calls that undefined. */
#include "simt_machine.h"

#include <cstring>

namespace simt
{

namespace
{

bool same(const simt_site &a, const simt_site &b)
{
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

/* Lets the block go on once all its lanes are there, but those that have left. */
void release(Block &b)
{
    if (b.at_barrier == 0 || b.at_barrier + b.left < now.block_size)
        return;
    b.at_barrier = 0;
    order_block(b);
    if (now.options.count)
        for (Warp &w : b.warps)
            count_met(w);
    int count = 0;
    for (const Lane &l : b.lanes)
        count += l.state == State::AT_BARRIER && l.call.value;
    const int all = static_cast<int>(now.block_size - b.left);
    for (Lane &l : b.lanes)
        if (l.state == State::AT_BARRIER) {
            const simt_call kind = l.call.kind;
            const int result = kind == SIMT_SYNCTHREADS_AND  ? count == all
                               : kind == SIMT_SYNCTHREADS_OR ? count > 0
                                                             : count;
            l.call.result = static_cast<uint64_t>(result);
            wake(l);
        }
}

} // namespace

void block_without(Lane &gone) { release(*gone.block); }

} // namespace simt

using namespace simt;

extern "C" int simt_barrier(simt_call kind, int value, simt_site site)
{
    step();
    Lane &me = *now.running;
    land_stores(me);
    Block &b = *me.block;
    for (const Lane &l : b.lanes)
        if (l.state == State::AT_BARRIER) {
            if (l.call.kind != kind || !same(l.call.site, site)) {
                fault(SIMT_BARRIER, "%s is at the barrier %s while thread %u of its block waits at %s",
                      place_of(me).c_str(), place_of(site).c_str(), l.thread, place_of(l.call.site).c_str());
                abandon();
            }
            break; /* those that wait already are at one */
        }
    me.call = {kind, 0, value != 0, 0, 0, site, 0};
    b.at_barrier++;
    rest(State::AT_BARRIER);
    release(b);
    give_way();
    return static_cast<int>(me.call.result);
}
