"""Private spectral computation without a server.

Peers hold private rows. Together they find the leading eigenvectors of all rows, and nobody, no server and no coalition of
neighbours, learns about one person more than differential privacy allows. This package runs such sessions as simulations, checks
them, and accounts for correlated noise on any graph. The keys of dictionaries are those of experiment files
(``src/guide/experiment_files.md`` in the repository).

>>> import networkx, undertone
>>> graph = networkx.random_regular_graph(4, 16, seed=1)
>>> plan = undertone.plan(graph, epsilon=1.0, delta=1e-6, colluders=1)
>>> loss = plan.account(coalition=[3])
>>> loss[7].epsilon <= 1.0
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._accountant import Account, Loss, Plan, View, WorstCoalition, account, plan
from ._assessments import (
    Audit,
    Finding,
    Forecast,
    PeerCost,
    ReceiptCheck,
    audit,
    check_receipt,
    privacy,
    verify,
)
from ._campaigns import Advice, Candidate, Study, advise, study, sweep, sweep_merge, sweep_shard
from ._runs import NoResult, Release, Result, run
from ._undertone import __version__, with_node
from ._verification import Check, Verification
from ._warnings import PrivacyLeakWarning, PrivacyWarning

if TYPE_CHECKING:
    from .estimators import DecentralizedPCA

__all__ = [
    "Account",
    "Advice",
    "Audit",
    "Candidate",
    "Check",
    "DecentralizedPCA",
    "Finding",
    "Forecast",
    "Loss",
    "NoResult",
    "PeerCost",
    "Plan",
    "PrivacyLeakWarning",
    "PrivacyWarning",
    "ReceiptCheck",
    "Release",
    "Result",
    "Study",
    "Verification",
    "View",
    "WorstCoalition",
    "__version__",
    "account",
    "advise",
    "audit",
    "check_receipt",
    "plan",
    "privacy",
    "run",
    "study",
    "sweep",
    "sweep_merge",
    "sweep_shard",
    "verify",
    "with_node",
]


def __getattr__(name: str) -> Any:
    # scikit-learn is imported by those who use the estimator, and need not be there for the rest.
    if name == "DecentralizedPCA":
        from .estimators import DecentralizedPCA

        return DecentralizedPCA
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
