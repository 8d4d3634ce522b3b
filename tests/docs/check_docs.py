#!/usr/bin/env python3
"""Executes what the documents say: README.md, docs/*.md, and the examples in the command's own help.

C is compiled with warnings as errors against the installed library, a function per block; tests/docs/<document>.h
declares what fragments take for granted. Then it is run: no call may fail. Shell lines run in a scratch folder with
small files of the names that they use; of the output that stands below a line, or is listed under SAID, what does not
depend on the machine has to come. Semirings between backticks are parsed, and tables of messages and types compared with what
the library does (texts.c). Names of functions, constants, options and files have to be there.

A block that is none of these, a line that cannot be run, and one that is run with other numbers stand in lists.py; an
entry of these lists that no document has any more is a failure, too.
"""
import concurrent.futures
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys

import lists

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
SCRATCH = pathlib.Path(sys.argv[1])
REDUCERS = "plus|times|min|max|any|or|and|xor|xnor|mean|argmin|argmax"
SHELL = re.compile(r"^(\$ |(featblas|make|cmake|cc|build/release/\S+|scripts/\S+|bench/\S+)( |$))")
failures = []
used = set()


def fail(where, text):
    failures.append(f"{where}: {text}")


class Block:
    def __init__(self, doc, line, kind, lines):
        self.doc, self.line, self.kind, self.lines = doc, line, kind, lines
        self.text = "\n".join(lines) + "\n"
        self.where = f"{doc}:{line}"


def listed(table, doc, text):
    """The entry of a list whose key is this document and the beginning of the text, if there is one."""
    for key in table:
        if key[0] == doc and text.lstrip().startswith(key[1]):
            used.add((id(table), key))
            return table[key]
    return None


def kind_of(doc, lines):
    text = "\n".join(lines)
    if listed(lists.TEXTS, doc, text) or any(d == doc and text.startswith(begin) for d, begin in lists.SAID):
        return "text"
    if any(SHELL.match(line) for line in lines):
        return "shell"
    if "FtB_" in text or text.startswith("static "):
        return "c"
    if re.match(r"import |state = |pairs = ", text):
        return "python"
    if text.startswith("find_package("):
        return "cmake"
    if all(re.match(rf"({REDUCERS}) : ", line) for line in lines):
        return "semirings"
    return None


def blocks_of(doc):
    """Fenced and indented blocks. An indented one is cut at blank lines where the kind changes."""
    lines = (ROOT / doc).read_text().split("\n")
    blocks, at = [], 0
    while at < len(lines):
        if lines[at].startswith("```"):
            end = lines.index("```", at + 1)
            language = lines[at][3:].strip()
            blocks.append(Block(doc, at + 2, {"c": "c", "python": "python", "sh": "shell"}.get(language), lines[at + 1:end]))
            at = end + 1
        elif lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            while not lines[end - 1].strip():
                end -= 1
            cut(doc, at, [line[4:] for line in lines[at:end]], blocks)
            at = end
        else:
            at += 1
    return blocks


def cut(doc, start, lines, blocks):
    first = len(blocks)
    paragraph = []
    for number, line in enumerate(lines + [""]):
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            begin = start + number - len(paragraph) + 1
            kind = kind_of(doc, paragraph)
            if kind is None and len(blocks) > first and blocks[-1].kind in ("text", "c", "python"):
                kind = blocks[-1].kind
            if len(blocks) > first and blocks[-1].kind == kind:
                gap = [""] * (begin - blocks[-1].line - len(blocks[-1].lines))
                blocks[-1] = Block(doc, blocks[-1].line, kind, blocks[-1].lines + gap + paragraph)
            else:
                blocks.append(Block(doc, begin, kind, paragraph))
            paragraph = []


