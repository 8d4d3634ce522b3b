/* Numbers for the vertices that were picked, by marks: two bits for every vertex that there may be, one for
 * those that are known and one for those that are new. A vertex's place among the new, and so its number, is
 * how many bits are set before its own: nothing is sorted, and what is looked at in any order is a small part
 * of a table. Each thread sets bits of its own, which are joined: so it need not ask what was there, and no
 * two write to a line. The marks of a graph are more than its picks if the batch is small: then there is a
 * table. */
#include "cpu/sample/relabel_work.h"

#include "cpu/kernels/mark_kernels.h"

#define AHEAD 16   /* vertices between the fetch of a mark and its use */
#define CHUNK 4096 /* vertices that a thread takes at a time */
#define PLACE 12   /* bytes that a table takes for each vertex to be numbered */

typedef struct marks {
    ftb_relabel_product *p;
    ftb_mark *at;
    uint64_t *found; /* bits that each thread has set, `count` words a thread */
    int64_t count;
    _Atomic uint32_t *numbers; /* of the known ones, in the order of vertices */
    int threads;
} marks;

static int64_t marks_of(int64_t bound) { return bound / 64 + (bound % 64 > 0); }

bool ftb_relabel_by_few(const ftb_relabel_product *p, int threads)
{
    const int64_t mark = (int64_t)sizeof(ftb_mark) + threads * (int64_t)sizeof(uint64_t); /* bytes of each */
    return !p->trees && !p->wide && marks_of(p->bound) <= (p->nknown + p->rowptr[p->nrows]) * PLACE / mark;
}

static inline uint64_t bit_of(int64_t v) { return UINT64_C(1) << (v & 63); }

/* None of the known ones has a number. */
static void clear_numbers(const marks *m)
{
    const int64_t known = m->p->nknown + 1;
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int64_t i = 0; i < known; i += CHUNK)
        memset((void *)(m->numbers + i), 0xff, (size_t)ftb_min(CHUNK, known - i) * sizeof *m->numbers);
}

/* A thread's own bits, of which none is set. */
static uint64_t *no_bits(const marks *m, int part)
{
    return memset(m->found + part * m->count, 0, (size_t)m->count * sizeof *m->found);
}

static void find_known(const marks *m)
{
    const ftb_relabel_product *p = m->p;
    const int64_t each = (p->nknown + m->threads - 1) / m->threads;
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int part = 0; part < m->threads; part++) {
        const int64_t end = ftb_min(p->nknown, (part + 1) * each);
        uint64_t *found = no_bits(m, part);
        for (int64_t i = part * each; i < end; i++) {
            if (i + AHEAD < end)
                __builtin_prefetch(&found[p->known[i + AHEAD] >> 6], 1);
            found[p->known[i] >> 6] |= bit_of(p->known[i]);
        }
    }
}

static void find_picks(const marks *m)
{
    const int32_t *columns = m->p->columns;
    const int64_t picks = m->p->rowptr[m->p->nrows], each = (picks + m->threads - 1) / m->threads;
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int part = 0; part < m->threads; part++) {
        const int64_t end = ftb_min(picks, (part + 1) * each);
        uint64_t *found = no_bits(m, part);
        for (int64_t e = part * each; e < end; e++) {
            if (e + AHEAD < end)
                __builtin_prefetch(&found[columns[e + AHEAD] >> 6], 1);
            found[columns[e] >> 6] |= bit_of(columns[e]);
        }
    }
}

/* What any thread has found is known, or, afterwards, new if it is not known. */
static void join_found(const marks *m, bool fresh)
{
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int64_t w = 0; w < m->count; w++) {
        uint64_t found = 0;
        for (int part = 0; part < m->threads; part++)
            found |= m->found[part * m->count + w];
        if (fresh)
            m->at[w].fresh = found & ~m->at[w].known;
        else
            m->at[w].known = found;
    }
}

/* Counts what is before each mark: the threads' parts first, then all together. Returns how many are new. */
static uint32_t sum(const marks *m)
{
    enum { PARTS = 64 };
    uint32_t known[PARTS + 1] = {0}, fresh[PARTS + 1] = {0};
    const int parts = m->threads < PARTS ? m->threads : PARTS;
    const int64_t each = (m->count + parts - 1) / parts;
    for (int round = parts > 1 ? 0 : 1; round < 2; round++) {
#pragma omp parallel for num_threads(parts) schedule(static)
        for (int part = 0; part < parts; part++) {
            const int64_t from = ftb_min(m->count, part * each), end = ftb_min(m->count, from + each);
            uint32_t k = round ? known[part] : 0, f = round ? fresh[part] : 0;
            FTB_PICK(ftb_marks_sum)(m->at + from, end - from, &k, &f);
            if (round == 0 || part == parts - 1) {
                known[part + 1] = k;
                fresh[part + 1] = f;
            }
        }
        for (int part = 0; part < parts && round == 0; part++) {
            known[part + 1] += known[part];
            fresh[part + 1] += fresh[part];
        }
    }
    return fresh[parts];
}

static void number_known(const marks *m)
{
    const ftb_relabel_product *p = m->p;
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int64_t i = 0; i < p->nknown; i++) {
        const ftb_mark *mark = &m->at[p->known[i] >> 6];
        if (i + AHEAD < p->nknown)
            __builtin_prefetch(&m->at[p->known[i + AHEAD] >> 6]);
        const uint64_t before = mark->known & (bit_of(p->known[i]) - 1);
        ftb_relabel_lower(&m->numbers[mark->known_before + (uint32_t)__builtin_popcountll(before)],
                          (uint32_t)i);
    }
}

static void list_fresh(const marks *m)
{
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int64_t w = 0; w < m->count; w++) {
        int64_t *to = m->p->vertices + m->p->nknown + m->at[w].fresh_before;
        for (uint64_t left = m->at[w].fresh; left; left &= left - 1)
            *to++ = w * 64 + __builtin_ctzll(left);
    }
}

static void number_picks(const marks *m)
{
    const ftb_relabel_product *p = m->p;
    const int32_t *columns = p->columns;
#pragma omp parallel for num_threads(m->threads) schedule(dynamic)
    for (int64_t first = 0; first < p->nrows; first += FTB_RELABEL_ROWS) {
        const int64_t end = ftb_min(p->nrows, first + FTB_RELABEL_ROWS), from = p->rowptr[first];
        FTB_PICK(ftb_marks_number)
        (p->local + from, columns + from, p->rowptr[end] - from, m->at, m->numbers, (uint32_t)p->nknown);
        ftb_relabel_sort(p, first, end);
    }
}

GrB_Info ftb_relabel_by_marks(ftb_relabel_product *p, int threads)
{
    GrB_Info info = GrB_SUCCESS;
    marks m = {.p = p, .count = marks_of(p->bound), .threads = threads};
    m.at = ftb_new(p->ctx, m.count, sizeof *m.at);
    m.found = ftb_new(p->ctx, threads * m.count, sizeof *m.found);
    m.numbers = ftb_new(p->ctx, p->nknown + 1, sizeof *m.numbers);
    if (!m.at || !m.found || !m.numbers)
        FTB_CHECK(ftb_nomem());
    clear_numbers(&m);
    find_known(&m);
    join_found(&m, false);
    find_picks(&m);
    join_found(&m, true);
    FTB_CHECK(ftb_relabel_list(p, sum(&m), threads));
    number_known(&m);
    list_fresh(&m);
    number_picks(&m);
    if (p->work)
        *p->work += (1 + threads) * m.count;
done:
    ftb_delete(m.at);
    ftb_delete(m.found);
    ftb_delete((void *)m.numbers);
    return info;
}
