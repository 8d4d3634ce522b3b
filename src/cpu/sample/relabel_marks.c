/* Numbers for the vertices that were picked, by marks: two bits for every vertex that there may be, one for
 * those that are known and one for those that are new. A vertex's place among the new, and so its number, is
 * how many bits are set before its own: nothing is sorted, and what is looked at in any order is a small part
 * of a table. The marks of a graph are more than its picks if the batch is small: then there is a table. */
#include "cpu/sample/relabel_work.h"

#include "cpu/kernels/mark_kernels.h"

#define AHEAD 16   /* vertices between the fetch of a mark and its use */
#define CHUNK 4096 /* vertices that a thread takes at a time */
#define FEW 2 /* vertices to be numbered for every mark, at least: 24 bytes, where a table takes 12 each */

typedef struct marks {
    ftb_relabel_product *p;
    ftb_mark *at;
    int64_t count;
    _Atomic uint32_t *numbers; /* of the known ones, in the order of vertices */
    int threads;
} marks;

static int64_t marks_of(int64_t bound) { return bound / 64 + (bound % 64 > 0); }

bool ftb_relabel_by_few(const ftb_relabel_product *p)
{
    return !p->trees && !p->wide && marks_of(p->bound) * FEW <= p->nknown + p->rowptr[p->nrows];
}

static inline uint64_t bit_of(int64_t v) { return UINT64_C(1) << (v & 63); }

static inline uint64_t bits_of(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static inline void set(const marks *m, _Atomic uint64_t *word, uint64_t bit)
{
    const uint64_t was = bits_of(word);
    if (was & bit)
        return;
    if (m->threads == 1)
        atomic_store_explicit(word, was | bit, memory_order_relaxed);
    else
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}

/* No vertex is known or new, and none has a number. */
static void clear(const marks *m)
{
    const int64_t known = m->p->nknown + 1;
#pragma omp parallel num_threads(m->threads)
    {
#pragma omp for schedule(static) nowait
        for (int64_t w = 0; w < m->count; w += CHUNK)
            memset((void *)(m->at + w), 0, (size_t)ftb_min(CHUNK, m->count - w) * sizeof *m->at);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < known; i += CHUNK)
            memset((void *)(m->numbers + i), 0xff, (size_t)ftb_min(CHUNK, known - i) * sizeof *m->numbers);
    }
}

static void mark_known(const marks *m)
{
    const ftb_relabel_product *p = m->p;
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int64_t i = 0; i < p->nknown; i++) {
        if (i + AHEAD < p->nknown)
            __builtin_prefetch(&m->at[p->known[i + AHEAD] >> 6], 1);
        set(m, &m->at[p->known[i] >> 6].known, bit_of(p->known[i]));
    }
}

static void mark_picks(const marks *m)
{
    const int32_t *columns = m->p->columns;
    const int64_t picks = m->p->rowptr[m->p->nrows];
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int64_t first = 0; first < picks; first += CHUNK) {
        const int64_t end = ftb_min(picks, first + CHUNK);
        for (int64_t e = first; e < end; e++) {
            ftb_mark *mark = &m->at[columns[e] >> 6];
            if (e + AHEAD < end)
                __builtin_prefetch(&m->at[columns[e + AHEAD] >> 6], 1);
            if (!(bits_of(&mark->known) & bit_of(columns[e])))
                set(m, &mark->fresh, bit_of(columns[e]));
        }
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
        const uint64_t before = bits_of(&mark->known) & (bit_of(p->known[i]) - 1);
        ftb_relabel_lower(&m->numbers[mark->known_before + (uint32_t)__builtin_popcountll(before)],
                          (uint32_t)i);
    }
}

static void list_fresh(const marks *m)
{
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int64_t w = 0; w < m->count; w++) {
        int64_t *to = m->p->vertices + m->p->nknown + m->at[w].fresh_before;
        for (uint64_t left = bits_of(&m->at[w].fresh); left; left &= left - 1)
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
    m.numbers = ftb_new(p->ctx, p->nknown + 1, sizeof *m.numbers);
    if (!m.at || !m.numbers)
        FTB_CHECK(ftb_nomem());
    clear(&m);
    mark_known(&m);
    mark_picks(&m);
    FTB_CHECK(ftb_relabel_list(p, sum(&m), threads));
    number_known(&m);
    list_fresh(&m);
    number_picks(&m);
    if (p->work)
        *p->work += m.count;
done:
    ftb_delete(m.at);
    ftb_delete((void *)m.numbers);
    return info;
}
