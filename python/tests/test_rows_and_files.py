"""verify on arrays beside verify on an experiment with the same array: the same is refused, and the same ε is spent."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_hostile import EXPECTED, ODD

import undertone

PEOPLE = np.random.default_rng(7).normal(size=(48, 5)) @ np.diag([2.0, 1.0, 0.5, 0.5, 0.2])
PROMISE: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5, "row_clip": 2.5}
COVARIANCE = {"kind": "covariance", "rank": 1, "iterations": 1}
KRYLOV = {"kind": "krylov", "rank": 1, "iterations": 1, "block": 2}

#: Keys that a kind needs beside rank and iterations.
NEEDED: dict[str, dict[str, Any]] = {"momentum": {"momentum": 0.01}, "frank-wolfe": {"nuclear": 3.0}, "projected-gradient": {"nuclear": 3.0}}


def spent(table: undertone.Verification) -> list[float | None]:
    return [check.statistic for check in table.checks if check.kind == "spent"]


def of_rows(algorithm: dict[str, Any], adjacency: str) -> undertone.Verification | None:
    try:
        return undertone.verify(PEOPLE, algorithm=algorithm, peers=8, adjacency=adjacency, runs=2, **PROMISE)
    except ValueError:
        return None


def of_file(algorithm: dict[str, Any], adjacency: str) -> undertone.Verification | None:
    sim = {
        "data": {"path": PEOPLE, "row_clip": 2.5},
        "peers": {"count": 8},
        "topology": {"generator": "complete"},
        "algorithm": algorithm,
        "privacy": {"epsilon": 1.0, "delta": 1e-5, "adjacency": adjacency, "sensitivity": "unit-row"},
    }
    try:
        return undertone.verify(sim, runs=2)
    except ValueError:
        return None


def kinds() -> list[str]:
    with pytest.raises(ValueError) as refused:
        undertone.verify(PEOPLE, algorithm={"kind": "?", "rank": 1}, **PROMISE)
    return [name for name in re.findall(r"`([^`]+)`", str(refused.value)) if name != "?"]


@pytest.mark.parametrize("adjacency", ["user", "replace-user", "interaction", "swap", "rating", "matrix", "entry", "edge"])
def test_rows_are_promised_what_a_file_with_these_rows_is_promised(adjacency: str) -> None:
    passed = set()
    for kind in kinds():
        for count in (0,) if kind == "auto" else (1, 2):
            algorithm = {"kind": kind, "rank": 1, "iterations": count, **NEEDED.get(kind, {})}
            rows, file = of_rows(algorithm, adjacency), of_file(algorithm, adjacency)
            if kind == "streaming":
                # Batches are what a file says of its rows.
                assert rows is None
                continue
            assert (rows is None) == (file is None), (algorithm, rows, file)
            if rows is not None and file is not None:
                assert rows.passed and file.passed, (rows, file)
                assert spent(rows) == spent(file), algorithm
                passed.add(kind)
    expected = {"power", "momentum", "krylov", "covariance", "isometric-covariance", "deflation", "ppi"}
    assert passed == (expected if adjacency in ("user", "replace-user") else set())


def test_pytest_shows_the_whole_line_of_a_check_that_failed(tmp_path: Path) -> None:
    test = tmp_path / "test_shown.py"
    check = "FAILED law: mean square over sigma^2 (chi-squared) = 0.5123, p = 2.581e-06, least allowed 7.143e-05"
    test.write_text(
        "import undertone\n"
        "def test_shown() -> None:\n"
        f"    text = 'one of 20 checks FAILED over 20 runs\\n  {check}\\n  skipped: {'x' * 300}'\n"
        "    result = undertone.Verification('krylov', 'lockstep', False, 20, (), ('x' * 300,), text)\n"
        "    assert result.passed, result\n"
    )
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)], capture_output=True, text=True, cwd=tmp_path
    )
    assert found.returncode == 1 and check in found.stdout, found.stdout


def test_without_noise_nothing_is_promised_whatever_delta_is() -> None:
    for delta in (1e-5, None):
        result = undertone.verify(PEOPLE, algorithm=KRYLOV, peers=8, epsilon=1.0, delta=delta, row_clip=2.5, noise="none")
        assert result.passed and any("protects nobody" in reason for reason in result.skipped), result
        assert not spent(result)


def test_a_length_that_is_none_names_row_clip() -> None:
    for length in (0.0, -1.0, float("nan"), float("inf"), 1e-320):
        with pytest.raises(ValueError, match="^row_clip is .*expected a finite number above 0"):
            undertone.verify(PEOPLE, algorithm=COVARIANCE, peers=8, **{**PROMISE, "row_clip": length})
    for name in ("epsilon", "delta", "row_clip"):
        with pytest.raises(TypeError, match=f"{name} is a number, found '1.0'"):
            undertone.verify(PEOPLE, algorithm=COVARIANCE, peers=8, **{**PROMISE, name: "1.0"})


@pytest.mark.parametrize(
    "name", ["rows", "algorithm", "epsilon", "delta", "row_clip", "peers", "graph", "adjacency", "noise", "colluders", "averaging", "significance", "seed"]
)
def test_odd_arguments_are_answered_or_refused(name: str) -> None:
    for value in ODD:
        arguments: dict[str, Any] = {"algorithm": COVARIANCE, "peers": 6, "runs": 1, **PROMISE, name: value}
        if name == "graph":
            del arguments["peers"]
        rows = arguments.pop("rows", PEOPLE)
        try:
            undertone.verify(rows, **arguments)
        except EXPECTED:
            pass


def test_odd_values_in_the_table_of_the_algorithm_are_answered_or_refused() -> None:
    for name in (*KRYLOV, "momentum", "clip", "coherence"):
        for value in ODD:
            try:
                undertone.verify(PEOPLE, algorithm={**KRYLOV, name: value}, peers=6, runs=1, **PROMISE)
            except EXPECTED:
                pass
