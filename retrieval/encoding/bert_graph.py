"""BERT as an ONNX graph, from the tensors of its checkpoint (Devlin et al. 2019, section 3; Vaswani et al. 2017, section 3).

Inputs and output have the names of the published ONNX files: `input_ids`, `attention_mask` and `token_type_ids`, each of shape
(texts, tokens); `last_hidden_state` of shape (texts, tokens, hidden size).
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

OPSET = 17
"""The first opset with LayerNormalization."""
IR_VERSION = 8
"""The file format of that opset, which every newer runtime reads."""
MASKED = -1e9
"""The value added to the score of a padding token, whose share becomes exactly 0."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "last_hidden_state"
Tensors = Mapping[str, NDArray[Any]]


class BertShape(NamedTuple):
    """The parts of a BERT's configuration that its tensors' shapes do not show."""

    layers: int
    heads: int
    layer_norm_epsilon: float


class _Graph:
    """The nodes and constants of a graph in order. Each method adds one and returns the name of its result."""

    def __init__(self, tensors: Tensors, bert: BertShape) -> None:
        self.tensors = tensors
        self.bert = bert
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}

    def add_constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add_tensor(self, name: str) -> str:
        return self.add_constant(name, self.tensors[name])

    def add_number(self, value: float) -> str:
        return self.add_constant(f"number {value}", np.array(value, np.float32))

    def add_integers(self, *values: int) -> str:
        return self.add_constant(f"integers {values}", np.array(values, np.int64))

    def add_node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind} {len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name


def build_bert_graph(tensors: Tensors, bert: BertShape) -> ModelProto:
    """Build the encoder of a BERT checkpoint in 32-bit floats. Raises `KeyError` when a tensor is missing."""
    graph = _Graph(tensors, bert)
    states = _add_embeddings(graph)
    mask = _add_mask(graph)
    for layer in range(bert.layers):
        prefix = f"encoder.layer.{layer}"
        attended = _add_attention(graph, f"{prefix}.attention", states, mask)
        states = _add_layer_norm(graph, f"{prefix}.attention.output.LayerNorm", _add_residual(graph, attended, states))
        widened = _add_gelu(graph, _add_linear(graph, f"{prefix}.intermediate.dense", states))
        narrowed = _add_linear(graph, f"{prefix}.output.dense", widened)
        states = _add_layer_norm(graph, f"{prefix}.output.LayerNorm", _add_residual(graph, narrowed, states))
    graph.nodes[-1].output[0] = OUTPUT
    return _build_model(graph)


def _build_model(graph: _Graph) -> ModelProto:
    hidden = graph.tensors["embeddings.word_embeddings.weight"].shape[1]
    axes = ["texts", "tokens"]
    body = helper.make_graph(
        graph.nodes,
        "bert",
        [helper.make_tensor_value_info(name, TensorProto.INT64, axes) for name in INPUTS],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [*axes, hidden])],
        list(graph.constants.values()),
    )
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def _add_embeddings(graph: _Graph) -> str:
    """Add word, position and segment of each token, and normalise the sum."""
    words = graph.add_node("Gather", graph.add_tensor("embeddings.word_embeddings.weight"), "input_ids")
    segments = graph.add_node("Gather", graph.add_tensor("embeddings.token_type_embeddings.weight"), "token_type_ids")
    length = graph.add_node("Shape", "input_ids", start=1, end=2)
    positions = graph.add_tensor("embeddings.position_embeddings.weight")
    places = graph.add_node("Slice", positions, graph.add_integers(0), length, graph.add_integers(0))
    together = graph.add_node("Add", graph.add_node("Add", words, segments), places)
    return _add_layer_norm(graph, "embeddings.LayerNorm", together)


def _add_mask(graph: _Graph) -> str:
    """Build the mask that is added to every score: 0 for a token, `MASKED` for padding; shape (texts, 1, 1, tokens)."""
    kept = graph.add_node("Cast", graph.add_node("Unsqueeze", "attention_mask", graph.add_integers(1, 2)), to=TensorProto.FLOAT)
    return graph.add_node("Mul", graph.add_node("Sub", graph.add_number(1.0), kept), graph.add_number(MASKED))


def _add_attention(graph: _Graph, prefix: str, states: str, mask: str) -> str:
    """Build scaled dot-product attention over all heads, with its output projection."""
    hidden = graph.tensors[f"{prefix}.self.query.bias"].shape[0]
    size = hidden // graph.bert.heads
    query, value = (_add_heads(graph, f"{prefix}.self.{part}", states, size, [0, 2, 1, 3]) for part in ("query", "value"))
    key = _add_heads(graph, f"{prefix}.self.key", states, size, [0, 2, 3, 1])
    scaled = graph.add_node("Mul", graph.add_node("MatMul", query, key), graph.add_number(1 / math.sqrt(size)))
    shares = graph.add_node("Softmax", graph.add_node("Add", scaled, mask), axis=-1)
    mixed = graph.add_node("Transpose", graph.add_node("MatMul", shares, value), perm=[0, 2, 1, 3])
    joined = graph.add_node("Reshape", mixed, graph.add_integers(0, 0, hidden))
    return _add_linear(graph, f"{prefix}.output.dense", joined)


def _add_heads(graph: _Graph, prefix: str, states: str, size: int, order: list[int]) -> str:
    """Build a projection and cut it into heads; `order` permutes the axes (texts, tokens, heads, size)."""
    cut = graph.add_node("Reshape", _add_linear(graph, prefix, states), graph.add_integers(0, 0, graph.bert.heads, size))
    return graph.add_node("Transpose", cut, perm=order)


def _add_linear(graph: _Graph, prefix: str, states: str) -> str:
    weight = graph.add_constant(f"{prefix}.weight", graph.tensors[f"{prefix}.weight"].T)
    return graph.add_node("Add", graph.add_node("MatMul", states, weight), graph.add_tensor(f"{prefix}.bias"))


def _add_residual(graph: _Graph, change: str, states: str) -> str:
    """Add a change to the states by Sum: onnxruntime would fuse Add and LayerNormalization to a kernel a third slower on CPUs."""
    return graph.add_node("Sum", change, states)


def _add_layer_norm(graph: _Graph, prefix: str, states: str) -> str:
    scale, shift = graph.add_tensor(f"{prefix}.weight"), graph.add_tensor(f"{prefix}.bias")
    return graph.add_node("LayerNormalization", states, scale, shift, axis=-1, epsilon=graph.bert.layer_norm_epsilon)


def _add_gelu(graph: _Graph, states: str) -> str:
    """Build the exact GELU, x (1 + erf(x / sqrt 2)) / 2, in the order of operations that runtimes fuse."""
    error = graph.add_node("Erf", graph.add_node("Div", states, graph.add_number(math.sqrt(2))))
    return graph.add_node(
        "Mul", graph.add_node("Mul", states, graph.add_node("Add", error, graph.add_number(1.0))), graph.add_number(0.5)
    )
