"""The network, as functions over its parameters: BERT with embeddings of segments and matches, and a head."""

from functools import cache
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional

from chie.knowledge.embedding.onnx import DEFAULT_MODEL
from chie.knowledge.review import pair_model

Parameters = dict[str, Any]

WIDTH, LAYERS, HEADS, HIDDEN = 384, 6, 12, 128
DROPOUT = 0.1  # in the head only: masks for each layer take a fifth of the time
DENSE = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
MASKED = -1e4  # the score of padding
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")
ADDED = ("segments", "matches", "head")  # parameters that the embedder does not have


@cache
def stored() -> dict[str, Any]:
    """The arrays of the default embedder by name."""
    graph = onnx.load(DEFAULT_MODEL / "model.onnx").graph
    return {one.name: numpy_helper.to_array(one) for one in graph.initializer}


def fixed() -> Parameters:
    """What is not trained: the tables of tokens and positions."""
    table = stored()["word_embeddings"].astype(np.float32) * stored()["word_embedding_scales"]
    return {
        "tokens": torch.tensor(table + stored()["type_embedding"]),
        "positions": torch.tensor(stored()["position_embeddings"]),
    }


def initial() -> Parameters:
    found: Parameters = {}
    for layer in range(LAYERS):
        for name in DENSE:
            full = f"encoder.layer.{layer}.{name}"
            weights = stored()[f"{full}.weightT_quantized"].astype(np.float32) * stored()[f"{full}.weightT_scale"]
            found[f"{full}.w"], found[f"{full}.b"] = weights.T.copy(), stored()[f"{full}.bias"]
        for name in NORMS:
            full = f"encoder.layer.{layer}.{name}"
            found[f"{full}.w"], found[f"{full}.b"] = stored()[f"{full}.w"], stored()[f"{full}.b"]
    found |= {f"embeddings.LayerNorm.{one}": stored()[f"embeddings.LayerNorm.{one}"] for one in "wb"}
    found |= {"segments": np.zeros((2, WIDTH), np.float32), "matches": np.zeros((3, WIDTH), np.float32)}
    parameters = {name: torch.tensor(value) for name, value in found.items()}
    for name, (inside, outside) in {"head.1": (4 * WIDTH, HIDDEN), "head.2": (HIDDEN, 3)}.items():
        bound = inside**-0.5
        parameters[f"{name}.w"] = torch.empty(outside, inside).uniform_(-bound, bound)
        parameters[f"{name}.b"] = torch.zeros(outside)
    return parameters


def shipped() -> Parameters:
    """The parameters of the package's model, from their eight bits."""
    graph = onnx.load(pair_model.FILE, load_external_data=False).graph
    own = [one for one in graph.initializer if one.data_location != onnx.TensorProto.EXTERNAL]
    arrays = {one.name: numpy_helper.to_array(one) for one in own}
    found = {name: value for name, value in arrays.items() if "LayerNorm" in name}
    for name in (f"encoder.layer.{layer}.{one}" for layer in range(LAYERS) for one in DENSE):
        weights = arrays[f"{name}.weightT_quantized"].astype(np.float32) * arrays[f"{name}.weightT_scale"]
        found[f"{name}.w"], found[f"{name}.b"] = weights.T, arrays[f"{name}.bias"]
    found |= {"segments": arrays["segment_embeddings"], "matches": arrays["match_embeddings"]}
    found |= {name: value.T for name, value in arrays.items() if name.startswith("head.")}
    return {name: torch.tensor(np.array(value)) for name, value in found.items()}


def forward(p: Parameters, tables: Parameters, batch: Any, *, training: bool) -> Any:
    """The odds of the labels as logarithms."""
    ids, positions, segments, matches, mask = batch
    embedded = tables["tokens"][ids] + tables["positions"][positions] + p["segments"][segments] + p["matches"][matches]
    x = _norm(p, "embeddings.LayerNorm", embedded)
    for layer in range(LAYERS):
        x = _layer(p, f"encoder.layer.{layer}.", x, mask)
    a, b = (_mean(x, mask & (segments == which)) for which in (0, 1))
    features = torch.cat([a + b, (a - b).abs(), a * b * 4, x[:, 0]], 1)
    hidden = torch.tanh(_dense(p, "head.1", functional.dropout(features, DROPOUT, training)))
    return _dense(p, "head.2", functional.dropout(hidden, DROPOUT, training))


def _layer(p: Parameters, name: str, x: Any, mask: Any) -> Any:
    count, length, _ = x.shape
    query, key, value = (
        _dense(p, f"{name}attention.self.{one}", x).view(count, length, HEADS, -1).transpose(1, 2)
        for one in ("query", "key", "value")
    )
    seen = _attention(query, key, value, mask[:, None, None, :])
    seen = _dense(p, f"{name}attention.output.dense", seen.transpose(1, 2).reshape(count, length, WIDTH))
    x = _norm(p, f"{name}attention.output.LayerNorm", x + seen)
    wide = functional.gelu(_dense(p, f"{name}intermediate.dense", x))
    return _norm(p, f"{name}output.LayerNorm", x + _dense(p, f"{name}output.dense", wide))


def _attention(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """By hand: the gradient of torch's own takes a third of the time of a step on a processor."""
    scores = (query / query.shape[-1] ** 0.5) @ key.transpose(-1, -2)
    return torch.softmax(scores.masked_fill(~mask, MASKED), -1) @ value


def _dense(p: Parameters, name: str, x: Any) -> Any:
    return functional.linear(x, p[f"{name}.w"], p[f"{name}.b"])


def _norm(p: Parameters, name: str, x: Any) -> Any:
    return functional.layer_norm(x, (WIDTH,), p[f"{name}.w"], p[f"{name}.b"], 1e-12)


def _mean(x: Any, mask: Any) -> Any:
    weights = mask.float()[..., None]
    return (x * weights).sum(1) / weights.sum(1)
