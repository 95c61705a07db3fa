"""Frozen modules of the unix port."""

# ruff: noqa: F821
# pyright: reportUndefinedVariable=false
include("resident.py", board="unix")
