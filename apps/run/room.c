/* What memory limit would do, where one was too small for a run. Coefficients bound, with a quarter to spare,
 * what the least limits were beyond the graph, found by trial on graphs with hubs, roads, and more vertices
 * than entries; runs of one's own texts may take more, and then it is said what was lacking. */
#include "run/programs.h"

#include "core/core.h"
#include "core/words.h"
#include "format_words.h"

#include <math.h>
#include <string.h>

#define SPARE 1.25
#define OF_THREAD 786432.0 /* bytes */

static double threads(void) { return (double)ftb_threads(ftb_context()); }

double run_held(const run_values *v)
{
    const int64_t limit = v->reader.common.memory_limit;
    return limit > 0 ? (double)(limit - ftb_memory_left(ftb_context())) : 0;
}

double run_room(const run_work *w)
{
    static const run_bytes own = {64, 24, 20};
    const run_values *v = w->values;
    const run_bytes *b = w->program ? &w->program->bytes : &own;
    const bool weighted = w->program && v->definition == FTB_PAGERANK_NETWORKX;
    const double n = (double)w->n, k = (double)w->ncolumns, entry = weighted ? fmax(b->entry, 20) : b->entry;
    const FtB_Format format = v->output ? format_of_output(v->output, FTB_TSV) : FTB_NPY;
    const double text = format == FTB_TSV || format == FTB_CSV ? 8 * (2 * k + 1) : 0; /* with numbers */
    return SPARE * (n * (b->vertex + b->column * k + text) + entry * (double)w->nvals +
                    threads() * (OF_THREAD + 3 * n));
}

double run_cf_room(const run_values *v, int64_t nrows, int64_t ncols, int64_t nvals)
{
    const double k = (double)(v->factors > 0 ? v->factors : 32), pitch = 16 * ceil(k / 16);
    const bool gradient = v->method == RUN_SGD + FTB_FACTORIZE_GRADIENT;
    const double row = 4 * (k + pitch * (gradient ? 2 : 1)) + 24;
    return SPARE * (((double)nrows + (double)ncols) * row + 36 * (double)nvals + threads() * OF_THREAD);
}

int run_error(GrB_Info info, int stage, const graph_names *names, const run_values *v, double need)
{
    char given[FTB_WORDS], enough[FTB_WORDS];
    const double limit = (double)v->reader.common.memory_limit;
    if (info != FTB_LIMIT || app_signal() || !strstr(FtB_error(), "memory limit: ") ||
        strstr(FtB_error(), "are enough") || need <= limit)
        return graph_error(info, stage, names);
    return app_fail(APP_MEMORY, "memory limit: %s are too few; a limit that would do is %s",
                    ftb_bytes_text(given, limit), ftb_bytes_text(enough, need));
}
