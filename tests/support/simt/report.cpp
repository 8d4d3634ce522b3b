/* What a launch says of itself, and the kernels that there are. */
#include "simt_machine.h"

#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <set>
#include <unistd.h>

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

void note(simt_kind kind, const void *code, const char *format, va_list values)
{
    simt_report &r = *now.report;
    r.faults++;
    r.of_kind[kind]++;
    const uintptr_t place = code ? in_file(code) : 0;
    /* One place in the source often has many: the first says enough. */
    for (int k = 0; k < r.nfirst && place; k++)
        if (r.first[k].code == place && r.first[k].kind == kind)
            return;
    if (r.nfirst == SIMT_TEXTS)
        return;
    simt_fault &f = r.first[r.nfirst++];
    f.kind = kind;
    f.code = place;
    std::vsnprintf(f.text, sizeof f.text, format, values);
}

/* "spmm.cu:31", or nothing: of functions that are part of others, the innermost that is not the emulator's
 * own. */
std::string source_line(uintptr_t code)
{
    char command[PATH_MAX + 100], line[PATH_MAX] = "";
    std::snprintf(command, sizeof command, "addr2line -i -s -e '%s' 0x%llx 2> /dev/null",
                  program_file().c_str(), static_cast<unsigned long long>(code));
    FILE *const answer = popen(command, "r");
    if (!answer)
        return "";
    while (std::fgets(line, sizeof line, answer) && std::strncmp(line, "simt_", 5) == 0)
        line[0] = 0;
    pclose(answer);
    line[std::strcspn(line, "\n ")] = 0;
    return line;
}

} // namespace

void fault(simt_kind kind, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    note(kind, nullptr, format, values);
    va_end(values);
}

void fault_at(const void *code, simt_kind kind, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    note(kind, code, format, values);
    va_end(values);
}

uint3 index_of(unsigned number, const uint3 &size)
{
    return {number % size.x, number / size.x % size.y, number / size.x / size.y};
}

std::string place_of(const uint3 &block, const uint3 &thread)
{
    return "block " + text_of(block) + ", thread " + text_of(thread);
}

std::string place_of(const Lane &lane) { return place_of(lane.block->index, lane.index); }

std::string place_of(const simt_site &site)
{
    const char *const slash = std::strrchr(site.file, '/');
    return std::string(slash ? slash + 1 : site.file) + ":" + std::to_string(site.line);
}

const char *name_of(simt_call kind)
{
    static const char *const names[] = {
        "__shfl_sync",         "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
        "__syncwarp",          "__ballot_sync",     "__all_sync",        "__match_any_sync",
        "__reduce_add_sync",   "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync",
        "__reduce_max_sync",   "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync",
        "mma.sync (TF32)",     "mma.sync (FP16)",   "mma.sync (BF16)",   "__syncthreads",
        "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"};
    return names[kind];
}

/* For tests/all_variants.sh: the file that the environment's SIMT_RAN begins, a process's own, has the names
 * of all kernels that there are, and of those that ran. */
void note_run(const simt_kernel *kernel)
{
    static const char *const begin = std::getenv("SIMT_RAN");
    static std::set<const simt_kernel *> ran;
    if (!begin || !ran.insert(kernel).second)
        return;
    FILE *const to = std::fopen((begin + std::to_string(getpid())).c_str(), "a");
    if (!to)
        return;
    for (const simt_kernel *k = kernels(); k && ran.size() == 1; k = k->next)
        std::fprintf(to, "has %s\n", k->name);
    std::fprintf(to, "ran %s\n", kernel->name);
    std::fclose(to);
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

extern "C" const char *simt_kernel_name(const simt_kernel *kernel) { return kernel->name; }

extern "C" const size_t *simt_kernel_sizes(const simt_kernel *kernel) { return kernel->sizes; }

extern "C" const char *simt_kind_name(simt_kind kind)
{
    static const char *const names[SIMT_NKINDS] = {"launch", "barrier",   "deadlock",  "endless",
                                                   "mask",   "shuffle",   "alignment", "bounds",
                                                   "race",   "unwritten", "copy"};
    return kind < SIMT_NKINDS ? names[kind] : "?";
}

extern "C" void simt_print(const simt_report *report, FILE *to)
{
    std::fprintf(to, "simt: seed %llu, %lld faults\n", static_cast<unsigned long long>(report->seed),
                 static_cast<long long>(report->faults));
    for (int k = 0; k < report->nfirst; k++) {
        const simt_fault &f = report->first[k];
        const std::string line = f.code ? simt::source_line(f.code) + ": " : "";
        std::fprintf(to, "  %s: %s%s\n", simt_kind_name(f.kind), line.c_str(), f.text);
    }
}
