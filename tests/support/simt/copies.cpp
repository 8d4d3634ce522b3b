/* Asynchronous copies from global to shared memory (cp.async). Their bytes are read at any time before the
 * lane waits for them, and are there when it has: until then nobody may touch where they go, which holds
 * nonsense, nor write where they come from. After the wait they are the lane's own writes: others need a
 * barrier. */
#include "simt_machine.h"

#include <algorithm>
#include <cstring>

namespace simt
{

void end_flight(Region &region, const void *at, int thread)
{
    std::vector<Flight> &all = region.flights;
    const auto ours = std::find_if(all.begin(), all.end(),
                                   [=](const Flight &f) { return f.at == at && f.thread == thread; });
    if (ours != all.end())
        all.erase(ours);
}

namespace
{

bool overlaps(const Flight &f, const void *at, size_t size)
{
    const unsigned char *const from = static_cast<const unsigned char *>(at);
    return from < f.at + f.size && f.at < from + size;
}

void land(Lane &lane, const Copy &c)
{
    end_flight(*c.to_region, c.to, lane.id);
    end_flight(*c.from_region, c.from, lane.id);
    c.to_region->check(lane, c.to, c.size, WRITES, c.code); /* from here on it is written */
    std::memcpy(c.to, c.early ? c.bytes : c.from, c.size);
}

} // namespace

void check_flights(const Region &region, const Lane &lane, const void *at, size_t size, unsigned how,
                   const void *code)
{
    for (const Flight &f : region.flights) {
        if (!overlaps(f, at, size) || (f.source && !(how & WRITES)))
            continue;
        fault_at(code, SIMT_COPY,
                 "%s %s %s, where an asynchronous copy by thread %d of its block (%s) %s, which it has not "
                 "waited for",
                 place_of(lane).c_str(), how & WRITES ? "writes to" : "reads", region.name.c_str(),
                 f.thread % static_cast<int>(now.block_size), place_of(f.site).c_str(),
                 f.source ? "reads" : "writes");
        abandon();
    }
}

} // namespace simt

using namespace simt;

extern "C" void simt_copy_async(void *to, const void *from, size_t size, simt_site site)
{
    const void *const code = __builtin_return_address(0);
    Lane &me = *now.running;
    access_word(from, size, READS, code);
    access_word(to, size, WRITES, code);
    Copy c = {static_cast<unsigned char *>(to),
              static_cast<const unsigned char *>(from),
              size,
              me.committed,
              one_in(2),
              {0},
              find_shared(to, size),
              find_global(from, size),
              code};
    if (!c.to_region || !c.from_region) {
        fault(SIMT_COPY, "%s, %s: an asynchronous copy goes from global to shared memory",
              place_of(me).c_str(), place_of(site).c_str());
        abandon();
    }
    std::memcpy(c.bytes, from, size);
    me.stores.clear(); /* no store that is late comes over the bytes */
    std::memset(to, 0xcb, size);
    c.to_region->flights.push_back({c.to, size, me.id, site, false});
    c.from_region->flights.push_back({c.from, size, me.id, site, true});
    me.copies.push_back(c);
}

extern "C" void simt_copy_commit(void) { now.running->committed++; }

extern "C" void simt_copy_wait(int but)
{
    step();
    Lane &me = *now.running;
    std::vector<Copy> rest;
    for (const Copy &c : me.copies)
        if (c.group < me.committed - but)
            land(me, c);
        else
            rest.push_back(c);
    me.copies.swap(rest);
}
