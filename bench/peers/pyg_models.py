#!/usr/bin/env python3
"""pyg_models.py OUT [FOLDER]: models of two layers saved by PyG, and what PyG predicts with them, to compare with.

With FOLDER (edges.mtx, features.mtx, labels.txt, split.txt): trains each model for 30 epochs on the features as they
are in the file and writes OUT/MODEL.safetensors, the state dict with PyG's own names (conv1.lin.weight, ...), and
OUT/MODEL.npy, the scores before any softmax (vertices x classes, float32).

Without: the same for a random directed graph of 12 vertices with models of torch_geometric.nn.models
(convs.0.lin.weight, ...), and as text, OUT/graph.txt and OUT/MODEL.txt, which tests/cases/pyg holds. These are
sections, each a line `NAME SHAPE...` and then as many numbers, decimal, at most eight to a line, in row-major order;
lines with # are comments. In graph.txt `edges` has pairs of target and source, from 0. In MODEL.txt all are tensors
but `scores`.

MODEL is gcn, sage_mean, sage_max, gat, gatv2 or gin. Between the layers is relu, in gat and gatv2 elu; two heads or,
in FOLDER's models, eight are concatenated in the first layer and averaged in the second.
"""
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch.nn import Linear, ReLU, Sequential
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, GINConv, SAGEConv, models

NAMES = ("gcn", "sage_mean", "sage_max", "gat", "gatv2", "gin")


class Written(torch.nn.Module):
    """As one writes it with PyG's layers."""

    def __init__(self, name, features, classes):
        super().__init__()
        attention = {"gat": GATConv, "gatv2": GATv2Conv}.get(name)
        if attention:
            self.conv1 = attention(features, 8, heads=8, dropout=0.6)
            self.conv2 = attention(64, classes, heads=8, concat=False, dropout=0.6)
        elif name == "gin":
            self.conv1 = GINConv(Sequential(Linear(features, 16), ReLU(), Linear(16, 16)), train_eps=True)
            self.conv2 = GINConv(Sequential(Linear(16, 16), ReLU(), Linear(16, classes)), train_eps=True)
        elif name == "gcn":
            self.conv1, self.conv2 = GCNConv(features, 16), GCNConv(16, classes)
        else:
            aggr = name.split("_")[1]
            self.conv1, self.conv2 = SAGEConv(features, 16, aggr=aggr), SAGEConv(16, classes, aggr=aggr)
        self.between = F.elu if attention else F.relu

    def forward(self, x, edges):
        x = F.dropout(self.between(self.conv1(x, edges)), 0.5, self.training)
        return self.conv2(x, edges)


def ready_made(name, features, classes):
    """One of torch_geometric.nn.models; every parameter gets a value, biases too."""
    if name == "gin":
        model = models.GIN(features, 8, 2, classes, train_eps=True)
    elif name == "gcn":
        model = models.GCN(features, 8, 2, classes)
    elif name in ("gat", "gatv2"):
        model = models.GAT(features, 8, 2, classes, heads=2, act="elu", v2=name == "gatv2")
    else:
        model = models.GraphSAGE(features, 8, 2, classes, aggr=name.split("_")[1])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.empty_like(parameter).uniform_(-0.7, 0.7))
    return model


def read(folder):
    import scipy.io
    graph = scipy.io.mmread(os.path.join(folder, "edges.mtx")).tocoo()
    x = scipy.io.mmread(os.path.join(folder, "features.mtx")).toarray().astype(np.float32)
    labels = np.loadtxt(os.path.join(folder, "labels.txt"), dtype=np.int64)
    with open(os.path.join(folder, "split.txt")) as file:
        split = np.array([line.strip() for line in file])
    edges = torch.from_numpy(np.stack([graph.col, graph.row]).astype(np.int64))
    return torch.from_numpy(x), edges, torch.from_numpy(labels), split


def train(model, x, edges, labels, split):
    rows = torch.from_numpy(np.flatnonzero(split == "train"))
    adam = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(30):
        model.train()
        adam.zero_grad()
        F.cross_entropy(model(x, edges)[rows], labels[rows]).backward()
        adam.step()


def tiny():
    """12 vertices of which one has no edge, one none to it and one a loop."""
    draw = np.random.default_rng(0)
    pairs = {(int(t), int(s)) for t, s in draw.integers(0, 11, (30, 2)) if t not in (4, s)} | {(3, 3), (2, 4)}
    edges = np.array(sorted(pairs), np.int64)
    x = draw.uniform(-1, 1, (12, 5)).astype(np.float32)
    return torch.from_numpy(x), edges


def text(path, comment, sections):
    with open(path, "w") as file:
        file.write(f"# {comment}\n")
        for name, values in sections.items():
            values = np.asarray(values)
            file.write(" ".join([name, *map(str, values.shape)]) + "\n")
            flat = [f"{value:.9g}" for value in values.ravel()]
            for begin in range(0, len(flat), 8):
                file.write(" ".join(flat[begin:begin + 8]) + "\n")


def save(out, name, model, x, edges):
    model.eval()
    with torch.no_grad():
        scores = model(x, edges).numpy()
    state = {key: value.contiguous() for key, value in model.state_dict().items()}
    save_file(state, os.path.join(out, name + ".safetensors"))
    np.save(os.path.join(out, name + ".npy"), scores)
    return state, scores


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    if len(sys.argv) > 2:
        x, edges, labels, split = read(sys.argv[2])
    else:
        x, pairs = tiny()
        edges = torch.from_numpy(np.ascontiguousarray(pairs[:, ::-1].T))
        text(os.path.join(out, "graph.txt"), "made by bench/peers/pyg_models.py", {"edges": pairs, "features": x})
    for seed, name in enumerate(NAMES):
        torch.manual_seed(seed)
        if len(sys.argv) > 2:
            model = Written(name, x.shape[1], int(labels.max()) + 1)
            train(model, x, edges, labels, split)
        else:
            model = ready_made(name, x.shape[1], 3)
        state, scores = save(out, name, model, x, edges)
        if len(sys.argv) > 2:
            rows = split == "test"
            print(name, f"test accuracy {np.mean(scores.argmax(1)[rows] == labels.numpy()[rows]):.3f}")
        else:
            text(os.path.join(out, name + ".txt"), f"{name}, two layers, saved by PyG: bench/peers/pyg_models.py",
                 {**state, "scores": scores})


main()
