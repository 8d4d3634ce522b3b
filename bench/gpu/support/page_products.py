"""The page's second part: who wins which product."""
from results import (DASH, GRAPHS, WIDTHS, figures, gigabytes, microseconds, milliseconds, parameters, percent, power,
                     prose, quickest, ratio, spread, table)

DIRECT = ("lanes", "vectors", "flight", "piece", "by_degree")
HYBRID = ("threshold", "tile_columns", "row_block", "lanes")
KERNELS = {"path": "kernels"}


def cell(r, case):
    """Milliseconds, and the share of the limit."""
    if case is None:
        return DASH
    share = r.share(case)
    return milliseconds(case) + (f" ({percent(share)})" if share else "")


def short(algorithm):
    return algorithm.replace("CSR_", "") if algorithm else algorithm


def half(dtype):
    return dtype in ("fp16", "bf16")


SPMM = (("cuSPARSE", "cusparse-spmm", {"dtype": "fp32"}),
        ("direct", "spmm-direct", {"dtype": "fp32"}),
        ("hybrid", "spmm-hybrid", {"dtype": "fp32"}),
        ("torch CSR", "torch-spmm", {"dtype": "fp32", "algorithm": "torch CSR"}),
        ("messages", "torch-spmm", {"dtype": "fp32", "operation": "sum",
                                    "algorithm": lambda a: a in ("index_add", "segment_reduce")}),
        ("cuSPARSE, half", "cusparse-spmm", {"dtype": half}),
        ("direct, bf16", "spmm-direct", {"dtype": "bf16"}))


def fastest(r, group, **wanted):
    """Of what runs through Python, the kernels alone."""
    return r.best(group, **wanted, **(KERNELS if group.startswith(("torch", "pyg")) else {}))


def with_python(r, case, group, **wanted):
    """`kernels / with Python`, milliseconds."""
    python = r.best(group, path="python", **wanted)
    return f"{cell(r, case)} / {milliseconds(python)}" if case or python else DASH


def winners(r, contestants):
    """Of each graph and width the fastest, and how many times faster than the first contestant it is."""
    rows = []
    for graph in GRAPHS:
        row = [graph]
        for d in WIDTHS:
            found = [(name, fastest(r, group, graph=graph, d=d, **wanted)) for name, group, wanted in contestants]
            known = [(name, case) for name, case in found if case]
            name, best = min(known, key=lambda pair: pair[1].seconds, default=(None, None))
            row.append(DASH if best is None else f"{name}" + (f", {ratio(best, found[0][1])}" if found[0][1] else ""))
        rows.append(row)
    return table(["", *(f"d = {d}" for d in WIDTHS)], rows)


def spmm_cell(r, case, group, **wanted):
    if group == "torch-spmm":
        return with_python(r, case, group, **wanted)
    return cell(r, case) + (f" {short(case['algorithm'])}" if case and group == "cusparse-spmm" else "")


def spmm(r):
    used, rows = [], []
    for graph in GRAPHS:
        for name, group, wanted in SPMM:
            best = [fastest(r, group, graph=graph, d=d, **wanted) for d in WIDTHS]
            used += best
            rows.append([graph, name, *(spmm_cell(r, case, group, graph=graph, d=d, **wanted)
                                        for case, d in zip(best, WIDTHS))])
    direct = {(graph, d): r.best("spmm-direct", graph=graph, d=d, dtype="fp32") for graph in GRAPHS for d in WIDTHS}
    chosen = [[graph, *(parameters(direct[graph, d], DIRECT) for d in (32, 128, 512)),
               parameters(r.best("spmm-hybrid", graph=graph, d=128), HYBRID)] for graph in GRAPHS]
    widths = [f"d = {d}" for d in WIDTHS]
    return (["### Sums over neighbours: sparse matrix times block", ""]
            + prose("Direct and hybrid are ours, messages are PyTorch's gather and index_add or segment_reduce. Who is "
                    "fastest in single precision, and how many times faster than the best of cuSPARSE's algorithms:")
            + winners(r, [c for c in SPMM if c[2]["dtype"] == "fp32"])
            + prose("Milliseconds, each of the best algorithm or variant; in brackets the share of the gather rate for "
                    "rows of that size in a block of that size. More than 100 % means that rows were found in a cache "
                    "or in shared memory. cuSPARSE and torch CSR read a value for each entry, too. What runs through "
                    "Python: its kernels / all of it.", spread(used))
            + table(["", "", *widths], rows, 2)
            + ["What the best prototypes had as parameters, in single precision:", ""]
            + table(["", "direct, d = 32", "direct, d = 128", "direct, d = 512", "hybrid, d = 128"], chosen, text=True))


