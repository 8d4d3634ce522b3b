/* What a launch consists of while it runs: blocks, warps, lanes (a lane is a thread, seen from its warp), and
 * the one that is running. Shared by the files of this folder; kernels see simt_cuda.h only. */
#ifndef SIMT_MACHINE_H
#define SIMT_MACHINE_H

#include "fiber.h"
#include "simt.h"
#include "simt_calls.h"
#include "simt_memory.h"
#include "simt_order.h"

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace simt
{

constexpr unsigned WARP = 32;

enum class State : uint8_t { READY, AT_BARRIER, AT_WARP, AT_COPY, LEFT };

struct Block;
struct Warp;

/* What a lane brings to an operation of its warp, or to a barrier, and what it takes away. */
struct Call {
    simt_call kind;
    unsigned mask;
    uint64_t value;
    int argument, width;
    simt_site site;
    uint64_t result;
};

/* A store that others may not see yet. */
struct Store {
    void *at;
    size_t size;
    unsigned char before[16], value[16]; /* of which `size` are there; the value, while it is taken away */
};

/* An asynchronous copy. */
struct Copy {
    unsigned char *to;
    const unsigned char *from;
    size_t size;
    int group;  /* those committed before it */
    bool early; /* `bytes` were read at once */
    unsigned char bytes[16];
    Region *to_region, *from_region;
    const void *code;
};

/* A copy of a run of bytes, which completes on a barrier in shared memory. */
struct Bulk {
    unsigned char *to;
    const unsigned char *from;
    size_t size;
    const void *barrier;
    int thread;
    Region *to_region, *from_region;
};

/* Such a barrier. */
struct Phases {
    unsigned phase = 0; /* that is under way */
    int awaited = 1;    /* arrivals */
    int64_t bytes = 0;  /* expected, less those that are there */
    Known issued, done; /* what is known to those that asked for copies: of this phase, of the last */
    std::vector<Lane *> waiting;
};

struct Lane {
    void *at; /* where it was left */
    char *stack;
    Block *block;
    Warp *warp;
    unsigned thread, lane; /* in the block, in the warp */
    int id;                /* in the grid */
    State state;
    size_t place; /* in the block's list of those that are ready */
    uint3 index;
    Call call;
    uint32_t clock[WARP];              /* its own, and what it knows of its warp's others */
    Known known;                       /* of other warps and blocks */
    Known seen;                        /* in words that it read; known after a fence */
    Known released, released_to_block; /* at its last fence; goes with what it writes for others to watch */
    std::vector<Store> stores;
    std::vector<Copy> copies; /* that it has not waited for */
    int committed;            /* groups of copies */
};

/* What a lane's access is, for counting. */
struct Touch {
    const void *code;
    uint32_t occurrence; /* there, by this lane */
    Space space;
    unsigned phase;
    uintptr_t unit; /* sector of global memory, word of shared memory */
};

/* Lanes that wait for others in one operation. */
struct Meeting {
    unsigned mask;
    simt_call kind;
    unsigned lanes; /* that have come */
};

struct Warp {
    std::vector<Lane *> lanes; /* the last of a block may have fewer than 32 */
    std::vector<Meeting> meetings;
    unsigned present;           /* lanes that have not left */
    std::vector<Touch> touches; /* since all lanes of the warp met, where they are counted */
    std::map<const void *, std::array<uint32_t, WARP>> occurrences;
};

/* A variable that kernels declare __shared__. */
struct SharedVariable {
    unsigned char *start;
    size_t offset, size; /* in the program's memory for a thread */
    std::string name;
};

/* What a block has of one. */
struct SharedCopy {
    Region region;
    std::vector<unsigned char> aside; /* its bytes, while another block runs */
};

struct Block {
    int id;
    size_t slot; /* its place among those side by side, and its lanes' among the stacks */
    uint3 index;
    unsigned left, at_barrier;
    std::vector<Lane> lanes;
    std::vector<Warp> warps;
    std::vector<Lane *> ready;
    std::unique_ptr<unsigned char[]> shared; /* dynamic */
    Region dynamic{nullptr, 0, "dynamic shared memory", Space::SHARED};
    std::vector<std::unique_ptr<SharedCopy>> variables; /* NULL: not touched yet */
    uint32_t epoch;                                     /* barriers so far, and one */
    std::map<const void *, Phases> phases;              /* by barriers of bulk copies */
    std::vector<Bulk> bulks;                            /* under way */
};

struct Launch {
    const simt_kernel *kernel;
    void **arguments;
    uint3 grid, threads;
    unsigned block_size;
    size_t shared;
    simt_options options;
    simt_report *report;
    uint64_t random;
    int64_t steps;
    std::vector<std::unique_ptr<Block>> resident;
    std::vector<SharedVariable> shared_variables;
    Block *block;     /* the one that is running, or ran last */
    Lane *running;    /* NULL: the launch itself */
    unsigned preempt; /* one in so many accesses lets others run; 0: none does */
    bool delays;      /* stores may land late */
    Region *last;     /* global memory that was accessed last: the next access is likely there, too */
    void *at;         /* where the launch itself was left */
    bool abandoned;
};

extern Launch now;
extern std::mutex one_at_a_time; /* launches, and changes of what memory there is */

/* launch.cpp: who runs */
uint64_t random_bits();
inline bool one_in(unsigned n) { return n <= 1 || random_bits() % n == 0; }
void give_way();             /* lets any lane run that is ready, which may be the same */
void rest(State state);      /* the running lane is not ready, from when it gives way until `wake` */
void wake(Lane &lane);       /* is ready */
[[noreturn]] void abandon(); /* what the running lane would do next means nothing */
void step();                 /* counted; abandons a launch that is endless */

/* barrier.cpp, warp.cpp: what a lane that has left lets others do */
void block_without(Lane &gone);
void warp_without(Lane &gone);

/* order.cpp */
bool comes_after(const Lane &lane, const Access &other); /* what the lane does now */
void order_warp(Warp &w, unsigned mask);
void order_block(Block &b);
void watch(Lane &lane, Flag &flag, unsigned how);
void hand_over(Lane &lane, Known &to);          /* all that it knows, and did */
void take_over(Lane &lane, const Known &known); /* from here on it knows that, too */

/* stores.cpp */
void note_store(Lane &lane, void *at, size_t size); /* before it is made */
void land_stores(Lane &lane);
void pause_lane(Lane &lane); /* gives way, with stores that others do not see until it goes on */

/* counters.cpp */
void count(const Lane &lane, Space space, const void *at, size_t size, const void *code);
void count_met(Warp &w); /* all lanes that are there have come to one place */

/* matrices.cpp */
void multiply(Warp &w, simt_call kind); /* what all its lanes have brought */

/* copies.cpp */
void check_flights(const Region &region, const Lane &lane, const void *at, size_t size, unsigned how,
                   const void *code);

void end_flight(Region &region, const void *at, int thread);

/* bulk.cpp */
void land_bulks(Block &b);  /* all that are under way: nobody can go on */
void check_bulks(Block &b); /* at its end */

/* hooks.cpp */
void forget_accesses(); /* of all launches before */

/* watch.cpp: abandons a launch in which nothing happens, as long as this lives */
class Watch
{
  public:
    Watch();
    Watch(const Watch &) = delete;
    ~Watch();

  private:
    struct sigaction before;
    timer_t timer;
    bool running;
};

/* program.cpp */
std::string program_file(void);      /* of the program, or of the library that kernels are in */
uintptr_t in_file(const void *code); /* the same address there, of the instruction before a call returns */
bool is_constant(const void *at, size_t size); /* of the program: what kernels may read, and not write */
Region &shared_region(Block &b, size_t variable);
std::vector<SharedVariable> shared_variables(); /* of the calling thread, by address */
void put_aside(Block &b);                       /* the block's variables, for another's to take their place */
void bring_back(Block &b);

/* report.cpp */
void note_run(const simt_kernel *kernel); /* for tests/all_variants.sh */
void fault(simt_kind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fault_at(const void *code, simt_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint3 index_of(unsigned number, const uint3 &size);
std::string place_of(const uint3 &block, const uint3 &thread);
std::string place_of(const Lane &lane);      /* "block (1, 0, 0), thread (31, 0, 0)" */
std::string place_of(const simt_site &site); /* "spmm.cu:31" */
const char *name_of(simt_call kind);         /* "__shfl_sync" */

} // namespace simt

#endif
