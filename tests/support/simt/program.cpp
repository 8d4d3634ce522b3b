/* What the program, or the library that kernels are in, says of itself: where shared variables of kernels
 * are, and constants. `__shared__` is thread_local to the C++ compiler: so its symbols say where each
 * variable is and where it ends. The bytes there are those of the block that runs; the others' are kept
 * aside. */
#include "simt_machine.h"

#include <algorithm>
#include <climits>
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

struct Range {
    uintptr_t from, to;
};

/* The program, or the library, that this very function is in: kernels are linked to it. */
struct Program {
    std::string file;
    uintptr_t base = 0;
    void *thread_memory = nullptr; /* of the calling thread */
    std::vector<Range> constants;  /* and code: what is not written */
};

/* A library has no such memory of a thread before the thread comes to it. */
thread_local volatile char touched;

int look_at(dl_phdr_info *info, size_t, void *found)
{
    const uintptr_t here = reinterpret_cast<uintptr_t>(&look_at);
    Program p;
    p.file = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    p.base = info->dlpi_addr;
    p.thread_memory = info->dlpi_tls_data;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) &part = info->dlpi_phdr[k];
        const uintptr_t from = info->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && !(part.p_flags & PF_W))
            p.constants.push_back({from, from + part.p_memsz});
    }
    for (const Range &r : p.constants)
        if (r.from <= here && here < r.to) {
            *static_cast<Program *>(found) = p;
            return 1;
        }
    return 0;
}

Program look()
{
    Program p;
    touched = 1;
    dl_iterate_phdr(look_at, &p);
    return p;
}

const Program &program()
{
    static const Program p = look();
    return p;
}

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
    const int file = open(program().file.c_str(), O_RDONLY | O_CLOEXEC);
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

} // namespace

uintptr_t in_file(const void *code) { return reinterpret_cast<uintptr_t>(code) - program().base - 1; }

std::string program_file(void)
{
    char name[PATH_MAX];
    const char *const made = realpath(program().file.c_str(), name);
    return made ? made : "";
}

bool is_constant(const void *at, size_t size)
{
    const uintptr_t from = reinterpret_cast<uintptr_t>(at);
    return std::any_of(program().constants.begin(), program().constants.end(),
                       [=](const Range &r) { return r.from <= from && from + size <= r.to; });
}

std::vector<SharedVariable> shared_variables()
{
    static const std::vector<SharedVariable> of_program = read_program();
    unsigned char *const start = static_cast<unsigned char *>(look().thread_memory);
    std::vector<SharedVariable> here = of_program;
    for (SharedVariable &v : here)
        v.start = start + v.offset;
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
