"""What the cases of torch_cases.py stand on: cases with their clocks, and graphs in the forms that PyTorch takes."""
import functools
import gc
import json
import os
import time
import warnings

import numpy
import torch

try:
    import torch_geometric
    import torch_geometric.utils
except ImportError:
    torch_geometric = None

DEVICE_LOST = 3
warnings.filterwarnings("ignore")  # that CSR is in beta, at every case


class Skip(Exception):
    """A case that cannot be had here; the text says why."""


class Reporter:
    """Numbers the cases, runs those that are due, and writes a line of JSON for each."""

    def __init__(self, args, stream):
        self.args, self.stream = args, stream
        self.number = 0
        self.end = time.monotonic() + args.left

    def write(self, what):
        print(json.dumps(what), file=self.stream, flush=True)

    def case(self, parameters, build, paths=("python", "kernels"), **facts):
        """`build` returns the call to time and a check of its result, which returns more fields."""
        self.number += 1
        if self.number <= self.args.done:
            return
        if time.monotonic() > self.end:
            self.write({**parameters, "status": "skipped: no time left"})
            return
        self.write({"begin": self.number, **parameters, "path": "building"})
        try:
            call, check = build()
            checked = check(call())
        except Exception as error:  # noqa: BLE001: whatever it is, the next case may work
            self.failure(parameters, error)
            return
        for path in paths:
            named = {**parameters, "path": path}
            self.write({"begin": self.number, **named})
            try:
                measured = timed(call, path, self.args)
                self.write({**named, "status": "ok", **facts, **checked, **measured})
            except Exception as error:  # noqa: BLE001
                self.failure(named, error)
        del call, check
        release(self.args)

    def failure(self, named, error):
        text = " ".join(str(error).split())[:300]
        status = f"failed: {type(error).__name__}: {text}"
        if isinstance(error, (Skip, NotImplementedError)):
            status = f"skipped: {text}"
        if type(error).__name__ in ("OutOfMemoryError", "MemoryError"):
            status = "failed: out of memory"
        self.write({**named, "status": status})
        error.__traceback__ = None  # its frames hold tensors
        release(self.args)


def release(args):
    """Frees what the last case held; ends the process if the device no longer answers."""
    gc.collect()
    if args.device == "cpu":
        return
    try:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    except Exception:  # noqa: BLE001
        os._exit(DEVICE_LOST)


def timed(call, path, args):
    if path == "python":
        return {"seconds": host_times(call, args)}
    if args.device == "cpu":
        raise Skip("kernels apart are timed on a GPU only")
    graph = captured(call)
    if graph is not None:
        return {"seconds": replay_times(graph), "timer": "graph"}
    return {"seconds": profiler_times(call), "timer": "profiler"}


def wait(args):
    if args.device != "cpu":
        torch.cuda.synchronize()


def host_times(call, args, samples=7, seconds=0.25):
    """Seconds a call, by the host's clock: as many calls a sample as fill 20 ms."""
    def sample(calls):
        wait(args)
        start = time.perf_counter()
        for _ in range(calls):
            call()
        wait(args)
        return (time.perf_counter() - start) / calls

    once = sample(1)
    if args.toy:
        return [once]
    calls = max(1, min(200, int(0.02 / max(once, 1e-6))))
    taken = []
    while len(taken) < samples and (len(taken) < 2 or sum(taken) * calls < seconds):
        taken.append(sample(calls))
    return taken


def waits_for_device(call):
    """Whether a call makes the host wait: then it cannot be captured, and trying would leave the allocator odd."""
    torch.cuda.set_sync_debug_mode("error")
    try:
        call()
        return False
    except RuntimeError:
        return True
    finally:
        torch.cuda.set_sync_debug_mode("default")


def captured(call):
    """The call as a CUDA graph, or None where it cannot be one."""
    if waits_for_device(call):
        return None
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            call()
    except torch.cuda.OutOfMemoryError:
        raise
    except RuntimeError:
        torch.cuda.synchronize()
        return None
    graph.replay()
    torch.cuda.synchronize()
    return graph


def replay_times(graph, samples=11, seconds=0.25):
    def sample(calls):
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        for _ in range(calls):
            graph.replay()
        last.record()
        last.synchronize()
        return first.elapsed_time(last) * 1e-3 / calls

    calls = max(1, min(200, int(1e-3 / max(sample(1), 1e-6))))
    taken = []
    while len(taken) < samples and (len(taken) < 3 or sum(taken) * calls < seconds):
        taken.append(sample(calls))
    return taken


