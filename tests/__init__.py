"""The fast tests; a package so that they can share `tests.helpers`."""
