/* Samples by the host's clock, for what only the host can time. */
#pragma once

#include "support/facts.cuh"

namespace facts
{

/* Seconds per call. Each sample is `calls` of them; at most as many samples as begin within `seconds`, and
 * one. */
template <class Work>
std::vector<double> host_times(const Work &work, int calls, int samples, double seconds = 1)
{
    std::vector<double> taken;
    const double start = now();
    while (taken.empty() || (static_cast<int>(taken.size()) < samples && now() - start < seconds)) {
        const double from = now();
        for (int k = 0; k < calls; k++)
            work();
        taken.push_back((now() - from) / calls);
    }
    return taken;
}

} // namespace facts
