"""The notebooks run from the first cell to the last, and are kept without outputs."""

from __future__ import annotations

import os
from pathlib import Path

import nbclient
import nbformat
import pytest
from conftest import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "python" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    book = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "strip outputs: jupyter nbconvert --clear-output --inplace"
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": os.fspath(path.parent)}}).execute()


def test_there_are_four() -> None:
    assert len(NOTEBOOKS) == 4
