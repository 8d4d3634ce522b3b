#!/usr/bin/env python3
"""gnn.py INPUT PEER:CASE:PHASE[:VARIANT] THREADS [REPEATS]: times a graph neural network in PyG or DGL.

INPUT is a graph, .npz as scipy writes it, or a folder with edges.mtx, features.mtx, labels.txt and split.txt; where it
is neither, $FEATBLAS_DATA/cora. PEER is pyg or dgl, CASE one of CASES, PHASE forward (inference, without gradients) or
epoch (forward, loss, backward, Adam). VARIANT forces what is else the fastest measured: how PyG holds the graph
(csr: torch's sparse matrix; coo: edge_index), DGL's libxsmm (xsmm, plain).

Prints one JSON line: case, threads, variant, seconds and cpu (medians of REPEATS, after REPEATS / 10 more to warm up),
check, bytes (the graph's entries), setup (seconds to make graph and model), resident (bytes when both are made), peak
(VmHWM of the process) and run_peak (the same from then on). What is not installed, not there or does not fit into
memory prints {"skipped": why} and succeeds.

So that results can be compared, features and initial weights depend on their place alone (features() below, as in
bench/support/stage.c): X has salt 1; layer l from 0 has W (out x in) with salt 16 l + 4 times sqrt(6 / (in + out)),
GraphSAGE's weights of the vertex itself with salt 16 l + 5, GAT's two attention vectors (heads x width) with salts
16 l + 6 (source) and 16 l + 7 (target) times sqrt(6 / (heads + width)); biases 0. Graphs from .npz have every entry 1,
the class of vertex i is (i * 2654435761 mod 2^32) >> 8 modulo the classes, all vertices are trained on. check is the
sum of the scores before training; for an epoch on a graph from .npz the loss of the first one, where no dropout hides
it. GCN and GAT get self-loops; the normalisation of GCN is made beforehand.
"""
import json
import math
import os
import statistics
import sys
import time

CASES = {
    "cora-gcn": dict(model="gcn", hidden=16, layers=2, dropout=0.5, rate=0.01, decay=5e-4),
    "cora-gat": dict(model="gat", hidden=8, layers=2, heads=8, dropout=0.6, rate=0.005, decay=5e-4),
    "reddit-gcn": dict(model="gcn", features=602, hidden=256, classes=41, layers=2),
    "reddit-sage": dict(model="sage", features=602, hidden=256, classes=41, layers=2),
    "reddit-gat": dict(model="gat", features=602, hidden=64, heads=4, classes=41, layers=2),
    "arxiv-gcn": dict(model="gcn", features=128, hidden=256, classes=40, layers=3, both_ways=True),
}
VARIANTS = {
    "pyg": {"gcn": "csr", "sage": "csr", "gat": "csr"},
    "dgl": {"gcn": "xsmm", "sage": "xsmm", "gat": "xsmm"},
}


class Skip(Exception):
    pass


def prepare(threads):
    """Thread counts must be known before any library is loaded."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(threads)
    os.environ["DGLBACKEND"] = "pytorch"
    import torch
    torch.set_num_threads(threads)


def status(field):
    """Bytes that /proc tells of this process, or of the machine's memory."""
    path = "/proc/meminfo" if field == "MemAvailable" else "/proc/self/status"
    with open(path) as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(field + ":"))


def features(rows, columns, salt):
    """Values in [-1, 1) by place, from 32-bit integers that wrap."""
    import numpy as np
    out = np.empty((rows, columns), np.float32)
    across = np.arange(columns, dtype=np.uint32) * np.uint32(2246822519) + np.uint32(salt)
    for begin in range(0, rows, 1 << 16):
        down = np.arange(begin, min(rows, begin + (1 << 16)), dtype=np.uint64).astype(np.uint32)
        h = down[:, None] * np.uint32(2654435761) + across
        h = (h ^ (h >> np.uint32(15))) * np.uint32(2246822519)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(3266489917)
        out[begin:begin + len(down)] = (h >> np.uint32(9)).astype(np.float32) * np.float32(2.0**-22) - np.float32(1)
    return out


