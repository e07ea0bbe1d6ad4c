"""Steps of training, plain and private, by this package and by Opacus, on the same rows: what the benchmarks of training time."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discreet.learn import Descent, Logistic, TrainingPlan, descend
from discreet.learn.rows import FeatureRows
from discreet.learn.torch import private_training

Step = Callable[[], None]
STEPS = 1_000_000
"""Of a plan that is never run to its end."""

TIMED = 200
"""Steps in a row of one kind."""


@dataclass(frozen=True)
class Task:
    """Rows, a model and its loss for each of them; a batch of so many."""

    name: str
    model: Callable[[], nn.Module]
    rows: Tensor
    targets: Tensor
    loss: Callable[[Tensor, Tensor], Tensor]
    batch: int
    noise: str = "grid"
    replay: bool = False

    @property
    def plan(self) -> TrainingPlan:
        rate = Fraction(self.batch, len(self.rows))
        return TrainingPlan(epsilon=50, delta=1e-5, steps=STEPS, people=len(self.rows), rate=rate, block=STEPS)

    def sample(self) -> Tensor:
        return torch.randint(0, len(self.rows), (self.batch,), device=self.rows.device)


def binary_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    return nn.functional.binary_cross_entropy_with_logits(outputs[:, 0], targets, reduction="none")


def class_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    return nn.functional.cross_entropy(outputs, targets, reduction="none")


def logistic(device: str = "cpu") -> Task:
    torch.manual_seed(0)
    rows, targets = torch.randn(100_000, 100, device=device), torch.randint(0, 2, (100_000,), device=device).float()
    return Task("logistic regression 100", lambda: nn.Linear(100, 1).to(device), rows, targets, binary_loss, 1024)


def perceptron(width: int = 512, batch: int = 1024, device: str = "cpu", noise: str = "grid") -> Task:
    torch.manual_seed(0)
    rows, targets = torch.randn(100_000, 784, device=device), torch.randint(0, 10, (100_000,), device=device)
    layers = lambda: nn.Sequential(nn.Linear(784, width), nn.ReLU(), nn.Linear(width, 10)).to(device)  # noqa: E731
    return Task(f"MLP 784-{width}-10", layers, rows, targets, class_loss, batch, noise)


def convolution(batch: int, device: str, noise: str) -> Task:
    """A small net for pictures of 28 by 28."""
    torch.manual_seed(0)
    rows, targets = torch.randn(50_000, 1, 28, 28, device=device), torch.randint(0, 10, (50_000,), device=device)

    def model() -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(1, 16, 8, 2, padding=3),
            nn.ReLU(),
            nn.MaxPool2d(2, 1),
            nn.Conv2d(16, 32, 4, 2),
            nn.ReLU(),
            nn.MaxPool2d(2, 1),
            nn.Flatten(),
            nn.Linear(512, 32),
            nn.ReLU(),
            nn.Linear(32, 10),
        ).to(device)

    return Task("convolutional net", model, rows, targets, class_loss, batch, noise)


def plain(task: Task, stack: ExitStack) -> Step:
    """A step of plain descent on a random batch."""
    model = task.model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        chosen = task.sample()
        optimizer.zero_grad()
        task.loss(model(task.rows[chosen]), task.targets[chosen]).mean().backward()
        optimizer.step()

    return step


def ours(task: Task, stack: ExitStack) -> Step:
    """A private step: a Poisson batch, ghost norms, the noise of a plan."""
    model = task.model()
    run = stack.enter_context(
        private_training(
            model,
            (task.rows, task.targets),
            task.plan,
            loss=task.loss,
            optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.1),
            noise=task.noise,
            replay=task.replay,
        )
    )
    numbers = iter(run.steps)

    def step() -> None:
        next(numbers)
        run.step()

    return step


class Exactly:
    """Steps of logistic regression in exact integers: whole runs of `descend`, whose steps tell when they are made."""

    def __init__(self, task: Task) -> None:
        rows = np.hstack([task.rows.numpy() / 10, np.full((len(task.rows), 1), 0.5)])
        self._plan = TrainingPlan(
            epsilon=50, delta=1e-5, steps=TIMED, people=len(rows), rate=Fraction(task.batch, len(rows))
        )
        codes = task.targets.numpy().astype(np.int64)
        self._problem = Logistic(FeatureRows(rows, self._plan.shape), codes, 2, self._plan)

    def times(self) -> list[float]:
        """Seconds of each step of a run, but for the first."""
        told: list[float] = []
        descend(self._problem, self._plan, Descent(0.1), progress=lambda _: told.append(perf_counter()))
        return np.diff(told).tolist()


def opacus(task: Task, stack: ExitStack, ghost: bool = False) -> Step:
    """A step of Opacus on a random batch that is taken as the plain one's is: its sampler is not counted."""
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    model = task.model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(task.rows[:1].repeat(64, *[1] * (task.rows.ndim - 1))), batch_size=8)
    settings: dict[str, Any] = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, "data_loader": loader}
    if not ghost:
        model, optimizer, _ = PrivacyEngine().make_private(module=model, optimizer=optimizer, **settings)
        criterion: Any = lambda outputs, targets: task.loss(outputs, targets).mean()  # noqa: E731
    else:
        kind = nn.BCEWithLogitsLoss() if task.loss is binary_loss else nn.CrossEntropyLoss()
        model, optimizer, criterion, _ = PrivacyEngine().make_private(
            module=model, optimizer=optimizer, criterion=kind, grad_sample_mode="ghost", **settings
        )

    def step() -> None:
        chosen = task.sample()
        optimizer.zero_grad()
        outputs, targets = model(task.rows[chosen]), task.targets[chosen]
        criterion(outputs[:, 0] if ghost and task.loss is binary_loss else outputs, targets).backward()
        optimizer.step()

    return step


def has_opacus() -> bool:
    return find_spec("opacus") is not None