def maxima(r):
    columns = (("cuSPARSE, max : src", "cusparse-spmm-op", {"semiring": "max : src", "dtype": "fp32"}),
               ("cuSPARSE, min-plus", "cusparse-spmm-op", {"semiring": "min-plus", "dtype": "fp32"}),
               ("torch, scatter_reduce", "torch-spmm", {"algorithm": "scatter_reduce", **KERNELS}),
               ("torch, segment_reduce", "torch-spmm", {"algorithm": "segment_reduce max", **KERNELS}))
    rows, used = [], []
    for graph in GRAPHS:
        cases = [r.best(group, graph=graph, d=128, **wanted) for _, group, wanted in columns]
        used += cases
        row = [graph]
        for case in cases:
            wrong = case.get("wrong_outputs") if case else None
            row.append(cell(r, case) + (f", {wrong:,.0f} outputs wrong" if wrong else ""))
        rows.append(row)
    lines = ["### Other semirings, d = 128", ""] + prose(
        "Milliseconds and the share of the gather rate; cuSPARSE's operators are compiled at run time.",
        spread(used)) + table(["", *(name for name, _, _ in columns)], rows)
    for case in r.all("cusparse-spmm-op", what=lambda what: what is not None):
        if case.get("rows"):
            lines += prose(f"cuSPARSE's adding at d = {case['d']}, by the degree of a row: {case['rows']}; a row "
                           f"without entries gives {case.get('empty_row')}.")
        elif "degrees_not_negative" in case:
            lines += prose(f"Its largest of negative numbers at d = {case['d']} is wrong in "
                           f"{case.get('wrong_outputs')} outputs; not negative are rows of degree "
                           f"{case['degrees_not_negative'] or '(none)'}.")
    return lines


def sddmm(r):
    rows, used = [], []
    for graph in GRAPHS:
        row = [graph]
        for d in WIDTHS:
            theirs, ours = r.best("cusparse-sddmm", graph=graph, d=d, dtype="fp32"), \
                r.best("sddmm", graph=graph, d=d, heads=1)
            used += [theirs, ours]
            row.append(f"{cell(r, ours)}; {cell(r, theirs)}" if ours or theirs else DASH)
        torch = [r.best("torch-sddmm", graph=graph, d=128, algorithm=name, **KERNELS)
                 for name in ("sampled_addmm", "gather")]
        used += torch
        rows.append(row + ["; ".join(map(milliseconds, torch)) if any(torch) else DASH])
    best = r.best("sddmm", graph="rand-100k", d=128, heads=1)
    chosen = f"Ours had on rand-100k at d = 128: {parameters(best, DIRECT)}." if best else ""
    return ["### A dot product for each edge", ""] + prose(
        "Milliseconds, and the share of the gather rate: ours row by row; cuSPARSE. At d = 128 also torch's "
        "sampled_addmm; its gathered products.", chosen, spread(used)) \
        + table(["", *(f"d = {d}" for d in WIDTHS), "torch, d = 128"], rows)


