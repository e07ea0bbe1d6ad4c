"""Planted bugs of private training with PyTorch, for the tests of that part: their laws need it."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.mutants import Law, Mutant


class Tests:
    """The laws of a module of tests, which is loaded when the first of them is looked at: it needs the part, and this table does not."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *arguments: getattr(import_module(self._module), name)(*arguments)


accuracy = Tests("tests.learn.test_torch_accuracy")
checks = Tests("tests.learn.test_torch_checks")
files = Tests("tests.learn.test_torch_files")
sums = Tests("tests.learn.test_torch_sums")
training = Tests("tests.learn.test_torch_training")

T = "discreet.learn.torch."


def ghosts(name: str) -> Law:
    return lambda: sums.sums_agree(name, 0, 8)


def people(name: str) -> Law:
    return lambda: sums.people_are_clipped_as_one(name, 0)


def in_folder(law: Callable[[Path], object]) -> Law:
    def inside() -> None:
        with TemporaryDirectory() as folder:
            law(Path(folder))

    return inside


MUTANTS = (
    Mutant(
        "squares-too-small-are-nothing",
        T + "uses:length_up",
        "length(values, dim) + LOST * values.shape[dim] ** 0.5",
        "length(values, dim)",
        "a small gradient times a large row is taken for nothing, and is not clipped",
        lambda: sums.sums_are_within_the_clip("linear"),
    ),
    Mutant(
        "what-is-dropped-is-known",
        T + "chance:secret_chance",
        "chosen(source).bits(63)",
        "0",
        "whoever knows the seed knows what is dropped of whom",
        training.what_is_dropped_hangs_on_secret_bits,
    ),
    Mutant(
        "the-generator-tells-how-many-there-were",
        T + "chance:secret_chance",
        "each.set_state(state)",
        "pass",
        "after training the state of PyTorch's generator tells of the sizes of batches",
        training.what_is_dropped_hangs_on_secret_bits,
    ),
    Mutant(
        "squares-are-added-one-by-one",
        T + "uses:length",
        "size <= most",
        "True",
        "a norm of many equal numbers is short by far more than the room that a clip leaves",
        lambda: sums.norms_of_many_numbers_are_not_short(1),
    ),
    Mutant(
        "products-of-wide-rows-are-added-one-by-one",
        T + "uses:inner_products",
        "values.split(WIDEST, -1)",
        "(values,)",
        "the same of the products of two long rows",
        sums.products_of_wide_rows_are_not_off,
    ),
    Mutant(
        "products-too-small-are-nothing",
        T + "uses:_slack",
        "of_a * (LOST * high**0.5)",
        "of_a * 0",
        "the same with several places",
        lambda: sums.sums_are_within_the_clip("linear, with places"),
    ),
    Mutant(
        "products-in-half-precision",
        T + "uses:fine",
        "values.dtype in COARSE",
        "False",
        "usual gradients of half precision have products of 0, and are not clipped",
        lambda: sums.sums_are_within_the_clip("convolution", True),
    ),
    Mutant(
        "mixing-of-other-rows-than-the-first",
        T + "checks:_check_rows",
        "for row in range(ROWS):",
        "for row in range(1):",
        "a row adds to the loss of the next one, and its gradient is not clipped",
        checks.models_that_mix_are_refused,
    ),
    Mutant(
        "biases-without-a-norm",
        T + "layers:uses_of",
        "if name in own]",
        'if name in own and name != "bias"]',
        "gradients of biases are neither clipped nor learned",
        checks.models_have_sums_that_fit_them,
    ),
    Mutant(
        "biases-of-the-last-place",
        T + "layers:_over_places",
        "values.sum(tuple(range(1, first)))",
        "values[(slice(None), *(-1,) * (first - 1))]",
        "the norm of a bias is that of one place",
        ghosts("linear"),
    ),
    Mutant(
        "patches-without-their-stride",
        T + "layers:ConvolutionWeight.spread",
        "(size - 1) * apart + 1, stride)",
        "(size - 1) * apart + 1, 1)[(..., *(slice(None),) * 2)].narrow(2 + at, 0, self._given.shape[2 + at])",
        "patches are those of other places",
        ghosts("convolution of lines"),
    ),
    Mutant(
        "patches-that-are-not-dilated",
        T + "layers:ConvolutionWeight.spread",
        "x.unfold(2 + at, (size - 1) * apart + 1, stride)[..., ::apart]",
        "x.unfold(2 + at, (size - 1) * apart + 1, stride)[..., :size]",
        "patches hold other numbers than the convolution takes",
        ghosts("convolution of images"),
    ),
    Mutant(
        "padded-with-zeros-always",
        T + "layers:ConvolutionWeight.__init__",
        'mode = "constant" if layer.padding_mode == "zeros" else layer.padding_mode',
        'mode = "constant"',
        "patches at the edge are others than the convolution takes",
        ghosts("convolution of images"),
    ),
    Mutant(
        "padding-words-are-learned",
        T + "layers:_embedding",
        "(places == layer.padding_idx)",
        "(places == -1)",
        "the row of a table that stays as it is has a gradient",
        ghosts("words"),
    ),
    Mutant(
        "scales-by-what-was-taken",
        T + "layers:_layer_norm",
        "normal = functional.layer_norm(taken, layer.normalized_shape, None, None, layer.eps)",
        "normal = taken",
        "the gradient of a scale is that of a layer that does not normalise",
        ghosts("layer norm"),
    ),
    Mutant(
        "groups-normalised-as-one",
        T + "layers:_group_norm",
        "functional.group_norm(taken, layer.num_groups,",
        "functional.group_norm(taken, 1,",
        "the gradient of a scale is that of another norm",
        ghosts("group norm"),
    ),
    Mutant(
        "squares-of-uses-are-added",
        T + "uses:_joined",
        "parts[0] if len(parts) == 1 else torch.cat(parts, places)",
        "parts[0]",
        "of a layer that is used twice one use is clipped, and both are added",
        ghosts("a layer used twice"),
    ),
    Mutant(
        "squares-of-small-uses-are-added",
        T + "uses:_of_small",
        "torch.stack([use.gradients for use in uses]).sum(0)",
        "torch.stack([use.gradients for use in uses]).square().sum(0).sqrt()",
        "a sum may be longer than the root of summed squares",
        ghosts("a layer used twice"),
    ),
    Mutant(
        "places-by-themselves",
        T + "uses:_of_outer",
        "(inner_products(a) * inner_products(g)).sum((1, 2, 3))",
        "(of_a * of_g).square().sum((1, 2))",
        "the norm of a sum over places is taken for the root of summed squares",
        sums.places_of_wide_layers_are_joined,
    ),
    Mutant(
        "other-words-count-as-the-same",
        T + "uses:_of_tables",
        "torch.where(same, products, 0)",
        "products",
        "gradients of different rows of a table are added",
        ghosts("words"),
    ),
    Mutant(
        "every-word-by-itself",
        T + "uses:_of_tables",
        "torch.where(same, products, 0).sum((1, 2))",
        "products.diagonal(dim1=1, dim2=2).sum(1)",
        "a word that comes twice has the norm of two words",
        ghosts("words"),
    ),
    Mutant(
        "what-is-no-number-goes-on",
        T + "uses:finite",
        "torch.nan_to_num(values, 0.0, 0.0, 0.0)",
        "values.clone()",
        "one row that is no number makes the whole sum none",
        lambda: sums.what_is_no_number_adds_nothing(0),
    ),
    Mutant(
        "persons-have-the-norm-of-their-rows",
        T + "uses:_of_small",
        "rows = batch.owners.summed(rows, batch.units)",
        "rows = batch.owners.summed(rows.square(), batch.units).sqrt()",
        "the rows of a person add up to more than the clip",
        people("layer norm"),
    ),
    Mutant(
        "the-last-row-of-a-person",
        T + "batches:Owners.laid_out",
        "out[self.unit, self.place] = values",
        "out[self.unit, 0] = values",
        "the norm of a person is that of one row, and all rows are added",
        people("linear"),
    ),
    Mutant(
        "everybody-is-in-the-batch",
        T + "batches:UnitRows.pieces",
        "else batch[begin:end], end - begin)",
        "else np.arange(begin, end), end - begin)",
        "the first units are in every batch, whoever was sampled",
        training.batches_are_those_of_the_grant,
    ),
    Mutant(
        "rows-of-a-person-by-themselves",
        T + "batches:UnitRows.__init__",
        "plan.person is None or plan.person.each_row or self._most == 1",
        "True",
        "each row of a person is clipped to the whole clip",
        training.one_person_moves_the_exact_sum_by_the_clip,
    ),
    Mutant(
        "clipped-after-the-sum",
        T + "ghost:factors_of",
        "(bound / norms)",
        "(bound / norms.square().sum().sqrt().expand_as(norms))",
        "the batch is clipped, and not each unit",
        ghosts("linear"),
    ),
    Mutant(
        "clipped-by-the-square",
        T + "ghost:factors_of",
        "(bound / norms)",
        "(bound / norms.clamp(max=1))",
        "gradients below the clip are clipped, and those above it are not",
        ghosts("linear"),
    ),
    Mutant(
        "one-parameter-counts",
        T + "ghost:_norms",
        "[each.lengths for each in found.values()]",
        "[each.lengths for each in found.values()][-1:]",
        "the norm is that of the last parameter alone",
        ghosts("linear"),
    ),
    Mutant(
        "integers-of-the-whole-gradient",
        T + "each:AloneSums.summed",
        "factor = factors_of(gradient.square().sum().sqrt(), bound)",
        "factor = factors_of(gradient.square().sum().sqrt(), bound).clamp(min=0.5)",
        "a unit moves the sum by more than is charged",
        sums.integers_of_one_unit_are_within_the_clip,
    ),
    Mutant(
        "clipped-for-each-parameter",
        T + "uses:joined_lengths",
        "length(torch.stack(list(parts)), 0)",
        "torch.stack(list(parts)).max(0).values",
        "each parameter has the whole clip",
        lambda: sums.sums_agree("linear", 1, 4),
    ),
    Mutant(
        "nobody-is-somebody",
        T + "batches:TensorBatch.counted",
        "factors if self.present is None else factors * self.present",
        "factors",
        "the last row of a batch counts as often as its size asks for",
        lambda: sums.rows_of_nobody_add_nothing(0),
    ),
    Mutant(
        "the-last-row-is-there-twice",
        T + "batches:UnitRows._single",
        "torch.arange(size, device=self._device) < count",
        "torch.arange(size, device=self._device) <= count",
        "a unit moves the sum by twice the clip",
        training.evened_batches_are_those_of_the_grant,
    ),
    Mutant(
        "weighed-as-another-layer",
        T + "uses:Factors.remembered",
        "self._last[0] is values",
        "self._last[0].shape == values.shape",
        "rows of a layer are taken for those of another one of the same shape",
        sums.layers_of_one_shape_are_told_apart,
    ),
    Mutant(
        "lengths-of-another-layer",
        T + "uses:Lengths.of",
        "self._last[0] is not values",
        "self._last[0].shape != values.shape",
        "the norm of a layer is taken for that of another one of the same shape",
        sums.layers_of_one_shape_are_told_apart,
    ),
    Mutant(
        "replayed-on-the-rows-of-before",
        T + "replaying:_tensors",
        "[*batch.inputs, batch.targets, batch.present]",
        "[batch.targets, batch.present]",
        "every batch is the one that was recorded",
        sums.replayed_sums_are_those_of_the_rows_at_hand,
    ),
    Mutant(
        "replayed-for-who-was-there-before",
        T + "replaying:_tensors",
        "[*batch.inputs, batch.targets, batch.present]",
        "[*batch.inputs, batch.targets]",
        "rows that are nobody's count as they did when the size was recorded",
        sums.replayed_sums_are_those_of_the_rows_at_hand,
    ),
    Mutant(
        "replayed-sums-are-overwritten",
        T + "replaying:Recording.of",
        "[each.clone() for each in self.sums]",
        "self.sums",
        "the sum of a piece becomes that of the next one",
        sums.replayed_sums_are_those_of_the_rows_at_hand,
    ),
    Mutant(
        "replayed-in-another-mode",
        T + "replaying:_stamp",
        "tuple(each.training for each in model.modules())",
        "()",
        "what was recorded in training is replayed for a model that is not",
        sums.what_changes_the_model_is_recorded_anew,
    ),
    Mutant(
        "sums-on-another-grid",
        T + "noise:GridSums.__init__",
        "self._per_step = float(1 / plan.step)",
        "self._per_step = float(2 / plan.step)",
        "one unit moves the sum by twice the clip",
        training.sums_are_on_the_grid_of_the_plan,
    ),
    Mutant(
        "divided-by-who-was-there",
        T + "noise:GridSums.__init__",
        "float(plan.step) / plan.batch",
        "float(plan.step) / 20",
        "the normaliser is not the declared one",
        training.gradients_are_divided_by_the_declared_size,
    ),
    Mutant(
        "float-noise-of-half-the-scale",
        T + "noise:FloatGaussian.__call__",
        "float(self.like.scale) * self.step,",
        "float(self.like.scale) * self.step / 2,",
        "noise costs four times what is charged",
        training.float_noise_has_the_scale_of_the_plan,
    ),
    Mutant(
        "batch-norm-passes",
        T + "checks:refuse_mixing_layers",
        "isinstance(each, _BatchNorm)",
        "isinstance(each, _BatchNorm) and each.training",
        "a layer that mixes as soon as the model is in training again is let through",
        checks.models_that_mix_are_refused,
    ),
    Mutant(
        "mixing-is-not-tried",
        T + "checks:_check_rows",
        "if not torch.allclose(found[row], again[row]",
        "if not torch.allclose(found[row], found[row]",
        "models that look at other examples are let through",
        checks.models_that_mix_are_refused,
    ),
    Mutant(
        "buffers-are-not-looked-at",
        T + "checks:_check_stored",
        "_same(before, after)",
        "True",
        "what a model keeps of examples is released without noise",
        checks.models_that_mix_are_refused,
    ),
    Mutant(
        "any-frozen-weights-will-do",
        T + "training:_moving",
        "[*others, *model.named_buffers()]",
        "[]",
        "weights are gone on with beside frozen ones that they were not trained with",
        in_folder(training.what_is_not_trained_belongs_to_the_run),
    ),
    Mutant(
        "heirs-are-what-they-inherit",
        T + "layers:known",
        "type(layer) in KNOWN",
        "isinstance(layer, tuple(KNOWN))",
        "a layer that does something else has the norms of the one that it inherits from",
        sums.heirs_are_not_taken_for_what_they_inherit,
    ),
    Mutant(
        "float-noise-has-a-seed-that-is-known",
        T + "noise:FloatGaussian.__call__",
        "chosen(source).bits(63)",
        "1",
        "everybody can subtract the noise",
        training.float_noise_hangs_on_secret_bits,
    ),
    Mutant(
        "attributes-are-not-looked-at",
        T + "checks:_check_kept",
        "not _same(*told)",
        "False",
        "what a layer keeps of examples beside its buffers goes with the model",
        checks.models_that_mix_are_refused,
    ),
    Mutant(
        "rows-that-are-judged-may-mix",
        T + "accuracy:evaluate",
        "refuse_mixing_rows(model, rows)",
        "pass",
        "one row decides whether others are right, and moves the count by more than one",
        accuracy.models_that_mix_are_not_judged,
    ),
    Mutant(
        "accuracy-of-rows-is-charged-as-that-of-people",
        T + "accuracy:evaluate",
        "events.Under(noise.event(1), relation)",
        "noise.event(1)",
        "where people are protected a count of rows costs what a count of people does",
        accuracy.rows_are_not_charged_as_people,
    ),
    Mutant(
        "people-need-not-be-told-apart",
        T + "batches:checked_groups",
        "groups is None and plan.person is not None",
        "groups is None and plan.rows_each > 1",
        "each row of a person is clipped by itself, and all of them are charged as one person",
        checks.plans_for_people_need_groups,
    ),
    Mutant(
        "norms-are-not-tried",
        T + "checks:_right",
        "_near(found, norms, near) and all(",
        "all(",
        "a model whose rows are not the first dimension has norms of something else",
        checks.models_have_sums_that_fit_them,
    ),
    Mutant(
        "a-mean-is-a-loss",
        T + "checks:_check_rows",
        "found.dim() == 0 or len(found) != ROWS",
        "found.dim() == 0",
        "a mean over the batch is taken for the losses of examples",
        checks.losses_are_of_single_examples,
    ),
    Mutant(
        "momentum-is-forgotten",
        T + "optimising:Moving.restore",
        'kept["state"] = _optimizer_state(state)',
        "_optimizer_state(state)",
        "whoever goes on has lost the state of the optimiser",
        in_folder(lambda folder: training.states_come_back("Adam", folder)),
    ),
    Mutant(
        "schedules-stand-still",
        T + "optimising:Moving.step",
        "self._schedule(number)",
        "self._schedule(0)",
        "the learning rate does not follow its schedule",
        training.rates_follow_schedules,
    ),
    Mutant(
        "messages-of-torch",
        T + "training:_Job.summed",
        "(DiscreetError, KeyboardInterrupt, MemoryError)",
        "(DiscreetError, KeyboardInterrupt, MemoryError, Exception)",
        "what torch says of a bad row holds its value",
        lambda: checks_fault(),
    ),
    Mutant(
        "microbatches-are-dropped",
        T + "training:_Job._summed",
        "[old.add_(new) for old, new in zip(sums, found, strict=True)]",
        "found",
        "only the last piece of a batch counts",
        training.microbatches_change_nothing_but_rounding,
    ),
    Mutant(
        "each-row-has-the-whole-clip",
        T + "training:_Job.__init__",
        "float(plan.bound / share)",
        "float(plan.bound)",
        "rows clipped one by one add up to more than the clip",
        training.one_person_moves_the_exact_sum_by_the_clip,
    ),
    Mutant(
        "a-right-row-counts-what-it-is",
        T + "accuracy:_right",
        "int((found != 0).sum())",
        "int((2 * (found != 0)).sum())",
        "one row moves the count by two",
        accuracy.twins_see_the_same,
    ),
    Mutant(
        "all-rows-of-a-person",
        T + "accuracy:evaluate",
        "People(owners, 1, grant.source).rows",
        "People(owners, 5, grant.source).rows",
        "one person moves the count by five",
        accuracy.twins_see_the_same,
    ),
    Mutant(
        "pickles-are-read-on",
        T + "files:load",
        'if data[8:9] != b"{" and (data[:2] == b"PK" or data[:1] == b"\\x80"):',
        "if False:",
        "a pickle is not told from a broken file",
        in_folder(files.pickles_are_refused),
    ),
    Mutant(
        "files-of-any-run",
        "discreet.learn.checkpoint:of_this_run",
        "found.what != what",
        "False",
        "a run goes on from the weights of another one",
        in_folder(files.checkpoints_come_back),
    ),
    Mutant(
        "exact-on-any-device",
        T + "training:check_exact",
        'place != "cpu" and not deterministic',
        "False",
        "gradients of one example differ with the order in which a device adds",
        training.exact_sums_are_for_what_is_steady,
    ),
    Mutant(
        "checkpoints-of-any-run",
        T + "files:TensorCheckpoint.read",
        "return of_this_run(found, what, self._path)",
        "return found",
        "a run goes on from the weights of another one",
        in_folder(files.checkpoints_come_back),
    ),
)


def checks_fault() -> None:
    """As the law, with whatever else is raised told as a failure."""
    try:
        training.what_fails_on_data_is_one_constant_fault()
    except IndexError as error:
        raise AssertionError("what torch says is told") from error
