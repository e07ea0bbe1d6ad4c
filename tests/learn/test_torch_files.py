"""Models and checkpoints are saved as safetensors or JSON with their price, come back bit for bit, and are never pickled."""

import pickle
from copy import deepcopy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the optional part learn")

import torch
from torch import nn

from discreet.errors import Fault, Invalid
from discreet.learn import TrainingPlan
from discreet.learn.checkpoint import Checkpoint, CheckpointFile
from discreet.learn.torch import NoiseKind, TensorCheckpoint, TrainedModel, load, save, train
from discreet.mechanisms.measure import unmetered
from tests.learn.torch_cases import Tied, flat_square

pytestmark = pytest.mark.learn

PLAN = TrainingPlan(epsilon=2, delta=1e-5, steps=7, people=20, rate=0.5)
DATA = torch.rand(4, 3), torch.zeros(4)


def trained(model: nn.Module) -> TrainedModel:
    return TrainedModel(model, PLAN, 6, NoiseKind.GRID, False)


def models_come_back(tmp_path: Path) -> None:
    for name in ("model.safetensors", "model.json"):
        for model, other in ((nn.Linear(3, 2), nn.Linear(3, 2)), (Tied(3), Tied(3)), (nn.LSTM(2, 2), nn.LSTM(2, 2))):
            save(trained(model), tmp_path / name)
            facts = load(other, tmp_path / name)
            for one, again in zip(model.parameters(), other.parameters(), strict=True):
                assert torch.equal(one, again)
            assert Fraction(facts["epsilon"]) == 2
            assert Fraction(facts["delta"]) == Fraction(1, 10**5)
            assert facts["steps"] == "7"
            assert facts["made"] == "6"
            assert facts["noise"] == "grid"
            assert facts["shape"] == "gaussian"
            assert facts["relation"] == "add-remove one row"


def test_models_come_back(tmp_path: Path) -> None:
    models_come_back(tmp_path)


class Trap:
    """Whoever unpickles it is told so."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("a pickle was read",)


def pickles_are_refused(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    for name in ("model.pt", "model.safetensors", "model.json"):
        torch.save(model.state_dict(), tmp_path / name)
        with pytest.raises(Invalid, match="pickle"):
            load(model, tmp_path / name)
        (tmp_path / name).write_bytes(pickle.dumps(Trap()))
        with pytest.raises(Invalid, match="pickle"):
            load(model, tmp_path / name)
    with pytest.raises(Invalid, match=r"saved as \.safetensors or \.json"):
        save(trained(model), tmp_path / "other.pt")
    assert not (tmp_path / "other.pt").exists()


def test_pickles_are_refused(tmp_path: Path) -> None:
    pickles_are_refused(tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "model.json"])
def test_other_files_are_refused(name: str, tmp_path: Path) -> None:
    path, model = tmp_path / name, nn.Linear(3, 2)
    save(trained(nn.Linear(4, 2)), path)
    with pytest.raises(Invalid, match="another model"):
        load(model, path)
    for text in (b"", b"{}", b'{"tensors": 3}', b"\0" * 64, b'{"format": "1", "tensors": {"weight": {"dtype": "nn"}}}'):
        path.write_bytes(text)
        with pytest.raises(Invalid):
            load(model, path)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"format": "1", "tensors": {"weight": {"dtype": "float32", "shape": [2, 3], "values": ["0x1p9999"]}}}',
        '{"format": "1", "tensors": {"weight": {"dtype": "float32", "shape": [2, 3], "values": ["0x1p9"]}}}',
        '{"format": "1", "tensors": {"weight": {"dtype": "int64", "shape": [1], "values": [1e400]}}}',
    ],
)
def test_texts_that_are_no_model_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(text, "utf-8")
    with pytest.raises(Invalid, match="not a model"):
        load(nn.Linear(3, 2), tmp_path / "model.json")


def test_places_where_nothing_is_are_told(tmp_path: Path) -> None:
    """Of a checkpoint before anything is charged."""
    for place in (tmp_path / "none.json", tmp_path):
        with pytest.raises(Invalid, match="cannot be read"):
            load(nn.Linear(3, 2), place)
    with pytest.raises(Invalid, match="with its price"):
        save(nn.Linear(3, 2), tmp_path / "model.json")  # type: ignore[arg-type]
    for kind in (CheckpointFile, TensorCheckpoint):
        measure = unmetered()
        said = {"loss": flat_square, "key": "run", "measure": measure}
        with pytest.raises(Invalid, match="cannot be a checkpoint"):
            train(nn.Linear(3, 2), DATA, PLAN, keeper=kind(tmp_path), **said)  # type: ignore[arg-type]
        assert measure.spent.terms == ()
        folder = tmp_path / kind.__name__ / "runs"
        train(nn.Linear(3, 2), DATA, PLAN, keeper=kind(folder / "run"), **said)  # type: ignore[arg-type]
        assert (folder / "run").exists() and folder.stat().st_mode & 0o077 == 0


def test_whole_numbers_come_back_exactly(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    model.register_buffer("count", torch.tensor([2**62 + 1, -1]))
    model.register_buffer("mask", torch.tensor([True, False]))
    for name in ("model.json", "model.safetensors"):
        save(trained(model), tmp_path / name)
        other = deepcopy(model)
        other.get_buffer("count").zero_()
        load(other, tmp_path / name)
        assert torch.equal(other.get_buffer("count"), model.get_buffer("count"))
        assert torch.equal(other.get_buffer("mask"), model.get_buffer("mask"))


def test_large_models_are_no_json(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="too large for JSON"):
        save(trained(nn.Linear(1025, 1025)), tmp_path / "model.json")


def checkpoints_come_back(tmp_path: Path) -> None:
    """Whatever numbers a state has, of either kind of file; that of another run is a Fault."""
    state = {
        "a": np.array([[1.5, -0.0, float("nan")], [float("inf"), 5e-324, 0.1]]),
        "b": np.array(7),
        "c": np.zeros((0, 3), np.float32),
        "d": np.array([0.1], np.float32),
    }
    for kind in (CheckpointFile, TensorCheckpoint):
        keeper = kind(tmp_path / "kept")
        (tmp_path / "kept").unlink(missing_ok=True)
        assert keeper.read("run") is None
        keeper.write(Checkpoint("run", 3, 8, state))
        found = keeper.read("run")
        assert found is not None
        assert (found.what, found.blocks, found.made) == ("run", 3, 8)
        assert found.state.keys() == state.keys()
        for name, part in state.items():
            assert found.state[name].shape == part.shape
            assert np.array_equal(found.state[name], part, equal_nan=True)
            assert np.array_equal(np.signbit(found.state[name]), np.signbit(part))
        with pytest.raises(Fault, match="another training run"):
            keeper.read("other")
        (tmp_path / "kept").write_bytes(b"nothing of the kind")
        with pytest.raises(Fault, match="not a checkpoint"):
            keeper.read("run")


def test_checkpoints_come_back(tmp_path: Path) -> None:
    checkpoints_come_back(tmp_path)
