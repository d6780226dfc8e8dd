"""Trains the model in `src/chie/knowledge/review/pairs`, which reads two notes together.

Needs torch and onnx, which nothing else here does, so they are in no lock file. In an environment with both and Chie:

    python -m bench.pair_model.train --batches 4 --rate 1e-4 first.pt
    python -m bench.pair_model.train --start first.pt --rate 8e-5 second.pt
    python -m bench.pair_model.export second.pt
    python -m bench.review_fit

Half an hour each on two cores. What the model is not trained on (`HELD_OUT`) is what `bench.review_fit` fits the final
decision on. The test set is never read.
"""
