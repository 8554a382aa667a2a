"""8-bit weights for an ONNX graph: products with constant matrices in whole numbers, and tables that are looked up in 8 bits.

The graph computes exactly what one from onnxruntime's own dynamic quantization does, which writes and reads the model several
times, and takes five times as long.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

MATRIX_LIMIT = 64
"""Matrices use 7 bits, since CPUs without VNNI overflow."""
TABLE_LIMIT = 255


def quantize_model(model: ModelProto) -> ModelProto:
    """Return the model with 8-bit weights: one scale for each column of a matrix, one for a table."""
    graph = model.graph
    quantizing = _Quantizing({tensor.name: tensor for tensor in graph.initializer})
    nodes = [made for node in graph.node for made in quantizing.convert(node)]
    used = {name for node in nodes for name in node.input}
    kept = [tensor for tensor in graph.initializer if tensor.name in used]
    body = helper.make_graph(nodes, graph.name, graph.input, graph.output, [*kept, *quantizing.made.values()])
    return helper.make_model(body, opset_imports=model.opset_import, ir_version=model.ir_version)


class _Quantizing:
    """The constants of a graph, and those that were made of them, by name."""

    def __init__(self, constants: Mapping[str, TensorProto]) -> None:
        self._constants = constants
        self._inputs: set[str] = set()
        self.made: dict[str, TensorProto] = {}

    def convert(self, node: NodeProto) -> Iterator[NodeProto]:
        """Yield what stands for a node: itself, unless it takes a constant of floats that can be quantized."""
        place = {"MatMul": 1, "Gather": 0}.get(node.op_type)
        weights = self._constants.get(node.input[place]) if place is not None else None
        if weights is None or weights.data_type != TensorProto.FLOAT:
            yield node
        elif node.op_type == "MatMul":
            yield from self._multiply(node.input[0], weights, node.output[0])
        else:
            yield from self._look_up(node, weights)

    def _multiply(self, states: str, matrix: TensorProto, output: str) -> Iterator[NodeProto]:
        name, result = matrix.name, f"{output} in whole numbers"
        if f"{name} 8-bit" not in self.made:
            self._add_weights(name, *_quantize_columns(numpy_helper.to_array(matrix)))
        if states not in self._inputs:
            self._inputs.add(states)
            yield helper.make_node("DynamicQuantizeLinear", [states], [f"{states} {part}" for part in ("8-bit", "scale", "zero")])
        factors = [f"{states} 8-bit", f"{name} 8-bit", f"{states} zero", f"{name} zero"]
        yield helper.make_node("MatMulInteger", factors, [result])
        yield helper.make_node("Cast", [result], [f"{result}, cast"], to=TensorProto.FLOAT)
        yield helper.make_node("Mul", [f"{states} scale", f"{name} scale"], [f"{output} scale"])
        yield helper.make_node("Mul", [f"{result}, cast", f"{output} scale"], [output])

    def _look_up(self, node: NodeProto, table: TensorProto) -> Iterator[NodeProto]:
        name, found = table.name, f"{node.output[0]} 8-bit"
        if f"{name} 8-bit" not in self.made:
            self._add_weights(name, *_quantize_table(numpy_helper.to_array(table)))
        looked_up = NodeProto()
        looked_up.CopyFrom(node)
        looked_up.input[0], looked_up.output[0] = f"{name} 8-bit", found
        yield looked_up
        yield helper.make_node("DequantizeLinear", [found, f"{name} scale", f"{name} zero"], [node.output[0]])

    def _add_weights(self, name: str, weights: NDArray[Any], scale: NDArray[np.float32], zero: NDArray[Any]) -> None:
        for part, value in (("8-bit", weights), ("scale", scale), ("zero", zero)):
            self.made[f"{name} {part}"] = numpy_helper.from_array(value, f"{name} {part}")


def _quantize_columns(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.int8]]:
    """Return a matrix in 7 bits and a sign, and the scale and the zero of each column."""
    scale = np.abs(matrix).max(axis=0) / np.float32(MATRIX_LIMIT)
    scale[scale == 0] = 1
    return np.rint(matrix / scale).astype(np.int8), scale, np.zeros(len(scale), np.int8)


def _quantize_table(table: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.uint8]]:
    """Return a table in 8 bits, its scale, and what stands for 0."""
    low, high = min(float(table.min()), 0.0), max(float(table.max()), 0.0)
    scale = np.array((high - low) / TABLE_LIMIT or 1, np.float32)
    zero = np.rint(-low / scale)
    return np.clip(np.rint(table / scale) + zero, 0, TABLE_LIMIT).astype(np.uint8), scale, zero.astype(np.uint8)