def attention(r):
    rows, used = [], []
    for graph in GRAPHS:
        ours = r.best("attention", graph=graph)
        dots = r.best("sddmm", graph=graph, d=128, heads=8)
        layer = r.best("pyg-layers", graph=graph, d=128, algorithm="GATConv", **{"pass": "forward"}, **KERNELS)
        softmax = r.best("torch-softmax", graph=graph, **KERNELS)
        used += [ours, dots, layer, softmax]
        # k and v of one entry: rows of 512 bytes, or one of 1024 where they lie together.
        limit = ours and r.gather_rate(1024 if ours.get("together") else 512, GRAPHS[graph][1] * 1024)
        rows.append([graph, milliseconds(ours), percent(ours.rate / limit) if limit else DASH,
                     parameters(ours, ("flight", "piece", "together")), milliseconds(dots), milliseconds(softmax),
                     milliseconds(layer)])
    return ["### Attention, 8 heads of 16", ""] + prose(
        "Milliseconds, forward. Ours is scores, softmax and sums in one pass. Beside it our dots alone; and PyG's "
        "softmax over edges alone and its GATConv, a simpler score but with the product with the weights, by their "
        "kernels.", spread(used)) + table(
        ["", "one pass", "of the limit", "with", "dots alone", "PyG softmax", "PyG GATConv"], rows)


LAYERS = (("GCNConv", "forward"), ("SAGEConv", "forward"), ("GATConv", "forward"), ("GCNConv", "forward+backward"),
          ("GATConv", "forward+backward"))


def layers(r):
    rows, used = [], []
    for graph in ("arxiv-like", "rand-100k", "reddit-like", "products-like"):
        row = [graph]
        for kind, way in LAYERS:
            wanted = {"graph": graph, "d": 128, "algorithm": kind, "pass": way}
            kernels, python = (r.best("pyg-layers", path=path, **wanted) for path in ("kernels", "python"))
            used += [kernels, python]
            row.append(f"{milliseconds(kernels)} / {milliseconds(python)} {(kernels or python)['adjacency']}"
                       if kernels or python else DASH)
        rows.append(row)
    epochs = "; ".join(
        f"{form} {' / '.join(milliseconds(r.best('pyg-epoch', adjacency=form, path=p)) for p in ('kernels', 'python'))}"
        for form in ("torch CSR", "edge_index"))
    return ["### Layers of PyG, d = 128", ""] + prose(
        "Milliseconds of the kernels alone / with what Python adds, and the adjacency that did best of torch's CSR, "
        f"edge_index and EdgeIndex. An epoch of a GCN of 3 layers of 256 on arxiv-like: {epochs}.",
        spread(used)) + table(["", *(f"{kind}, {way}" for kind, way in LAYERS)], rows)


def spmv(r):
    said, used = [], []
    for graph in GRAPHS:
        best = r.best("cusparse-spmv", graph=graph, dtype="fp32")
        used.append(best)
        said.append(f"{graph} {milliseconds(best)}" + (f" ({gigabytes(best.rate)} GB/s, {short(best['algorithm'])})"
                                                       if best else ""))
    return ["### Sparse matrix times vector", ""] + prose(
        "cuSPARSE's best, ms, and the rate of what must be moved at least:", "; ".join(said) + ".", spread(used))


def reproducible(r):
    """Of each product and type, the algorithms that gave the same bits in all tries on all graphs, and the others."""
    modes = {}
    for case in r.all("cusparse-reproducible", status="ok") + r.all("torch-spmm", d=128, path="python", status="ok"):
        if "identical" in case:
            what = case.get("what") or f"torch {case.get('operation')}"
            name = short(case.get("algorithm", what))
            same = modes.setdefault((what, case.get("dtype")), {})
            same[name] = same.get(name, True) and case["identical"] == case["tries"]
    rows = {}
    for (what, dtype), found in modes.items():
        told = [", ".join(name for name, value in found.items() if value == wanted) or "none"
                for wanted in (True, False)]
        rows.setdefault((what, *told), []).append(dtype)
    rows = [[what, ", ".join(dtypes), *told] for (what, *told), dtypes in rows.items()]
    rows = rows or [[what, "fp32", DASH, DASH] for what in ("spmm", "spmv", "sddmm", "spgemm")]
    return ["### Which modes give the same bits", ""] + prose(
        "Ten tries (torch: three) on graphs with skewed rows, into outputs that held something else. That all were the "
        "same proves nothing for other shapes.") + table(["", "", "the same bits", "not the same"], rows, 2, text=True)


