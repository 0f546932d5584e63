"""Nonlinear analysis."""