def run(command, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace", **options}
    return subprocess.run(command, check=False, **options)


# ---- C

def hoist(lines):
    """What of a fragment stands outside of functions, and what inside."""
    outside, inside, at = [], [], 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("#include"):
            outside.append(line)
        elif re.match(r"static .*;$", line):
            outside.append(line)
        elif line.startswith("static "):
            while lines[at] != "}":
                outside.append(lines[at])
                at += 1
            outside.append("}")
        elif not re.match(r"\s*\.\.\.\s*(/\*.*\*/)?$", line):
            inside.append(line)
        at += 1
    return outside, inside


def flags():
    return run(["pkg-config", "--cflags", "--libs", "featblas"], stderr=None).stdout.split()


def compile_c(where, source, program):
    done = run([os.environ["CC"], "-std=gnu11", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-Wno-unused-parameter", "-I", str(HERE), str(source),
                "-o", str(program), *flags(), "-lm"])
    if done.returncode:
        fail(where, "does not compile:\n" + done.stdout)
        return False
    return True


def check_c(doc, blocks, calls):
    stem = pathlib.Path(doc).stem
    preamble = HERE / f"{stem}.h"
    if not preamble.exists():
        fail(doc, f"has C, but there is no tests/docs/{stem}.h with its declarations")
        return
    program = [f'#include "{preamble.name}"']
    main = []
    for number, block in enumerate(blocks):
        outside, inside = hoist(block.lines)
        program += [f'#line {block.line} "{doc}"', *outside, f"static void block_{number}(void)", "{",
                    f'#line {block.line + len(outside)} "{doc}"', *inside, "}"]
        main.append(f'    before(); block_{number}(); after("{block.where}");')
    for number, (line, call) in enumerate(calls):
        program += [f"static void call_{number}(void)", "{", f'#line {line} "{doc}"', f"    (void)({call});", "}"]
    program += ["int main(void)", "{", *main, "    return 0;", "}", ""]
    source = SCRATCH / f"{stem}.c"
    source.write_text("\n".join(program))
    if compile_c(doc, source, SCRATCH / stem):
        done = run([str(SCRATCH / stem)], cwd=SCRATCH / "c")
        if done.returncode:
            fail(doc, f"its C ends with {done.returncode}: {done.stdout[-2000:]}")


def calls_of(doc):
    """Calls between backticks, which are compiled."""
    calls = []
    for number, line in enumerate(prose(doc), 1):
        for code in re.findall(r"`([^`]+)`", line):
            if re.fullmatch(r"FtB_\w+\(.+\)", code) and "..." not in code and not listed(lists.CALLS, doc, code):
                calls.append((number, code))
    return calls


# ---- the shell

def commands_of(block):
    """Commands with the output that stands below them."""
    found = []
    for line in block.lines:
        if SHELL.match(line):
            found.append([line[2:] if line.startswith("$ ") else line, []])
        elif found and found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line.strip()
        elif found and line.strip():
            found[-1][1].append(line)
    return found


def check_output(where, command, wanted, got):
    """The first words of the lines, in this order; what follows depends on the machine. Whether there is a line of some of
    them does, too."""
    at = 0
    lines = got.split("\n")
    for line in wanted:
        label = line.split("  ")[0]
        if label in lists.OPTIONAL:
            used.add((id(lists.OPTIONAL), label))
            continue
        while at < len(lines) and not lines[at].startswith(label):
            at += 1
        if at == len(lines):
            fail(where, f"'{command}' prints no '{label}' line, or not there:\n{got}")
            return


def run_shell(where, doc, command, folder, wanted):
    reason = listed(lists.NOT_RUN, doc, command)
    if reason:
        return ""
    for key, other in lists.SMALLER.items():
        if key[0] in (doc, "") and key[1] in command:
            used.add((id(lists.SMALLER), key))
            command = command.replace(key[1], other)
    command = command.replace("build/release", os.environ["FEATBLAS_BUILD"])
    done = run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env={**os.environ, "HOME": str(folder)})
    if done.returncode:
        fail(where, f"'{command}' ends with {done.returncode}: {done.stdout}")
    elif wanted:
        check_output(where, command, wanted, done.stdout)
    return done.stdout


def check_said(doc, said):
    """Texts that a document shows of outputs; `...` leaves lines out, a time stands for any."""
    def plain(text):
        return re.sub(r"\d[\d.e+]* (s|products/s)\b", r"# \1", re.sub(r" +", " ", text)).strip()
    all_lines = {plain(line) for line in said.split("\n")}
    for (d, begin), _ in lists.SAID.items():
        if d != doc:
            continue
        for block in blocks_of(doc):
            if block.text.startswith(begin):
                used.add((id(lists.SAID), (d, begin)))
                for line in block.lines:
                    if line.strip() not in ("", "...") and plain(line) not in all_lines:
                        fail(block.where, f"no command said '{line}'; they said:\n{said}")


