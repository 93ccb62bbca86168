"""torch.compile(model, backend="vellum"): the graphs that torch finds run with Vellum, with CPU tensors in and out.

torch finds the backend by the package's entry point; importing this module registers it, too.
"""

# mypy: ignore-errors
# (The package is checked where torch is not installed.)

from __future__ import annotations

import io
import threading
import warnings
from typing import Any, Callable, Sequence

import torch

from ._options import SessionOptions
from ._session import Session

_Run = Callable[..., Any]


class Refused(RuntimeError):
    """A graph that Vellum does not run, with the reason."""


def _is_weight(value: Any) -> bool:
    """Whether torch passes the value as a parameter or buffer of a module, which is the same tensor in each call."""
    return isinstance(value, torch.nn.Parameter) or getattr(value, "_dynamo_static_input_type", None) is not None


class _WithWeights(torch.nn.Module):
    """The graph as a function of its other inputs, so that the exporter sees the weights as constants."""

    def __init__(self, graph: torch.fx.GraphModule, weights: dict[int, torch.Tensor], count: int) -> None:
        super().__init__()
        self.graph, self.count, self.places = graph, count, sorted(weights)
        for place in self.places:
            self.register_buffer(f"weight_{place}", weights[place].detach())

    def forward(self, *values: torch.Tensor) -> Any:
        rest = iter(values)
        return self.graph(*(getattr(self, f"weight_{i}") if i in self.places else next(rest) for i in range(self.count)))


class _Compiled:
    """One graph. It is exported again when a weight was changed in place."""

    def __init__(self, graph: torch.fx.GraphModule, examples: Sequence[Any], options: dict[str, Any]) -> None:
        outputs = next(node for node in graph.graph.nodes if node.op == "output").args[0]
        if not isinstance(outputs, (tuple, list)) or not all(isinstance(output, torch.fx.Node) for output in outputs):
            raise Refused("an output is no tensor")
        if not all(isinstance(example, torch.Tensor) for example in examples):
            raise Refused("an input is no tensor; with open shapes compile with dynamic=False")
        if any(example.device.type != "cpu" for example in examples):
            raise Refused("tensors are not in the CPU's memory")
        self.graph, self.options, self.lock = graph, options, threading.Lock()
        self.places = [i for i, example in enumerate(examples) if not _is_weight(example)]
        if not self.places:
            raise Refused("the graph has no inputs")
        self.outputs = [f"output_{i}" for i in range(len(outputs))]
        self.versions: list[int] | None = None
        self.session: Session | None = None
        self.prepare(examples)

    def prepare(self, values: Sequence[torch.Tensor]) -> Session:
        weights = {i: value for i, value in enumerate(values) if i not in self.places}
        versions = [value._version for value in weights.values()]
        if self.session is None or versions != self.versions:
            file = io.BytesIO()
            inputs = tuple(values[i].detach() for i in self.places)
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.onnx.export(_WithWeights(self.graph, weights, len(values)).eval(), inputs, file, dynamo=False,
                                  input_names=[f"input_{i}" for i in self.places], output_names=self.outputs)
            self.session = Session(file.getvalue(), **self.options)
            self.versions = versions
        return self.session

    def __call__(self, *values: torch.Tensor) -> list[torch.Tensor]:
        if torch.is_grad_enabled() and any(value.requires_grad for value in values):
            return self.graph(*values)  # Vellum computes no gradients
        with self.lock:
            session = self.prepare(values)
            results = session.run({f"input_{i}": values[i].detach().contiguous().numpy() for i in self.places}, self.outputs)
        return [torch.from_numpy(result) for result in results]


def compile_graph(graph: torch.fx.GraphModule, examples: Sequence[Any], *, options: dict[str, Any] | None = None) -> _Run:
    """Compiles a graph of torch.compile(): the backend.

    options: of vellum.Session, as torch.compile(..., options={...}) passes them. "strict": True makes a graph that Vellum
    refuses an error; otherwise torch computes it, with a warning that has the reason.
    """
    chosen = dict(options or {})
    strict = bool(chosen.pop("strict", False))
    if unknown := set(chosen) - set(SessionOptions.__annotations__):
        raise TypeError(f"there is no session option {sorted(unknown)[0]!r}")
    try:
        return _Compiled(graph, examples, chosen)
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if strict:
            raise Refused(f"Vellum does not run a graph of {len(graph.graph.nodes)} nodes: {reason}") from error
        warnings.warn(f"torch computes a graph of {len(graph.graph.nodes)} nodes, because Vellum does not: {reason}", stacklevel=2)
        return graph.forward


torch._dynamo.register_backend(compiler_fn=compile_graph, name="vellum")
