/* What the compiler of kernels says of them in its cubins: an ELF file whose section .nv.info has, among
 * others, a function's stack frame, which is there for what registers did not hold. */
#ifndef TESTS_CUBIN_H
#define TESTS_CUBIN_H

#include "support/check.h"

#include <elf.h>
#include <stdio.h>

enum { CUBIN_FRAME = 0x11, CUBIN_PAIR = 4 }; /* attribute; form: a symbol and a number */

static inline const Elf64_Shdr *cubin_section(const char *image, const char *name, Elf64_Word type)
{
    const Elf64_Ehdr *const header = (const Elf64_Ehdr *)(const void *)image;
    const Elf64_Shdr *const all = (const Elf64_Shdr *)(const void *)(image + header->e_shoff);
    const char *const names = image + all[header->e_shstrndx].sh_offset;
    for (int s = 0; s < header->e_shnum; s++)
        if (name ? strcmp(names + all[s].sh_name, name) == 0 : all[s].sh_type == type)
            return &all[s];
    return NULL;
}

static inline int64_t cubin_bytes(const char *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    assert_memory_equal(header.e_ident, ELFMAG, 4);
    return (int64_t)(header.e_shoff + (size_t)header.e_shnum * header.e_shentsize);
}

static inline void assert_names(const char *image, const char *kernel)
{
    const int64_t bytes = cubin_bytes(image), length = (int64_t)strlen(kernel) + 1;
    for (int64_t at = 0; at + length <= bytes; at++)
        if (memcmp(image + at, kernel, (size_t)length) == 0)
            return;
    fail_msg("no kernel %s", kernel);
}

/* How many functions an image has, none of which has a stack frame, and so none spills; but for those of the
 * direct form, to which NVRTC gives 8 or 16 bytes for sm_100 (nvcc gives them none), and for the
 * compiler's own, such as a division's, which are called seldom. */
static inline int assert_no_frames(const char *source, const char *image)
{
    static const char known[] = "spmm_direct_";
    const Elf64_Shdr *const info = cubin_section(image, ".nv.info", 0), *const symbols = cubin_section(
                                                                            image, NULL, SHT_SYMTAB);
    assert_non_null(info);
    assert_non_null(symbols);
    const Elf64_Shdr *const all =
        (const Elf64_Shdr *)(const void *)(image + ((const Elf64_Ehdr *)(const void *)image)->e_shoff);
    const Elf64_Sym *const symbol = (const Elf64_Sym *)(const void *)(image + symbols->sh_offset);
    const char *const names = image + all[symbols->sh_link].sh_offset,
                      *at = image + info->sh_offset, *const end = at + info->sh_size;
    int functions = 0;
    while (at < end) {
        const unsigned char form = (unsigned char)at[0], what = (unsigned char)at[1];
        uint16_t size;
        uint32_t pair[2];
        memcpy(&size, at + 2, 2);
        at += 4;
        if (form != CUBIN_PAIR)
            continue;
        if (what == CUBIN_FRAME) {
            assert_int_equal(size, sizeof pair);
            memcpy(pair, at, sizeof pair);
            functions++;
            const char *const name = names + symbol[pair[0]].st_name;
            const bool may = strncmp(name, known, strlen(known)) == 0 || name[0] == '$';
            if (pair[1] > (may ? 16 : 0))
                fail_msg("%s: %s has a stack frame of %u bytes", source, name, pair[1]);
        }
        at += size;
    }
    return functions;
}

#endif
