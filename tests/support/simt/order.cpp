/* What comes after what. Each lane has a clock, and knows those of its warp as __syncwarp told them; each
 * block counts its barriers, before which all that its threads did lies behind. Shuffles and votes tell
 * nothing, as CUDA says. */
#include "simt_machine.h"

#include <algorithm>
#include <cstring>

namespace simt
{

bool comes_after(const Lane &lane, const Access &other)
{
    if (other.thread < 0 || other.thread == lane.id)
        return true;
    const int size = static_cast<int>(now.block_size), block = other.thread / size,
              thread = other.thread % size;
    if (block != lane.block->id)
        return false;
    if (other.epoch < lane.block->epoch)
        return true;
    return thread / static_cast<int>(WARP) == static_cast<int>(lane.thread / WARP) &&
           other.clock <= lane.clock[thread % static_cast<int>(WARP)];
}

/* After __syncwarp all lanes of `mask` know what any of them knew, and what they do from here on is new. */
void order_warp(Warp &w, unsigned mask)
{
    uint32_t all[WARP] = {0};
    for (const Lane *l : w.lanes)
        if (mask >> l->lane & 1)
            for (unsigned k = 0; k < WARP; k++)
                all[k] = std::max(all[k], l->clock[k]);
    for (Lane *l : w.lanes)
        if (mask >> l->lane & 1) {
            std::memcpy(l->clock, all, sizeof all);
            l->clock[l->lane]++;
        }
}

void order_block(Block &b) { b.epoch++; }

} // namespace simt
