"""Factors of ratings beside numpy: least squares by numpy.linalg.solve from other first guesses come to the same error, also
on ratings that were held out, and ours solve numpy's normal equations; stochastic descent comes close."""
import os
import subprocess
import sys

import numpy as np
import scipy.io
import scipy.sparse

command, folder = sys.argv[1:3]
USERS, ITEMS, K, LAMBDA = 300, 200, 4, 0.05
draw = np.random.default_rng(7)


def made_ratings():
    """About what K factors say; a tenth is held out."""
    truth = draw.normal(size=(USERS, K)) @ draw.normal(size=(K, ITEMS)) / 2 + 3
    there = draw.random((USERS, ITEMS)) < 0.2
    held_out = there & (draw.random((USERS, ITEMS)) < 0.1)
    ratings = np.round(truth + 0.2 * draw.normal(size=truth.shape), 2)
    return ratings, there & ~held_out, held_out


def error(u, v, ratings, mask):
    return np.sqrt(np.mean((ratings - 3 - u @ v.T)[mask] ** 2))


def best(other, ratings, mask):
    """For each row its factors: ALS-WR."""
    rows = []
    for r, m in zip(ratings, mask):
        y = other[m]
        rows.append(np.linalg.solve(y.T @ y + LAMBDA * len(y) * np.eye(K), y.T @ (r[m] - 3)) if len(y) else np.zeros(K))
    return np.array(rows)


def by_numpy(ratings, mask, rounds):
    v = draw.normal(size=(ITEMS, K)) * 0.3
    for _ in range(rounds):
        u = best(v, ratings, mask)
        v = best(u, ratings.T, mask.T)
    return u, v


def ours(path, *options):
    users, items = os.path.join(folder, "users.npy"), os.path.join(folder, "items.npy")
    subprocess.run([command, "run", "-q", "cf", path, "-o", users, "--items", items, "--factors", str(K),
                    "--lambda", str(LAMBDA), "--offset", "3", *options], check=True)
    return np.load(users).astype(float), np.load(items).astype(float)


ratings, mask, held_out = made_ratings()
path = os.path.join(folder, "ratings.mtx")
scipy.io.mmwrite(path, scipy.sparse.coo_array((ratings[mask], np.nonzero(mask)), shape=ratings.shape))
theirs = by_numpy(ratings, mask, 40)
failed = False
for options, bound in ((("--method", "als", "--rounds", "40"), 0.01), (("--rounds", "150"), 0.1)):
    u, v = ours(path, *options)
    for what, where in (("ratings", mask), ("held out", held_out)):
        x, y = error(u, v, ratings, where), error(*theirs, ratings, where)
        print(f"{' '.join(options)}: {what} {x:.4f}, numpy {y:.4f}, mean {np.std(ratings[where]):.4f}")
        failed |= abs(x - y) > bound * y
    if "als" in options:
        worst = np.abs(best(u, ratings.T, mask.T) - v).max()
        print(f"normal equations: {worst:.2g} beside")
        failed |= worst > 1e-3
sys.exit(int(failed))
