/* What is known of memory while a kernel runs: where it may read and write, and who did so last. */
#ifndef SIMT_MEMORY_H
#define SIMT_MEMORY_H

#include "simt_calls.h"
#include "simt_order.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace simt
{

struct Lane;

/* An end of an asynchronous copy that its thread has not waited for. */
struct Flight {
    const unsigned char *at;
    size_t size;
    int thread;
    simt_site site;
    bool source;
};

/* An access of the past: by which thread, and when on the clocks that order.cpp compares. */
struct Access {
    int thread = -1; /* none */
    uint32_t epoch = 0;
    uint32_t clock : 31;
    uint32_t strong : 1; /* atomic or volatile: two of them are no race */
    Access() : clock(0), strong(0) {}
};

/* Of a few bytes: the last write and the last atomic one after it, and reads since. A read that comes after
 * another takes its place, and loses nothing; of many that nothing orders three are kept, drawn at random. */
struct Cell {
    static constexpr int KEPT = 3;
    Access write, atomic, reads[KEPT];
};

/* What an access does; an atomic operation does all three. Strong ones, atomic and volatile, do not race with
 * each other. */
enum How : unsigned { READS = 1, WRITES = 2, STRONG = 4 };

enum class Space : uint8_t { GLOBAL, SHARED };

/* Memory that a kernel may reach, as one array. Cells are made where something happens, for 4 bytes each;
 * where 1 or 2 bytes are accessed, for as few: else neighbours that different lanes write would look like
 * one. */
class Region
{
  public:
    Region(void *start, size_t bytes, const std::string &name, Space space);
    bool holds(const void *at, size_t size) const;
    void check(const Lane &lane, const void *at, size_t size, unsigned how, const void *code);
    Flag &flag(const void *at)
    {
        return flags[reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(start)];
    }
    void forget()
    {
        pages.clear();
        flags.clear();
        flights.clear();
    }

    unsigned char *start;
    size_t bytes;
    std::string name;
    Space space;
    std::vector<Flight> flights;

  private:
    static constexpr size_t PAGE = 1024;
    struct Page {
        size_t grain = 4;
        std::vector<Cell> cells;
    };
    void refine(Page &page, size_t grain);
    Page &page_of(size_t offset, size_t end);
    /* One of all the accesses that Region::check finds. */
    struct Step {
        const Lane &lane;
        const Access &mine;
        size_t offset, size;
        unsigned how;
        const void *code;
    };
    void check_cell(Cell &cell, const Step &step) const;
    void check_before(const Access &before, const char *what, const Step &step) const;

    uintptr_t first; /* `start`, down to a whole word */
    std::vector<std::unique_ptr<Page>> pages;
    std::unordered_map<size_t, Flag> flags; /* words that lanes watch, by where they begin */
};

/* hooks.cpp: the running lane is about to access memory. Others may run before it does. */
void access_word(const void *at, size_t size, unsigned how, const void *code); /* at a multiple of its size */
void access(const void *at, size_t size, unsigned how, const void *code);

/* In the running block's memory, or in memory that was given; NULL: not there. */
Region *find_shared(const void *at, size_t size);
Region *find_global(const void *at, size_t size);

} // namespace simt

#endif
