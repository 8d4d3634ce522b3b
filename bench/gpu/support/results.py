"""The cases of result files, and what a page needs to make tables of them."""
import glob
import json
import math
import os
import textwrap

DASH = "—"
NOT_MEASURED = "*not measured yet*"
GRAPHS = {"rand-100k": (100000, 100000, 48000000), "reddit-like": (233000, 233000, 114e6),
          "proteins-like": (132500, 132500, 78e6), "arxiv-like": (169343, 169343, 1.17e6),
          "products-like": (2400000, 2400000, 123e6)}  # rows, columns, about as many entries
WIDTHS = (32, 64, 128, 256, 512)
BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}


def median(values):
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


class Case(dict):
    """One line of a result file."""

    @property
    def seconds(self):
        return median(self["seconds"])

    @property
    def measured(self):
        taken = self.get("seconds")
        return self.get("status") == "ok" and bool(taken) and all(isinstance(s, (int, float)) for s in taken) and \
            self.seconds > 0

    @property
    def spread(self):
        return (max(self["seconds"]) - min(self["seconds"])) / self.seconds

    @property
    def rate(self):
        """Bytes per second."""
        return self.get("bytes", 0) / self.seconds

    @property
    def speed(self):
        """Operations per second."""
        return self.get("operations", 0) / self.seconds

    def fits(self, wanted):
        return all(value(self.get(key)) if callable(value) else self.get(key) == value
                   for key, value in wanted.items())


class Results:
    """All cases of a folder. What was emulated, or run at toy size, is no measurement and is refused."""

    def __init__(self, folder, allow_toy=False):
        self.heads, self.cases = [], []
        for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
            with open(path, encoding="utf-8") as file:
                whole = json.load(file)
            name = os.path.basename(path)
            if whole.get("format") != 1:
                raise ValueError(f"{name} is not of format 1")
            if (whole.get("toy") or whole.get("emulated")) and not allow_toy:
                raise ValueError(f"{name} is of a trial at toy size, which measures nothing")
            self.heads.append({"file": name, **{key: whole[key] for key in whole if key != "cases"}})
            self.cases += [Case(case, part=whole.get("part")) for case in whole["cases"]]

    def all(self, group, **wanted):
        """Cases of a group, measured or not."""
        return [case for case in self.cases if case.get("group") == group and case.fits(wanted)]

    def find(self, group, **wanted):
        return [case for case in self.all(group, **wanted) if case.measured]

    def best(self, group, **wanted):
        """The fastest case, or None."""
        return min(self.find(group, **wanted), key=lambda case: case.seconds, default=None)

    def best_rate(self, group, **wanted):
        """The case of most bytes per second, or None."""
        return max(self.find(group, **wanted), key=lambda case: case.rate, default=None)

    def gather_rate(self, row_bytes, footprint, order="random"):
        """The best rate at which rows of this size were gathered, between the two footprints next to the one asked
        for: a line over the footprint's logarithm. None where that row size was not measured."""
        rates = {}
        for case in self.find("gather", row_bytes=row_bytes, order=order):
            at = case["footprint"]
            rates[at] = max(rates.get(at, 0), case.rate)
        if not rates:
            return None
        below = max((at for at in rates if at <= footprint), default=min(rates))
        above = min((at for at in rates if at >= footprint), default=max(rates))
        if above <= below:
            return rates[below]
        share = math.log(footprint / below) / math.log(above / below)
        return rates[below] ** (1 - share) * rates[above] ** share

    def share(self, case):
        """A product's gathered bytes per second, of what gathering rows of its size from its block can do."""
        if case is None or case.get("graph") not in GRAPHS or not case.get("bytes"):
            return None
        row_bytes = case["d"] * BYTES.get(case.get("dtype", "fp32"), 4)
        limit = self.gather_rate(row_bytes, GRAPHS[case["graph"]][1] * row_bytes)
        return case.rate / limit if limit else None


def quickest(cases):
    """Of cases, some of which may be None."""
    return min(filter(None, cases), key=lambda case: case.seconds, default=None)


# ---- figures


def figures(x, digits=3):
    """A number with so many significant digits, written plainly."""
    if x is None:
        return DASH
    if x == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(x))))
    return f"{x:,.{places}f}"


def power(x):
    """A large count, shortly: 1.07e10."""
    return DASH if x is None else f"{x:.3g}".replace("e+0", "e").replace("e+", "e")


def milliseconds(case):
    return figures(case.seconds * 1e3) if case else DASH


def microseconds(case):
    return figures(case.seconds * 1e6) if case else DASH


def gigabytes(rate):
    return figures(rate / 1e9) if rate else DASH


def percent(x):
    return DASH if x is None else f"{100 * x:.0f} %"


def size(count):
    """Bytes as KB, MB or GB of 1024."""
    for unit in ("B", "KB", "MB"):
        if count < 1024:
            return f"{count:g} {unit}"
        count /= 1024
    return f"{count:g} GB"


def ratio(one, other):
    """How many times faster `one` is."""
    return f"{figures(other.seconds / one.seconds, 2)}x" if one and other else DASH


# ---- tables


def prose(*sentences):
    """A paragraph."""
    return textwrap.wrap(" ".join(sentences), 120, break_long_words=False, break_on_hyphens=False) + [""]


def table(heads, rows, labels=1, text=False):
    """Lines of a table whose first `labels` columns are names, the others figures or text. One without any figure
    says so."""
    heads = list(heads)
    if all(cell == DASH for row in rows for cell in row[labels:]):
        heads[0] = ", ".join(filter(None, (heads[0], NOT_MEASURED)))
    rule = "|" + "---|" * labels + ("---|" if text else "---:|") * (len(heads) - labels)
    return [line(heads), rule, *map(line, rows), ""]


def line(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def pivot(cases, names, column, columns, cell, rows=()):
    """A table's rows: a row for each combination of the parameters `names` in the order of the cases, a column for each
    value of `column`; of several cases for a place `cell` is asked for the fastest. Without cases, `rows`."""
    places = {}
    for case in cases:
        key = tuple(case.get(name) for name in names)
        places.setdefault(key, {})
        held = places[key].get(case.get(column))
        if held is None or case.rate > held.rate or case.rate == held.rate and case.seconds < held.seconds:
            places[key][case.get(column)] = case
    made = [[*("" if part is None else part for part in key), *(cell(at.get(value)) for value in columns)]
            for key, at in places.items()]
    return made or [[*names_of, *[DASH] * len(columns)] for names_of in rows]


def spread(cases):
    """The sentence on samples and spread that goes with a table; empty without any."""
    known = [case for case in cases if case is not None and case.measured]
    if not known:
        return ""
    counts, spreads = [len(case["seconds"]) for case in known], sorted(case.spread for case in known)
    count = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    return (f"Medians of {count} samples, which spread by {100 * median(spreads):.1f} % for the middle figure, "
            f"{100 * spreads[-1]:.0f} % for the worst.")


def parameters(case, names):
    """`name value` for each parameter that a case has."""
    if case is None:
        return DASH
    said = []
    for name in names:
        value = case.get(name)
        if value is not None and value is not False:
            said.append(name.replace("_", " ") + ("" if value is True else f" {value}"))
    return ", ".join(said)


def geometric_mean(values):
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None
