/* Races: two accesses of the same bytes, one of them a write, that nothing orders (order.cpp). */
#include "simt_memory.h"

#include "simt_machine.h"

#include <algorithm>

namespace simt
{

namespace
{

constexpr size_t WORD = 4;

/* The most bytes, to a word, that `at` and `size` are multiples of. */
size_t grain_of(size_t at, size_t size)
{
    const size_t both = at | size | WORD;
    return both & (~both + 1);
}

std::string other_place(int thread)
{
    const int size = static_cast<int>(now.block_size);
    const uint3 block = index_of(static_cast<unsigned>(thread / size), now.grid),
                index = index_of(static_cast<unsigned>(thread % size), now.threads);
    return place_of(block, index);
}

} // namespace

Region::Region(void *start_, size_t bytes_, const std::string &name_, Space space_)
    : start(static_cast<unsigned char *>(start_)), bytes(bytes_), name(name_), space(space_),
      first(reinterpret_cast<uintptr_t>(start_) / WORD * WORD)
{
}

bool Region::holds(const void *at, size_t size) const
{
    const size_t offset = reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(start);
    return offset < bytes && size <= bytes - offset;
}

void Region::refine(Page &page, size_t grain)
{
    const size_t times = page.grain / grain;
    std::vector<Cell> finer;
    finer.reserve(page.cells.size() * times);
    for (const Cell &cell : page.cells)
        finer.insert(finer.end(), times, cell);
    page.cells.swap(finer);
    page.grain = grain;
}

/* The page of an access that begins at `offset` and ends in the same page, with cells that it fills. */
Region::Page &Region::page_of(size_t offset, size_t end)
{
    if (pages.empty())
        pages.resize((reinterpret_cast<uintptr_t>(start) - first + bytes + PAGE - 1) / PAGE);
    std::unique_ptr<Page> &page = pages[offset / PAGE];
    if (!page) {
        page = std::make_unique<Page>();
        page->cells.resize(PAGE / page->grain);
    }
    const size_t grain = grain_of(offset, end - offset);
    if (grain < page->grain)
        refine(*page, grain);
    return *page;
}

/* Two atomic accesses are in some order, whatever it is. */
void Region::check_before(const Access &before, const char *what, const Step &s) const
{
    if ((s.mine.strong && before.strong) || comes_after(s.lane, before))
        return;
    const size_t from = s.offset - (reinterpret_cast<uintptr_t>(start) - first);
    fault_at(s.code, SIMT_RACE, "%s of %s, bytes %zu to %zu, by %s, and %s by %s: nothing orders them",
             s.mine.strong    ? "an atomic access"
             : s.how & WRITES ? "a write"
                              : "a read",
             name.c_str(), from, from + s.size - 1, place_of(s.lane).c_str(),
             before.strong ? "an atomic access" : what, other_place(before.thread).c_str());
}

void Region::check_cell(Cell &cell, const Step &s) const
{
    check_before(cell.write, "a write", s);
    check_before(cell.atomic, "a write", s);
    if (space == Space::SHARED && (s.how & READS) && cell.write.thread < 0 && cell.atomic.thread < 0)
        fault_at(s.code, SIMT_UNWRITTEN, "%s reads %s, where no thread of its block has written",
                 place_of(s.lane).c_str(), name.c_str());
    if (s.how & WRITES) {
        for (Access &read : cell.reads) {
            check_before(read, "a read", s);
            read = Access();
        }
        (s.mine.strong ? cell.atomic : cell.write) = s.mine;
        if (!s.mine.strong)
            cell.atomic = Access();
        return;
    }
    for (Access &read : cell.reads)
        if (read.thread < 0 || (comes_after(s.lane, read) && (read.strong || !s.mine.strong))) {
            read = s.mine;
            return;
        }
    cell.reads[random_bits() % Cell::KEPT] = s.mine;
}

void Region::check(const Lane &lane, const void *at, size_t size, unsigned how, const void *code)
{
    Access mine;
    mine.thread = lane.id;
    mine.epoch = lane.block->epoch;
    mine.clock = lane.clock[lane.lane] & 0x7fffffff;
    mine.strong = (how & STRONG) != 0;
    size_t offset = reinterpret_cast<uintptr_t>(at) - first;
    const size_t past = offset + size;
    while (offset < past) {
        const size_t end = std::min(past, (offset / PAGE + 1) * PAGE);
        Page &page = page_of(offset, end);
        for (; offset < end; offset += page.grain)
            check_cell(page.cells[offset % PAGE / page.grain], {lane, mine, offset, page.grain, how, code});
    }
}

} // namespace simt
