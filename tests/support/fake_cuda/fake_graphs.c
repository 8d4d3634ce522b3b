/* Graphs of GPUs that do not exist (fake_cuda.h): a stream that captures notes launches down and does none of
 * them, one graph at a time in each thread; what waits, frees or loads in between is misuse, and invalidates
 * the capture; memory may be allocated, as in CUDA's relaxed mode. A graph that can be launched runs late, as
 * all work of a stream, and its launches in their order. */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdlib.h>

#define RELAXED 2 /* CU_STREAM_CAPTURE_MODE_RELAXED */

typedef struct node {
    struct fake_launch *launch; /* NULL: */
    void (*work)(const void *);
    void *argument;
} node;
struct fake_graph {
    int count, room, valid, refs;
    node *nodes;
};
struct CUgraphExec_st {
    struct fake_graph *graph;
    int pending; /* launches of it that are not done */
};

static pthread_key_t key; /* what a thread captures into; not thread_local, as in fake_memory.c */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int graphs;

static void make_key(void)
{
    if (pthread_key_create(&key, NULL) != 0)
        abort();
}

static struct fake_graph *mine(void)
{
    pthread_once(&once, make_key);
    return pthread_getspecific(key);
}

int fake_captures(void) { return mine() != NULL; }

void fake_capture_spoil(void) { mine()->valid = 0; }

void fake_graph_add(struct fake_graph *graph, struct fake_launch *launch, void (*work)(const void *),
                    void *argument)
{
    if (graph->count == graph->room) {
        graph->room = 2 * graph->room + 16;
        graph->nodes = realloc(graph->nodes, (size_t)graph->room * sizeof *graph->nodes);
        if (!graph->nodes)
            abort();
    }
    graph->nodes[graph->count++] = (node){launch, work, argument};
}

int fake_graph_run(struct CUgraphExec_st *graph)
{
    for (int n = 0; n < graph->graph->count; n++) {
        const node *of = &graph->graph->nodes[n];
        if (of->launch)
            fake_launch_run(of->launch);
        else
            of->work(of->argument);
    }
    graph->pending--;
    return graph->graph->count;
}

static void release(struct fake_graph *graph)
{
    if (--graph->refs > 0)
        return;
    for (int n = 0; n < graph->count; n++) {
        if (graph->nodes[n].launch)
            fake_launch_delete(graph->nodes[n].launch);
        free(graph->nodes[n].argument);
    }
    free(graph->nodes);
    free(graph);
}

unsigned cuStreamBeginCapture_v2(struct CUstream_st *stream, unsigned mode)
{
    const unsigned error = fake_enter("cuStreamBeginCapture", 0);
    if (error)
        return error;
    struct fake_graph **at = fake_stream_graph(stream);
    if (!at || *at || mine() || mode != RELAXED)
        return fake_leave(
            fake_misuse("cuStreamBeginCapture", "no stream, one that captures, or another mode"));
    *at = calloc(1, sizeof **at);
    if (!*at || pthread_setspecific(key, *at) != 0)
        abort();
    (*at)->valid = (*at)->refs = 1;
    return fake_leave(OK);
}

unsigned cuStreamEndCapture(struct CUstream_st *stream, struct CUgraph_st **graph)
{
    const unsigned error = fake_begin_ready("cuStreamEndCapture"); /* with which it is ended, too */
    if (fake_enter("cuStreamEndCapture, at last", 0) != OK)
        return error;
    struct fake_graph **at = fake_stream_graph(stream), *made = at ? *at : NULL;
    if (!made || made != mine())
        return fake_leave(
            fake_misuse("cuStreamEndCapture", "a stream in which this thread does not capture"));
    *at = NULL;
    pthread_setspecific(key, NULL);
    *graph = made->valid && !error ? (struct CUgraph_st *)made : NULL;
    if (*graph)
        return fake_leave(OK);
    release(made);
    return fake_leave(error ? error : CAPTURE_INVALIDATED);
}

unsigned cuGraphInstantiateWithFlags(struct CUgraphExec_st **made, struct CUgraph_st *graph,
                                     unsigned long long flags)
{
    const unsigned error = fake_enter("cuGraphInstantiate", 1);
    if (error || !graph || flags)
        return error ? error : fake_leave(fake_misuse("cuGraphInstantiate", "no graph, or flags"));
    *made = calloc(1, sizeof **made);
    if (!*made)
        abort();
    (*made)->graph = (struct fake_graph *)graph;
    (*made)->graph->refs++;
    graphs++;
    return fake_leave(OK);
}

unsigned cuGraphDestroy(struct CUgraph_st *graph)
{
    const unsigned error = fake_enter("cuGraphDestroy", 0);
    if (error)
        return error;
    release((struct fake_graph *)graph);
    return fake_leave(OK);
}

unsigned cuGraphLaunch(struct CUgraphExec_st *graph, struct CUstream_st *stream)
{
    const unsigned error = fake_enter("cuGraphLaunch", 0);
    if (error)
        return error;
    struct fake_graph **at = fake_stream_graph(stream);
    if (!graph || !at || *at)
        return fake_leave(fake_misuse("cuGraphLaunch", "no graph, no stream, or one that captures"));
    graph->pending++;
    fake_stream_do(stream, graph);
    return fake_leave(OK);
}

unsigned cuGraphExecDestroy(struct CUgraphExec_st *graph)
{
    const unsigned error = fake_enter("cuGraphExecDestroy", 0);
    if (error)
        return error;
    if (graph->pending)
        return fake_leave(fake_misuse("cuGraphExecDestroy", "it is not done yet"));
    release(graph->graph);
    free(graph);
    graphs--;
    return fake_leave(OK);
}

int fake_cuda_graphs(void) { return graphs; }
