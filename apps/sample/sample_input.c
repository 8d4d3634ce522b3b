/* What `featblas sample` reads: a graph, or a graph for each relation, seeds, times of entries and moments of
 * seeds, entries to leave out. */
#include "sample/sample_parts.h"

#include "core/core.h"
#include "core/draws.h"
#include "core/number.h"
#include "io/io.h"
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- graphs */

/* Names are parts of those of files. */
static bool is_name(const char *text) { return *text && !strchr(text, '/') && strcmp(text, "..") != 0; }

static int parse_relation(sample_relation *r, const char *text)
{
    char *parts[3];
    r->text = strdup(text);
    if (!r->text)
        return app_fail(APP_MEMORY, "out of memory");
    char *file = strchr(r->text, '='), *at = r->text;
    if (file)
        *file++ = '\0';
    for (int n = 0; n < 3; n++)
        parts[n] = at ? strsep(&at, ":") : NULL;
    if (!file || !*file || at || !parts[2] || !is_name(parts[0]) || !is_name(parts[1]) || !is_name(parts[2]))
        return app_fail(APP_USAGE,
                        "--relation: '%s' is not NAME:SOURCE:DESTINATION=FILE, such as "
                        "writes:author:paper=writes.npz",
                        text);
    r->name = parts[0];
    r->source = parts[1];
    r->destination = parts[2];
    r->file = file;
    return APP_OK;
}

static int read_relations(sample_work *w)
{
    const option_texts *given = &w->v->relations;
    int code = app_library_error(FtB_Relations_new(&w->list), APP_INPUT);
    for (int n = 0; n < given->count && code == APP_OK; n++) {
        sample_relation *r = &w->relation[w->nrelations++];
        code = parse_relation(r, given->at[n]);
        if (code == APP_OK)
            code = reader_matrix(&w->v->reader, r->file, "matrix", &r->A, &r->base);
        if (code != APP_OK)
            break;
        const GrB_Info info = FtB_Relations_add(w->list, r->name, r->source, r->destination, r->A);
        code = info == GrB_INVALID_VALUE || info == GrB_DIMENSION_MISMATCH
                   ? app_library_error(ftb_wrap_error(info, "--relation %s: ", given->at[n]), APP_INPUT)
                   : graph_error(info, APP_INPUT, &(graph_names){.path = r->file});
    }
    return code;
}

/* The type of the seeds: --type, or what the first relation leads to. */
static int find_type(sample_work *w)
{
    const char *name = w->v->type ? w->v->type : w->relation[0].destination;
    const char *words[2 * OPTION_TEXTS_MOST];
    const int types = FtB_Relations_types(w->list);
    w->type = FtB_Relations_type_of(w->list, name);
    for (int t = 0; t < types && w->type < 0; t++)
        FtB_Relations_type(w->list, t, &words[t], NULL, NULL);
    if (w->type < 0)
        return app_unknown("type", name, types, words, "--relation names them");
    return app_library_error(FtB_Relations_type(w->list, w->type, NULL, &w->n, NULL), APP_INPUT);
}

static bool has_type(const sample_relation *r, const char *type)
{
    return strcmp(r->source, type) == 0 || strcmp(r->destination, type) == 0;
}

int sample_base(const sample_work *w, int type, int64_t *base, const char *where, const char *expected)
{
    const sample_relation *first = NULL;
    const char *name;
    *base = w->names.base;
    if (!w->list)
        return APP_OK;
    const int code = app_library_error(FtB_Relations_type(w->list, type, &name, NULL, NULL), APP_INPUT);
    for (int r = 0; code == APP_OK && r < w->nrelations; r++) {
        const sample_relation *of = &w->relation[r];
        if (!has_type(of, name))
            continue;
        first = first ? first : of;
        *base = first->base;
        if (of->base != first->base)
            return app_fail(
                APP_INPUT, "%s: '%s' is numbered from %lld in %s and from %lld in %s; expected %s", where,
                name, (long long)first->base, first->file, (long long)of->base, of->file, expected);
    }
    return code;
}

/* Of texts that are written. */
static int check_bases(const sample_work *w)
{
    const int types = w->list && w->v->output && sample_is_text(w) ? FtB_Relations_types(w->list) : 0;
    int64_t base;
    int code = APP_OK;
    for (int t = 0; t < types && code == APP_OK; t++)
        code = sample_base(w, t, &base, "--format tsv", "npz, or files that number it alike");
    return code;
}

/* ---- lists */

static int read_seeds(sample_work *w)
{
    int64_t width, base = -1; /* but of .npy */
    int code = reader_numbers(w->v->seeds, 1, &w->seeds, &w->nseeds, &width, &base);
    if (code == APP_OK && base < 0)
        code = sample_base(w, w->type, &base, w->v->seeds, ".npy, whose numbers are from 0");
    for (int64_t t = 0; code == APP_OK && t < w->nseeds; t++) {
        const int64_t id = w->seeds[t];
        if (id >= base && id - base < w->n)
            w->seeds[t] = id - base;
        else
            return app_fail(APP_INPUT, "%s: seed %lld is %lld; expected %lld to %lld", w->v->seeds,
                            (long long)t + 1, (long long)id, (long long)base, (long long)(w->n - 1 + base));
    }
    return code;
}

