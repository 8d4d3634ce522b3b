"""The page's last part: what the planner's constants should be, each computed from cases that it names."""
from results import DASH, GRAPHS, figures, geometric_mean, gigabytes, parameters, quickest, size, table

MB = 1 << 20


def bandwidths(r):
    reads = r.find("read", what="bandwidth")
    near = max((case for case in reads if case["footprint"] <= 16 * MB), key=lambda case: case.rate, default=None)
    far = max((case for case in reads if case["footprint"] >= 1024 * MB), key=lambda case: case.rate, default=None)
    rows = [["read bandwidth of the L2, GB/s", figures(near.rate / 1e9) if near else DASH,
             f"read: {size(near['footprint'])}" if near else "read: up to 16 MB"],
            ["read bandwidth of memory, GB/s", figures(far.rate / 1e9) if far else DASH,
             f"read: {size(far['footprint'])}" if far else "read: 1 GB and more"]]
    if near and far:
        fast = [case["footprint"] for case in reads if case.rate > (near.rate * far.rate) ** 0.5]
        rows.append(["bytes that the L2 serves: the rate is nearer the L2's than memory's, on a log scale",
                     size(max(fast)), "read: the largest such footprint"])
    else:
        rows.append(["bytes that the L2 serves", DASH, "read"])
    for place, footprint in (("in the L2", 24 * MB), ("in memory", 4096 * MB)):
        rates = {row_bytes: r.gather_rate(row_bytes, footprint) for row_bytes in (128, 256, 512, 1024, 2048)}
        rows.append([f"gather rate {place}, GB/s, by bytes of a row",
                     "; ".join(f"{row_bytes}: {gigabytes(rate)}" for row_bytes, rate in rates.items())
                     if any(rates.values()) else DASH, f"gather: random, {size(footprint)}, the best variant"])
    return rows


def launch_costs(r):
    rows = []
    for title, whats in (("a launch and a wait for it, us", ("empty kernel, then cudaStreamSynchronize",)),
                         ("a launch among many: the device; the call, us", ("empty kernel, one after the other",
                                                                            "empty kernel: the call")),
                         ("a kernel of 20 that follow: in a stream; in a graph; programmatic, us",
                          ("20 kernels in a stream", "20 kernels in a graph", "20 kernels launched programmatically"))):
        cases = [r.best("launch", what=what, blocks=lambda n: n in (None, 1)) for what in whats]
        told = [figures(case.seconds / (case.get("count") or 1) * 1e6) if case else DASH for case in cases]
        rows.append([title, "; ".join(told) if any(cases) else DASH, f"launch: {'; '.join(whats)}"])
    return rows


def fixed_costs(r):
    """Of each way: what the smallest graph takes beyond its bytes at the rate of an even, large one."""
    rows = []
    for title, ways in (("SpMM", (("cuSPARSE", "cusparse-spmm"), ("direct", "spmm-direct"), ("hybrid", "spmm-hybrid"))),
                        ("SDDMM", (("cuSPARSE", "cusparse-sddmm"), ("row-wise", "sddmm")))):
        found = []
        for name, group in ways:
            small, large = (r.best(group, graph=graph, d=32, dtype="fp32") for graph in ("arxiv-like", "rand-100k"))
            if small and large:
                found.append(f"{name} {figures(max(0.0, small.seconds - small['bytes'] / large.rate) * 1e6)}")
        groups = ", ".join(group for _, group in ways)
        rows.append([f"fixed cost of {title}, us", "; ".join(found) or DASH,
                     f"{groups}: arxiv-like at d = 32, less its bytes at rand-100k's rate"])
    return rows


