"""Sessions: models made ready on a device."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from . import _c_api
from ._callbacks import Callbacks
from ._device import DeviceLike, as_device
from ._frame import frame_array
from ._library import Error, ErrorCode, Handle, call, library
from ._model import Model, ModelSource, as_model
from ._options import SessionOptions, c_session_options, choice
from ._prepared import Prepared
from ._progress import Progress, Reporter
from ._reports import MemoryReport, Profile, read_memory, read_profile
from ._run import SLICE_MS, Run
from ._steps import StepLoop, StepProgress, StepResults, c_step_options
from ._tensor import TensorInfo, as_array, c_shape, find_info, read_tensor

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = np.ndarray[Any, Any]
Inputs = Mapping[str, Any]  # NumPy arrays, or what as_array() takes
WantedOutputs = Sequence[str] | Mapping[str, Array] | None


class Session(Prepared):
    """A model made ready on a device: planned, allocated, compiled, recorded.

    Input shapes may change from run to run, within what the model leaves open (and the batch): the session prepares
    itself once for each combination. May be used from several threads; runs go to the device one after another, or
    in_flight of them at once.
    """

    def __init__(
        self,
        model: Model | ModelSource,
        device: DeviceLike = None,
        *,
        progress: Progress = False,
        **options: Unpack[SessionOptions],
    ) -> None:
        """Makes a session, as soon as all input shapes are known: here, or in the first run.

        model: a Model, a file, or the bytes of one.
        device: a Device, or what Device() opens. Sessions that share a Device share weights and compiled kernels.
        progress: True: a line on the terminal; a function: called with ("pipelines", done, total).
        options: see SessionOptions.

        Ctrl-C, or an exception in `progress`, cancels.
        """
        self.model = as_model(model)
        self.device = as_device(device)
        self._profile = bool(options.get("profile"))
        super().__init__(library.vellum_session_destroy, self.device._callback)
        self._create(options, progress)
        self._shape_values = {
            find_info(self.model.inputs, name, "input").name: np.array(value)
            for name, value in options.get("input_values", {}).items()
        }
        self._read_infos()

    def _create(self, options: SessionOptions, progress: Progress) -> None:
        """Makes the session on a thread of its own, so that Ctrl-C can cancel it."""
        struct = c_session_options(options)
        creation = Handle(library.vellum_session_creation_destroy, self.device._callback)
        done, ready, total = ctypes.c_int32(), ctypes.c_size_t(), ctypes.c_size_t()
        with creation, Reporter(progress) as report:  # an exception cancels
            creation._make(library.vellum_session_create_async, self.device, self.model, ctypes.byref(struct))
            while not done:
                call(library.vellum_session_creation_wait_for, creation, SLICE_MS, ctypes.byref(done))
                call(library.vellum_session_creation_progress, creation, ctypes.byref(ready), ctypes.byref(total))
                report("pipelines", ready.value, total.value)
            self._make(library.vellum_session_creation_get, creation)

    # ---- Runs ----

    @overload
    def run(self, inputs: None, outputs: Inputs) -> list[Array]: ...
    @overload
    def run(self, inputs: Sequence[str], outputs: Inputs) -> list[Array]: ...
    @overload
    def run(self, inputs: Inputs | Array, outputs: None = None) -> dict[str, Array]: ...
    @overload
    def run(self, inputs: Inputs | Array, outputs: Mapping[str, Array]) -> dict[str, Array]: ...
    @overload
    def run(self, inputs: Inputs | Array, outputs: Sequence[str]) -> list[Array]: ...

    def run(self, inputs: Any, outputs: Any = None) -> Any:
        """Runs one inference and returns its outputs.

        As of ONNX Runtime, run(None, feed) returns a list of all outputs and run(names, feed) one of these.

        inputs: a value for every input, or the value of the only one: arrays of its dtype, whose shape may be any that the model accepts; tensors with
            DLPack in host memory (torch); objects with the buffer protocol; numbers. Dense arrays are not copied on
            the way to the library. An input made by Model.with_frames() takes pictures [H, W, C] of uint8, and so on.
        outputs: None: all, as a dict; names: those alone, as a list; a mapping of names to arrays: written there.

        Ctrl-C ends the run; with profile=True it waits for it.
        """
        with self._lock:
            feed, outputs = self._feed(inputs, outputs)
            arrays = self._arrays(feed)
            self._prepare_for(arrays)
            if self._profile:  # the library keeps times of vellum_session_run() alone
                return self._run_blocking(arrays, outputs)
            run: Run[Any] = self._submit(arrays, outputs)
        try:
            return run.result()
        except BaseException:
            run.cancel()
            run.close()  # waits, so that nothing is written to the caller's arrays afterwards
            raise

    @overload
    def submit(self, inputs: Inputs | Array, outputs: None = None) -> Run[dict[str, Array]]: ...
    @overload
    def submit(self, inputs: Inputs | Array, outputs: Mapping[str, Array]) -> Run[dict[str, Array]]: ...
    @overload
    def submit(self, inputs: Inputs | Array, outputs: Sequence[str]) -> Run[list[Array]]: ...

    def submit(self, inputs: Inputs | Array, outputs: WantedOutputs = None) -> Run[Any]:
        """Begins an inference and returns as soon as the device has it; inputs and outputs as in run().

        If in_flight runs are under way, it first waits for the oldest. Inputs are copied; arrays for outputs belong to
        the library until the run is done.
        """
        with self._lock:
            feed, wanted = self._feed(inputs, outputs)
            arrays = self._arrays(feed)
            self._prepare_for(arrays)
            run: Run[Any] = self._submit(arrays, wanted)
            return run

    @overload
    def try_submit(self, inputs: Inputs | Array, outputs: None = None) -> Run[dict[str, Array]] | None: ...
    @overload
    def try_submit(self, inputs: Inputs | Array, outputs: Mapping[str, Array]) -> Run[dict[str, Array]] | None: ...
    @overload
    def try_submit(self, inputs: Inputs | Array, outputs: Sequence[str]) -> Run[list[Array]] | None: ...

    def try_submit(self, inputs: Inputs | Array, outputs: WantedOutputs = None) -> Run[Any] | None:
        """Does the same as submit() where a run can begin at once; otherwise returns None, so that a frame can be dropped.

        Raises Error(INVALID_ARGUMENT) if the session is not prepared for these shapes: run() or prepare() does that.
        """
        with self._lock:
            feed, wanted = self._feed(inputs, outputs)
            run: Run[Any] | None = self._submit(self._arrays(feed), wanted, library.vellum_session_try_submit)
            return run

    def _feed(self, inputs: Any, outputs: Any) -> tuple[Inputs, WantedOutputs]:
        """The arguments of run() in any of their orders, in this one."""
        if isinstance(inputs, Mapping):
            return inputs, outputs
        if inputs is None and isinstance(outputs, Mapping):
            return outputs, [info.name for info in self._outputs if info.name not in self._states.values()]
        if isinstance(inputs, (list, tuple)) and all(isinstance(name, str) for name in inputs) and isinstance(outputs, Mapping):
            return outputs, list(inputs)
        fed = [info.name for info in self._inputs if info.name not in self._states]
        if inputs is not None and len(fed) == 1:
            return {fed[0]: inputs}, outputs
        names = ", ".join(f"'{name}'" for name in fed)
        raise TypeError(f"run() takes a mapping of input names to arrays; the model has {names}")

    def _arrays(self, inputs: Inputs) -> dict[str, Array]:
        arrays = {}
        for given, value in inputs.items():
            info = find_info(self._inputs, given, "input")
            name = info.name
            if name in arrays:
                raise Error(ErrorCode.INVALID_ARGUMENT, f"input '{name}' is given twice")
            frame = self.model.frames.get(name)
            arrays[name] = frame_array(frame, name, value) if frame else as_array(value, info)
        for info in self._inputs:
            if info.name not in arrays and info.name not in self._shape_values and info.name not in self._states:
                hint = "" if info.initial_value is None else ": a variable, which state='auto' keeps from run to run"
                raise Error(ErrorCode.INVALID_ARGUMENT, f"the input '{info.name}' was not given{hint}")
        return arrays

    def _submit(self, arrays: Mapping[str, Array], outputs: WantedOutputs, submit: Any = None) -> Any:
        """submit: vellum_session_submit, the default, or vellum_session_try_submit; None if the latter begins no run."""
        given = (_c_api.vellum_input_values * len(arrays))()
        for entry, (name, array) in zip(given, arrays.items()):
            entry.name, entry.values, entry.byte_count = name.encode(), array.ctypes.data, array.nbytes
            entry.dims, entry.rank = c_shape(array.shape), array.ndim
        targets = self._targets(outputs, self._outputs)
        kept = [name for name, array in targets.items() if array is None]
        wanted = (_c_api.vellum_output_values * (len(targets) - len(kept)))()
        for output, (name, array) in zip(wanted, (item for item in targets.items() if item[1] is not None)):
            output.name, output.values, output.byte_count = name.encode(), array.ctypes.data, array.nbytes

        def read(run: Run[Any]) -> Any:
            for name in kept:
                targets[name] = read_tensor(library.vellum_run_output, run, name.encode())
            return _as_wanted(targets, outputs)

        run: Run[Any] = Run(read, self.device.wait_limit_ms, keep=(targets, self.device._callback))
        run._make(submit or library.vellum_session_submit, self, given, len(given), wanted, len(wanted))
        return run if run._pointer else None

    def _run_blocking(self, arrays: Mapping[str, Array], outputs: WantedOutputs) -> Any:
        for name, array in arrays.items():
            shape = c_shape(array.shape)
            values = array.ctypes.data, array.nbytes
            call(library.vellum_session_set_input_shaped, self, name.encode(), shape, array.ndim, *values)
        call(library.vellum_session_run, self)
        targets = self._targets(outputs, self._read_outputs())
        for name, array in targets.items():
            call(library.vellum_session_get_output, self, name.encode(), array.ctypes.data, array.nbytes)
        return _as_wanted(targets, outputs)

    def _targets(self, outputs: WantedOutputs, infos: tuple[TensorInfo, ...]) -> dict[str, Any]:
        """The arrays to write outputs to; None for those whose shapes are not known before the run."""
        if isinstance(outputs, str):
            raise TypeError("outputs is a list of names, a mapping of names to arrays, or None")
        targets: dict[str, Any] = {}
        wanted = [info.name for info in infos if info.name not in self._states.values()] if outputs is None else outputs
        for name in wanted:
            info = find_info(infos, name, "output")
            if isinstance(outputs, Mapping):
                targets[name] = _checked_target(outputs[name], info)
            else:
                targets[name] = np.empty(info.shape, info.dtype) if info.is_known else None
        return targets

    # ---- Loops of runs ----

    def bind_steps(
        self,
        steps: int,
        *,
        feedback: Mapping[str, str] | None = None,
        step_inputs: Sequence[str] = (),
        step_outputs: Sequence[str] = (),
        end_output: str = "",
        end_values: Sequence[int] = (),
        steps_per_submit: int = 0,
    ) -> StepLoop:
        """Binds several runs, one after another on the device, for the current input shapes; prepare() comes first.

        steps: the most steps of a run.
        feedback: outputs, and the input that gets the value of each after a step.
        step_inputs: inputs with a value for each step.
        step_outputs: outputs whose value after each step is returned.
        end_output, end_values: an integer output that ends the loop when each of its elements has been one of these values.
            The device compares; the remaining steps do nothing.
        steps_per_submit: between submits run_steps() reports progress; 0: as many as are predicted to take a second.
        """
        with self._lock:
            options = c_step_options(
                steps, feedback or {}, step_inputs, step_outputs, end_output, end_values, steps_per_submit
            )
            loop = StepLoop(step_inputs, step_outputs, self.device._callback)
            loop._make(library.vellum_step_loop_create, self, ctypes.byref(options))
            return loop

    def run_steps(self, loop: StepLoop, inputs: Inputs | None = None, *, progress: StepProgress | None = None) -> StepResults:
        """Runs the steps of a loop and returns their results.

        inputs: inputs of the first step; those of step_inputs have the steps as their first dimension. Inputs that are not
            given keep their values.
        progress: called between submits with the number of steps done. If it returns False, the run stops after the steps
            that are submitted. It must not call the session.

        Ctrl-C, and an exception in `progress`, end it in the same way, and are raised.
        """
        with self._lock, Callbacks() as callbacks:
            stops: list[bool] = []

            def ask(steps: int) -> None:
                if progress is not None and progress(steps) is False:
                    stops.append(True)

            arrays = {}
            for name, value in (inputs or {}).items():
                info = find_info(self._inputs, name, "input")
                arrays[info.name] = as_array(value, info)
            results = loop._run(self, arrays, lambda steps: callbacks.run(ask, steps) or int(bool(stops)))
            self._read_infos()  # the session may have switched to the loop's shapes
            return results

    # ---- Memory ----

    def trim(self, what: Literal["intermediates", "weights"] = "intermediates") -> None:
        """Waits for runs under way and gives memory back; the next run makes it again.

        "intermediates": that of intermediate tensors, and all that belongs to earlier input shapes; "weights": that, and
        the weights, unless they stream or another session has them.
        """
        with self._lock:
            call(library.vellum_session_trim, self, choice("what", what, _c_api.vellum_trim_level, "TRIM_"))

    # ---- Reports ----

    def memory(self) -> MemoryReport:
        """The memory for the input shapes of the last run. Waits for runs under way."""
        with self._lock:
            return read_memory(library.vellum_memory_plan_of_session, self)

    def profile(self, title: str = "") -> Profile:
        """Where memory and time of the last run() went, as values, as a page with this title, and as a trace.

        Raises Error(INVALID_ARGUMENT) without profile=True and before the first run.
        """
        with self._lock:
            if not self._profile:
                raise Error(ErrorCode.INVALID_ARGUMENT, "a profile needs a session with profile=True")
            return read_profile(self, title, self.device.name)

    def close(self) -> None:
        """Frees what it holds, now rather than with the last reference. Waits for runs under way."""
        with self._lock:
            super().close()

    def __repr__(self) -> str:
        return f"<vellum.Session of {self.model!r} on {self.device.name}>"

    def _repr_html_(self) -> str:
        return self.model._repr_html_()


def _checked_target(array: Any, info: TensorInfo) -> Array:
    if not isinstance(array, np.ndarray) or array.dtype != info.dtype or array.shape != info.shape:
        found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise Error(ErrorCode.INVALID_ARGUMENT, f"output '{info.name}' is {info.dtype} {info.shape}, but its array is {found}")
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise Error(ErrorCode.INVALID_ARGUMENT, f"the array for output '{info.name}' is not dense and writeable")
    return array


def _as_wanted(targets: dict[str, Array], outputs: WantedOutputs) -> Any:
    if outputs is None or isinstance(outputs, Mapping):
        return targets
    return [targets[name] for name in outputs]