/* Different vertices, in the order in which they are drawn. */
static int draw_seeds(sample_work *w)
{
    const int64_t count = w->v->random;
    if (count > w->n)
        return app_fail(APP_USAGE, "--random: %lld seeds of %lld vertices", (long long)count,
                        (long long)w->n);
    bool *taken = calloc((size_t)w->n, 1);
    w->seeds = malloc(sizeof *w->seeds * (size_t)count);
    const uint64_t key = ftb_random_mix((uint64_t)w->v->seed, 0, FTB_DRAW_TREE);
    for (uint64_t d = 0; taken && w->seeds && w->nseeds < count; d++) {
        const int64_t id = (int64_t)ftb_draw_below((uint64_t)w->n, key, d, 0, 0);
        if (!taken[id])
            w->seeds[w->nseeds++] = id;
        taken[id] = true;
    }
    const int code = taken && w->seeds ? APP_OK : app_fail(APP_MEMORY, "out of memory");
    free(taken);
    return code;
}

static int64_t entries_of(FtB_Matrix A)
{
    int64_t nvals = 0;
    FtB_Matrix_shape(A, NULL, NULL, &nvals, NULL, NULL);
    return nvals;
}

/* The values of a graph's entries as times. */
static int take_values(sample_work *w, FtB_Matrix A, const char *path)
{
    const int64_t count = entries_of(A);
    const void *values;
    if (A->width != 1)
        return app_fail(APP_INPUT, "%s: entries have no values, which --times values takes", path);
    const int code = graph_error(FtB_Matrix_csr(A, NULL, NULL, &values), APP_INPUT, &w->names);
    if (code != APP_OK)
        return code;
    int64_t *more = realloc(w->times, sizeof *more * (size_t)(w->ntimes + count + 1));
    if (!more)
        return app_fail(APP_MEMORY, "out of memory");
    w->times = more;
    ftb_cast(w->times + w->ntimes, FTB_INT64, values, A->type, count);
    w->ntimes += count;
    return code;
}

static int read_times(sample_work *w)
{
    int64_t width;
    int code = APP_OK;
    if (strcmp(w->v->times, "values") == 0) {
        if (!w->list)
            return take_values(w, w->A, w->v->graph);
        for (int r = 0; r < w->nrelations && code == APP_OK; r++)
            code = take_values(w, w->relation[r].A, w->relation[r].file);
        return code;
    }
    code = reader_numbers(w->v->times, 1, &w->times, &w->ntimes, &width, NULL);
    if (code == APP_OK && w->ntimes != entries_of(w->A))
        code = app_fail(APP_INPUT, "%s: %lld numbers; expected %lld, one for each entry of %s", w->v->times,
                        (long long)w->ntimes, (long long)entries_of(w->A), w->v->graph);
    return code;
}

/* A moment for all seeds, or a file with one for each. */
static int read_until(sample_work *w)
{
    char *end;
    int64_t width, count;
    errno = 0;
    const long long moment = strtoll(w->v->until, &end, 10);
    if (*w->v->until && !*end && !errno) {
        w->until = malloc(sizeof *w->until * (size_t)(w->nseeds + 1));
        for (int64_t t = 0; t < w->nseeds && w->until; t++)
            w->until[t] = moment;
        return w->until ? APP_OK : app_fail(APP_MEMORY, "out of memory");
    }
    const int code = reader_numbers(w->v->until, 1, &w->until, &count, &width, NULL);
    if (code == APP_OK && count != w->nseeds)
        return app_fail(APP_INPUT, "%s: %lld numbers; expected %lld, one for each seed", w->v->until,
                        (long long)count, (long long)w->nseeds);
    return code;
}

/* ---- exclusions */

/* Appends the places of entries (i, j), of which there are several where they are parallel. */
static int64_t places_of(const ftb_pattern *p, int64_t i, int64_t j, int64_t *to)
{
    int64_t at = p->rowptr[i], end = p->rowptr[i + 1], count = 0;
    while (at < end) {
        const int64_t middle = at + (end - at) / 2;
        if (ftb_col(p, middle) < j)
            at = middle + 1;
        else
            end = middle;
    }
    for (; at < p->rowptr[i + 1] && ftb_col(p, at) == j; at++, count++)
        if (to)
            to[count] = at;
    return count;
}

