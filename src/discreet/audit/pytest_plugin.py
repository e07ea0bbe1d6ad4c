"""The pytest plugin: a test that is marked `private` returns its mechanism, and passes if the claim holds out.

    @pytest.mark.private(epsilon=1)
    def test_my_count():
        return lambda rows: len(rows) + noise(scale=1)

The mark takes what `discreet.audit.assert_private` takes. Loaded by pytest wherever this package is installed, so nothing is imported
here until a test asks for it.
"""

from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "private(epsilon=1, delta=0, ...): the test returns a mechanism, which outputs must not show to be less private than that "
        "(discreet.audit.assert_private)",
    )


@pytest.fixture
def assert_private() -> Any:
    """`discreet.audit.assert_private`, for tests that call it themselves."""
    from discreet.audit.assertion import assert_private

    return assert_private


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A marked test is called for its mechanism; every other test is left to pytest."""
    mark = pyfuncitem.get_closest_marker("private")
    if mark is None:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    mechanism = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    if not callable(mechanism):
        pytest.fail("a test that is marked private must return its mechanism, a function of the data", pytrace=False)
    from discreet.audit.assertion import assert_private

    try:
        assert_private(mechanism, *mark.args, **mark.kwargs)
    except AssertionError as failure:
        pytest.fail(str(failure), pytrace=False)
    return True
