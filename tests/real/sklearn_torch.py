# SPDX-License-Identifier: MIT
"""scikit-learn's libgomp and torch's in one process: both must go on giving
the right numbers.  Prints all results."""
import numpy
import torch
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier

digits = load_digits()
clusters = KMeans(n_clusters=10, n_init=2, random_state=0).fit(digits.data)
print("inertia", repr(float(clusters.inertia_)))
boosted = HistGradientBoostingClassifier(max_iter=20, random_state=0)
boosted.fit(digits.data[:1200], digits.target[:1200])
print("score", boosted.score(digits.data[1200:], digits.target[1200:]))
torch.set_num_threads(2)
torch.manual_seed(0)
a = torch.rand(600, 600)
print("torch", repr(float((a @ a).softmax(1).sum())), repr(float(a.exp().mean())))
b = numpy.random.default_rng(0).random((400, 400))
print("numpy", repr(float((b @ b).sum())))
for _ in range(20):
    a = (a @ a) / 300
    clusters = KMeans(n_clusters=4, n_init=1, random_state=1).fit(digits.data[:300])
print("end", repr(float(a.mean())), repr(float(clusters.inertia_)))