def profiler_times(call, samples=3):
    taken = []
    for _ in range(samples):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            call()
            torch.cuda.synchronize()
        on_device = [e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA]
        taken.append(sum(e.time_range.elapsed_us() for e in on_device) * 1e-6)
    if not all(taken):
        raise Skip("neither capture nor the profiler could time it")
    return taken


class Graph:
    """A graph as support/graphs.cu keeps it: row i holds the sources of target i. Other forms are made when asked."""

    def __init__(self, name, args):
        path = os.path.join(args.graphs, f"{name}-{args.seed}{'-toy' if args.toy else ''}.graph")
        if not os.path.exists(path):
            raise Skip(f"graph {name} is not there")
        head = numpy.fromfile(path, dtype=numpy.int64, count=3)
        data = numpy.memmap(path, dtype=numpy.int32, mode="r", offset=24)
        self.name, self.device = name, args.device
        self.nrows, self.ncols, self.nvals = (int(n) for n in head)
        if len(data) != self.nrows + 1 + self.nvals:
            raise Skip(f"graph {name} is cut short")
        self.rowptr = torch.from_numpy(numpy.array(data[:self.nrows + 1])).to(args.device)
        self.colidx = torch.from_numpy(numpy.array(data[self.nrows + 1:])).to(args.device)

    def csr(self, values, wide=False):
        """PyTorch's CSR: 32-bit, unless what it is for takes 64-bit indices only."""
        rowptr, colidx = (self.rowptr64, self.edge_index[0]) if wide else (self.rowptr, self.colidx)
        return torch.sparse_csr_tensor(rowptr, colidx, values, size=(self.nrows, self.ncols))

    def ones(self, dtype):
        return torch.ones(self.nvals, dtype=dtype, device=self.device)

    @functools.cached_property
    def rowptr64(self):
        return self.rowptr.long()

    @functools.cached_property
    def rows(self):
        """Each entry's row, 64-bit."""
        return torch.repeat_interleave(torch.arange(self.nrows, device=self.device), self.rowptr64.diff(),
                                       output_size=self.nvals)

    @functools.cached_property
    def edge_index(self):
        """Sources above targets, sorted by target."""
        return torch.stack([self.colidx.long(), self.rows])

    @functools.cached_property
    def weights(self):
        """1 / sqrt(degree of the source, of the target), as a GCN has them once its norm is cached."""
        into = self.rowptr64.diff().clamp_(min=1).float().rsqrt_()
        return into[self.rows] * into[self.edge_index[0]]

    @functools.cached_property
    def edges(self):
        """PyG's EdgeIndex with its caches filled."""
        made = torch_geometric.EdgeIndex(self.edge_index, sparse_size=(self.ncols, self.nrows), sort_order="col")
        return made.fill_cache_()

    def sample(self):
        """Rows to check: the longest and the shortest, and others spread over all."""
        degree, count = self.rowptr.diff(), 64 if self.nrows > 1000 else 8
        spread = torch.linspace(0, self.nrows - 1, count, device=self.device).long().tolist()
        return sorted({int(degree.argmax()), int(degree.argmin()), *spread})

    def entries(self, row):
        return slice(int(self.rowptr[row]), int(self.rowptr[row + 1]))

    def sources(self, row):
        return self.colidx[self.entries(row)].long()


class Graphs:
    """The graph in use; only one is held."""

    def __init__(self, args):
        self.args, self.held = args, None

    def __call__(self, name):
        if self.held is None or self.held.name != name:
            self.held = None
            release(self.args)
            self.held = Graph(name, self.args)
        return self.held


def block(rows, d, args, dtype="float32"):
    """Values in (-1, 1), the same in every run."""
    generator = torch.Generator(device=args.device).manual_seed(rows * 1000 + d)
    made = torch.rand(rows, d, generator=generator, device=args.device) * 2 - 1
    return made.to(getattr(torch, dtype))


def must_fit(needed, args):
    if args.device == "cpu":
        return
    total = torch.cuda.mem_get_info()[1]
    if needed > 0.95 * total:
        raise Skip(f"needs {needed / 2**30:.0f} GiB of device memory")


def agrees(errors, limit):
    """The largest of errors; what is no number is infinitely wrong."""
    worst = max((float(e.nan_to_num(nan=float("inf")).max()) for e in errors if e.numel()), default=0.0)
    if not worst <= limit:
        raise RuntimeError(f"wrong result: error {worst:.3g}, more than {limit:.1g}")
    return {"error": worst}


def repeats(call, first, tries=3):
    """Bit-reproducibility, beside what `call` gave first."""
    same = sum(bool(torch.equal(call(), first)) for _ in range(tries))
    return {"identical": same, "tries": tries}