/* Pairs of a row and a column, as the graph's file numbers them, become places. */
static int find_places(sample_work *w, const int64_t *pairs, int64_t npairs, int64_t base)
{
    const ftb_pattern *p = w->A->pattern;
    const int64_t *rowptr;
    int64_t all = 0;
    const int code = graph_error(FtB_Matrix_csr(w->A, &rowptr, NULL, NULL), APP_INPUT, &w->names);
    if (code != APP_OK)
        return code;
    for (int64_t t = 0; t < npairs; t++) {
        const int64_t i = pairs[2 * t], j = pairs[2 * t + 1];
        const bool inside = i >= base && i - base < w->n && j >= base && j - base < w->n;
        const int64_t count = inside ? places_of(p, i - base, j - base, NULL) : 0;
        if (count == 0)
            return app_fail(APP_INPUT, "%s: pair %lld, %lld and %lld, is no entry of %s", w->v->exclude,
                            (long long)t + 1, (long long)pairs[2 * t], (long long)pairs[2 * t + 1],
                            w->v->graph);
        all += count;
    }
    w->excluded = malloc(sizeof *w->excluded * (size_t)(all + 1));
    if (!w->excluded)
        return app_fail(APP_MEMORY, "out of memory");
    for (int64_t t = 0; t < npairs; t++)
        w->nexcluded +=
            places_of(p, pairs[2 * t] - base, pairs[2 * t + 1] - base, w->excluded + w->nexcluded);
    return APP_OK;
}

static int read_excluded(sample_work *w)
{
    const int64_t nvals = entries_of(w->A);
    int64_t *list = NULL, count, width, base = w->names.base;
    int code = reader_numbers(w->v->exclude, 2, &list, &count, &width, &base);
    if (code == APP_OK && width == 2) {
        code = find_places(w, list, count, base);
        free(list);
        return code;
    }
    w->excluded = list;
    w->nexcluded = code == APP_OK ? count : 0;
    for (int64_t t = 0; t < w->nexcluded; t++)
        if (list[t] < 0 || list[t] >= nvals)
            return app_fail(APP_INPUT, "%s: place %lld is %lld; expected 0 to %lld", w->v->exclude,
                            (long long)t + 1, (long long)list[t], (long long)nvals - 1);
    return code;
}

/* ---- fanouts */

/* A list for all relations, or one for each, "5,5/10,5". */
static int parse_fanouts(sample_work *w)
{
    const char *text = w->v->fanout ? w->v->fanout : "15,10";
    char *copy = strdup(text), *rest = copy, *part;
    int count = 0, code = copy ? APP_OK : app_fail(APP_MEMORY, "out of memory");
    const int relations = w->list ? w->nrelations : 1;
    while (code == APP_OK && (part = strsep(&rest, "/")) != NULL) {
        int64_t hops[FANOUTS];
        int nhops;
        if (count == relations) {
            code = app_fail(APP_USAGE, "--fanout: '%s' has more lists than there are relations, %d", text,
                            relations);
            break;
        }
        code = fanouts_parse(hops, &nhops, "--fanout", part);
        if (code == APP_OK && count > 0 && nhops != w->nhops)
            code =
                app_fail(APP_USAGE, "--fanout: '%s' has lists of %d and of %d hops", text, w->nhops, nhops);
        w->nhops = nhops;
        if (code == APP_OK)
            memcpy(w->fanouts + (size_t)count++ * (size_t)nhops, hops, (size_t)nhops * sizeof *hops);
    }
    free(copy);
    if (code == APP_OK && count > 1 && count < relations)
        return app_fail(APP_USAGE,
                        "--fanout: '%s' has %d lists; expected one, or one for each of %d relations", text,
                        count, relations);
    for (int r = 1; code == APP_OK && count == 1 && r < relations; r++)
        memcpy(w->fanouts + (size_t)r * (size_t)w->nhops, w->fanouts, (size_t)w->nhops * sizeof *w->fanouts);
    return code;
}

/* ---- all of it */

int sample_read(sample_work *w)
{
    const sample_values *v = w->v;
    int code = APP_OK;
    w->names.path = v->graph;
    if (v->relations.count > 0) {
        code = read_relations(w);
        w->names.path = w->relation[0].file;
        if (code == APP_OK)
            code = find_type(w);
        if (code == APP_OK)
            code = check_bases(w);
    } else {
        code = reader_graph(&v->reader, v->graph, &w->A, &w->n, &w->names.base);
    }
    if (code == APP_OK)
        code = parse_fanouts(w);
    if (code == APP_OK)
        code = v->seeds ? read_seeds(w) : draw_seeds(w);
    if (code == APP_OK && v->times)
        code = read_times(w);
    if (code == APP_OK && v->until)
        code = read_until(w);
    if (code == APP_OK && v->exclude)
        code = read_excluded(w);
    w->batches = (w->nseeds + v->batch - 1) / v->batch;
    return code;
}

void sample_end(sample_work *w)
{
    FtB_Matrix_free(&w->A);
    FtB_Relations_free(&w->list);
    for (int r = 0; r < w->nrelations; r++) {
        FtB_Matrix_free(&w->relation[r].A);
        free(w->relation[r].text);
    }
    free(w->seeds);
    free(w->times);
    free(w->until);
    free(w->excluded);
    free(w->path);
}
