"""The groups of cases that torch_peers.py runs, each in a process of its own: products, layers and models."""
import argparse
import functools
import json
import os
import sys

try:
    import torch
    from torch_timing import Graph, Graphs, Reporter, Skip, agrees, block, must_fit, repeats, torch_geometric
except ImportError as error:
    print(json.dumps({"status": f"skipped: {error}"}))
    sys.exit(0)

GRAPHS = ("rand-100k", "reddit-like", "arxiv-like", "products-like")


def spmm_calls(g, x, d, args):
    """How PyTorch sums or takes maxima over neighbours, by name; each is made when asked for."""
    def gathered():
        return x.index_select(0, g.colidx)

    def target(dtype):
        return torch.zeros(g.nrows, d, dtype=dtype, device=args.device)

    def csr():
        adjacency = g.csr(g.ones(x.dtype))
        return lambda: adjacency @ x

    def csr_max():
        adjacency = g.csr(g.ones(x.dtype))
        return lambda: torch.sparse.mm(adjacency, x, "amax")

    def index_add():
        rows = g.rows.int()
        return lambda: target(x.dtype).index_add_(0, rows, gathered())

    def scatter_max():
        rows = g.rows.unsqueeze(1).expand(-1, d)
        return lambda: target(x.dtype).scatter_reduce_(0, rows, gathered(), "amax", include_self=False)

    def segment(reduce):
        offsets = g.rowptr64
        return lambda: torch.segment_reduce(gathered(), reduce, offsets=offsets, unsafe=True, initial=0.0
                                            if reduce == "sum" else None)

    def edges(reduce):
        adjacency = g.edges
        return lambda: adjacency.matmul(x, reduce=reduce, transpose=True)

    return {"torch CSR": csr, "torch CSR amax": csr_max, "index_add": index_add, "scatter_reduce": scatter_max,
            "segment_reduce": lambda: segment("sum"), "segment_reduce max": lambda: segment("max"),
            "EdgeIndex": lambda: edges("sum")}


def spmm_errors(g, x, out, operation):
    """Of sampled rows over the sum of magnitudes, or over the largest; empty rows are left out."""
    for row in g.sample():
        terms = x[g.sources(row)].double()
        if len(terms) == 0:
            continue
        want = terms.sum(0) if operation == "sum" else terms.max(0).values
        scale = terms.abs().sum(0) if operation == "sum" else terms.abs().max(0).values
        yield (out[row].double() - want).abs() / scale


def torch_spmm(report, args):
    graphs = Graphs(args)
    kinds = [("torch CSR", "sum", "float32"), ("torch CSR", "sum", "bfloat16"), ("torch CSR", "sum", "float16"),
             ("EdgeIndex", "sum", "float32"), ("index_add", "sum", "float32"), ("segment_reduce", "sum", "float32"),
             ("scatter_reduce", "max", "float32"), ("segment_reduce max", "max", "float32"),
             ("torch CSR amax", "max", "float32")]
    short = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}

    def build(name, d, algorithm, operation, dtype):
        if algorithm == "EdgeIndex":
            needs_pyg()
        g = graphs(name)
        width = 4 if dtype == "float32" else 2
        through_messages = algorithm.split()[0] in ("index_add", "scatter_reduce", "segment_reduce")
        must_fit(g.nvals * (d * width * through_messages + 32), args)
        x = block(g.ncols, d, args, dtype)
        call = spmm_calls(g, x, d, args)[algorithm]()

        def check(out):
            error = agrees(spmm_errors(g, x, out, operation), 1e-5 if dtype == "float32" else 1e-2)
            return {**error, **repeats(call, out), "bytes": g.nvals * d * width}

        return call, check

    for d in (128, 32, 512):
        for name in GRAPHS:
            for algorithm, operation, dtype in kinds:
                report.case({"graph": name, "d": d, "operation": operation, "algorithm": algorithm,
                             "dtype": short[dtype]},
                            functools.partial(build, name, d, algorithm, operation, dtype))