def crossover(r):
    """Where hybrid beats direct: between graphs by their mean degree, and within one by a hot column's uses."""
    better, worse = [], []
    for graph, (nrows, _, nvals) in GRAPHS.items():
        direct, hybrid = (r.best(group, graph=graph, d=128, dtype="fp32") for group in ("spmm-direct", "spmm-hybrid"))
        if direct and hybrid:
            (better if hybrid.seconds < direct.seconds else worse).append(nvals / nrows)
    value = DASH
    if better or worse:
        value = "never" if not better else f"{min(better):.0f} and more"
        value += f"; not at {max(worse):.0f}" if worse else "; always, of these"
    rows = [["mean degree from which hybrid beats direct", value, "spmm-direct, spmm-hybrid: d = 128, best variants"]]
    uses = []
    for case in r.find("spmm-hybrid", d=128):
        direct = r.best("spmm-direct", graph=case["graph"], d=128, dtype="fp32")
        if direct and case.get("hot_entries") and case.get("hot_seconds"):
            rate = case["hot_entries"] * 128 * 4 / case["hot_seconds"]
            uses.append((case["hot_entries"] / case["hot_columns"], rate > direct.rate))
    wins, losses = [u for u, won in uses if won], [u for u, won in uses if not won]
    value = DASH
    if wins and losses:
        value = f"{figures(min(wins), 2)}; most uses that lost: {figures(max(losses), 2)}"
    elif wins:
        value = f"{figures(min(wins), 2)}, the fewest tried"
    elif losses:
        value = f"more than {figures(max(losses), 2)}, the most tried"
    rows.append(["mean uses of a hot column by a row block, from which shared memory beats the gather", value,
                 "spmm-hybrid: hot_entries / hot_columns, and their bytes / hot_seconds beside direct's rate"])
    return rows


def steady(r, group, names, **wanted):
    """The parameters that lose least over all graphs: the geometric mean of the times over each graph's best."""
    losses = {}
    graphs = set()
    for graph in GRAPHS:
        best = r.best(group, graph=graph, **wanted)
        if best is None:
            continue
        graphs.add(graph)
        for case in r.find(group, graph=graph, **wanted):
            key = tuple((name, case.get(name)) for name in names)
            of = losses.setdefault(key, {})
            of[graph] = min(of.get(graph, 1e9), case.seconds / best.seconds)
    full = {key: geometric_mean(of.values()) for key, of in losses.items() if len(of) == len(graphs)}
    if not full:
        return DASH, None
    key = min(full, key=full.get)
    return f"{parameters(dict(key), names)} ({100 * (full[key] - 1):.0f} % over each graph's best)", len(graphs)


def choices(r):
    rows = []
    for title, group, names, wanted in (
            ("hybrid: threshold, tile, row block", "spmm-hybrid", ("threshold", "tile_columns", "row_block", "lanes"),
             {"d": 128}),
            ("direct, d = 32", "spmm-direct", ("lanes", "vectors", "flight", "piece"), {"d": 32, "dtype": "fp32"}),
            ("direct, d = 128", "spmm-direct", ("lanes", "vectors", "flight", "piece"), {"d": 128, "dtype": "fp32"}),
            ("direct, d = 512", "spmm-direct", ("lanes", "vectors", "flight", "piece"), {"d": 512, "dtype": "fp32"}),
            ("row-wise SDDMM, d = 128", "sddmm", ("lanes", "vectors", "flight", "piece"), {"d": 128, "heads": 1}),
            ("attention", "attention", ("flight", "piece", "together"), {})):
        value, graphs = steady(r, group, names, **wanted)
        rows.append([title, value, f"{group}: " + (f"{graphs} graphs, whose geometric mean is least" if graphs
                                                   else "the least geometric mean over graphs")])
    return rows


