"""The confidence that each interval needs, so that all of an answer hold the truth at once: arithmetic on public numbers, at no price.

Of k columns of numbers in each of g groups all hold with confidence 1 − α where each has 1 − α/(k·g) (Bonferroni). Groups have noise of
their own: where the numbers of a group are made of nothing else, groups are independent, and (1 − α)^(1/g) for each group is enough
(Šidák 1967), which is a little less. People may be in several groups, windows and subtotals are of several: there it is Bonferroni.

All groups of the plan count, whether or not HAVING or LIMIT shows them: so the intervals hold for whichever rows are shown, however those
were selected by what was released.
"""

from discreet.plan.question import Question
from discreet.plan.scalar import is_key, type_of, windows_in

NOTE = "± and intervals hold for all {numbers} of the answer at once"


def confidence_of_each(question: Question, groups: int, confidence: float) -> float:
    """The confidence of each interval of an answer with so many groups, at all levels, before any are left out.

    >>> from discreet.plan.scalar import Released, Type
    >>> from discreet.plan.question import Output
    >>> asked = Question(None, (), (), (Output("n", Released(0, Type.INTEGER)),), simultaneous=True)
    >>> round(confidence_of_each(asked, 1, 0.95), 6), round(confidence_of_each(asked, 10, 0.95), 6)
    (0.95, 0.994884)
    """
    if not question.simultaneous:
        return confidence
    columns = [each.value for each in question.outputs if not is_key(each.value) and type_of(each.value).numeric]
    apart = not (question.population or question.levels or any(map(windows_in, columns)))
    size, several = max(1, groups), max(1, len(columns))
    missed = 1 - confidence ** (1 / size) if apart else (1 - confidence) / size
    return 1 - missed / several


def simultaneous_note(question: Question) -> list[str]:
    """What is said of an answer whose intervals hold at once."""
    return [NOTE.format(numbers="numbers")] if question.simultaneous else []
