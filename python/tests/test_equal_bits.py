"""A run from Python and one of the command line are the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import REPOSITORY

import undertone

#: Ten sims on embedded data, some made smaller: runs, and below them sweeps.
SIMS: list[tuple[str, list[str]]] = [
    ("quickstart", ["peers.count=60"]),
    ("crashes", []),
    ("audit", []),
    ("auto-small", ["data.items=40", "peers.count=30"]),
    ("completion-small", ["peers.count=20"]),
    ("recommender-movielens-private", ["peers.count=30"]),
]
SWEEPS: list[tuple[str, list[str]]] = [
    ("graph-eigenvector", ["sweep.seeds=2"]),
    ("ppi-small", ["sweep.seeds=2"]),
    ("streaming-small", ["sweep.seeds=2"]),
    ("deflation-small", ["sweep.seeds=2"]),
]


@pytest.fixture(scope="session")
def command() -> str:
    """The command ``undertone``: the one named by UNDERTONE_BINARY, one that is built, or a new one."""
    named = os.environ.get("UNDERTONE_BINARY")
    if named:
        return named
    built = [REPOSITORY / "target" / profile / "undertone" for profile in ("release", "debug")]
    found = [path for path in built if path.exists()]
    if not found:
        build = ["cargo", "build", "--release", "--no-default-features", "--features", "cli", "--bin", "undertone"]
        subprocess.run([*build, "--target-dir", str(REPOSITORY / "target")], cwd=REPOSITORY, check=True)
        found = [built[0]]
    return str(found[0])


def without_clock(summary: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key != "timing"}


@pytest.mark.parametrize(("name", "changes"), SIMS, ids=[name for name, _ in SIMS])
def test_a_sim_has_the_bits_of_the_command(name: str, changes: list[str], command: str, tmp_path: Path) -> None:
    sim = f"sims/{name}.toml"
    sets = [word for change in changes for word in ("--set", change)]
    said = subprocess.run([command, "run", sim, "--quiet", "--out", str(tmp_path / "rust"), *sets], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        ours = undertone.run(sim, set=changes)
    ours.write(tmp_path / "python")

    theirs = json.loads((tmp_path / "rust" / "summary.json").read_text())
    assert without_clock(ours.summary) == without_clock(theirs)
    assert list(ours.summary) == list(theirs), "the keys come in the same order"
    basis = np.load(tmp_path / "rust" / "basis.npy")
    assert ours.basis.tobytes() == np.ascontiguousarray(basis).tobytes() and ours.basis.shape == basis.shape
    assert {str(warning.message) for warning in warned} == set(theirs["warnings"])

    written = {path.name for path in (tmp_path / "rust").iterdir()}
    assert {path.name for path in (tmp_path / "python").iterdir()} == written
    for file in written - {"summary.json", "report.html"}:
        assert (tmp_path / "python" / file).read_bytes() == (tmp_path / "rust" / file).read_bytes(), file


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "changes"), SWEEPS, ids=[name for name, _ in SWEEPS])
def test_a_sweep_has_the_bytes_of_the_command(name: str, changes: list[str], command: str, tmp_path: Path) -> None:
    sim = f"sims/{name}.toml"
    sets = [word for change in changes for word in ("--set", change)]
    said = subprocess.run([command, "run", sim, "--quiet", "--out", str(tmp_path / "rust"), *sets], capture_output=True, text=True)
    assert said.returncode in (0, 1), said.stderr
    curve = undertone.sweep(sim, set=changes, out=tmp_path / "python")
    assert len(curve) > 0 and curve.attrs["holds"] == (said.returncode == 0)
    written = {path.name for path in (tmp_path / "rust").iterdir()}
    assert {path.name for path in (tmp_path / "python").iterdir()} == written
    # The journal has its cells in the order in which they were finished.
    for file in written - {"cells.jsonl"}:
        assert (tmp_path / "python" / file).read_bytes() == (tmp_path / "rust" / file).read_bytes(), file


def test_another_seed_has_other_bits(tmp_path: Path) -> None:
    """The comparison above can fail."""
    bases = [undertone.run("sims/quickstart.toml", set={"seed": seed, "peers.count": 20}).basis for seed in (1, 1, 2)]
    assert bases[0].tobytes() == bases[1].tobytes() != bases[2].tobytes()