def check_shell(doc, blocks, folder):
    shutil.copytree(SCRATCH / "files", folder, symlinks=True)
    for name, begin in lists.FILES.get(doc, {}).items():
        block = next((b for b in blocks if b.text.startswith(begin)), None)
        if block:
            (folder / name).write_text(block.text)
        else:
            fail(doc, f"has no block that begins with '{begin}', the file {name}")
    said = ""
    for command, code in lists.EXTRA.get(doc, []):
        done = run(["bash", "-c", command], cwd=folder)
        said += done.stdout
        if done.returncode != code:
            fail(doc, f"'{command}' ends with {done.returncode}, not {code}: {done.stdout}")
    for block in blocks:
        if block.kind == "shell":
            for command, wanted in commands_of(block):
                said += run_shell(block.where, doc, command, folder, wanted)
        elif block.kind == "python":
            check_python(block, folder)
        elif block.kind == "cmake":
            check_cmake(block, folder)
    check_said(doc, said)


LOAD_FILE = """
def load_file(name):
    import json
    data = open(name, "rb").read()
    return dict.fromkeys(json.loads(data[8:8 + int.from_bytes(data[:8], "little")]))
"""


def check_python(block, folder):
    compile(block.text, block.where, "exec")
    if listed(lists.NOT_RUN, block.doc, block.text):
        return
    if "numpy" in block.text and run([sys.executable, "-c", "import numpy, scipy"]).returncode:
        print(f"{block.where}: only compiled, for there is no scipy")
        return
    done = run([sys.executable, "-c", LOAD_FILE + block.text], cwd=folder)
    if done.returncode:
        fail(block.where, done.stdout)


def check_cmake(block, folder):
    """A project for each find_package."""
    for lines in re.split(r"^(?=find_package)", block.text, flags=re.M)[1:]:
        project = folder / "project"
        shutil.rmtree(project, ignore_errors=True)
        project.mkdir()
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(mine LANGUAGES C)\n"
                                                "add_executable(mine ../mine.c)\n" + lines)
        build = "cmake -S project -B project/build && cmake --build project/build && project/build/mine"
        done = run(["sh", "-c", build], cwd=folder)
        if done.returncode:
            fail(block.where, done.stdout)


# ---- prose

def prose(doc):
    """The lines of a document, with those of code blocks empty."""
    lines = (ROOT / doc).read_text().split("\n")
    for block in blocks_of(doc):
        for k in range(block.line - 1, block.line - 1 + len(block.lines)):
            lines[k] = ""
    return lines


def headers():
    text = "".join(p.read_text() for p in [*ROOT.glob("include/**/*.h"), *ROOT.glob("semirings/*.def")])
    names = set(re.findall(r"\b(?:FtB|FTB)_\w+", text))
    names |= {"FTB_" + n for n in re.findall(r"FTB_SEMIRING\((\w+),", text)}
    names |= {"FTB_DESC_" + n for n in re.findall(r"X\((\w+), [01], [01], [01], [01], [01]\)", text)}
    return names | {"FtB_" + n for n in re.findall(r"^ +X\((\w+), \"", text, re.M)}


def options_known():
    """Those that start a line of a command's help."""
    texts = [p.read_text() for p in (SCRATCH / "help").iterdir()]
    return set(lists.OPTIONS) | {o for t in texts for o in re.findall(r"^ +(?:-\w, )?(--[a-z][a-z-]*)", t, re.M)}


def check_names(doc, names, options):
    for number, line in enumerate((ROOT / doc).read_text().split("\n"), 1):
        where = f"{doc}:{number}"
        for name in re.findall(r"\b(?:FtB|FTB)_\w+", line):
            if name not in names and not (name.endswith("_") and any(n.startswith(name) for n in names)):
                fail(where, f"{name} is in no header")
        for code in re.findall(r"`([^`]+)`", line):
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", code):
                if option not in options:
                    fail(where, f"no command has an option {option}")
                used.add((id(lists.OPTIONS), option))
            command = re.match(r"featblas ([a-z]+)\b", code)
            if command and command[1] != "help" and not (SCRATCH / "help" / command[1]).exists():
                fail(where, f"there is no featblas {command[1]}")
            path = re.fullmatch(r"((?:src|apps|tests|bench|include|examples|scripts|semirings|docs|cmake)/[\w./<>*-]*)", code)
            if path and not glob.glob(str(ROOT / re.sub(r"<\w+>", "*", path[1]))):
                fail(where, f"there is no {path[1]}")


def check_tree(block):
    """A list of folders and files of the sources."""
    for line in block.lines:
        for path in re.findall(r"^(?:\S+/\S*\s+)+", line):
            for name in path.split():
                if not glob.glob(str(ROOT / re.sub(r"<\w+>", "*", name))):
                    fail(block.where, f"there is no {name}")


