# SPDX-License-Identifier: MIT
"""Gradient boosting with XGBoost, whose OpenMP loops come from C++."""
import numpy
import xgboost
from sklearn.datasets import load_digits

digits = load_digits()
data = xgboost.DMatrix(digits.data[:1200], digits.target[:1200])
settings = {"objective": "multi:softprob", "num_class": 10, "nthread": 2,
            "tree_method": "hist", "seed": 0}
model = xgboost.train(settings, data, num_boost_round=20)
shares = model.predict(xgboost.DMatrix(digits.data[1200:]))
print("right", int((numpy.argmax(shares, 1) == digits.target[1200:]).sum()))
print("sum", repr(float(numpy.log(shares).sum())))