def sddmm_calls(g, a, b, d):
    def sampled():
        pattern = g.csr(torch.zeros(g.nvals, device=a.device))
        return lambda: torch.sparse.sampled_addmm(pattern, a, b.t(), beta=0.0).values()

    def gather():
        rows, out = g.rows.int(), torch.empty(g.nvals, device=a.device)
        step = max(1, 2**28 // d)  # two buffers of a GiB

        def call():
            for k in range(0, g.nvals, step):
                i, j = rows[k:k + step], g.colidx[k:k + step]
                torch.sum(a.index_select(0, i) * b.index_select(0, j), 1, out=out[k:k + step])
            return out

        return call

    return {"sampled_addmm": sampled, "gather": gather}


def torch_sddmm(report, args):
    graphs = Graphs(args)

    def build(name, d, algorithm):
        g = graphs(name)
        a, b = block(g.nrows, d, args), block(g.ncols, d, args).neg()
        call = sddmm_calls(g, a, b, d)[algorithm]()

        def check(out):
            def errors(row):
                terms = a[row].double() * b[g.sources(row)].double()
                return (out[g.entries(row)].double() - terms.sum(1)).abs() / terms.abs().sum(1)

            error = agrees(map(errors, g.sample()), 1e-5)
            return {**error, **repeats(call, out.clone()), "bytes": g.nvals * d * 4}

        return call, check

    for d in (128, 32, 512):
        for name in GRAPHS:
            for algorithm in ("sampled_addmm", "gather"):
                report.case({"graph": name, "d": d, "algorithm": algorithm, "dtype": "fp32"},
                            functools.partial(build, name, d, algorithm))


def torch_softmax(report, args):
    """Softmax over each target's entries, with 8 heads."""
    graphs, heads = Graphs(args), 8

    def build(name, algorithm):
        needs_pyg()
        g = graphs(name)
        x = block(g.nvals, heads, args)
        by = {"index": g.rows, "num_nodes": g.nrows} if algorithm == "by index" else {"ptr": g.rowptr64}

        def check(out):
            def errors(row):
                want = x[g.entries(row)].double().softmax(0)
                return (out[g.entries(row)] - want).abs() / want

            return {**agrees(map(errors, g.sample()), 1e-4), "bytes": 2 * g.nvals * heads * 4}

        return lambda: torch_geometric.utils.softmax(x, **by), check

    for name in GRAPHS:
        for algorithm in ("by index", "by ptr"):
            report.case({"graph": name, "heads": heads, "algorithm": algorithm, "dtype": "fp32"},
                        functools.partial(build, name, algorithm))


def needs_pyg():
    if torch_geometric is None:
        raise Skip("torch_geometric is not installed")


def layer(kind, d):
    """A layer as PyG has it, without what would change the graph at every call: norms are made beforehand."""
    from torch_geometric import nn
    torch.manual_seed(1)
    if kind == "GCNConv":
        return nn.GCNConv(d, d, normalize=False)
    if kind == "SAGEConv":
        return nn.SAGEConv(d, d, aggr="mean")
    return nn.GATConv(d, 16, heads=8, add_self_loops=False)


def adjacency(g, kind, form):
    """What a layer is called with after x."""
    weighted = kind == "GCNConv"
    if form == "torch CSR":
        return (g.csr(g.weights if weighted else g.ones(torch.float32), wide=kind == "GATConv"),)
    edges = g.edge_index if form == "edge_index" else g.edges
    return (edges, g.weights) if weighted else (edges,)


def layer_row(made, kind, x, g, row):
    """A row of a layer's result by its formula, in double but for the products with weights."""
    sources = x[g.sources(row)]
    if kind == "SAGEConv":
        mean = sources.double().sum(0) / max(1, len(sources))
        return made.lin_l(mean.float()) + made.lin_r(x[row])
    h = made.lin(sources).double()
    if kind == "GCNConv":
        return (g.weights[g.entries(row)].double().unsqueeze(1) * h).sum(0) + made.bias
    h = h.view(-1, 8, 16)
    own = made.lin(x[row:row + 1]).double().view(1, 8, 16)
    score = (h * made.att_src).sum(-1) + (own * made.att_dst).sum(-1)
    weight = torch.nn.functional.leaky_relu(score, 0.2).softmax(0)
    return (weight.unsqueeze(-1) * h).sum(0).flatten() + made.bias


def layer_errors(made, kind, x, g, out):
    """Of sampled rows, over the largest value among them."""
    with torch.no_grad():
        rows = g.sample()
        want = torch.stack([layer_row(made, kind, x, g, row).float() for row in rows])
        return [(out.detach()[rows] - want).abs() / want.abs().max()]


def pyg_layers(report, args):
    graphs = Graphs(args)

    def build(name, d, kind, form, backward):
        needs_pyg()
        g = graphs(name)
        width = 128 if kind == "GATConv" else d
        fused = kind != "GATConv" and form == "torch CSR" or kind == "SAGEConv" and form == "EdgeIndex"
        must_fit(g.nvals * (32 + (0 if fused else width * 4)), args)
        made = layer(kind, d).to(args.device)
        operands = adjacency(g, kind, form)
        x = block(g.ncols, d, args).requires_grad_(backward)
        out_grad = block(g.nrows, width, args)

        def forward():
            with torch.no_grad():
                return made(x, *operands)

        def both():
            out = made(x, *operands)
            torch.autograd.grad(out, [x, *made.parameters()], out_grad)
            return out

        def check(out):
            return {**agrees(layer_errors(made, kind, x, g, out), 1e-4), "bytes": g.nvals * width * 4}

        return (both if backward else forward), check

    for d in (128, 32, 512):
        for name in ("arxiv-like", "rand-100k", "reddit-like", "products-like"):
            for backward in (False, True)[:1 if name == "products-like" else 2]:
                for kind in ("GCNConv", "GATConv") if backward else ("GCNConv", "GATConv", "SAGEConv"):
                    for form in ("torch CSR", "edge_index", "EdgeIndex"):
                        report.case({"graph": name, "d": d, "algorithm": kind, "adjacency": form, "dtype": "fp32",
                                     "pass": "forward+backward" if backward else "forward"},
                                    functools.partial(build, name, d, kind, form, backward))


def pyg_epoch(report, args):
    """One epoch of a GCN of three layers of 256 on all of arxiv-like: forward, loss, backward, step."""
    graphs, features, hidden, classes = Graphs(args), 128, 256, 40

    def build(form):
        needs_pyg()
        from torch_geometric import nn
        g = graphs("arxiv-like")
        torch.manual_seed(1)
        sizes = [features, hidden, hidden, classes]
        layers = torch.nn.ModuleList(nn.GCNConv(i, o, normalize=False) for i, o in zip(sizes, sizes[1:]))
        layers = layers.to(args.device)
        operands = adjacency(g, "GCNConv", form)
        x = block(g.ncols, features, args)
        labels = torch.randint(classes, (g.nrows,), device=args.device)
        on_gpu = args.device != "cpu"
        optimizer = torch.optim.Adam(layers.parameters(), lr=1e-3, capturable=on_gpu)

        def call():
            h = x
            for k, one in enumerate(layers):
                h = one(h, *operands)
                h = h.relu() if k < 2 else h
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(h, labels)
            loss.backward()
            optimizer.step()
            return loss

        def check(loss):
            if not bool(loss.isfinite()):
                raise RuntimeError("the loss is not finite")
            return {}

        return call, check

    for form in ("torch CSR", "edge_index"):
        report.case({"graph": "arxiv-like", "d": hidden, "algorithm": "GCN, 3 layers", "adjacency": form,
                     "dtype": "fp32", "pass": "epoch"}, functools.partial(build, form))


def pyg_sampler(report, args):
    """NeighborLoader, by the host's clock: 20 batches of 1024 seeds."""
    def build(name, fanouts):
        needs_pyg()
        if not (torch_geometric.typing.WITH_PYG_LIB or torch_geometric.typing.WITH_TORCH_SPARSE):
            raise Skip("NeighborLoader needs pyg-lib or torch-sparse")
        from torch_geometric.data import Data
        from torch_geometric.loader import NeighborLoader
        g = Graph(name, argparse.Namespace(**{**vars(args), "device": "cpu"}))
        data = Data(edge_index=g.edge_index, num_nodes=g.nrows)
        loader = NeighborLoader(data, fanouts, batch_size=1024, num_workers=0, shuffle=True, is_sorted=True)
        batches = iter(())

        def call():
            nonlocal batches
            batch = next(batches, None)
            if batch is None:
                batches = iter(loader)
                batch = next(batches)
            return batch

        return call, lambda batch: {"operations": int(batch.edge_index.size(1))}

    for name in ("products-like", "reddit-like"):
        for fanouts in ([15, 10, 5], [15, 10]):
            report.case({"graph": name, "fanouts": ",".join(map(str, fanouts)), "algorithm": "NeighborLoader",
                         "batch": 1024}, functools.partial(build, name, fanouts), paths=("python",))


def about(report, args):
    """What is installed."""
    if args.done:
        return
    properties = {"torch": torch.__version__, "cuda": torch.version.cuda, "python": sys.version.split()[0],
                  "torch_geometric": torch_geometric.__version__ if torch_geometric else "not installed"}
    if args.device != "cpu":
        properties["name"] = torch.cuda.get_device_name()
    report.write({"status": "ok", **properties})


GROUPS = {"torch": about, "torch-spmm": torch_spmm, "pyg-layers": pyg_layers, "torch-sddmm": torch_sddmm,
          "pyg-epoch": pyg_epoch, "torch-softmax": torch_softmax, "pyg-sampler": pyg_sampler}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("--graphs", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--done", type=int, default=0, help="cases that were tried before")
    parser.add_argument("--left", type=float, default=60, help="seconds")
    parser.add_argument("--toy", action="store_true")
    args = parser.parse_args()
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # standard output carries the cases, so that whatever else prints goes elsewhere
    report = Reporter(args, stream)
    if args.device != "cpu" and not torch.cuda.is_available():
        report.write({"status": "skipped: torch sees no GPU"})
    else:
        GROUPS[args.group](report, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