def check_texts(docs):
    """Semirings between backticks and in blocks, and the tables of messages and of types."""
    lines = []
    for doc in docs:
        table = ""
        for number, line in enumerate(prose(doc), 1):
            table = line if line.startswith("| ") and (not table or table == " ") else table if line.startswith("|") else ""
            cells = [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]
            at = f"{doc}:{number}"
            if table == "| text | message |" and cells[0].startswith("`"):
                lines.append(f"message\t{at}\t{cells[0][1:-1]}\t{cells[1][1:-1]}")
                continue
            if table == "| stored types | expression | type |" and cells[0].startswith("`"):
                for expression in re.findall(r"`([^`]+)`", cells[1]):
                    lines.append(f"type\t{at}\t{cells[0]}\t{expression}\t{cells[2]}")
                continue
            for code in re.findall(r"`([^`]+)`", line):
                if re.match(rf"({REDUCERS}) : ", code) and not listed(lists.NOT_SEMIRINGS, doc, code):
                    lines.append(f"semiring\t{at}\t{code}".replace("\\|", "|"))
    for doc in docs:
        for block in blocks_of(doc):
            if block.kind == "semirings":
                for k, line in enumerate(block.lines):
                    lines.append(f"semiring\t{doc}:{block.line + k}\t{re.split(r'  +', line)[0]}")
    if compile_c("tests/docs/texts.c", HERE / "texts.c", SCRATCH / "texts"):
        done = run([str(SCRATCH / "texts")], input="\n".join(lines) + "\n")
        if done.returncode:
            fail("texts", done.stdout)
    return len(lines)


# ---- all of it

def help_blocks(name):
    """The examples at the end of a command's help."""
    text = (SCRATCH / "help" / name).read_text()
    if "\nExamples:\n" not in text:
        return []
    lines = [line[2:] for line in text.split("\nExamples:\n")[1].split("\n")]
    return [Block(f"help {name}", 1, "shell", lines)]


def unused_entries(docs):
    for name in ("TEXTS", "SAID", "NOT_RUN", "SMALLER", "OPTIONAL", "CALLS", "NOT_SEMIRINGS", "OPTIONS"):
        table = getattr(lists, name)
        for key in table:
            if (id(table), key) not in used:
                fail(f"tests/docs/lists.py, {name}", f"{key} is in no document any more")


def main():
    docs = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/*.md"))]
    for folder in ("files", "c", "help"):
        (SCRATCH / folder).mkdir()
    commands = run(["featblas", "help", "--commands"]).stdout.split()
    for name in commands:
        (SCRATCH / "help" / name).write_text(run(["featblas", name, "--help"]).stdout)
    for command in lists.PREPARE:
        done = run(["bash", "-c", command], cwd=SCRATCH / "files")
        if done.returncode:
            fail("tests/docs/lists.py, PREPARE", f"'{command}': {done.stdout}")
    names, options = headers(), options_known()
    jobs = []
    count = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for doc in docs:
            blocks = blocks_of(doc)
            for block in blocks:
                count[block.kind] = count.get(block.kind, 0) + 1
                if block.kind is None:
                    fail(block.where, "a block that is neither run nor in tests/docs/lists.py:\n" + block.text)
            for block in blocks:
                if listed(lists.TEXTS, doc, block.text) == "tree":
                    check_tree(block)
            c, calls = [b for b in blocks if b.kind == "c"], calls_of(doc)
            if c or calls:
                jobs.append(pool.submit(check_c, doc, c, calls))
            count["calls"] = count.get("calls", 0) + len(calls)
            if doc in lists.EXTRA or any(b.kind in ("shell", "python", "cmake") for b in blocks):
                jobs.append(pool.submit(check_shell, doc, blocks, SCRATCH / f"run-{doc.replace('/', '-')}"))
            check_names(doc, names, options)
        for name in commands:
            if help_blocks(name):
                jobs.append(pool.submit(check_shell, f"help {name}", help_blocks(name), SCRATCH / f"run-help-{name}"))
        count["texts"] = check_texts(docs)
    for job in jobs:
        job.result()
    unused_entries(docs)
    print("executed:", ", ".join(f"{n} {kind}" for kind, n in sorted(count.items(), key=str)))
    for text in failures:
        print("FAILED:", text)
    return 1 if failures else 0


sys.exit(main())
