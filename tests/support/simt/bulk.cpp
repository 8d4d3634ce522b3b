/* Copies of runs of bytes to shared memory, by the copy engine (cp.async.bulk), which complete on a barrier
 * there (mbarrier): a phase ends when its one arrival has said how many bytes are expected, and as many have
 * come. Each lands at any time; until then where it goes holds nonsense, which nobody may touch, and where it
 * comes from must not be written. Lanes that wait for a phase know what those did that asked for its copies;
 * others know nothing of what came. If nobody can go on all copies land: who then still waits does so for
 * good. */
#include "simt_machine.h"

#include <algorithm>
#include <cstring>

namespace simt
{

namespace
{

constexpr size_t GRAIN = 16;

Phases &phases_of(Block &b, const void *barrier)
{
    const auto known = b.phases.find(barrier);
    if (known == b.phases.end()) {
        fault(SIMT_COPY, "%s: a barrier of copies that no thread of its block has begun",
              place_of(*now.running).c_str());
        abandon();
    }
    return known->second;
}

/* False: what came is more than was expected. */
bool settle(Phases &p)
{
    if (p.awaited > 0 || p.bytes > 0)
        return true;
    if (p.bytes < 0)
        return false;
    p.phase++;
    p.awaited = 1;
    p.done = p.issued;
    for (Lane *l : p.waiting)
        wake(*l);
    p.waiting.clear();
    return true;
}

void settle_or_fault(Block &b, Phases &p)
{
    if (settle(p))
        return;
    fault(SIMT_COPY, "block %d: %lld bytes of copies have come that nobody expected", b.id,
          static_cast<long long>(-p.bytes));
    if (now.running)
        abandon();
    now.abandoned = true;
}

void land(Block &b, size_t which)
{
    const Bulk c = b.bulks[which];
    b.bulks.erase(b.bulks.begin() + static_cast<std::ptrdiff_t>(which));
    end_flight(*c.to_region, c.to, c.thread);
    end_flight(*c.from_region, c.from, c.thread);
    std::memcpy(c.to, c.from, c.size);
    Phases &p = b.phases[c.barrier];
    p.bytes -= static_cast<int64_t>(c.size);
    settle_or_fault(b, p);
}

/* Some of a barrier's, in any order; whether any is left. */
bool land_some(Block &b, const void *barrier)
{
    bool left = false;
    for (size_t k = b.bulks.size(); k > 0; k--) {
        if (k > b.bulks.size() || b.bulks[k - 1].barrier != barrier)
            continue;
        if (one_in(2))
            land(b, k - 1);
        else
            left = true;
    }
    return left;
}

} // namespace

void land_bulks(Block &b)
{
    while (!b.bulks.empty() && !now.abandoned)
        land(b, random_bits() % b.bulks.size());
}

void check_bulks(Block &b)
{
    if (!b.bulks.empty())
        fault(SIMT_COPY, "block %d ends while %zu copies are under way", b.id, b.bulks.size());
}

} // namespace simt

using namespace simt;

extern "C" void simt_barrier_begin(unsigned long long *barrier)
{
    access_word(barrier, sizeof *barrier, WRITES, __builtin_return_address(0));
    Lane &me = *now.running;
    if (!find_shared(barrier, sizeof *barrier)) {
        fault(SIMT_COPY, "%s: a barrier of copies that is not in shared memory", place_of(me).c_str());
        abandon();
    }
    me.block->phases[barrier] = Phases();
}

extern "C" void simt_barrier_expect(unsigned long long *barrier, unsigned bytes)
{
    access_word(barrier, sizeof *barrier, READS | WRITES | STRONG, __builtin_return_address(0));
    Lane &me = *now.running;
    Phases &p = phases_of(*me.block, barrier);
    if (p.awaited == 0) {
        fault(SIMT_COPY, "%s: a phase that has its arrival already", place_of(me).c_str());
        abandon();
    }
    p.awaited--;
    p.bytes += bytes;
    hand_over(me, p.issued);
    settle_or_fault(*me.block, p);
}

extern "C" void simt_copy_bulk(void *to, const void *from, unsigned bytes, unsigned long long *barrier,
                               simt_site site)
{
    const void *const code = __builtin_return_address(0);
    Lane &me = *now.running;
    access_word(barrier, sizeof *barrier, READS | WRITES | STRONG, code);
    Phases &p = phases_of(*me.block, barrier);
    if (bytes % GRAIN || reinterpret_cast<uintptr_t>(to) % GRAIN ||
        reinterpret_cast<uintptr_t>(from) % GRAIN) {
        fault_at(code, SIMT_ALIGNMENT,
                 "%s copies %u bytes; they and both addresses are to be multiples of %zu",
                 place_of(me).c_str(), bytes, GRAIN);
        abandon();
    }
    access(from, bytes, READS, code);
    access(to, bytes, WRITES, code);
    const Bulk c = {static_cast<unsigned char *>(to),
                    static_cast<const unsigned char *>(from),
                    bytes,
                    barrier,
                    me.id,
                    find_shared(to, bytes),
                    find_global(from, bytes)};
    if (!c.to_region || !c.from_region) {
        fault(SIMT_COPY, "%s, %s: a bulk copy goes from global to shared memory", place_of(me).c_str(),
              place_of(site).c_str());
        abandon();
    }
    me.stores.clear(); /* no store that is late comes over the bytes */
    std::memset(to, 0xcb, bytes);
    c.to_region->flights.push_back({c.to, bytes, me.id, site, false});
    c.from_region->flights.push_back({c.from, bytes, me.id, site, true});
    me.block->bulks.push_back(c);
    hand_over(me, p.issued);
}

extern "C" void simt_barrier_wait(unsigned long long *barrier, unsigned phase)
{
    access_word(barrier, sizeof *barrier, READS | STRONG, __builtin_return_address(0));
    Lane &me = *now.running;
    Phases &p = phases_of(*me.block, barrier);
    while ((p.phase & 1) == phase) {
        step();
        const bool left = land_some(*me.block, barrier);
        if ((p.phase & 1) != phase)
            break;
        if (!left) {
            p.waiting.push_back(&me);
            rest(State::AT_COPY);
        }
        give_way();
    }
    take_over(me, p.done);
}
