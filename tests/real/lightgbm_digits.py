# SPDX-License-Identifier: MIT
"""Gradient boosting with LightGBM, whose OpenMP loops come from C++."""
import lightgbm
import numpy
from sklearn.datasets import load_digits

digits = load_digits()
data = lightgbm.Dataset(digits.data[:1200], digits.target[:1200])
settings = {"objective": "multiclass", "num_class": 10, "num_threads": 2,
            "deterministic": True, "force_row_wise": True, "verbose": -1,
            "seed": 0}
model = lightgbm.train(settings, data, num_boost_round=20)
shares = model.predict(digits.data[1200:])
print("right", int((numpy.argmax(shares, 1) == digits.target[1200:]).sum()))
print("sum", repr(float(numpy.log(shares).sum())))
