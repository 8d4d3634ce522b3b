/* Every access of a kernel comes by here: its source is compiled with -fsanitize=thread, and these functions
 * stand where the sanitizer's own run-time would. */
#include "simt_machine.h"
#include "simt_memory.h"

#include <algorithm>
#include <map>

namespace simt
{

namespace
{

/* By address; no two overlap. */
std::map<uintptr_t, Region> &known_memory()
{
    static std::map<uintptr_t, Region> all;
    return all;
}

uintptr_t number(const void *at) { return reinterpret_cast<uintptr_t>(at); }

/* "at byte 400 of x, which has 400": by the nearest memory that begins before. */
std::string nearest(const void *at)
{
    const Region *best = nullptr;
    const auto look = [&](const Region &r) {
        const auto distance = [&](const Region &q) { return number(at) - number(q.start); };
        if (number(r.start) <= number(at) && (!best || distance(r) < distance(*best)))
            best = &r;
    };
    for (const auto &known : known_memory())
        look(known.second);
    look(now.block->dynamic);
    for (size_t k = 0; k < now.shared_variables.size(); k++)
        look(shared_region(*now.block, k));
    constexpr size_t NEAR = 1 << 20;
    if (!best || number(at) - number(best->start) > best->bytes + NEAR)
        return "in no memory that it was given";
    return "at byte " + std::to_string(number(at) - number(best->start)) + " of " + best->name +
           ", which has " + std::to_string(best->bytes);
}

[[noreturn]] void out_of_bounds(const Lane &lane, const void *at, size_t size, unsigned how, const void *code)
{
    fault_at(code, SIMT_BOUNDS, "%s %s %zu bytes %s", place_of(lane).c_str(),
             how & WRITES ? "writes" : "reads", size, nearest(at).c_str());
    abandon();
}

} // namespace

Region *find_shared(const void *at, size_t size)
{
    Block &b = *now.block;
    if (b.dynamic.holds(at, size))
        return &b.dynamic;
    const std::vector<SharedVariable> &all = now.shared_variables;
    const auto after =
        std::upper_bound(all.begin(), all.end(), static_cast<const unsigned char *>(at),
                         [](const unsigned char *p, const SharedVariable &v) { return p < v.start; });
    if (after == all.begin())
        return nullptr;
    const size_t which = static_cast<size_t>(after - all.begin()) - 1;
    Region &region = shared_region(b, which);
    return region.holds(at, size) ? &region : nullptr;
}

Region *find_global(const void *at, size_t size)
{
    std::map<uintptr_t, Region> &all = known_memory();
    const auto after = all.upper_bound(number(at));
    if (after == all.begin())
        return nullptr;
    Region &region = std::prev(after)->second;
    return region.holds(at, size) ? &region : nullptr;
}

void forget_accesses()
{
    for (auto &known : known_memory())
        known.second.forget();
}

/* As one register's worth, whose address a device wants to be a multiple of its size. */
void access_word(const void *at, size_t size, unsigned how, const void *code)
{
    if (now.running && number(at) % size != 0) {
        fault_at(code, SIMT_ALIGNMENT, "%s %s %zu bytes at an address that is no multiple of %zu",
                 place_of(*now.running).c_str(), how & WRITES ? "writes" : "reads", size, size);
        abandon();
    }
    access(at, size, how, code);
}

void access(const void *at, size_t size, unsigned how, const void *code)
{
    Lane *const me = now.running;
    if (!me || number(at) - number(me->stack) < Stacks::SIZE || size == 0)
        return;
    step();
    now.report->accesses++;
    /* What goes wrong between two atomic operations is looked for more than the rest; and who waits in a loop
     * lets others on. */
    if (how & STRONG ? one_in(2) : now.preempt > 0 && one_in(now.preempt))
        pause_lane(*me);
    Region *region = now.last;
    if (!region || !region->holds(at, size)) {
        region = find_global(at, size);
        now.last = region; /* shared memory may be another block's next time */
        if (!region)
            region = find_shared(at, size);
    }
    if (!region) {
        if ((how & WRITES) || !is_constant(at, size))
            out_of_bounds(*me, at, size, how, code);
        return;
    }
    if (!region->flights.empty())
        check_flights(*region, *me, at, size, how, code);
    region->check(*me, at, size, how, code);
    if (now.options.count)
        count(*me, region->space, at, size, code);
    if (how & STRONG)
        watch(*me, region->flag(at), how);
    if ((how & WRITES) && !(how & READS))
        note_store(*me, const_cast<void *>(at), size);
}

} // namespace simt

using namespace simt;

extern "C" void simt_memory_add(void *start, size_t bytes, const char *name)
{
    const std::lock_guard<std::mutex> alone(one_at_a_time);
    std::map<uintptr_t, Region> &all = known_memory();
    auto next = all.lower_bound(number(start));
    if (next != all.begin() && std::prev(next)->first + std::prev(next)->second.bytes > number(start))
        next = std::prev(next);
    while (next != all.end() && next->first < number(start) + bytes)
        next = all.erase(next);
    if (bytes > 0)
        all.emplace(number(start), Region(start, bytes, name, Space::GLOBAL));
}

extern "C" void simt_memory_remove(void *start)
{
    const std::lock_guard<std::mutex> alone(one_at_a_time);
    known_memory().erase(number(start));
}

#define CODE __builtin_return_address(0)
#define HOOKS(size)                                                                                          \
    extern "C" void __tsan_read##size(void *at) { access_word(at, size, READS, CODE); }                      \
    extern "C" void __tsan_write##size(void *at) { access_word(at, size, WRITES, CODE); }                    \
    extern "C" void __tsan_unaligned_read##size(void *at) { access_word(at, size, READS, CODE); }            \
    extern "C" void __tsan_unaligned_write##size(void *at) { access_word(at, size, WRITES, CODE); }          \
    extern "C" void __tsan_volatile_read##size(void *at) { access_word(at, size, READS | STRONG, CODE); }    \
    extern "C" void __tsan_volatile_write##size(void *at) { access_word(at, size, WRITES | STRONG, CODE); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
extern "C" void __tsan_read_range(void *at, size_t size) { access(at, size, READS, CODE); }
extern "C" void __tsan_write_range(void *at, size_t size) { access(at, size, WRITES, CODE); }
extern "C" void __tsan_init(void) {}
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit(void) {}

/* An index of an array whose length the compiler knows (-fsanitize=bounds). What it hands over begins with
 * the place. */
extern "C" void __ubsan_handle_out_of_bounds(const simt_site *site, uintptr_t index)
{
    if (!now.running)
        return;
    fault(SIMT_BOUNDS, "%s, %s: index %lld is outside the array", place_of(*now.running).c_str(),
          place_of(*site).c_str(), static_cast<long long>(index));
    abandon();
}
