/* What a device would move: an instruction of a warp is a request, which takes as many 32-byte sectors of
 * global memory as its lanes touch, or as many passes over the 32 banks of shared memory as lanes want
 * different words of one bank.
 *
 * Lanes run by themselves here. Those that come to the same place in the code equally often since the warp
 * last met are taken to be one request: that is so where loops converge; elsewhere sectors are right, and
 * requests too many or too few. */
#include "simt_machine.h"

#include <algorithm>
#include <tuple>

namespace simt
{

namespace
{

constexpr uintptr_t SECTOR = 32, WORD = 4;
constexpr unsigned BANKS = 32;

bool one_request(const Touch &a, const Touch &b)
{
    return a.code == b.code && a.occurrence == b.occurrence && a.space == b.space;
}

/* Of touches from..to, all of one request, sorted, with each unit once. */
int64_t passes(const Touch *from, const Touch *to)
{
    int64_t sum = 0;
    for (const Touch *phase = from; phase < to;) {
        unsigned words[BANKS] = {0}, most = 0;
        const unsigned number = phase->phase;
        for (; phase < to && phase->phase == number; phase++)
            most = std::max(most, ++words[phase->unit % BANKS]);
        sum += most;
    }
    return sum;
}

/* How many lanes are served at once: wide accesses take turns by halves and quarters of a warp. */
unsigned phase_of(unsigned lane, size_t size) { return size == 16 ? lane / 8 : size == 8 ? lane / 16 : 0; }

} // namespace

void count(const Lane &lane, Space space, const void *at, size_t size, const void *code)
{
    Warp &w = *lane.warp;
    const uint32_t occurrence = w.occurrences[code][lane.lane]++;
    const uintptr_t unit = space == Space::GLOBAL ? SECTOR : WORD, start = reinterpret_cast<uintptr_t>(at);
    const unsigned phase = space == Space::GLOBAL ? 0 : phase_of(lane.lane, size);
    for (uintptr_t k = start / unit; k <= (start + size - 1) / unit; k++)
        w.touches.push_back({code, occurrence, space, phase, k});
}

void count_met(Warp &w)
{
    std::vector<Touch> &all = w.touches;
    const auto key = [](const Touch &t) { return std::tie(t.code, t.occurrence, t.space, t.phase, t.unit); };
    std::sort(all.begin(), all.end(), [&](const Touch &a, const Touch &b) { return key(a) < key(b); });
    all.erase(
        std::unique(all.begin(), all.end(), [&](const Touch &a, const Touch &b) { return key(a) == key(b); }),
        all.end());
    simt_report &r = *now.report;
    for (const Touch *from = all.data(), *const end = from + all.size(); from < end;) {
        const Touch *const to =
            std::find_if(from, end, [&](const Touch &t) { return !one_request(*from, t); });
        if (from->space == Space::GLOBAL) {
            r.global_requests++;
            r.global_sectors += to - from;
        } else {
            r.shared_requests++;
            r.shared_passes += passes(from, to);
        }
        from = to;
    }
    all.clear();
    w.occurrences.clear();
}

} // namespace simt
