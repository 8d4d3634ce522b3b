"""The page's first part: what the machine itself can do."""
from results import DASH, NOT_MEASURED, figures, gigabytes, microseconds, pivot, prose, size, spread, table

MB = 1 << 20
FOOTPRINTS = [n * MB for n in (1, 8, 16, 32, 48, 64, 128, 256, 512, 2048, 4096)]
ROW_BYTES = (128, 256, 512, 1024, 2048)


def memory(r):
    used = []

    def row(name, group, **wanted):
        cells = [r.best_rate(group, footprint=at, **wanted) for at in FOOTPRINTS]
        used.extend(cells)
        return [name, *(gigabytes(case.rate) if case else DASH for case in cells)]

    rows = [row("read in order", "read", what="bandwidth")]
    rows += [row(f"gather rows of {size(b)}", "gather", row_bytes=b, order="random") for b in ROW_BYTES]
    windows = sorted({case.get("window", 0) for case in r.find("gather", order="clustered")}) or [64, 4096]
    rows += [row(f"the same, 512 B, 64 in turn within {window} rows", "gather", row_bytes=512, order="clustered",
                 window=window) for window in windows]
    lines = ["### Memory", ""] + prose(
        "GB/s by footprint: all multiprocessors read so many bytes again and again. Where the figures fall, the L2 "
        "ends: its near half, then all of it. A gather reads whole rows by a list of random numbers; its rate is the "
        "limit of every product with a sparse matrix, and the best of all variants stands here.", spread(used))
    lines += table(["", *(size(at) for at in FOOTPRINTS)], rows)
    written, copied = (r.best_rate("read", what=what) for what in ("write", "copy"))
    return lines + prose(
        f"Of 1 GB, writes run at {gigabytes(written.rate) if written else DASH} GB/s and copies at "
        f"{gigabytes(copied.rate) if copied else DASH}, their bytes counted twice.", latency(r))


def latency(r):
    def middle(level, key=None):
        known = sorted(case[key] if key else case.seconds
                       for case in r.find("read", what="latency", level=level) if not key or key in case)
        return figures(known[len(known) // 2] * 1e9) if known else DASH

    return (f"One lane's read after another takes {middle('L1')} ns from the L1, {middle('L2')} ns from the L2 (the "
            f"fast group of its lines {middle('L2', 'near_half')}, the slow one {middle('L2', 'far_half')}), "
            f"{middle('memory')} ns from memory.")


def shared(r):
    strides = (1, 2, 4, 8, 16, 32)
    loads = r.find("shared", what="load")
    rows = pivot(sorted(loads, key=lambda case: case["access"]), ["access"], "stride", strides,
                 lambda case: gigabytes(case.rate) if case else DASH, [(4,), (8,), (16,)])
    lines = ["### Shared memory", ""] + prose("Loads, GB/s over all multiprocessors, by bytes a lane and the distance "
                                              "between lanes (1: no conflicts).", spread(loads))
    lines += table(["bytes a lane", *(f"stride {s}" for s in strides)], rows)
    tiles = (8192, 16384, 32768, 65536)
    copies = r.find("shared", what=lambda what: what in ("cp.async", "bulk copy"), row_bytes=512)
    footprints = sorted({case["footprint"] for case in copies}) or (24 * MB, 2048 * MB)
    places = [(what, footprint) for footprint in footprints for what in ("cp.async", "bulk copy")]
    rows = []
    for what, footprint in places:
        best = [r.best_rate("shared", what=what, footprint=footprint, tile=tile, row_bytes=512) for tile in tiles]
        rows.append([what, size(footprint), *(f"{gigabytes(case.rate)} ({case['stages']} x {case['blocks']})" if case
                                              else DASH for case in best)])
    return lines + prose("Copies of gathered rows of 512 B into shared memory, GB/s by the tile's size; in brackets "
                         "the stages, and the blocks of a multiprocessor, that did best.", spread(copies)) + table(
        ["", "footprint", *(size(tile) for tile in tiles)], rows, 2)


def atomics(r):
    cases = r.find("atomics")
    types = list(dict.fromkeys(case["type"] for case in cases)) or ["int add", "float add", "64-bit add"]
    rows = pivot(cases, ["where", "addresses"], "type", types,
                 lambda case: figures(case.speed / 1e9) if case else DASH,
                 [(where, count) for where in ("shared", "global") for count in (1, 32, 1024)])
    return ["### Atomics", ""] + prose(
        "10^9 a second over all multiprocessors, by how many distinct addresses are hit.", spread(cases)) \
        + table(["", "addresses", *types], rows, 2)


def launches(r):
    """Three to a line."""
    cases = r.find("launch")
    timed = {(case.get("what"), case.get("blocks")) for case in cases if case.get("clock") == "device"}
    said = [[str(case.get("what")) + (f", {case['blocks']:,.0f} blocks" if case.get("blocks", 1) > 1 else "")
             + (", and wait" if case["clock"] == "host" and (case.get("what"), case.get("blocks")) in timed else ""),
             microseconds(case)] for case in cases]
    said = said or [[what, DASH] for what in ("empty kernel, one after the other", "20 kernels in a stream",
                                              "20 kernels in a graph", "empty kernel, then cudaStreamSynchronize")]
    height = (len(said) + 2) // 3
    said += [["", ""]] * (3 * height - len(said))
    rows = [sum(said[k::height], []) for k in range(height)]
    return ["### Launches and waits", ""] + prose("What each costs; of several, the time of all.", spread(cases)) \
        + table([NOT_MEASURED if not cases else "", "us", "", "us", "", "us"], rows)


def host(r):
    cases = r.find("host")
    moved = [case for case in cases if case.get("bytes")]
    sizes = sorted({case["bytes"] for case in moved}) or [4096, MB, 64 * MB, 1024 * MB]
    rows = pivot(moved, ["what", "pinned"], "bytes", sizes, lambda case: gigabytes(case.rate) if case else DASH,
                 [(what, pinned) for what in ("copy to device", "copy from device") for pinned in (True, False)])
    for row in rows:
        row[1] = {True: "pinned", False: "not pinned"}.get(row[1], row[1])
    other = "; ".join(f"{case.get('what')} {microseconds(case)} us" for case in cases if not case.get("bytes"))
    return ["### Copies from and to the host", ""] + prose("GB/s by size.", spread(cases), other and other + ".") \
        + table(["", "", *(size(at) for at in sizes)], rows, 2)


def compile_costs(r):
    steps = {}
    for case in r.find("compile"):
        steps.setdefault(case["what"], []).append(figures(case.seconds * 1e3))
    said = "; ".join(f"{what} {', '.join(each)}" for what, each in steps.items())
    return ["### Compiling at run time", ""] + prose(
        f"{said or NOT_MEASURED}. In ms, of a small and of a middle-sized kernel.", spread(r.find("compile")))


def sections(r):
    lines = ["## Limits", ""]
    for part in (memory, shared, atomics, launches, host, compile_costs):
        lines += part(r)
    return lines
