"""The two kinds of error that are nobody's bug; whatever else leaves the package is one."""


class InputError(ValueError):
    """Input that cannot be used: the message names it, its value and the remedy."""


class ComputationFailed(ValueError):
    """Input that could be read, but leads nowhere: a mechanism that does not assemble, a position that is singular."""
