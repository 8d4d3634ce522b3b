/* Plans over the entries of a pattern, for people: set and read by name. */
#include "plan/sddmm_plan.h"

#include <stdlib.h>
#include <string.h>

static const char *const families[] = {"auto", "rows", "segments", "fused", "staged", "cusparse"};
enum { FAMILIES = sizeof families / sizeof *families };

/* Attention has no cuSPARSE, and nothing else has steps. */
static bool has_family(const ftb_sddmm_facts *facts, int family)
{
    return facts->attention ? family != FTB_SDDMM_CUSPARSE
                            : family != FTB_SDDMM_FUSED && family != FTB_SDDMM_STAGED;
}

/* A whole number in [1, high], or 0. */
static int64_t number_to(const char *text, int64_t high)
{
    char *end;
    long long x = strtoll(text, &end, 10);
    return *text && !*end && x >= 1 && x <= high ? x : 0;
}

/* Features or heads as bytes of a source: whole pieces. */
static int64_t tile_bytes(const ftb_sddmm_facts *facts, int64_t x)
{
    int64_t pieces = facts->piece > 0 ? (x + facts->piece - 1) / facts->piece : 1;
    return facts->piece_bytes > 0 ? pieces * facts->piece_bytes : facts->source_bytes;
}

/* What is set by hand outlasts what was chosen: another kernel, or segments where none were chosen, leave the
 * rest of the choice to the rule again. */
static void force(ftb_sddmm_plan *plan, unsigned bit)
{
    ftb_sddmm_asked *asked = &plan->asked;
    if (bit == FTB_SDDMM_SET_KERNEL ||
        (bit == FTB_SDDMM_SET_SEGMENT && asked->chosen & FTB_SDDMM_SET_KERNEL &&
         asked->family != FTB_SDDMM_SEGMENTS)) {
        asked->forced &= ~asked->chosen;
        asked->chosen = 0;
    }
    asked->forced |= bit;
    asked->chosen &= ~bit;
    if (bit == FTB_SDDMM_SET_KERNEL)
        plan->there.family = 0;
}

const char *ftb_sddmm_plan_set(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, const char *key,
                               const char *value)
{
    int64_t x;
    if (strcmp(key, "kernel") == 0) {
        for (int f = 0; f < FAMILIES; f++)
            if (strcmp(value, families[f]) == 0 && has_family(facts, f)) {
                force(plan, FTB_SDDMM_SET_KERNEL);
                plan->asked.family = (ftb_sddmm_family)f;
                return NULL;
            }
        return facts->attention ? "auto, fused, staged, rows or segments"
                                : "auto, rows, segments or cusparse";
    }
    if (strcmp(key, "segment") == 0) {
        if (!(x = number_to(value, 65536)))
            return "sources of a segment, 1 to 65536";
        plan->asked.segment = x;
        force(plan, FTB_SDDMM_SET_SEGMENT);
        return NULL;
    }
    if (strcmp(key, "tile") == 0) {
        if (!(x = number_to(value, INT32_MAX)))
            return facts->attention ? "heads of a tile, 1 or more" : "features of a tile, 1 or more";
        plan->asked.tile = tile_bytes(facts, x);
        force(plan, FTB_SDDMM_SET_TILE);
        return NULL;
    }
    if (strcmp(key, "threads") == 0) {
        if (!(x = number_to(value, 4096)))
            return "1 to 4096";
        plan->asked.threads = (int)x;
        force(plan, FTB_SDDMM_SET_THREADS);
        return NULL;
    }
    return "a key of products over entries: kernel, segment, tile, threads";
}

bool ftb_sddmm_plan_get(const ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, const char *key,
                        double *value)
{
    const double tile = (double)plan->tile, source = (double)facts->source_bytes;
    const int64_t segment = plan->segment;
    const double all = (double)(facts->attention ? facts->heads : facts->features);
    const struct {
        const char *key;
        double value;
    } figures[] = {
        {"segment", (double)segment},
        {"staged", plan->staged},
        {"segments", segment > 0 ? (double)((facts->ncols + segment - 1) / segment) : 0},
        {"tile",
         segment > 0 && tile < source ? tile / (double)facts->piece_bytes * (double)facts->piece : all},
        {"threads", plan->threads},
        {"visits", plan->visits},
        {"seconds", plan->seconds},
        {"direct_seconds", plan->direct},
        {"gpu_seconds", plan->gpu.seconds},
        {"cusparse", plan->gpu.sparse},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        if (strcmp(key, figures[f].key) == 0) {
            *value = figures[f].value;
            return true;
        }
    return false;
}
