/* The table of the library's own calls on a GPU: sums over neighbours and their kin, dot products, softmax
 * and attention on edges, training epochs, a projection, samples; beside cuSPARSE at its best and PyTorch or
 * PyG. Operands are on the device, their way there and the result's way home are measured apart.
 *
 * In a case everybody is made ready and runs once; then they take turns, as many calls a turn as fill 20 ms,
 * with one wait at the end of a turn. What is compared are medians. A time is the host's clock around calls
 * and wait: a call's own cost on the host is in it where the device does not hide it, as it is in a program.
 *
 * --toy: graphs of a few dozen vertices and one call a turn, for the GPU that does not exist: that it runs is
 * all it says. */
#include "products.h"

#include "core/core.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CASES = 128, TOY_VERTICES = 24 };

static products_graph graph;
static products_result results[MOST_CASES];

static bool make_graph(const products_settings *s, const char *name)
{
    if (graph.name && strcmp(graph.name, name) == 0)
        return true;
    FtB_Matrix_free(&graph.A);
    gen_free(&graph.g);
    graph = (products_graph){0};
    const gen_bipartite few = {TOY_VERTICES, TOY_VERTICES, 5 * TOY_VERTICES, 1, false, GEN_PATTERN};
    const gen_rmat kron = {s->toy ? 6 : 20,
                           0.57,
                           0.19,
                           0.19,
                           {.count = INT64_C(16) << (s->toy ? 6 : 20), .symmetric = true, .permute = true}};
    const bool films = strcmp(name, "movielens-20m") == 0, even = strcmp(name, "rand-100k") == 0;
    fprintf(stderr, "making %s\n", name);
    const GrB_Info info = s->toy && (films || even)      ? gen_make_bipartite(&graph.g, &few, 1)
                          : strcmp(name, "kron-20") == 0 ? gen_make_rmat(&graph.g, &kron, 1)
                          : films                        ? gen_make_movielens(&graph.g, 1)
                          : even                         ? gen_make_rand100k(&graph.g, GEN_PATTERN, 1)
                                 : gen_make_like(&graph.g, name, s->toy ? TOY_VERTICES : 0, GEN_PATTERN, 1);
    if (info != GrB_SUCCESS || gen_matrix(&graph.A, &graph.g) != GrB_SUCCESS) {
        fprintf(stderr, "%s: %s\n", name, gen_error()[0] ? gen_error() : FtB_error());
        return false;
    }
    graph.name = name;
    return true;
}

/* Everybody who does a case; ours first. */
static void gather(products_result *r, const products_settings *s)
{
    const products_case *c = &r->of;
    if (c->what == PRODUCTS_COUNT) {
        products_projection(r, &graph);
        return;
    }
    if (c->what == PRODUCTS_SAMPLE) {
        products_samples(r, &graph);
        return;
    }
    if (c->what >= PRODUCTS_RANKS) {
        products_programs(r, &graph);
        return;
    }
    if (c->what == PRODUCTS_GCN || c->what == PRODUCTS_GAT) {
        products_epoch(r, &graph);
    } else {
        products_ours(r, &graph, c->what, NULL);
        for (int n = 0; n < s->nplans && c->what == PRODUCTS_SUM; n++)
            products_ours(r, &graph, c->what, s->plans[n]);
        if (c->what > PRODUCTS_SUM && c->what <= PRODUCTS_HEADS)
            products_ours(r, &graph, PRODUCTS_SUM, NULL);
        if (c->what == PRODUCTS_ATTENTION)
            products_ours(r, &graph, PRODUCTS_STAGED, NULL);
        products_cusparse(r, &graph);
    }
    products_torch(r, &graph, s);
}

static int64_t moved(void)
{
    int64_t home = 0, away = 0;
    FtB_Context_moved(NULL, &home, &away);
    return home + away;
}

/* Turns, after one that tells how many calls fill 20 ms. */
static void race(products_result *r, const products_settings *s)
{
    int calls[PRODUCTS_WHO];
    double seconds;
    for (int n = 0; n < r->nwho; n++) {
        products_who *who = &r->who[n];
        if (who->time && !who->time(who, 1, &seconds))
            who->time = NULL;
        calls[n] = s->toy || !who->time ? 1 : (int)ftb_min(200, 1 + 0.02 / ftb_max(1e-7, seconds));
    }
    const int64_t before = moved();
    const double limit = products_now() + 8; /* seconds of turns, but for the first */
    for (int round = 0; round < s->rounds && (round == 0 || products_now() < limit); round++)
        for (int n = 0; n < r->nwho; n++) {
            products_who *who = &r->who[n];
            if (!who->time)
                continue;
            if (who->time(who, calls[n], &seconds))
                who->seconds[who->count++] = seconds;
            else
                who->time = NULL;
        }
    r->moved = (double)(moved() - before);
}

