"""What a route to δ(ε) says when it cannot reach its precision; another route must be taken, or the caller told."""


class Unresolved(Exception):
    """No value is returned rather than a doubtful one."""
