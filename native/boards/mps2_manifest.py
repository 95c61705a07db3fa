"""Frozen modules of the emulated Cortex-M3 board."""

# ruff: noqa: F821
# pyright: reportUndefinedVariable=false
include("resident.py", board="mps2")
