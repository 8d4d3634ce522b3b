"""What check_docs.py cannot know. A key is a document ("" is any, "help X" the help of a command) and how a text begins."""

# Files of the names that the documents use.
PREPARE = [
    "printf 'userId,movieId,rating\\n1,10,4\\n1,20,3.5\\n2,10,5\\n2,30,1\\n3,20,2\\n3,10,4.5\\n' > ratings.csv",
    "printf 'movieId,title\\n10,Alien\\n20,Brazil\\n30,Casablanca\\n' > movies.csv",
    "featblas gen bipartite --rows 300 --cols 200 --edges 6000 --values ratings -q -o big.mtx",
    "featblas gen bipartite --rows 300 --cols 1200 --edges 30000 --values ratings -q -o movielens-20m.npz",
    "featblas gen rmat --scale 6 --symmetric -q -o karate.mtx",
    "featblas gen sbm --vertices 80 --blocks 4 --edge-factor 3 -q -o graph.mtx && gzip -k graph.mtx",
    "featblas gen rmat --scale 8 -q -o g.npz && featblas gen rmat --scale 8 -q -o g.csr",
    "featblas gen rmat --scale 6 -q -o reddit.mtx && featblas gen rmat --scale 6 -q -o cora.tsv",
    "featblas gen chung-lu --vertices 1000 --edge-factor 100 -q -o rand-100k.npz",
    "featblas gen bipartite --rows 40 --cols 40 --edges 300 -q -o R.mtx",
    "featblas gen csbm --vertices 120 --classes 3 --features 8 -q -o cora",
    "cp cora/features.mtx x.npy && cp cora/labels.txt y.txt && cp cora/split.txt split.txt",
    "featblas train cora --model gcn --epochs 2 -q --save cora.safetensors",
    "featblas train cora --model gat --epochs 2 -q --weights-only --save gat-by-pyg.safetensors",
    "printf 'cores = 2\\n' > laptop.txt",
    "cp $FEATBLAS_SOURCE_DIR/examples/graphicionado.json .",
    "featblas gen chung-lu --vertices 12000 --edge-factor 4 -q -o products.npz && seq 0 7 9000 > train.txt",
    "featblas gen rmat --scale 7 -q -o roads.mtx",
    "featblas plan --op spmm --graph g.npz --dim 4 --measure --wisdom my.wisdom > plan.txt",
]

# Blocks that a document has as the content of a file: written before its commands run.
FILES = {"docs/plans.md": {"laptop.txt": "cores = 4"}}

# Commands that a document does not show, but speaks of: with their exit codes, before its own.
EXTRA = {
    "README.md": [("featblas demo demo", 0)],
    "docs/README.md": [("cp $FEATBLAS_SOURCE_DIR/tests/install/consumer.c mine.c", 0)],
    "docs/formats.md": [
        ("printf '1,x,1\\n1,\"y, z\",2\\n' > in.csv && featblas project in.csv --no-header -q -o pairs.npz"
         " && cat pairs.ids.csv", 0),
        ("featblas project big.mtx -q -o c.csr --weight cosine", 0),
    ],
    "docs/datasets.md": [
        ("sed -i 17s/.*/9/ cora/labels.txt && featblas train cora --classes 7 -q", 3),
        ("sed -i 17s/.*/0/ cora/labels.txt && mv cora/features.mtx . && for v in $(seq 120); do echo 0.125,0.5,nan; done |"
         " sed '3!s/nan/1/;3s/0.125,0.5/1,0.25,0.5/;3s/1,0.25,0.5,nan/1.25,0.500,nan/' > cora/features.csv"
         " && featblas train cora -q", 3),
        ("rm cora/features.csv && mv features.mtx cora && rm cora/split.txt && featblas train cora -q", 3),
    ],
}

