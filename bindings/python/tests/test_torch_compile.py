"""torch.compile(model, backend="vellum") against the same model without it.

Skipped where torch is missing or older than 2.4, as in Debian. CMake's VELLUM_TORCH_PYTHON names a Python that has it.
"""

from __future__ import annotations

import importlib.metadata
import threading

import pytest

try:
    version = tuple(int(part) for part in importlib.metadata.version("torch").split("+")[0].split(".")[:2] if part.isdigit())
except importlib.metadata.PackageNotFoundError:
    version = (0,)
if version < (2, 4):
    pytest.skip("torch 2.4 or later is not installed", allow_module_level=True)

import torch
import vellum.torch_compile  # the entry point of an installed package does this


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(1)
    with torch.no_grad():
        yield


def network():
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(8, 5), nn.Softmax(1)).eval()


def compiled(function, **options):
    return torch.compile(function, backend="vellum", dynamic=False, options={"strict": True, **options})


def assert_same(result, expected, tolerance=1e-5):
    torch.testing.assert_close(result, expected, atol=tolerance, rtol=1e-4)


def test_a_network():
    net, image = network(), torch.rand(1, 3, 16, 16)
    assert_same(compiled(net)(image), net(image))


def test_shapes_may_change_between_calls():
    net = network()
    fast = compiled(net)
    for shape in [(1, 3, 16, 16), (2, 3, 8, 24), (1, 3, 16, 16)]:
        image = torch.rand(shape)
        assert_same(fast(image), net(image))


def test_several_inputs_and_outputs():
    def function(a, b):
        return {"sum": torch.relu(a + b), "parts": (a @ b.T, torch.exp(-b))}

    a, b = torch.rand(3, 4), torch.rand(3, 4)
    result, expected = compiled(function)(a, b), function(a, b)
    assert_same(result["sum"], expected["sum"])
    for part, wanted in zip(result["parts"], expected["parts"]):
        assert_same(part, wanted)


def test_inputs_that_are_not_contiguous():
    net, image = network(), torch.rand(1, 16, 16, 3).permute(0, 3, 1, 2)
    assert_same(compiled(net)(image), net(image))


def test_a_weight_that_changes_is_noticed():
    net, image = network(), torch.rand(1, 3, 16, 16)
    fast = compiled(net)
    fast(image)
    net[0].weight.mul_(0.5)
    assert_same(fast(image), net(image))


def test_a_model_of_several_graphs():
    def function(x):
        y = torch.relu(x) * 2
        print(end="")  # divides the graph
        return torch.sigmoid(y) + x

    x = torch.rand(4, 5) - 0.5
    assert_same(compiled(function)(x), function(x))


def test_a_refused_graph_is_an_error_or_a_warning():
    def function(x):
        return torch.linalg.svdvals(x)

    x = torch.rand(4, 4)
    with pytest.raises(Exception, match="Vellum does not run a graph of"):
        compiled(function)(x)
    torch._dynamo.reset()
    with pytest.warns(UserWarning, match="because Vellum does not"):
        assert_same(torch.compile(function, backend="vellum", dynamic=False)(x), function(x))


def test_gradients_are_torchs():
    net, image = network(), torch.rand(1, 3, 16, 16)
    with torch.enable_grad():
        compiled(net)(image).sum().backward()
    assert net[0].weight.grad is not None


def test_options():
    net, image = network(), torch.rand(1, 3, 16, 16)
    assert_same(compiled(net, precision="fp16")(image), net(image), 5e-3)
    torch._dynamo.reset()
    with pytest.raises(Exception, match="there is no session option 'precison'"):
        compiled(net, precison="fp16")(image)


def test_threads():
    net = network()
    fast = compiled(net)
    images = [torch.rand(1, 3, 16, 16) for _ in range(3)]
    expected, faults = [net(image) for image in images], []
    fast(images[0])

    def work():
        try:
            with torch.no_grad():
                for _ in range(10):
                    for image, wanted in zip(images, expected):
                        assert_same(fast(image), wanted)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not faults, faults[0]
