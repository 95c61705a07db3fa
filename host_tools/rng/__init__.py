"""Judging randomness on the host: established batteries over a device, a file, or the firmware's whole chain."""