static void run(products_result *r, const products_settings *s)
{
    gather(r, s);
    race(r, s);
    for (int n = 0; n < r->nwho; n++)
        if (r->who[n].end && r->who[n].state)
            r->who[n].end(r->who[n].state);
    products_trim();
}

static void skip(products_result *r, const char *why)
{
    products_who *who = products_add(r, "FeatBLAS");
    products_say(who, "skipped: %s", why);
}

static bool wanted(const products_settings *s, const products_case *c)
{
    char text[PRODUCTS_TEXT];
    snprintf(text, sizeof text, "%s %s %lld", c->graph, products_name(c->what), (long long)c->d);
    bool found = !s->only;
    for (const char *from = s->only; from && !found;) { /* one of several, with commas between */
        char one[PRODUCTS_TEXT];
        const char *comma = strchr(from, ',');
        snprintf(one, sizeof one, "%.*s", comma ? (int)(comma - from) : (int)strlen(from), from);
        found = strstr(text, one) != NULL;
        from = comma ? comma + 1 : NULL;
    }
    return found;
}

/* ---- options */

static const char usage[] = "usage: bench_gpu_products [--toy] [--json FILE] [--only TEXT] [--rounds N] "
                            "[--budget SECONDS] [--plan KEY=VALUE]...\n"
                            "                          [--python PYTHON --serve TORCH_SERVE.PY --graphs "
                            "FOLDER [--torch-device cpu]]\n"
                            "TEXT, or one of several with commas between, is looked for in \"GRAPH OPERATION "
                            "D\", such as \"reddit-like sum 128\".\n";

static bool set(products_settings *s, const char *name, const char *value)
{
    const struct {
        const char *name, **to;
    } texts[] = {{"--json", &s->json},     {"--only", &s->only},   {"--python", &s->python},
                 {"--graphs", &s->graphs}, {"--serve", &s->serve}, {"--torch-device", &s->torch_device}};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        if (strcmp(texts[t].name, name) == 0) {
            *texts[t].to = value;
            return true;
        }
    if (strcmp(name, "--rounds") == 0)
        s->rounds = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "--budget") == 0)
        s->budget = strtod(value, NULL);
    else if (strcmp(name, "--plan") == 0 && s->nplans < PRODUCTS_PLANS)
        s->plans[s->nplans++] = value;
    else
        return false;
    return true;
}

static bool parse(products_settings *s, int argc, char **argv)
{
    bool ok = true;
    for (int n = 1; ok && n < argc; n++) {
        if (strcmp(argv[n], "--toy") == 0)
            s->toy = true;
        else
            ok = n + 1 < argc && set(s, argv[n], argv[n + 1]) && n++;
    }
    ok = ok && s->rounds >= 1 && s->rounds <= PRODUCTS_ROUNDS && s->budget > 0 &&
         (!s->python || (s->graphs && s->serve));
    if (!ok)
        fputs(usage, stderr);
    if (s->toy)
        s->rounds = 1;
    return ok;
}

/* Of ours; of a toy's anybody's. Others may have no room, which is a finding. */
static int failures(int done)
{
    int failed = 0;
    for (int k = 0; k < done; k++)
        for (int n = 0; n < results[k].nwho; n++) {
            const products_who *who = &results[k].who[n];
            failed += strncmp(who->status, "failed", 6) == 0 &&
                      (results[k].toy || strncmp(who->name, "FeatBLAS", 8) == 0);
        }
    return failed;
}

int main(int argc, char **argv)
{
    products_settings s = {.rounds = 9, .budget = 420, .torch_device = "cuda"};
    int count, done = 0;
    if (!parse(&s, argc, argv))
        return 2;
    if (FtB_Context_set_device(NULL, "gpu") != GrB_SUCCESS) {
        printf("%s\n", FtB_error());
        return 77;
    }
    const double start = products_now();
    const products_case *cases = products_cases(&count);
    products_print_head(&s);
    for (int n = 0; n < count; n++) {
        if (!wanted(&s, &cases[n]))
            continue;
        products_result *r = &results[done++];
        *r = (products_result){.of = cases[n], .toy = s.toy, .error = -1};
        if (s.toy)
            r->of.d = r->of.what == PRODUCTS_SAMPLE ? TOY_VERTICES / 8 : ftb_max(r->of.heads, r->of.d / 4);
        if (products_now() - start > s.budget)
            skip(r, "no time left");
        else if (!make_graph(&s, cases[n].graph))
            skip(r, "the graph cannot be made");
        else
            run(r, &s);
        products_print(r);
        if (!products_write(&s, results, done, products_now() - start))
            fprintf(stderr, "%s cannot be written\n", s.json);
    }
    products_torch_end();
    products_print_end(results, done);
    FtB_Matrix_free(&graph.A);
    gen_free(&graph.g);
    return failures(done) > 0;
}
