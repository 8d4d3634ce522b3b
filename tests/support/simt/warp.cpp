/* Operations of a warp. A lane waits until all that its mask names have come to the same operation with the
 * same mask. Lanes that have left, and those that a block whose size is no multiple of 32 does not have, are
 * not waited for, as CUDA says ("all non-exited threads named in mask"); a shuffle that reads one of them is
 * a fault. Nothing but __syncwarp orders memory. */
#include "simt_machine.h"

#include <algorithm>

namespace simt
{

namespace
{

bool is_shuffle(simt_call kind) { return kind <= SIMT_SHUFFLE_XOR; }
bool is_product(simt_call kind) { return kind >= SIMT_MULTIPLY_TF32 && kind <= SIMT_MULTIPLY_BF16; }
bool named(unsigned mask, unsigned lane) { return mask >> lane & 1; }

/* The lane whose value a shuffle gives to `lane`: itself where the other would lie beyond its part of the
 * warp. */
unsigned source_of(unsigned lane, const Call &c)
{
    const unsigned width = static_cast<unsigned>(c.width), by = static_cast<unsigned>(c.argument);
    const unsigned first = lane / width * width, in = lane % width;
    switch (c.kind) {
    case SIMT_SHUFFLE_INDEX:
        return first + by % width;
    case SIMT_SHUFFLE_UP:
        return by <= in ? lane - by : lane;
    case SIMT_SHUFFLE_DOWN:
        return by < width - in ? lane + by : lane;
    default:
        return by < WARP && (lane ^ by) < first + width ? lane ^ by : lane;
    }
}

void shuffle(Warp &w, unsigned mask)
{
    for (Lane *l : w.lanes) {
        if (!named(mask, l->lane) || l->state != State::AT_WARP)
            continue;
        const unsigned from = source_of(l->lane, l->call);
        if (!named(mask, from) || !named(w.present, from)) {
            fault(SIMT_SHUFFLE, "%s, %s at %s: its lane reads lane %u, which %s; mask %08x",
                  place_of(*l).c_str(), name_of(l->call.kind), place_of(l->call.site).c_str(), from,
                  named(mask, from) ? "has left or is not there" : "the mask does not name", mask);
            abandon();
        }
        l->call.result = w.lanes[from]->call.value;
    }
}

int as_int(uint64_t value) { return static_cast<int>(static_cast<unsigned>(value)); }

uint64_t reduced(simt_call kind, uint64_t a, uint64_t b)
{
    switch (kind) {
    case SIMT_REDUCE_ADD:
        return static_cast<unsigned>(a + b);
    case SIMT_REDUCE_MIN:
        return static_cast<unsigned>(std::min(as_int(a), as_int(b)));
    case SIMT_REDUCE_MAX:
        return static_cast<unsigned>(std::max(as_int(a), as_int(b)));
    case SIMT_REDUCE_MIN_UNSIGNED:
        return std::min(a, b);
    case SIMT_REDUCE_MAX_UNSIGNED:
        return std::max(a, b);
    case SIMT_REDUCE_AND:
    case SIMT_ALL:
        return a & b;
    case SIMT_REDUCE_XOR:
        return a ^ b;
    default:
        return a | b;
    }
}

/* All of `takers` get one result, made of their values; of match_any each its own. */
void combine(Warp &w, unsigned takers, simt_call kind)
{
    bool first = true;
    uint64_t all = 0;
    for (const Lane *l : w.lanes)
        if (named(takers, l->lane)) {
            const uint64_t value =
                kind == SIMT_BALLOT ? uint64_t{l->call.value != 0} << l->lane : l->call.value;
            all = first ? value : reduced(kind, all, value);
            first = false;
        }
    for (Lane *l : w.lanes) {
        if (!named(takers, l->lane))
            continue;
        l->call.result = all;
        if (kind != SIMT_MATCH_ANY)
            continue;
        l->call.result = 0;
        for (const Lane *other : w.lanes)
            if (named(takers, other->lane) && other->call.value == l->call.value)
                l->call.result |= uint64_t{1} << other->lane;
    }
}

/* All lanes have a part of the matrices. */
void product(Warp &w, unsigned takers, simt_call kind)
{
    if (takers != 0xffffffffu) {
        const Lane &one = *w.lanes[static_cast<size_t>(__builtin_ctz(takers))];
        fault(SIMT_MASK, "%s, %s at %s: lanes %08x alone are there; a product needs all",
              place_of(one).c_str(), name_of(kind), place_of(one.call.site).c_str(), takers);
        abandon();
    }
    multiply(w, kind);
}

/* Lets the lanes of a meeting go on, once all that it waits for have come. */
void meet(Warp &w, size_t number)
{
    const Meeting m = w.meetings[number];
    const unsigned takers = m.mask & w.present;
    if ((m.lanes & takers) != takers)
        return;
    w.meetings.erase(w.meetings.begin() + static_cast<std::ptrdiff_t>(number));
    if (is_shuffle(m.kind))
        shuffle(w, m.mask);
    else if (is_product(m.kind))
        product(w, takers, m.kind);
    else
        combine(w, takers, m.kind);
    if (m.kind == SIMT_SYNCWARP)
        order_warp(w, takers);
    if (now.options.count && takers == w.present)
        count_met(w);
    for (Lane *l : w.lanes)
        if (named(takers, l->lane))
            wake(*l);
}

/* The meeting that a lane joins. Two lanes that wait for each other must do so in the same way. */
size_t join(Lane &me)
{
    std::vector<Meeting> &all = me.warp->meetings;
    const Call &a = me.call;
    size_t mine = all.size();
    for (size_t k = 0; k < all.size(); k++) {
        const Meeting &m = all[k];
        if (m.mask == a.mask && m.kind == a.kind) {
            mine = k;
        } else if (const unsigned both = m.lanes & a.mask; both != 0 && named(m.mask, me.lane)) {
            const Lane &other = *me.warp->lanes[static_cast<size_t>(__builtin_ctz(both))];
            fault(SIMT_MASK,
                  "%s: %s with mask %08x at %s, while lane %u waits for it in %s with mask %08x at %s",
                  place_of(me).c_str(), name_of(a.kind), a.mask, place_of(a.site).c_str(), other.lane,
                  name_of(m.kind), m.mask, place_of(other.call.site).c_str());
            abandon();
        }
    }
    if (mine == all.size())
        all.push_back({a.mask, a.kind, 0});
    all[mine].lanes |= 1u << me.lane;
    return mine;
}

void check_own(const Lane &me)
{
    const Call &c = me.call;
    if (!named(c.mask, me.lane))
        fault(SIMT_MASK, "%s, %s at %s: mask %08x does not name its own lane %u", place_of(me).c_str(),
              name_of(c.kind), place_of(c.site).c_str(), c.mask, me.lane);
    else if (c.width < 1 || c.width > static_cast<int>(WARP) || (c.width & (c.width - 1)))
        fault(SIMT_MASK, "%s, %s at %s: a width of %d; a power of 2, to 32", place_of(me).c_str(),
              name_of(c.kind), place_of(c.site).c_str(), c.width);
    else
        return;
    abandon();
}

} // namespace

void warp_without(Lane &gone)
{
    Warp &w = *gone.warp;
    for (size_t k = w.meetings.size(); k > 0; k--) /* from the last: those that end are taken out */
        if (named(w.meetings[k - 1].mask, gone.lane))
            meet(w, k - 1);
}

} // namespace simt

using namespace simt;

extern "C" uint64_t simt_warp(simt_call kind, unsigned mask, uint64_t value, int argument, int width,
                              simt_site site)
{
    step();
    Lane &me = *now.running;
    land_stores(me);
    me.call = {kind, mask, value, argument, width, site, 0};
    check_own(me);
    const size_t meeting = join(me);
    rest(State::AT_WARP);
    meet(*me.warp, meeting);
    give_way();
    return me.call.result;
}
