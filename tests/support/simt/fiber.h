/* Fibers: a stack for each thread of a block, and the step from one to another. */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <cstddef>
#include <vector>

/* Keeps what a function must keep for its caller on the stack, whose end it stores at *save, and goes on
 * where `to`, stored so before, was left. */
extern "C" void simt_switch(void **save, void *to);

namespace simt
{

/* Stacks live as long as the process: launches use them again. A page below each faults. */
class Stacks
{
  public:
    static constexpr size_t SIZE = 64 * 1024;
    /* The lowest address of stack `number`; NULL: no memory. */
    char *at(size_t number);

  private:
    std::vector<char *> stacks;
};

/* What simt_switch goes to in order to begin `entry`, which must not return, on a stack. Stack `number`
 * begins a little lower than its neighbours: else the tops of all would share the same few lines of a cache.
 */
void *fresh_fiber(char *stack, size_t number, void (*entry)());

} // namespace simt

#endif
