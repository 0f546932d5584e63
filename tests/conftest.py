"""Keep the compiled code of a test run out of the user's own cache."""

import os
import tempfile

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Processes started from here, those of xdist among them, find the directory in the environment."""
    if "JOINTPLAY_CACHE_DIR" not in os.environ:
        directory = tempfile.TemporaryDirectory(prefix="jointplay-test-", ignore_cleanup_errors=True)
        os.environ["JOINTPLAY_CACHE_DIR"] = directory.name
        config.add_cleanup(directory.cleanup)