def library(r):
    """cuSPARSE beside ours."""
    rows = []
    for title, theirs, ours, wanted in (("SpMM", "cusparse-spmm", ("spmm-direct", "spmm-hybrid"), {"dtype": "fp32"}),
                                        ("SDDMM", "cusparse-sddmm", ("sddmm",), {"dtype": "fp32"})):
        ratios = {}
        for graph in GRAPHS:
            for d in (32, 64, 128, 256, 512):
                other = r.best(theirs, graph=graph, d=d, **wanted)
                extra = {"heads": 1} if title == "SDDMM" else {}
                mine = quickest(r.best(group, graph=graph, d=d, **wanted, **extra) for group in ours)
                if other and mine:
                    ratios[f"{graph}, {d}"] = other.seconds / mine.seconds
        lost = [name for name, x in ratios.items() if x < 1]
        value = DASH
        if ratios:
            mean = figures(geometric_mean(ratios.values()), 2)
            value = f"{mean}x in the mean; cuSPARSE wins {len(lost)} of {len(ratios)}"
            value += f" ({'; '.join(lost[:4])}{' ...' if len(lost) > 4 else ''})" if lost else ""
        rows.append([f"ours over cuSPARSE, {title}", value, f"{theirs}, {', '.join(ours)}: best of each graph and d"])
    prepared = [case["preprocess_seconds"] / case.seconds for case in r.find("cusparse-spmm")
                if case.get("preprocess_seconds")]
    rows.append(["what cuSPARSE's preprocessing costs, in products", figures(geometric_mean(prepared), 2) if prepared
                 else DASH, "cusparse-spmm: preprocess_seconds over seconds, geometric mean"])
    return rows


def transfers(r):
    copies = {pinned: r.best_rate("host", what="copy to device", pinned=pinned) for pinned in (True, False)}
    rates = {pinned: case.rate if case else None for pinned, case in copies.items()}
    rows = [["copies to the device, pinned; not pinned, GB/s", "; ".join(map(gigabytes, rates.values()))
             if any(rates.values()) else DASH, "host: copy to device, the largest rate of all sizes"]]
    product = quickest(r.best(group, graph="rand-100k", d=128, dtype="fp32")
                       for group in ("cusparse-spmm", "spmm-direct", "spmm-hybrid"))
    value = DASH
    if product and rates[True]:
        nrows, ncols, nvals = GRAPHS["rand-100k"]
        block, graph = (nrows + ncols) * 128 * 4, nvals * 4 + nrows * 4
        value = "; ".join(f"{figures(moved / rates[True] / product.seconds, 2)}x" for moved in (block, block + graph))
    rows.append(["copies of rand-100k's product at d = 128, in products: both blocks; the graph too", value,
                 "host, and the fastest product"])
    value = DASH
    if product and rates[True]:
        seconds = (block + graph) / rates[True] + product.seconds
        value = figures(48e6 * 128 * 4 / seconds / 1e9)
    rows.append(["gathered GB/s of a CPU, below which that product is worth sending: graph and blocks", value,
                 "the same"])
    return rows


def compile_costs(r):
    rows = []
    for title, what in (("compiling a kernel at run time, ms", "nvrtc"), ("loading a cubin, ms", "load cubin")):
        told = [f"{case.get('kernel')} {figures(case.seconds * 1e3)}" for case in r.find("compile", what=what)]
        rows.append([title, "; ".join(told) or DASH, f"compile: {what}"])
    return rows


def others(r):
    rows = []
    for batches in (1, 64):
        best = max(r.find("sampler", batches=batches, graph="products-like", fanouts="15,10,5",
                          variant=lambda v: "unique" not in (v or "")), key=lambda case: case.speed, default=None)
        names = ("variant", "method", "lanes", "block", "blocks", "queue_batch")
        rows.append([f"sampler, {batches} batch{'es' * (batches > 1)} of 1024",
                     f"{parameters(best, names)}: {figures(best.speed / 1e9)}e9 edges a second" if best else DASH,
                     "sampler: products-like, 15,10,5, without renumbering"])
    best = r.best("counts", variant=lambda v: v in ("dense", "mix"))
    names = ("variant", "items", "width", "ids", "lanes", "block", "tile", "words")
    rate = f"{figures(best.speed / 1e9)}e9 products a second" if best else DASH
    rows.append(["counts", f"{parameters(best, names)}: {rate}" if best else DASH,
                 "counts: dense and mix, the fastest"])
    return rows


def sections(r):
    rows = []
    for part in (bandwidths, launch_costs, fixed_costs, crossover, choices, library, transfers, compile_costs, others):
        rows += part(r)
    return ["## What the planner's constants should be", "", "Each is computed from the cases named beside it.", ""] + \
        table(["", "value", "from"], rows, text=True)
