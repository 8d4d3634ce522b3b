/* Stores that nothing has released reach others late, or in another order. A lane that gives way in the
 * middle of what it does takes some of its last stores with it: others find what was there before, until the
 * lane goes on. Barriers,
 * __syncwarp and fences let all stores land, and so does waiting for others. */
#include "simt_machine.h"

#include <cstring>

namespace simt
{

constexpr size_t MOST = 32; /* of a lane; older ones have landed */

void note_store(Lane &lane, void *at, size_t size)
{
    if (!now.delays || size > sizeof(Store::before))
        return;
    if (lane.stores.size() == MOST)
        lane.stores.erase(lane.stores.begin());
    Store s = {at, size, {0}, {0}};
    std::memcpy(s.before, at, size);
    lane.stores.push_back(s);
}

namespace
{

/* From the last to the first, so that what was there before all of them appears. */
void take_stores_away(Lane &lane)
{
    for (size_t k = lane.stores.size(); k > 0; k--) {
        Store &s = lane.stores[k - 1];
        if (one_in(2)) {
            lane.stores.erase(lane.stores.begin() + static_cast<std::ptrdiff_t>(k - 1)); /* has landed */
            continue;
        }
        std::memcpy(s.value, s.at, s.size);
        std::memcpy(s.at, s.before, s.size);
    }
}

void bring_stores_back(Lane &lane)
{
    for (const Store &s : lane.stores)
        std::memcpy(s.at, s.value, s.size);
}

} // namespace

void pause_lane(Lane &lane)
{
    take_stores_away(lane);
    give_way();
    bring_stores_back(lane);
}

/* Before what lets stores land: until then others may run, and not see them. */
void land_stores(Lane &lane)
{
    while (!lane.stores.empty() && !one_in(4))
        pause_lane(lane);
    lane.stores.clear();
}

} // namespace simt
