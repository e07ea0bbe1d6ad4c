"""Private training of PyTorch models: clipped sums of gradients with exact noise, drawn from a grant.

What is exact and what is not is said by `TrainedModel.caveats`, and where it is decided: `noise.py` for the noise, `ghost.py` for the
sums. Nothing here reads a file that can run code.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.learn.torch.accuracy import Accuracy, evaluate
    from discreet.learn.torch.files import TensorCheckpoint, load, save
    from discreet.learn.torch.noise import NoiseKind
    from discreet.learn.torch.training import PrivateTraining, TrainedModel, private_training, train

__all__ = [
    "Accuracy",
    "NoiseKind",
    "PrivateTraining",
    "TensorCheckpoint",
    "TrainedModel",
    "evaluate",
    "load",
    "private_training",
    "save",
    "train",
]

# The module of each public name.
_HOME = {
    "Accuracy": "accuracy",
    "NoiseKind": "noise",
    "PrivateTraining": "training",
    "TensorCheckpoint": "files",
    "TrainedModel": "training",
    "evaluate": "accuracy",
    "load": "files",
    "private_training": "training",
    "save": "files",
    "train": "training",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
