"""Writes the trained parameters as `src/chie/knowledge/review/pairs/model.onnx`.

The graph is that of the default embedder up to its last layer, with other weights, in eight bits like there. Its table
of tokens, two thirds of the parameters, is not copied: the file says where it lies in the embedder's file.
"""

import sys
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from bench.pair_model import network
from chie.knowledge.embedding.onnx import DEFAULT_MODEL
from chie.knowledge.review import pair_model

TABLE = "word_embeddings"
INPUTS = ("input_ids", "attention_mask", "positions", "segments", "matches")
OUTPUT = "probabilities"


class Graph:
    """Nodes in the order in which they are computed, and the arrays they use."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.arrays: dict[str, Any] = {}

    def add(self, operation: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        return output

    def used(self) -> tuple[list[Any], set[str]]:
        """The nodes that the output needs, and all names in them."""
        names, nodes = {OUTPUT}, []
        for node in reversed(self.nodes):
            if names & set(node.output):
                nodes.append(node)
                names |= set(node.input)
        return nodes[::-1], names


def main() -> None:
    parameters = {name: value.numpy() for name, value in torch.load(sys.argv[1]).items()}
    pair_model.FILE.write_bytes(exported(parameters).SerializeToString())
    print(f"{pair_model.FILE}: {pair_model.FILE.stat().st_size / 1e6:.1f} MB")


def exported(parameters: dict[str, Any]) -> Any:
    source = onnx.load(DEFAULT_MODEL / "model.onnx")
    graph = Graph()
    graph.arrays = {one.name: numpy_helper.to_array(one) for one in source.graph.initializer} | _weights(parameters)
    last = _body(graph, source.graph.node)
    _head(graph, last)
    nodes, names = graph.used()
    arrays = [
        numpy_helper.from_array(graph.arrays[name], name) for name in sorted(names & graph.arrays.keys() - {TABLE})
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["orders", "tokens"]) for name in INPUTS]
    output = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [3])
    made = helper.make_graph(nodes, "pairs of notes", inputs, [output], [_table(source.graph), *arrays])
    return helper.make_model(made, opset_imports=source.opset_import, ir_version=source.ir_version)


def _weights(parameters: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for layer in range(network.LAYERS):
        for name in (f"encoder.layer.{layer}.{one}" for one in network.DENSE):
            weights = parameters[f"{name}.w"]
            scale = np.maximum(np.abs(weights).max(1), 1e-8) / 127
            found[f"{name}.weightT_quantized"] = np.ascontiguousarray(
                np.round(weights / scale[:, None]).astype(np.int8).T
            )
            found[f"{name}.weightT_scale"], found[f"{name}.bias"] = scale.astype(np.float32), parameters[f"{name}.b"]
    norms = {name: value for name, value in parameters.items() if "LayerNorm" in name}
    tables = {"segment_embeddings": parameters["segments"], "match_embeddings": parameters["matches"]}
    heads = {
        f"head.{number}.{part}": np.ascontiguousarray(parameters[f"head.{number}.{part}"].T)
        for number in (1, 2)
        for part in "wb"
    }
    positions = network.stored()["position_embeddings"][: pair_model.MAX_TOKENS + 2]
    return found | norms | tables | heads | {"position_embeddings": positions}


def _body(graph: Graph, nodes: Any) -> str:
    """The embedder's own nodes with the added embeddings. Returns the name of the last layer's output."""
    for node in nodes:
        if node.op_type == "Slice":
            graph.add("Gather", ["position_embeddings", "positions"], node.output[0])
        elif node.op_type == "LayerNormalization" and node.input[1] == "embeddings.LayerNorm.w":
            graph.add("Gather", ["segment_embeddings", "segments"], "segment_rows")
            graph.add("Gather", ["match_embeddings", "matches"], "match_rows")
            graph.add("Add", [node.input[0], "segment_rows"], "with_segments")
            graph.add("Add", ["with_segments", "match_rows"], "with_matches")
            inputs = ["with_matches", *node.input[1:]]
            graph.add("LayerNormalization", inputs, node.output[0], axis=-1, epsilon=1e-12)
        else:
            graph.nodes.append(node)
    return str(next(node for node in reversed(graph.nodes) if node.op_type == "LayerNormalization").output[0])


def _head(graph: Graph, last: str) -> None:
    """`network.forward` after the layers, and the mean of both orders."""
    graph.arrays |= {"axis 0": np.array([0]), "axis 1": np.array([1]), "axis 2": np.array([2]), "first": np.array(0)}
    graph.arrays |= {"1": np.array(1, np.float32), "4": np.array(4, np.float32)}
    graph.add("Unsqueeze", [graph.add("Cast", ["segments"], "which", to=TensorProto.FLOAT), "axis 2"], "in_b")
    graph.add("Sub", ["1", "in_b"], "in_a")
    for note in "ab":
        graph.add("Mul", [last, f"in_{note}"], f"of_{note}")
        graph.add("ReduceSum", [f"of_{note}", "axis 1"], f"sum_{note}", keepdims=0)
        graph.add("ReduceSum", [f"in_{note}", "axis 1"], f"count_{note}", keepdims=0)
        graph.add("Div", [f"sum_{note}", f"count_{note}"], f"mean_{note}")
    graph.add("Add", ["mean_a", "mean_b"], "both")
    graph.add("Abs", [graph.add("Sub", ["mean_a", "mean_b"], "difference")], "distance")
    graph.add("Mul", [graph.add("Mul", ["mean_a", "mean_b"], "product"), "4"], "product_4")
    graph.add("Gather", [last, "first"], "start", axis=1)
    graph.add("Concat", ["both", "distance", "product_4", "start"], "features", axis=1)
    graph.add("Gemm", ["features", "head.1.w", "head.1.b"], "hidden")
    graph.add("Gemm", [graph.add("Tanh", ["hidden"], "active"), "head.2.w", "head.2.b"], "odds")
    graph.add("ReduceMean", [graph.add("Softmax", ["odds"], "each", axis=-1), "axis 0"], OUTPUT, keepdims=0)


def _table(source: Any) -> Any:
    """Where the table of tokens lies in the embedder's file."""
    table = next(one for one in source.initializer if one.name == TABLE)
    offset = (DEFAULT_MODEL / "model.onnx").read_bytes().find(table.raw_data)
    found = TensorProto(name=TABLE, data_type=table.data_type, dims=table.dims, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "model.onnx", "offset": offset, "length": len(table.raw_data)}.items():
        found.external_data.add(key=key, value=str(value))
    return found


if __name__ == "__main__":
    main()
