/* The scheduler of emulate.cuh: fibers, and the places where lanes wait for each other. */
#include "emulate.cuh"

#include <cstdio>
#include <memory>
#include <random>
#include <ucontext.h>
#include <vector>

namespace emulate
{

Place here;

namespace
{

enum State { RUNNABLE, AT_WARP, AT_BARRIER, LEFT };

struct Wait {
    Kind kind;
    unsigned mask;
    uint64_t value;
    int argument, width;
};

struct Lane {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    Place place;
    State state;
    Wait wait;
    uint64_t result;
    unsigned char *shared;
};

constexpr size_t STACK = 64 * 1024;
std::mt19937 order(1);
std::vector<Lane> lanes;
std::vector<std::unique_ptr<char[]>> stacks; /* kept between launches */
size_t block_size, running;
ucontext_t scheduler;
const std::function<void()> *work;

[[noreturn]] void stop(const char *what)
{
    const Place &p = lanes[running].place;
    std::fprintf(stderr, "emulation: %s (block %u, thread %u)\n", what, p.block.x, p.thread.x);
    std::abort();
}

void lane_main()
{
    (*work)();
    lanes[running].state = LEFT;
    swapcontext(&lanes[running].context, &scheduler);
}

void yield(State state)
{
    Lane &lane = lanes[running];
    lane.state = state;
    swapcontext(&lane.context, &scheduler);
}

size_t warp_start(size_t lane)
{
    const size_t in_block = lane % block_size;
    return lane - in_block % 32;
}

int source_lane(int lane, const Wait &w)
{
    const int base = lane / w.width * w.width, in = lane % w.width;
    int from = lane;
    if (w.kind == SHUFFLE)
        from = base + (w.argument & (w.width - 1));
    else if (w.kind == SHUFFLE_UP && in - w.argument >= 0)
        from = lane - w.argument;
    else if (w.kind == SHUFFLE_DOWN && in + w.argument < w.width)
        from = lane + w.argument;
    else if (w.kind == SHUFFLE_XOR && (lane ^ w.argument) < base + w.width)
        from = lane ^ w.argument;
    return from;
}

/* Lets the lanes of a warp go on once all that the mask names have come to the same operation. */
void meet(size_t arrived)
{
    const Wait &w = lanes[arrived].wait;
    const size_t first = warp_start(arrived),
                 end = std::min(first + 32, arrived - arrived % block_size + block_size);
    if (!(w.mask >> (arrived - first) & 1))
        stop("a lane that its own mask does not name");
    if (end - first < 32 && w.mask != 0xffffffffu && w.mask >> (end - first))
        stop("a mask that names lanes which the block does not have");
    unsigned ballot = 0;
    for (size_t l = first; l < end; l++) {
        if (!(w.mask >> (l - first) & 1))
            continue;
        const Lane &other = lanes[l];
        if (other.state == LEFT)
            stop("a mask that names a lane which has left");
        if (other.state != AT_WARP)
            return;
        if (other.wait.mask != w.mask && !(other.wait.mask >> (arrived - first) & 1))
            return; /* busy among a part of the warp; it has yet to come here */
        if (other.wait.kind != w.kind || other.wait.mask != w.mask)
            stop("lanes of one mask that wait for different operations");
        ballot |= static_cast<unsigned>(other.wait.value != 0) << (l - first);
    }
    for (size_t l = first; l < end; l++)
        if (w.mask >> (l - first) & 1) {
            const Wait &own = lanes[l].wait;
            const size_t from = first + static_cast<size_t>(source_lane(static_cast<int>(l - first), own));
            if (own.kind <= SHUFFLE_XOR && (from >= end || !(own.mask >> (from - first) & 1)))
                stop("a shuffle from a lane outside the mask");
            lanes[l].result = own.kind == BALLOT      ? ballot
                              : own.kind == SYNC_WARP ? 0
                                                      : lanes[from].wait.value;
        }
    const unsigned mask = w.mask;
    for (size_t l = first; l < end; l++)
        if (mask >> (l - first) & 1)
            lanes[l].state = RUNNABLE;
}

/* Lets a block go on once all its lanes, but those that have left, are at the barrier. */
void release_block(size_t any)
{
    const size_t first = any - any % block_size;
    for (size_t l = first; l < first + block_size; l++)
        if (lanes[l].state != AT_BARRIER && lanes[l].state != LEFT)
            return;
    for (size_t l = first; l < first + block_size; l++)
        if (lanes[l].state == AT_BARRIER)
            lanes[l].state = RUNNABLE;
}

void run_all()
{
    std::vector<size_t> ready;
    for (;;) {
        ready.clear();
        bool left = true;
        for (size_t l = 0; l < lanes.size(); l++) {
            left = left && lanes[l].state == LEFT;
            if (lanes[l].state == RUNNABLE)
                ready.push_back(l);
        }
        if (left)
            return;
        if (ready.empty())
            stop("all lanes wait for ever");
        std::shuffle(ready.begin(), ready.end(), order);
        for (const size_t l : ready) {
            if (lanes[l].state != RUNNABLE)
                continue;
            running = l;
            here = lanes[l].place;
            swapcontext(&scheduler, &lanes[l].context);
            if (lanes[l].state == AT_WARP)
                meet(l);
            else if (lanes[l].state == AT_BARRIER || lanes[l].state == LEFT)
                release_block(l);
        }
    }
}

void begin(size_t l, dim3 grid, dim3 block, unsigned at, unsigned thread, unsigned char *memory)
{
    Lane &lane = lanes[l];
    if (stacks.empty())
        stacks.push_back(std::make_unique<char[]>(STACK));
    lane.stack = std::move(stacks.back());
    stacks.pop_back();
    lane.place = {{thread % block.x, thread / block.x % block.y, thread / block.x / block.y},
                  {at % grid.x, at / grid.x % grid.y, at / grid.x / grid.y},
                  block,
                  grid};
    lane.state = RUNNABLE;
    lane.shared = memory;
    getcontext(&lane.context);
    lane.context.uc_stack.ss_sp = lane.stack.get();
    lane.context.uc_stack.ss_size = STACK;
    lane.context.uc_link = nullptr;
    makecontext(&lane.context, lane_main, 0);
}

} // namespace

unsigned char *shared() { return lanes[running].shared; }

void launch(dim3 grid, dim3 block, size_t shared_bytes, int resident, const std::function<void()> &kernel)
{
    const size_t blocks = size_t{grid.x} * grid.y * grid.z;
    block_size = size_t{block.x} * block.y * block.z;
    work = &kernel;
    for (size_t first = 0; first < blocks; first += static_cast<size_t>(resident)) {
        const size_t together = std::min<size_t>(static_cast<size_t>(resident), blocks - first);
        /* Exact blocks of malloc, so that the address sanitizer sees what leaves them. */
        std::vector<std::unique_ptr<unsigned char, decltype(&std::free)>> memory;
        lanes = std::vector<Lane>(together * block_size);
        for (size_t b = 0; b < together; b++) {
            const size_t room = (shared_bytes + 127) / 128 * 128;
            void *made = room ? std::aligned_alloc(128, room) : nullptr;
            if (made)
                std::memset(made, 0xa5, room);
            memory.emplace_back(static_cast<unsigned char *>(made), &std::free);
            for (size_t t = 0; t < block_size; t++)
                begin(b * block_size + t, grid, block, static_cast<unsigned>(first + b),
                      static_cast<unsigned>(t), static_cast<unsigned char *>(made));
        }
        run_all();
        for (Lane &lane : lanes)
            stacks.push_back(std::move(lane.stack));
    }
}

uint64_t warp_operation(Kind kind, unsigned mask, uint64_t value, int argument, int width)
{
    lanes[running].wait = {kind, mask, value, argument, width};
    yield(AT_WARP);
    return lanes[running].result;
}

void barrier() { yield(AT_BARRIER); }

void give_way() { yield(RUNNABLE); }

} // namespace emulate
