/* What a launch says of itself, and the kernels that there are. */
#include "simt_machine.h"

#include <cstdarg>
#include <cstring>

namespace simt
{

namespace
{

const simt_kernel *&kernels()
{
    static const simt_kernel *first = nullptr; /* here before the first source registers itself */
    return first;
}

std::string text_of(const uint3 &index)
{
    return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) +
           ")";
}

} // namespace

void fault(simt_kind kind, const char *format, ...)
{
    simt_report &r = *now.report;
    r.faults++;
    r.of_kind[kind]++;
    if (r.nfirst == SIMT_TEXTS)
        return;
    simt_fault &f = r.first[r.nfirst++];
    f.kind = kind;
    va_list values;
    va_start(values, format);
    std::vsnprintf(f.text, sizeof f.text, format, values);
    va_end(values);
}

std::string place_of(const Lane &lane)
{
    return "block " + text_of(lane.block->index) + ", thread " + text_of(lane.index);
}

std::string place_of(const simt_site &site)
{
    const char *const slash = std::strrchr(site.file, '/');
    return std::string(slash ? slash + 1 : site.file) + ":" + std::to_string(site.line);
}

const char *name_of(simt_call kind)
{
    static const char *const names[] = {
        "__shfl_sync",       "__shfl_up_sync",      "__shfl_down_sync",  "__shfl_xor_sync",
        "__syncwarp",        "__ballot_sync",       "__all_sync",        "__match_any_sync",
        "__reduce_add_sync", "__reduce_min_sync",   "__reduce_max_sync", "__reduce_min_sync",
        "__reduce_max_sync", "__reduce_and_sync",   "__reduce_or_sync",  "__reduce_xor_sync",
        "__syncthreads",     "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"};
    return names[kind];
}

} // namespace simt

extern "C" bool simt_register(simt_kernel *kernel)
{
    kernel->next = simt::kernels();
    simt::kernels() = kernel;
    return true;
}

extern "C" const simt_kernel *simt_kernel_find(const char *name)
{
    const simt_kernel *k = simt::kernels();
    while (k && std::strcmp(k->name, name) != 0)
        k = k->next;
    return k;
}

extern "C" const char *simt_kind_name(simt_kind kind)
{
    static const char *const names[SIMT_NKINDS] = {"launch",  "barrier", "deadlock",
                                                   "endless", "mask",    "shuffle"};
    return kind < SIMT_NKINDS ? names[kind] : "?";
}

extern "C" void simt_print(const simt_report *report, FILE *to)
{
    std::fprintf(to, "simt: seed %llu, %lld faults\n", static_cast<unsigned long long>(report->seed),
                 static_cast<long long>(report->faults));
    for (int k = 0; k < report->nfirst; k++)
        std::fprintf(to, "  %s: %s\n", simt_kind_name(report->first[k].kind), report->first[k].text);
}
