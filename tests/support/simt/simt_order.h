/* What lanes know of what others have done, beyond their own warp and block. */
#ifndef SIMT_ORDER_H
#define SIMT_ORDER_H

#include <array>
#include <cstdint>
#include <map>
#include <memory>

namespace simt
{

/* Of other blocks their barriers, and of other warps their lanes' clocks: all that happened before is known.
 * Never changed once it is made, so that lanes share it. */
struct Knowledge {
    std::map<int, uint32_t> blocks;
    std::map<int, std::array<uint32_t, 32>> warps; /* numbered over the grid */
};
typedef std::shared_ptr<const Knowledge> Known; /* NULL: nothing */

/* What the last writer of a word that others watch had released before, by a fence: for all, and for its
 * block alone. */
struct Flag {
    Known device, block;
    int owner = -1; /* the block */
};

enum class Scope : int { BLOCK, DEVICE };

} // namespace simt

#endif
