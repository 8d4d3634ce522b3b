/* Rounds of factors over ratings. What threads work on at once shares nothing that is written, and sets of
 * such work follow each other in an order that the ratings alone tell: bits do not depend on threads.
 *
 * Stochastic descent by blocks: Gemulla et al., KDD 2011. */
#include "cpu/graph/factorize_run.h"

#include <omp.h>

enum { PARTS = 512 }; /* of rows, each of about as many ratings */

static ftb_factors factors_of(const ftb_factorize *w, const ftb_rated *r, void *own, void *other)
{
    return (ftb_factors){.ratings = {NULL, r->p->rowptr, r->p->colidx, r->value},
                         .own = own,
                         .other = other,
                         .nfactors = w->nfactors,
                         .pitch = w->pitch,
                         .rate = w->rate,
                         .lambda = w->lambda,
                         .once = w->once};
}

/* ---- stochastic */

GrB_Info ftb_factorize_descend_run(const ftb_factorize *w, int64_t round)
{
    const ftb_rating_blocks *b = &w->blocks;
    const ftb_factors f = {.ratings = {b->row, b->start, b->column, b->value},
                           .own = w->U,
                           .other = w->V,
                           .nfactors = w->nfactors,
                           .pitch = w->pitch,
                           .rate = w->rate,
                           .lambda = w->lambda};
    const int threads = (int)ftb_min(ftb_threads_for(w->ctx, w->rows.p->nvals), b->slices);
    atomic_bool stopped = false;
    for (int64_t set = 0; set < b->slices; set++) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (int64_t s = 0; s < b->slices; s++) {
            const int64_t block = s * b->slices + (s + set + round) % b->slices;
            if (!ftb_stops(w->ctx, &stopped))
                FTB_PICK_REAL(ftb_factorize_descend, w->type)(&f, b->first[block], b->first[block + 1]);
        }
    }
    return ftb_check_stopped(w->ctx, &stopped);
}

/* ---- least squares */

/* The best factors of one side, for the other's as they are. */
static GrB_Info solve_side(const ftb_factorize *w, const ftb_rated *r, void *own, void *other,
                           const char *side)
{
    const ftb_factors f = factors_of(w, r, own, other);
    const int threads = ftb_threads_for(w->ctx, r->p->nvals * w->nfactors);
    const int64_t room = ftb_factorize_solve_room(w->pitch);
    const size_t size = FtB_Type_size(w->type);
    char *rooms = ftb_new(w->ctx, threads * room, size);
    int64_t failed = INT64_MAX;
    atomic_bool stopped = false;
    if (!rooms)
        return ftb_nomem();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(min : failed)
    for (int part = 0; part < PARTS; part++) {
        if (ftb_stops(w->ctx, &stopped))
            continue;
        const int64_t row = FTB_PICK_REAL(ftb_factorize_solve, w->type)(
            &f, ftb_pattern_cut(r->p, part, PARTS), ftb_pattern_cut(r->p, part + 1, PARTS),
            rooms + (size_t)(omp_get_thread_num() * room) * size);
        failed = row >= 0 ? ftb_min(failed, row) : failed;
    }
    ftb_delete(rooms);
    if (failed < INT64_MAX)
        return ftb_fail(GrB_NO_VALUE,
                        "%s %lld of R has no one best factors in %s; expected a larger lambda than %g", side,
                        (long long)failed, FtB_Type_name(w->type), w->lambda);
    return ftb_check_stopped(w->ctx, &stopped);
}

GrB_Info ftb_factorize_solve_run(const ftb_factorize *w)
{
    GrB_Info info = solve_side(w, &w->rows, w->U, w->V, "row");
    return info == GrB_SUCCESS ? solve_side(w, &w->columns, w->V, w->U, "column") : info;
}

/* ---- all ratings together */

static GrB_Info step_side(const ftb_factorize *w, const ftb_rated *r, void *own, void *other, void *next)
{
    ftb_factors f = factors_of(w, r, own, other);
    atomic_bool stopped = false;
    f.next = next;
#pragma omp parallel for num_threads(ftb_threads_for(w->ctx, r->p->nvals * w->nfactors)) schedule(dynamic, 1)
    for (int part = 0; part < PARTS; part++)
        if (!ftb_stops(w->ctx, &stopped))
            FTB_PICK_REAL(ftb_factorize_gradient, w->type)
    (&f, ftb_pattern_cut(r->p, part, PARTS), ftb_pattern_cut(r->p, part + 1, PARTS));
    return ftb_check_stopped(w->ctx, &stopped);
}

GrB_Info ftb_factorize_gradient_run(ftb_factorize *w)
{
    GrB_Info info = step_side(w, &w->rows, w->U, w->V, w->nextU);
    if (info == GrB_SUCCESS)
        info = step_side(w, &w->columns, w->V, w->U, w->nextV);
    if (info != GrB_SUCCESS)
        return info;
    void *U = w->U, *V = w->V;
    w->U = w->nextU;
    w->V = w->nextV;
    w->nextU = U;
    w->nextV = V;
    return GrB_SUCCESS;
}