# Blocks that are neither commands nor code; "tree": names of files, which have to be there.
TEXTS = {
    ("docs/command-line.md", "featblas COMMAND [OPTION]..."): "what a command line looks like",
    ("docs/draw.md", "featblas draw INPUT -o FILE.svg|FILE.png"): "what a command line looks like",
    ("docs/datasets.md", "cora/"): "a folder of the user's",
    ("docs/datasets.md", "ogbn_arxiv/"): "a folder of the user's",
    ("docs/design.md", "include/featblas.h"): "tree",
    ("docs/generators.md", "degree(r) ="): "a formula",
    ("docs/generators.md", "1 + floor("): "a formula",
    ("docs/kernels.md", "seconds = "): "a formula",
    ("docs/kernels.md", "C(i, :) = "): "a formula",
    ("docs/kernels.md", "S(i, j) = "): "a formula",
    ("docs/nn.md", "11  message of"): "a part of FtB_Tape_explain's, with a time",
    ("docs/plans.md", "cores = 4"): "a description of a machine, which the commands read",
    ("docs/plans.md", "on the GPU"): "a part of a GPU's plan, as tests/test_gpu_spmm_hybrid.c reads it",
    ("docs/plans.md", "tensor cores"): "a line of a GPU's plan, as tests/test_plan_gpu_tensor.c reads it",
    ("docs/plans.md", "gpu_multiprocessors"): "more lines of it, which tests/test_plan_gpu.c reads",
    ("docs/semirings.md", "result(i) = "): "a formula",
    ("docs/vertex-programs.md", "superstep  "): "what a run prints, with times",
    ("docs/sampling.md", "y(i) = x(i) W"): "a formula",
}

# Blocks that are what commands of the document said.
SAID = {
    ("README.md", "1. The Southern Women"): "demo",
    ("docs/command-line.md", "ratings.csv: commas;"): "project",
    ("docs/formats.md", "position,id"): "project",
    ("docs/datasets.md", "featblas: cora/labels.txt:17"): "train",
}

# Lines and blocks that are not run, and why.
NOT_RUN = {
    ("README.md", "make demo"): "builds; the demo itself is run",
    ("README.md", "make test"): "is what runs this",
    ("help demo", "featblas demo"): "run for README.md",
    ("docs/plans.md", "featblas plan --calibrate"): "takes most of a minute; test_calibrate runs the call",
    ("help plan", "featblas plan --calibrate"): "takes most of a minute; test_calibrate runs the call",
    ("docs/sampling.md", "featblas train cora --model M"): "stands for three kinds, of minutes",
    ("docs/sampling.md", "featblas gen csbm --vertices 200000"): "training takes minutes",
    ("docs/sampling.md", "featblas train csbm200k"): "takes minutes",
    ("docs/sampling.md", "build/release/bench_sample"): "a benchmark, whose graph takes minutes",
    ("docs/sampling.md", "build/release/bench_walk"): "a benchmark, whose graph takes minutes",
    ("docs/kernels.md", "build/release/bench_ladder"): "a benchmark of minutes, whose graph takes 4 GB",
    ("docs/formats.md", "import pandas"): "pandas is not among the packages of scripts/install_packages.sh",
}

# What is run with other numbers, so that it takes no time.
SMALLER = {
    ("", "gen movielens-20m"): "gen bipartite --rows 400 --cols 100 --edges 4000 --values ratings",
    ("", "rmat --scale 18"): "rmat --scale 8",
    ("", "--rows 50000 --cols 4000 --edges 2000000"): "--rows 500 --cols 40 --edges 2000",
    ("", "csbm --vertices 5000"): "csbm --vertices 500",
    ("help train", "--repeat 10"): "--repeat 2",
    ("help train", "--epochs 200"): "--epochs 20",
    ("help train", "train graph.mtx"): "train cora/edges.mtx",
}

# Lines of output that come for some sizes and machines only.
OPTIONAL = {"hot columns": "for rows of many products", "partition": "where features are larger than L2"}

# Calls between backticks that name what stands nowhere.
CALLS = {}

# Texts between backticks that begin like a semiring.
NOT_SEMIRINGS = {}

# Options of other programs than featblas.
OPTIONS = {
    "--only": "bench/*.sh",
    "--repeats": "bench/*.sh",
    "--name": "stands for any",
    "--help": "of every command, not in its own list",
    "--man": "featblas help",
    "--completion": "featblas help",
    "--commands": "featblas help",
    "--models": "featblas help",
}
