#!/usr/bin/env python3
"""torch_peers.py --out FILE --graphs DIR [--toy] [--budget SECONDS] [--device cpu]: PyTorch and PyG on our graphs.

Part 6 of the facts about a GPU: what a user of PyTorch has today for the products that the other parts measure, each
at its best: 32-bit CSR where a call takes it, edges sorted by target, adjacencies and norms made beforehand.

Every case is timed twice. `path` is `python`: the host's clock around calls of the whole Python path, with one wait
at the end; and `kernels`: what the device alone needs, by replaying the captured calls (`timer` is `graph`), or by the
profiler's sum of kernel times where a call waits for the device and cannot be captured (`profiler`). The difference is
what the path through Python costs.

Groups run in processes of their own. One that dies or hangs is started again after the case that it was in, and
that case is written down as failed. The file is complete JSON after every case.
"""
import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CASE_LIMIT = 60.0  # seconds, after which the process that runs a case is ended
DEVICE_LOST = 3
GROUPS = {"torch": 90, "torch-spmm": 140, "pyg-layers": 130, "torch-sddmm": 50, "pyg-epoch": 30, "torch-softmax": 30,
          "pyg-sampler": 25}  # and their seconds


def driver_state():
    query = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,temperature.gpu,power.draw"
    try:
        return subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True,
                              text=True, timeout=10, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


class Part:
    """The file, rewritten after every case."""

    def __init__(self, args):
        self.path, self.start, self.cases = args.out, time.monotonic(), []
        self.head = {"format": 1, "part": 6, "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                     "seed": args.seed, "toy": args.toy, "emulated": args.device == "cpu", "before": driver_state()}

    def add(self, group, case):
        seconds = [float(f"{s:.4g}") for s in case.get("seconds", [])]
        self.cases.append({"group": group, **case, **({"seconds": seconds} if seconds else {})})
        self.write("")

    def write(self, after):
        head = {**self.head, "elapsed": round(time.monotonic() - self.start, 3), "after": after}
        lines = ",\n".join(json.dumps(case) for case in self.cases)
        with open(self.path + ".part", "w", encoding="utf-8") as file:
            file.write(json.dumps(head)[:-1] + ', "cases": [\n' + lines + "\n]}\n")
        os.replace(self.path + ".part", self.path)


def follow(child, part, group, end):
    """Writes down what a group's process says. Returns the number of the last case that it began, that case's
    parameters unless it ended, and why the process was cut off, if it was."""
    lines = queue.Queue()
    threading.Thread(target=lambda: [lines.put(line) for line in child.stdout] + [lines.put(None)],
                     daemon=True).start()
    number, begun, limit = 0, None, end + 20
    while True:
        try:
            line = lines.get(timeout=max(0.1, limit - time.monotonic()))
        except queue.Empty:
            child.kill()
            return number, begun, "cut off after its time"
        if line is None:
            return number, begun, ""
        try:
            case = json.loads(line)
        except ValueError:
            continue
        if "begin" in case:
            number, begun = case.pop("begin"), case
            limit = min(time.monotonic() + CASE_LIMIT, end + 20)
        else:
            begun = None
            part.add(group, case)


def run_group(group, args, part, end):
    """A group's process, started again after a case that ended it."""
    done = 0
    for _ in range(8):
        left = end - time.monotonic()
        if left < 5:
            part.add(group, {"status": "skipped: no time left"})
            return
        command = [sys.executable, os.path.join(HERE, "support", "torch_cases.py"), group, "--graphs", args.graphs,
                   "--device", args.device, "--seed", str(args.seed), "--done", str(done), "--left", f"{left:.1f}"]
        child = subprocess.Popen(command + ["--toy"] * args.toy, stdout=subprocess.PIPE, text=True)
        number, begun, cut = follow(child, part, group, end)
        try:
            status = child.wait(timeout=20)
        except subprocess.TimeoutExpired:  # inside a call of the driver that does not return
            part.add(group, {**(begun or {}), "status": "failed: cut off after its time, and it does not end"})
            return
        if status == 0:
            return
        how = cut or ("the device was lost" if status == DEVICE_LOST else f"ended by {status}")
        if begun is not None or number <= done:
            part.add(group, {**(begun or {}), "status": f"failed: {how}"})
        if number <= done:
            return
        done = number


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default="part6.json")
    parser.add_argument("--graphs", default="")
    parser.add_argument("--toy", action="store_true")
    parser.add_argument("--budget", type=float, default=440)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--only", default="", help="groups whose name contains this")
    args = parser.parse_args()
    part = Part(args)
    finish = part.start + args.budget
    chosen = {group: seconds for group, seconds in GROUPS.items() if args.only in group}
    following = sum(chosen.values())
    for group, seconds in chosen.items():
        before, left = len(part.cases), finish - 5 - time.monotonic()
        following -= seconds  # a group gets its share, and what is left beyond the shares of those that follow
        share = max(left * seconds / (seconds + following), left - following)
        run_group(group, args, part, time.monotonic() + min(left, seconds, share))
        bad = sum(case["status"].startswith("failed") for case in part.cases[before:])
        print(f"{group}: {len(part.cases) - before} cases, {bad} failed", flush=True)
    part.write(driver_state())
    failed = sum(case["status"].startswith("failed") for case in part.cases)
    return 1 if args.toy and failed else 0


if __name__ == "__main__":
    sys.exit(main())
