/* PyTorch and PyG in turn with ours: a process of Python's (bench/gpu/support/torch_serve.py) that is told on
 * its standard input what to time, and answers with seconds. It reads graphs as bench/gpu keeps them, written
 * here. A process that dies or does not answer is ended, and the next case starts another. */
#include "products.h"

#include "core/core.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 90000 /* ms */ };

static struct {
    pid_t child;
    int to, from;
} peer;

typedef struct question {
    const char *graph, *what;
    long long d, heads;
} question;

static void stop(void)
{
    if (peer.child <= 0)
        return;
    close(peer.to);
    close(peer.from);
    kill(peer.child, SIGKILL);
    waitpid(peer.child, NULL, 0);
    peer.child = 0;
}

void products_torch_end(void) { stop(); }

static bool start(const products_settings *s)
{
    int to[2], from[2];
    if (peer.child > 0)
        return true;
    if (pipe(to) != 0 || pipe(from) != 0)
        return false;
    signal(SIGPIPE, SIG_IGN);
    peer.child = fork();
    if (peer.child == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        for (int n = 0; n < 2; n++) {
            close(to[n]);
            close(from[n]);
        }
        execlp(s->python, s->python, s->serve, "--graphs", s->graphs, "--device", s->torch_device,
               s->toy ? "--toy" : (char *)NULL, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    peer.to = to[1];
    peer.from = from[0];
    return peer.child > 0;
}

/* A line of the peer's; false: it ended, or takes too long. */
static bool read_line(char *line, size_t size)
{
    size_t used = 0;
    const double end = products_now() + PATIENCE * 1e-3;
    while (used + 1 < size) {
        struct pollfd p = {.fd = peer.from, .events = POLLIN};
        const int left = (int)(1e3 * (end - products_now())), ready = left > 0 ? poll(&p, 1, left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || read(peer.from, line + used, 1) != 1)
            return false;
        if (line[used] == '\n')
            break;
        used++;
    }
    line[used] = '\0';
    return true;
}

static bool time_torch(products_who *who, int calls, double *seconds)
{
    const question *q = who->state;
    char line[400];
    int named = 0;
    snprintf(line, sizeof line, "%s %s %lld %lld %d\n", q->graph, q->what, q->d, q->heads, calls);
    if (peer.child <= 0 || write(peer.to, line, strlen(line)) != (ssize_t)strlen(line) ||
        !read_line(line, sizeof line)) {
        stop();
        products_say(who, "failed: the process of Python's died, or took more than %d s", PATIENCE / 1000);
        return false;
    }
    if (sscanf(line, "ok %lf %n", seconds, &named) != 1) {
        products_say(who, "%.200s", line);
        return false;
    }
    snprintf(who->name, sizeof who->name, "%s", line + named);
    return true;
}

/* As bench/gpu/support/graphs.cuh keeps them: three numbers of 64 bits, then row pointers and columns of 32.
 */
static bool write_graph(const products_graph *g, const products_settings *s)
{
    char path[1000], part[1010];
    const gen_graph *from = &g->g;
    const int64_t head[] = {from->nrows, from->ncols, from->nvals};
    snprintf(path, sizeof path, "%s/%s-1%s.graph", s->graphs, g->name, s->toy ? "-toy" : "");
    if (access(path, R_OK) == 0)
        return true;
    snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "wb");
    int32_t *rowptr = malloc((size_t)(from->nrows + 1) * sizeof *rowptr);
    for (int64_t i = 0; rowptr && i <= from->nrows; i++)
        rowptr[i] = (int32_t)from->rowptr[i];
    bool ok = file && rowptr && fwrite(head, sizeof head, 1, file) == 1 &&
              fwrite(rowptr, sizeof *rowptr, (size_t)from->nrows + 1, file) == (size_t)from->nrows + 1 &&
              fwrite(from->colidx, sizeof *from->colidx, (size_t)from->nvals, file) == (size_t)from->nvals;
    free(rowptr);
    ok = file && fclose(file) == 0 && ok && rename(part, path) == 0;
    return ok;
}

void products_torch(products_result *r, const products_graph *g, const products_settings *s)
{
    const products_what what = r->of.what;
    if (!s->python || what == PRODUCTS_COUNT || what == PRODUCTS_MEAN || what == PRODUCTS_HEADS)
        return;
    products_who *who = products_add(r, "PyTorch");
    question *q = malloc(sizeof *q);
    if (!who || !q) {
        free(q);
        return;
    }
    *q = (question){g->name, products_name(what), r->of.d, r->of.heads};
    who->state = q;
    who->end = free;
    if (!write_graph(g, s) || !start(s)) {
        products_say(who, "failed: graphs cannot be kept, or %s started", s->python);
        return;
    }
    double seconds;
    if (time_torch(who, 1, &seconds))
        who->time = time_torch;
}
