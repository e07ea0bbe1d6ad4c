"""From facts to a policy: what a survey released, as lines that declare it. What is a suggestion only is commented out."""

from discreet.curator.facts import Fact, Known
from discreet.curator.policy_text import key, number, text
from discreet.curator.survey.record import SurveyFacts
from discreet.curator.survey.text import about
from discreet.plan.catalog import MOST_KEYS
from discreet.plan.scalar import Type


def column_lines(name: str, known: Known, table: str) -> list[str]:
    """The declaration of a column; where no survey tells of it, a line that says so."""
    fact = known.column(table, name)
    if fact is None:
        return [f"# {key(name)} was not surveyed, and is text, for the owner alone"]
    column, when = fact.column, f"  # surveyed on version {fact.survey.version}"
    fields = [f'type = "{column.type.value}"']
    if column.days is not None:
        fields.append(f"bounds = [{column.days[0]}, {column.days[1]}]")
    elif column.bounds is not None:
        low, high = column.bounds
        fields.append(f"bounds = [{number(low)}, {number(high)}]")
    if column.type is Type.TEXT and column.keys is not None:
        names = [each for each in column.keys if isinstance(each, str)]
        fields.append(f"keys = [{', '.join(map(text, names[:MOST_KEYS]))}]")
    lines = [f"{key(name)} = {{ {', '.join(fields)} }}{when}"]
    return lines + _suggested(fact)


def _suggested(fact: Fact) -> list[str]:
    column = fact.column
    if column.max_groups is not None and column.max_groups > 1:
        return [f"# about everybody has at most {column.max_groups} of these keys: max_groups = {column.max_groups}"]
    return [] if column.keys or column.range else [f"# {about(column)}"]


def unit_lines(facts: SurveyFacts) -> list[str]:
    """How many people there are, and as a suggestion what about everybody has."""
    lines = [
        f"people = {max(1, round(facts.people.value))}  # surveyed on version {facts.version}, ± {facts.people.error:.0f}"
    ]
    if facts.per_person is not None:
        most = facts.per_person.limit()
        beyond = facts.per_person.beyond(most)
        more = f"about {beyond.value:.0f} people have more, ± {beyond.error:.0f}"
        lines.append(f"# max_total = {most}  # rows of a person in a question: {more}")
    return lines