class Task:
    """Graph (CSR, rows are targets, data int8 ones), features, classes and which vertices are trained on."""

    def __init__(self, path, case):
        import numpy as np
        import scipy.sparse as sp
        defaults = dict(features=0, classes=0, heads=1, dropout=0.0, rate=0.01, decay=0.0, both_ways=False)
        self.__dict__.update({**defaults, **case})
        if path.endswith(".npz") and os.path.exists(path):
            with np.load(path) as file:
                shape, indices = tuple(file["shape"]), file["indices"]
                self.graph = sp.csr_matrix((np.ones(len(indices), np.int8), indices, file["indptr"]), shape=shape)
            n = shape[0]
            self.x = features(n, self.features, 1)
            h = np.arange(n, dtype=np.uint32) * np.uint32(2654435761)
            self.labels = ((h >> np.uint32(8)) % np.uint32(self.classes)).astype(np.int64)
            self.train = np.arange(n)
        else:
            self.read(path if os.path.isdir(path) else os.path.join(os.environ.get("FEATBLAS_DATA", ""), "cora"))
        if self.both_ways:
            self.graph = self.graph + self.graph.T
        if self.model != "sage":
            self.graph = (self.graph + sp.identity(self.graph.shape[0], np.int8, "csr")).tocsr()
        self.graph.data[:] = 1
        self.graph.sort_indices()
        self.widths = [self.x.shape[1]] + (self.layers - 1) * [self.hidden * self.heads] + [self.classes]

    def read(self, folder):
        import numpy as np
        import scipy.io
        if not os.path.exists(os.path.join(folder, "edges.mtx")):
            raise Skip(f"no graph {folder or 'given'}")
        self.graph = scipy.io.mmread(os.path.join(folder, "edges.mtx")).tocsr().astype(np.int8)
        x = scipy.io.mmread(os.path.join(folder, "features.mtx")).toarray().astype(np.float32)
        self.x = x / np.maximum(x.sum(1, keepdims=True), 1)
        self.labels = np.loadtxt(os.path.join(folder, "labels.txt"), dtype=np.int64)
        with open(os.path.join(folder, "split.txt")) as file:
            self.train = np.flatnonzero([line.strip() == "train" for line in file])
        self.classes = int(self.labels.max()) + 1

    def must_fit(self, per_edge):
        """Skips what would not fit: values of a layer and its gradient, and per_edge floats for each entry."""
        need = 4 * (per_edge * self.graph.nnz + 6 * self.graph.shape[0] * sum(self.widths))
        if need > status("MemAvailable"):
            raise Skip(f"needs about {need / 2**30:.0f} GiB of memory")

    def heads_of(self, layer):
        """Heads are concatenated; the last layer has one."""
        return 1 if layer == self.layers - 1 else self.heads

    def weights(self, layer):
        import torch
        fan_in, out, heads = self.widths[layer], self.widths[layer + 1], self.heads_of(layer)
        scale, across = math.sqrt(6 / (fan_in + out)), math.sqrt(6 / (heads + out // heads))
        made = [scale * features(out, fan_in, 16 * layer + 4), scale * features(out, fan_in, 16 * layer + 5),
                across * features(heads, out // heads, 16 * layer + 6),
                across * features(heads, out // heads, 16 * layer + 7)]
        return [torch.from_numpy(w.astype("float32")) for w in made]


def network(task, layers, graph):
    """Dropout before every layer where there is any, relu (GAT: elu) between them."""
    import torch
    import torch.nn.functional as F

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(layers)

        def forward(self, x):
            for i, layer in enumerate(self.layers):
                if i:
                    x = F.elu(x) if task.model == "gat" else F.relu(x)
                if task.dropout:
                    x = F.dropout(x, task.dropout, self.training)
                x = layer(graph, x)
            return x
    return Network()


def normalised(graph):
    """D^-1/2 (A + I) D^-1/2, whose loops are in `graph`."""
    import numpy as np
    inverse = (1 / np.sqrt(np.diff(graph.indptr))).astype(np.float32)
    return np.repeat(inverse, np.diff(graph.indptr)) * inverse[graph.indices]


def pyg_graph(task, variant):
    """The graph as PyG's layers take it; with GCN's weights where the form can hold them."""
    import torch
    rows = torch.from_numpy(task.graph.indptr.astype("int32"))
    columns = torch.from_numpy(task.graph.indices.astype("int32"))
    n = task.graph.shape[0]
    values = torch.from_numpy(normalised(task.graph)) if task.model == "gcn" else None
    if variant == "csr":
        if task.model == "gat":
            rows, columns = rows.long(), columns.long()
        values = torch.ones(len(columns)) if values is None else values
        return torch.sparse_csr_tensor(rows, columns, values, (n, n)), None
    return torch.stack([columns.long(), torch.repeat_interleave(torch.arange(n), rows.diff())]), values


def with_pyg(task, variant):
    """Attention, and all layers on edge_index, hold the features of every entry: twice, with gradients."""
    import torch
    from torch_geometric.nn import GATConv, GCNConv, SAGEConv
    wide = max(task.widths[1:]) if task.model == "gat" or variant == "coo" else 0
    task.must_fit(3 + 2 * wide)
    graph, values = pyg_graph(task, variant)
    layers = []
    for i in range(task.layers):
        fan_in, out, heads = task.widths[i], task.widths[i + 1], task.heads_of(i)
        w, own, source, target = task.weights(i)
        with torch.no_grad():
            if task.model == "gcn":
                layer = GCNConv(fan_in, out, normalize=False)
                layer.lin.weight.copy_(w)
            elif task.model == "sage":
                layer = SAGEConv(fan_in, out)
                layer.lin_l.weight.copy_(w)
                layer.lin_r.weight.copy_(own)
                layer.lin_l.bias.zero_()
            else:
                layer = GATConv(fan_in, out // heads, heads, dropout=task.dropout, add_self_loops=False)
                layer.lin.weight.copy_(w)
                layer.att_src.copy_(source[None])
                layer.att_dst.copy_(target[None])
        layers.append(layer)
    held = dict(edge_weight=values) if values is not None else {}

    class Call(torch.nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def forward(self, graph, x):
            return self.layer(x, graph, **held)
    return network(task, [Call(layer) for layer in layers], graph)


def with_dgl(task, variant):
    """Formats are made beforehand: CSC for forward, CSR for backward, COO for values of edges."""
    import dgl
    import torch
    from dgl.nn.pytorch import GATConv, GraphConv, SAGEConv
    dgl.use_libxsmm(variant == "xsmm")
    task.must_fit(8 * task.heads if task.model == "gat" else 3)
    rows, columns = [torch.from_numpy(a.astype("int32")) for a in (task.graph.indptr, task.graph.indices)]
    edges = torch.arange(len(columns), dtype=torch.int32) if task.model == "gat" else []  # libxsmm wants them there
    graph = dgl.graph(("csc", (rows, columns, edges)), num_nodes=task.graph.shape[0], idtype=torch.int32)
    graph = graph.formats(["csc", "csr", "coo"] if task.model == "gat" else ["csc", "csr"])
    graph.create_formats_()
    layers = []
    for i in range(task.layers):
        fan_in, out, heads = task.widths[i], task.widths[i + 1], task.heads_of(i)
        w, own, source, target = task.weights(i)
        with torch.no_grad():
            if task.model == "gcn":
                layer = GraphConv(fan_in, out, allow_zero_in_degree=True)
                layer.weight.copy_(w.T)
            elif task.model == "sage":
                layer = SAGEConv(fan_in, out, "mean")
                layer.fc_neigh.weight.copy_(w)
                layer.fc_self.weight.copy_(own)
                layer.fc_self.bias.zero_()
            else:
                layer = GATConv(fan_in, out // heads, heads, 0.0, task.dropout, allow_zero_in_degree=True)
                layer.fc.weight.copy_(w)
                layer.attn_l.copy_(source[None])
                layer.attn_r.copy_(target[None])
        layers.append(flattened(layer) if task.model == "gat" else layer)
    return network(task, layers, graph)


def flattened(layer):
    """DGL's attention leaves heads apart."""
    import torch

    class Flattened(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, graph, x):
            return self.layer(graph, x).flatten(1)
    return Flattened()


def phases(task, net, x):
    """Functions of one forward pass and of one training epoch."""
    import torch
    import torch.nn.functional as F
    labels, train = torch.from_numpy(task.labels), torch.from_numpy(task.train)
    partial = len(train) < len(labels)
    wanted = labels[train] if partial else labels
    adam = torch.optim.Adam(net.parameters(), lr=task.rate, weight_decay=task.decay)

    def forward():
        net.eval()
        with torch.no_grad():
            return float(net(x).sum(dtype=torch.float64))

    def epoch():
        net.train()
        adam.zero_grad(set_to_none=True)
        scores = net(x)
        loss = F.cross_entropy(scores[train] if partial else scores, wanted)
        loss.backward()
        adam.step()
        return float(loss)
    return {"forward": forward, "epoch": epoch}


def reset_peak():
    """From here on VmHWM counts anew."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def measure(path, case, phase, library, variant, repeats):
    import torch
    torch.manual_seed(0)
    start = time.perf_counter()
    task = Task(path, CASES[case])
    net = library(task, variant)
    run, say = phases(task, net, torch.from_numpy(task.x)), {"bytes": float(task.graph.nnz)}
    task.graph = None
    check = run["forward"]() if task.dropout else None
    say["setup"], peak, say["resident"] = time.perf_counter() - start, status("VmHWM"), status("VmRSS")
    reset_peak()
    seconds, cpu, warm = [], [], repeats // 10
    for _ in range(repeats + warm):
        wall, process = time.perf_counter(), time.process_time()
        result = run[phase]()
        seconds.append(time.perf_counter() - wall)
        cpu.append(time.process_time() - process)
        check = result if check is None else check
    say["run_peak"] = status("VmHWM")
    return {**say, "seconds": statistics.median(seconds[warm:]), "cpu": statistics.median(cpu[warm:]),
            "peak": max(peak, say["run_peak"]), "check": check, "repeats": repeats}


def main():
    path, argument, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    peer, case, phase, *forced = argument.split(":")
    libraries = {"pyg": with_pyg, "dgl": with_dgl}
    if peer not in libraries or case not in CASES or phase not in ("forward", "epoch"):
        sys.exit(f"gnn.py: no case {argument}: pyg or dgl, one of {', '.join(CASES)}, forward or epoch")
    say = {"case": argument, "threads": threads}
    try:
        prepare(threads)
        variant = say["variant"] = forced[0] if forced else VARIANTS[peer][CASES[case]["model"]]
        repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 100 if case.startswith("cora") else 1
        say.update(measure(path, case, phase, libraries[peer], variant, repeats))
    except (ImportError, Skip) as error:
        say["skipped"] = str(error)
    print(json.dumps(say))


main()