def spgemm(r):
    rows = []
    cases = r.all("cusparse-spgemm")
    problems = dict.fromkeys((case.get("graph"), case.get("index", "32")) for case in cases if "products" in case)
    for graph, index in problems:
        of = [case for case in cases if case.get("graph") == graph and case.get("index", "32") == index
              and case.get("algorithm")]
        done = [case for case in of if case.measured and case.get("outcome", "done") == "done"]
        best = quickest(done)
        products = next((case["products"] for case in of if "products" in case), 0)
        failed = {}
        for case in of:
            if case not in done:
                why = case.get("outcome") or case.get("status", "")
                failed.setdefault(why[:70], []).append(case["algorithm"])
        wide = {"32": "", "64": ", 64-bit indices"}.get(str(index), f", {index}")
        rows.append([f"{graph}{wide}", power(products), power(best.get("nvals_out")) if best else DASH,
                     f"{milliseconds(best)} {best['algorithm']}" if best else DASH,
                     figures(best["peak_bytes"] / 1e9) if best and "peak_bytes" in best else DASH,
                     "; ".join(f"{', '.join(who)}: {why}" for why, who in failed.items()) or "none failed"])
    rows = rows or [[name, DASH, DASH, DASH, DASH, DASH] for name in ("arxiv-like", "movielens-20m X'X")]
    return ["### Sparse times sparse: cuSPARSE, and where it fails", ""] + prose(
        "The fastest method that gave a right result, the most memory it held, and what became of the others.") + table(
        ["", "products", "entries", "ms", "GB held", "failed"], rows, text=True)


def sampler(r):
    runs = (("products-like", 1), ("products-like", 64), ("reddit-like", 1), ("reddit-like", 64))
    cases = r.find("sampler", fanouts="15,10,5")
    variants = list(dict.fromkeys(case["variant"] for case in cases)) or ["list", "places", "queue", "unique"]
    rows, used = [], []
    for variant in variants:
        row = [variant]
        for graph, batches in runs:
            best = max((c for c in cases if (c["variant"], c["graph"], c["batches"]) == (variant, graph, batches)),
                       key=lambda case: case.speed, default=None)
            used.append(best)
            row.append(f"{figures(best.speed / 1e9)}, {microseconds(best)} us, {best.get('method')} "
                       f"{best.get('lanes')}" if best else DASH)
        rows.append(row)
    return ["### Sampling neighbours, fanouts 15, 10, 5", ""] + prose(
        "10^9 edges a second, the time of all its launches, and the method and the lanes for a vertex that did best; "
        "batches of 1024 seeds. Unique ones keep a vertex once and pick fewer edges.", spread(used)) + table(
        ["", *(f"{graph}, {n} batch{'es' * (n > 1)}" for graph, n in runs)], rows)


COUNTS = ("items", "tile", "words", "width", "ids", "lanes", "block")


def counts(r):
    limit = r.best_rate("shared", what="load", access=4, stride=1)
    names = list(dict.fromkeys(case["variant"] for case in r.find("counts"))) or ["dense", "mix", "bitmaps, pairs"]
    best = {name: r.best("counts", variant=name) for name in names}
    rows = []
    for name, case in best.items():
        share = case.rate / limit.rate if case and limit and case.get("bytes") else None
        rows.append([name, milliseconds(case), figures(case.speed / 1e9) if case and case.speed else DASH,
                     percent(share), parameters(case, COUNTS)])
    return ["### Counts: movielens-20m's items with items", ""] + prose(
        "The best of each variant, and the share of shared memory's rate that the accumulators take. Dense counts and "
        "the mix of bitmaps and dense ones do the whole triangle.", spread(best.values())) + table(
        ["", "ms", "10^9 products/s", "of the limit", "with"], rows)


def sections(r):
    lines = ["## Who wins where", ""]
    for part in (spmm, maxima, sddmm, attention, layers, spmv, reproducible, spgemm, sampler, counts):
        lines += part(r)
    return lines
