#include "fiber.h"

#include <sys/mman.h>

asm(".text\n"
    ".globl simt_switch\n"
    ".type simt_switch, @function\n"
    "simt_switch:\n"
    "    push %rbp\n"
    "    push %rbx\n"
    "    push %r12\n"
    "    push %r13\n"
    "    push %r14\n"
    "    push %r15\n"
    "    mov %rsp, (%rdi)\n"
    "    mov %rsi, %rsp\n"
    "    pop %r15\n"
    "    pop %r14\n"
    "    pop %r13\n"
    "    pop %r12\n"
    "    pop %rbx\n"
    "    pop %rbp\n"
    "    ret\n"
    ".size simt_switch, .-simt_switch\n");

namespace simt
{

constexpr size_t GUARD = 4096, SAVED = 6; /* registers that simt_switch pushes */

char *Stacks::at(size_t number)
{
    while (stacks.size() <= number) {
        void *made = mmap(nullptr, GUARD + SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED)
            return nullptr;
        if (mprotect(made, GUARD, PROT_NONE) != 0) {
            munmap(made, GUARD + SIZE);
            return nullptr;
        }
        stacks.push_back(static_cast<char *>(made) + GUARD);
    }
    return stacks[number];
}

void *fresh_fiber(char *stack, size_t number, void (*entry)())
{
    char *const top = stack + Stacks::SIZE - 64 - number % 64 * 192;
    void **const at = reinterpret_cast<void **>(top);
    at[0] = reinterpret_cast<void *>(entry);
    at[1] = nullptr; /* where a return address would be: `entry` finds its stack as a call leaves it */
    for (size_t k = 1; k <= SAVED; k++)
        *(at - k) = nullptr;
    return at - SAVED;
}

} // namespace simt
