"""Loops of runs on the device: steps of diffusion, greedy decoding."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _c_api
from ._library import Handle, call, defaults, library, sized
from ._options import set_field
from ._tensor import c_shape, read_tensor

Array = np.ndarray[Any, Any]
StepProgress = Callable[[int], object]


@dataclass(frozen=True)
class StepResults:
    """What Session.run_steps() has computed."""

    steps: int  # that ran
    ended: bool  # by end_output
    outputs: dict[str, Array]  # step_outputs: (steps, *shape of the output)


class StepLoop(Handle):
    """Several runs of a session, bound to follow one another on the device: Session.bind_steps()."""

    def __init__(self, step_inputs: Sequence[str], step_outputs: Sequence[str], keep: object) -> None:
        """Holds nothing before _make()."""
        super().__init__(library.vellum_step_loop_destroy, keep)
        self.step_inputs = tuple(step_inputs)
        self.step_outputs = tuple(step_outputs)

    def _run(self, session: Handle, arrays: Mapping[str, Array], on_steps: Callable[[int], int]) -> StepResults:
        given = (_c_api.vellum_input_values * len(arrays))()
        for entry, (name, array) in zip(given, arrays.items()):
            entry.name, entry.values, entry.byte_count = name.encode(), array.ctypes.data, array.nbytes
            entry.dims, entry.rank = c_shape(array.shape), array.ndim
        callback = _c_api.vellum_step_callback(lambda steps, _: on_steps(steps))
        results = sized(_c_api.vellum_step_results)
        call(library.vellum_step_loop_run, self, session, given, len(given), callback, None, ctypes.byref(results))
        outputs = {name: read_tensor(library.vellum_step_loop_output, self, name.encode()) for name in self.step_outputs}
        return StepResults(results.steps, bool(results.ended), outputs)


def c_names(names: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(names))(*(name.encode() for name in names))


def c_step_options(
    steps: int,
    feedback: Mapping[str, str],
    step_inputs: Sequence[str],
    step_outputs: Sequence[str],
    end_output: str,
    end_values: Sequence[int],
    steps_per_submit: int,
) -> _c_api.vellum_step_options:
    options = defaults(_c_api.vellum_step_options)
    set_field(options, "steps", steps)
    set_field(options, "steps_per_submit", steps_per_submit)
    pairs = (_c_api.vellum_feedback * len(feedback))()
    for pair, (output, target) in zip(pairs, feedback.items()):
        pair.output, pair.input = output.encode(), target.encode()
    options.feedback, options.feedback_count = pairs, len(pairs)
    options.step_inputs, options.step_input_count = c_names(step_inputs), len(step_inputs)
    options.step_outputs, options.step_output_count = c_names(step_outputs), len(step_outputs)
    options.end_output = end_output.encode()
    options.end_values, options.end_value_count = (ctypes.c_int64 * len(end_values))(*end_values), len(end_values)
    return options
