"""Whatever is handed over: an answer, or an exception of Python's own kinds. Never a panic."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest

import undertone

EXPECTED = (ValueError, TypeError, OSError, MemoryError, undertone.NoResult)

#: Values that mean little or nothing anywhere.
ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**32, 2**63, -(2**63), 10**30, 0.0, -0.0, 0.5, 1e308, 1e-320, float("nan"), float("inf"), "", "x",
    "\x00", "../..", "é" * 300, "\ud800", [], [[]], [None], [1, "x"], {}, {"x": 1}, {1: 2}, (), b"bytes", set(), object(), np.float64("nan"), np.int8(-1),
    np.zeros((0, 2)), np.zeros((2, 2, 2)), np.array(["a"]), np.array([1j]), np.array([object()]), nx.Graph(), nx.path_graph(1), 1j, lambda: None, range(3), undertone,
]  # fmt: skip


def paths(table: dict[str, Any], before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for key, value in table.items():
        found.append((*before, key))
        if isinstance(value, dict):
            found += paths(value, (*before, key))
    return found


def attempt(call: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except EXPECTED as error:
            assert "defect of undertone" not in str(error), error
            return type(error).__name__
        except UnicodeEncodeError as error:  # A ValueError, and so above; here for the reader.
            return type(error).__name__
    return "answered"


def test_every_key_of_a_dictionary_may_be_anything(small: dict[str, Any]) -> None:
    small["data"].update(centre="private", raw_clip=6.0)
    small["noise"] = {"scheme": "pairwise"}
    small["engine"] = {"kind": "lockstep"}
    ends: dict[str, int] = {}
    for path in paths(small):
        for odd in ODD:
            sim = copy.copy(small)
            table = sim
            for key in path[:-1]:
                table[key] = copy.copy(table[key])
                table = table[key]
            table[path[-1]] = odd
            end = attempt(lambda sim=sim: undertone.privacy(sim))
            ends[end] = ends.get(end, 0) + 1
    # Most of it is refused, and something is still possible.
    assert ends["ValueError"] > 300 and ends["TypeError"] > 100 and ends["answered"] > 30, ends


def test_every_argument_may_be_anything(small: dict[str, Any]) -> None:
    ring = nx.cycle_graph(6)
    calls: list[Any] = []
    for odd in ODD:
        calls += [
            lambda odd=odd: undertone.run(odd),
            lambda odd=odd: undertone.run(small, set=odd),
            lambda odd=odd: undertone.run(small, set={"privacy.epsilon": odd}),
            lambda odd=odd: undertone.run(small, data=odd),
            lambda odd=odd: undertone.run(small, topology=odd),
            lambda odd=odd: undertone.run(small, noise_topology=odd),
            lambda odd=odd: undertone.run(small, faults=odd),
            lambda odd=odd: undertone.account(odd, 1.0, 1.0),
            lambda odd=odd: undertone.account(ring, odd, 1.0),
            lambda odd=odd: undertone.account(ring, 1.0, odd),
            lambda odd=odd: undertone.account(ring, 1.0, 1.0, coalition=odd),
            lambda odd=odd: undertone.account(ring, 1.0, 1.0, colluders=odd),
            lambda odd=odd: undertone.account(ring, 1.0, 1.0, sensitivity=odd),
            lambda odd=odd: undertone.account(ring, 1.0, 1.0, iterations=odd),
            lambda odd=odd: undertone.account(ring, 1.0, 1.0, delta=odd),
            lambda odd=odd: undertone.account(ring, 1.0, 1.0, gap=odd),
            lambda odd=odd: undertone.account(ring, 1.0, 1.0, method=odd),
            lambda odd=odd: undertone.plan(odd, 1.0, 1e-5),
            lambda odd=odd: undertone.plan(ring, odd, 1e-5),
            lambda odd=odd: undertone.plan(ring, 1.0, odd),
            lambda odd=odd: undertone.plan(ring, 1.0, 1e-5, colluders=odd),
            lambda odd=odd: undertone.plan(ring, 1.0, 1e-5, iterations=odd),
            lambda odd=odd: undertone.plan(ring, 1.0, 1e-5, sensitivity=odd),
            lambda odd=odd: undertone.plan(ring, 1.0, 1e-5, overhead=odd),
            lambda odd=odd: undertone.plan(ring, 1.0, 1e-5, scheme=odd),
            lambda odd=odd: undertone.plan(ring, 1.0, 1e-5, on_disconnect=odd),
            lambda odd=odd: undertone.check_receipt(odd),
            lambda odd=odd: undertone.audit(small, coalition=odd, trials=100),
            lambda odd=odd: undertone.privacy(small, target_gap=odd),
        ]
        if not isinstance(odd, int) or odd < 100 or odd >= 2**32:
            # Two thousand million trials are a wish like any other.
            calls.append(lambda odd=odd: undertone.audit(small, trials=odd))
            calls.append(lambda odd=odd: undertone.verify(small, runs=odd))
    ends: dict[str, int] = {}
    for call in calls:
        end = attempt(call)
        ends[end] = ends.get(end, 0) + 1
    assert ends["ValueError"] > 300 and ends["TypeError"] > 200, ends


def test_numbers_that_are_none_are_refused_by_their_place(small: dict[str, Any], rows: Any) -> None:
    for bad in (np.nan, np.inf):
        broken = rows.copy()
        broken[3, 1] = bad
        with pytest.raises(ValueError, match=r"^data\[3, 1\] is "):
            undertone.run(small, data=broken)


def test_damaged_receipts_are_refused_or_do_not_hold() -> None:
    receipt = undertone.run("sims/quickstart.toml", set={"peers.count": 12, "data.items": 10}).receipt
    assert undertone.check_receipt(receipt)
    for path in paths(receipt):
        for odd in (None, -1, "x", [], {}, 1e308):
            damaged = copy.deepcopy(receipt)
            table = damaged
            for key in path[:-1]:
                table = table[key]
            table[path[-1]] = odd
            attempt(lambda damaged=damaged: undertone.check_receipt(damaged))
