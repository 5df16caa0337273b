"""What is written for readers runs: docstrings, examples, the code of README and guide. What is typed passes mypy."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPOSITORY

import undertone

MODULES = sorted(module.name for module in pkgutil.iter_modules(undertone.__path__))
EXAMPLES = sorted((REPOSITORY / "python" / "examples").glob("*.py"))


@pytest.mark.filterwarnings("ignore")
def test_docstrings() -> None:
    options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    attempted = 0
    for name in ["undertone", *(f"undertone.{name}" for name in MODULES)]:
        failed, tried = doctest.testmod(importlib.import_module(name), optionflags=options)
        assert failed == 0, name
        attempted += tried
    assert attempted >= 40, attempted


def test_every_public_name_is_documented() -> None:
    for name in undertone.__all__:
        if not name.startswith("_") and name != "with_node":
            assert (getattr(undertone, name).__doc__ or "").strip(), name


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_run(path: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs mypy over files. What it learned of numpy and pandas in one run it knows in the next."""
    cache = str(tmp_path_factory.mktemp("mypy"))

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mypy", "--cache-dir", cache, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True)

    return run


CONFIG = REPOSITORY / "python" / "pyproject.toml"


def test_types(mypy: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """mypy, strict, over the examples and the package with its stub."""
    for files in (EXAMPLES, ["-p", "undertone"]):
        done = mypy("--config-file", CONFIG, *files)
        assert done.returncode == 0, done.stdout + done.stderr


#: Calls with every argument, as people write them.
TYPED = """
from pathlib import Path
import numpy as np
import undertone
import undertone.on_ray

def told(done: int, total: int) -> None: ...

result: undertone.Result = undertone.run(
    Path("a.toml"), set={"seed": 1}, out=Path("out"), progress=told, faults="f.toml", data=np.zeros((2, 2)), topology=[(0, 1)],
    noise_topology=(2, [(0, 1)]), trace=True,
)
undertone.run({"name": "x"}, set=["seed=1"], out="out", progress=True).write(Path("out"), trace=True)
rank: int = result.basis.shape[1]
frame = undertone.sweep("a.toml", out=Path("out"), progress=True)
undertone.sweep_shard("a.toml", "2/4", out=Path("out"), progress=True, data=np.zeros((2, 2)))
frame = undertone.sweep_merge(["out/1", Path("out/2")], out="out", base=Path("sims"), topology=[(0, 1)])
frame = undertone.on_ray.sweep({"name": "x"}, tasks=8, cpus=2, out=Path("out"), progress=told, topology=[(0, 1)])
tested: bool = undertone.verify("a.toml", runs=3, significance=0.1).passed
names: list[str] = [check.name for check in undertone.verify("a.toml").failures]
undertone.audit("a.toml", coalition=["x", 3], victim=("y", 1)).empirical_mu + 1.0
epsilon: float | None = undertone.privacy("a.toml", peers=True, target_gap=1.1).epsilon
best: dict[str, object] = undertone.advise("a.toml", bytes=3, assume=[(1.0, 1.0, 1.0)], pilot=0.1).recommended.set
loss: undertone.Account = undertone.account([(0, 1)], [1.0, 2.0], {(0, 1): 3.0}, coalition={0}, sensitivity=1, iterations=2)
mu: float = loss["x"].mu
plan: undertone.Plan = undertone.plan(np.array([[0, 1]]), 1, 1e-5, colluders=0)
undertone.DecentralizedPCA(3, data_norm=1.0).fit(np.zeros((3, 3))).transform(np.zeros((3, 3)))
"""


def test_types_that_are_right_pass(tmp_path: Path, mypy: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    (tmp_path / "right.py").write_text(TYPED)
    done = mypy("--config-file", CONFIG, tmp_path / "right.py")
    assert done.returncode == 0, done.stdout


def test_types_that_are_wrong_are_noticed(tmp_path: Path, mypy: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text('import undertone\nundertone.plan([(0, 1)], epsilon="much", delta=1e-5).sigma_own.upper()\nundertone.run(3)\n')
    done = mypy("--config-file", CONFIG, wrong)
    assert done.returncode == 1 and done.stdout.count("error:") >= 3, done.stdout


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", ["README.md", "python/README.md", "src/guide/python.md", "src/guide/testing_other_systems.md"])
def test_code_of_pages(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is written is not written into the repository.
    (tmp_path / "sims").symlink_to(REPOSITORY / "sims")
    monkeypatch.chdir(tmp_path)
    text = (REPOSITORY / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks, page
    for block in blocks:
        exec(compile(block, page, "exec"), {})
