/* What the program says of itself: where shared variables of kernels are, and constants. `__shared__` is
 * thread_local to the C++ compiler: so the symbols of the program say where each variable is and where it
 * ends. The bytes there are those of the block that runs; the others' are kept aside. */
#include "simt_machine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace simt
{

namespace
{

/* Variables of C++ functions: "_ZZ", function, "E", name. Those of the C library under test are none. */
bool is_shared(const Elf64_Sym &symbol, const char *name)
{
    return ELF64_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_size > 0 &&
           std::strncmp(name, "_ZZ", 3) == 0;
}

/* "sum_block::part" */
std::string readable(const char *mangled)
{
    char *const name = abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr);
    const std::string result = name ? name : mangled;
    std::free(name);
    return result;
}

std::vector<SharedVariable> read_symbols(const char *file, size_t size)
{
    std::vector<SharedVariable> found;
    const Elf64_Ehdr *const header = reinterpret_cast<const Elf64_Ehdr *>(file);
    const Elf64_Shdr *const sections = reinterpret_cast<const Elf64_Shdr *>(file + header->e_shoff);
    if (header->e_shoff + header->e_shnum * sizeof *sections > size)
        return found;
    for (int s = 0; s < header->e_shnum; s++) {
        if (sections[s].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *const symbols = reinterpret_cast<const Elf64_Sym *>(file + sections[s].sh_offset);
        const char *const names = file + sections[sections[s].sh_link].sh_offset;
        for (size_t k = 0; k < sections[s].sh_size / sizeof *symbols; k++)
            if (is_shared(symbols[k], names + symbols[k].st_name))
                found.push_back(
                    {nullptr, symbols[k].st_value, symbols[k].st_size, readable(names + symbols[k].st_name)});
    }
    std::sort(found.begin(), found.end(),
              [](const SharedVariable &a, const SharedVariable &b) { return a.offset < b.offset; });
    return found;
}

std::vector<SharedVariable> read_program()
{
    std::vector<SharedVariable> found;
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file >= 0 && fstat(file, &about) == 0) {
        const size_t size = static_cast<size_t>(about.st_size);
        void *const bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            found = read_symbols(static_cast<const char *>(bytes), size);
            munmap(bytes, size);
        }
    }
    if (file >= 0)
        close(file);
    return found;
}

/* The program comes first; what it says of thread_local memory is the calling thread's. */
int thread_memory(dl_phdr_info *program, size_t, void *start)
{
    *static_cast<void **>(start) = program->dlpi_tls_data;
    return 1;
}

struct Range {
    uintptr_t from, to;
};

/* Parts of the program that are not written: constants, and code. */
int add_constants(dl_phdr_info *program, size_t, void *list)
{
    for (int k = 0; k < program->dlpi_phnum; k++) {
        const ElfW(Phdr) &part = program->dlpi_phdr[k];
        const uintptr_t from = program->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && !(part.p_flags & PF_W))
            static_cast<std::vector<Range> *>(list)->push_back({from, from + part.p_memsz});
    }
    return 1; /* the program comes first */
}

std::vector<Range> read_constants()
{
    std::vector<Range> found;
    dl_iterate_phdr(add_constants, &found);
    return found;
}

} // namespace

bool is_constant(const void *at, size_t size)
{
    static const std::vector<Range> all = read_constants();
    const uintptr_t from = reinterpret_cast<uintptr_t>(at);
    return std::any_of(all.begin(), all.end(),
                       [=](const Range &r) { return r.from <= from && from + size <= r.to; });
}

std::vector<SharedVariable> shared_variables()
{
    static const std::vector<SharedVariable> of_program = read_program();
    void *start = nullptr;
    dl_iterate_phdr(thread_memory, &start);
    std::vector<SharedVariable> here = of_program;
    for (SharedVariable &v : here)
        v.start = static_cast<unsigned char *>(start) + v.offset;
    return here;
}

Region &shared_region(Block &b, size_t variable)
{
    std::unique_ptr<SharedCopy> &copy = b.variables[variable];
    const SharedVariable &v = now.shared_variables[variable];
    if (!copy) {
        copy = std::make_unique<SharedCopy>(SharedCopy{Region(v.start, v.size, v.name, Space::SHARED), {}});
        std::memset(v.start, 0xa5, v.size); /* what was never written is nonsense */
    }
    return copy->region;
}

void put_aside(Block &b)
{
    for (const std::unique_ptr<SharedCopy> &copy : b.variables)
        if (copy)
            copy->aside.assign(copy->region.start, copy->region.start + copy->region.bytes);
}

void bring_back(Block &b)
{
    for (const std::unique_ptr<SharedCopy> &copy : b.variables)
        if (copy)
            std::memcpy(copy->region.start, copy->aside.data(), copy->region.bytes);
}

} // namespace simt
