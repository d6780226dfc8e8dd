"""Trains the model in `src/chie/knowledge/review/pairs`, which reads two notes together.

Needs torch and onnx, which nothing else here does, so they are in no lock file. In an environment with both and Chie:

    python -m bench.pair_model.train model.pt
    python -m bench.pair_model.export model.pt
    python -m bench.review_fit

Two hours on two cores; `--start shipped --minutes 30` goes on from the model that is there. What it is not trained on
(`HELD_OUT`, and the groups that are `held`) is what `bench.review_fit` fits the final decision on. The test set is
never read.
"""
