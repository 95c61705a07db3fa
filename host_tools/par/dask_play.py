"""The same rounds on many machines: a thin wrapper around dask.distributed (the extra `dask`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from host_tools.par.simulate import Job, played
from native.cpython import Simulation


class NoDask(ValueError):
    """dask.distributed is not installed, or nobody answers at the address."""


def client_of(address: str) -> Any:
    try:
        from distributed import Client  # pyright: ignore[reportMissingImports] - an extra
    except ImportError as fault:
        raise NoDask("--dask needs dask.distributed: pip install 'cabinet-firmware[dask]'") from fault
    try:
        return Client(address, timeout="3s")
    except (OSError, ValueError) as fault:
        raise NoDask(f"no dask scheduler answers at {address} ({fault})") from fault


def play_batches(job: Job, batches: list[tuple[int, int]], address: str) -> Iterator[Simulation]:
    """Totals of each batch, in order: integers, so neither order nor place can change their sum."""
    with client_of(address) as client:
        sent = client.scatter(job, broadcast=True)
        futures = [client.submit(played, sent, first, count, pure=False) for first, count in batches]
        for future in futures:
            yield future.result()
            future.release()
