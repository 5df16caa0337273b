"""Estimators in the manner of scikit-learn."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ._graphs import GraphLike, peers_of
from ._runs import run
from ._warnings import PrivacyLeakWarning

#: The most peers that rows are dealt to unless the caller says how many.
_PEERS = 100
if TYPE_CHECKING:
    Tags = Any


class DecentralizedPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Principal components of rows that nobody shows to anybody, under (ε, δ)-differential privacy.

    Rows lie at peers. One noisy sum of all second moments is released, before it, if asked for, one of the rows themselves (the mean),
    and everything fitted is a function of these two: ``components_``, ``mean_``, ``explained_variance_`` and ``explained_variance_ratio_``
    together cost (``epsilon``, ``delta``). The noise is own noise of every peer and noise that neighbours share and that cancels in the sum;
    no single peer (``colluders``) learns more than that either.

    What is promised, and what is not
    ---------------------------------
    - **One record is one row.** ``adjacency="user"``: a row is there or not, the number of rows (of slots) being public;
      ``"replace-user"``: it is any other. Whoever has several rows is protected as a group of that size, no better.
    - **Rows are assumed to be no longer than ``data_norm``**, a public constant in Euclidean norm: longer ones are shortened. Choose it
      without looking at the data. ``data_norm="from-data"`` takes the longest row, which no ε covers, and warns.
    - **The mean is private** with ``centre="private"``: it is released under noise, in a part of the same budget, and rows are shortened to
      ``centred_norm`` about it. ``centre="none"`` leaves rows where they are; an array is a public mean.
    - ``transform`` is no release: it maps rows that the caller holds. Publishing what it gives publishes the rows.
    - It is a simulation of all peers in one process. With ``random_state=None`` the noise comes of entropy of the operating system and is forgotten; with a number,
      **whoever knows the number can take the noise off again**: for experiments alone.
    - Numbers are floating-point, and so is the noise.

    Parameters
    ----------
    n_components : how many components, at most the number of columns.
    epsilon, delta : the budget of everything that is fitted.
    topology : who talks, and shares noise, with whom: a networkx graph, edges (m, 2), or a table such as
        ``{"generator": "ring"}``. Random and regular of degree 10 by default; everybody with everybody for few peers.
    data_norm : the public bound on the norm of rows, required; or ``"from-data"``.
    centre : ``"private"``, ``"none"``, or public means, one per column.
    centred_norm : the public bound on the norm of centred rows; ``data_norm`` by default.
    peers : how many peers the rows are dealt to, where ``fit`` is not told ``groups``; by default one per row, at most 100.
    colluders : how many peers may put together what they know.
    adjacency : ``"user"`` or ``"replace-user"``.
    scheme : ``"pairwise"`` noise; ``"local"``, which trusts nobody and costs √peers times as much.
    random_state : ``None`` for real noise; a number for noise that can be drawn again.

    Attributes
    ----------
    components_ : (n_components, n_features), orthonormal rows.
    mean_ : (n_features,), what ``transform`` subtracts.
    explained_variance_, explained_variance_ratio_ : from the released matrix, so noisy; negative estimates are 0.
    noise_variance_of_covariance_ : variance of the noise on every entry of the second moments, per row.
    privacy_ : the table ``privacy`` of the run's summary: every adversary's ε.
    receipt_ : what was promised, to be computed again by :func:`undertone.check_receipt`.
    n_peers_, n_samples_seen_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from undertone import DecentralizedPCA
    >>> X = load_digits().data / 16                       # pixels from 0 to 1, by what a scanner is
    >>> pca = DecentralizedPCA(8, epsilon=5.0, data_norm=4.5, centred_norm=3.0, random_state=1).fit(X)
    >>> pca.transform(X).shape
    (1797, 8)
    >>> bool(0.5 < pca.explained_variance_ratio_.sum() < 0.9)
    True
    >>> float(pca.privacy_["epsilon"]) <= 5.0
    True

    Notes
    -----
    scikit-learn's ``check_estimator`` passes in full for an instance with a ``data_norm`` and a ``random_state``. There is no default for the
    norm, because there is none that is true of everybody's data: ``fit`` without one refuses, and names the parameter.
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        topology: GraphLike | Mapping[str, Any] | None = None,
        data_norm: float | str | None = None,
        centre: str | ArrayLike = "private",
        centred_norm: float | None = None,
        peers: int | None = None,
        colluders: int = 1,
        adjacency: str = "user",
        scheme: str = "pairwise",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.topology = topology
        self.data_norm = data_norm
        self.centre = centre
        self.centred_norm = centred_norm
        self.peers = peers
        self.colluders = colluders
        self.adjacency = adjacency
        self.scheme = scheme
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> DecentralizedPCA:
        """Finds the components of these rows.

        ``groups`` says which peer holds which row, one label each: of a ``topology`` with names the labels are its nodes, otherwise peer k is
        the k-th label in sorted order. Who holds what changes no promise.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        rows, columns = X.shape
        components = self.n_components
        if isinstance(components, bool) or not isinstance(components, (int, np.integer)) or not 1 <= components <= columns:
            raise ValueError(f"n_components={components!r} must be a whole number from 1 to the number of columns, {columns}")
        norm = self._norm(X)
        centred_norm = _bound("centred_norm", norm if self.centred_norm is None else self.centred_norm)
        order, table = self._peers(rows, groups)
        data: dict[str, Any] = {"path": X[order], "row_clip": centred_norm}
        public = None
        if isinstance(self.centre, str):
            if self.centre == "private":
                data.update(centre="private", raw_clip=norm)
            elif self.centre == "none":
                data["row_clip"] = norm
            else:
                raise ValueError(f'centre={self.centre!r} must be "private", "none" or an array of public means')
        else:
            public = np.asarray(self.centre, dtype=np.float64)
            if public.shape != (columns,):
                raise ValueError(f"centre has shape {public.shape}; public means are one per column, ({columns},)")
            data.update(centre="public", means=public)
        sim: dict[str, Any] = {
            "name": "DecentralizedPCA",
            "seed": self._seed(),
            "data": data,
            "peers": table,
            "topology": self.topology,
            "algorithm": {"kind": "isometric-covariance", "rank": int(components), "iterations": 1},
            "privacy": {
                "epsilon": float(self.epsilon),
                "delta": float(self.delta),
                "adjacency": self.adjacency,
                "sensitivity": "unit-row",
                "colluders": int(self.colluders),
            },
            "noise": {"scheme": self.scheme},
            "averaging": {"scheme": "tree"},
        }
        result = run(sim)
        matrix, eigenvalues = result.matrix, result.eigenvalues
        assert matrix is not None and eigenvalues is not None
        per_row = float(data["row_clip"]) ** 2 / rows
        self.components_ = np.array(result.basis.T)
        self.explained_variance_ = np.maximum(eigenvalues, 0.0) * per_row
        total = float(np.trace(matrix)) * per_row
        shares = self.explained_variance_ / total if total > 0.0 else np.zeros_like(eigenvalues)
        self.explained_variance_ratio_ = np.minimum(shares, 1.0)
        releases = result.releases
        if public is not None:
            self.mean_ = public
        elif self.centre == "private":
            self.mean_ = np.array(releases[0].sum[:, 0]) * (norm / rows)
        else:
            self.mean_ = np.zeros(columns)
        self.noise_variance_of_covariance_ = (releases[-1].sigmas[0] * per_row) ** 2
        self.privacy_ = result.summary["privacy"]
        self.receipt_ = result.receipt
        self.n_components_ = int(components)
        self.n_peers_ = result.summary["peers"]
        self.n_samples_seen_ = rows
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The coordinates of rows along the components. Of private rows they are as private as the rows."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray((X - self.mean_) @ self.components_.T)

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:
        """The rows that have these coordinates."""
        check_is_fitted(self)
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_components_:
            raise ValueError(f"coordinates are an array of shape (rows, {self.n_components_}), found {X.shape}")
        return np.asarray(X @ self.components_ + self.mean_)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _norm(self, X: NDArray[np.float64]) -> float:
        norm = self.data_norm
        if norm is None:
            raise ValueError(
                "data_norm is required: the public bound on the Euclidean norm of a row, to which longer rows are shortened. Choose it without "
                'looking at the data; data_norm="from-data" takes the longest row, which no epsilon covers'
            )
        if isinstance(norm, str):
            if norm != "from-data":
                raise ValueError(f'data_norm={norm!r} must be a number above 0, or "from-data"')
            warnings.warn(
                "data_norm was taken from the data: the length of the longest row is not covered by any epsilon. Give a public bound",
                PrivacyLeakWarning,
                stacklevel=3,
            )
            longest = float(np.linalg.norm(X, axis=1).max())
            return longest if longest > 0.0 else 1.0
        return _bound("data_norm", norm)

    def _peers(self, rows: int, groups: Any) -> tuple[NDArray[np.intp], dict[str, Any]]:
        """The order of the rows by peer, and the table ``[peers]``."""
        given = self.topology
        nodes = None if given is None or isinstance(given, Mapping) else peers_of(given)
        if nodes is not None and self.peers is not None and self.peers != len(nodes):
            raise ValueError(f"peers={self.peers}, and the topology has {len(nodes)} nodes, one per peer: leave peers out")
        if groups is None:
            count = len(nodes) if nodes is not None else self.peers if self.peers is not None else min(rows, _PEERS)
            return np.arange(rows), {"count": count}
        if self.peers is not None:
            raise ValueError("groups say how many peers there are: leave peers out")
        labels = np.asarray(groups)
        if labels.shape != (rows,):
            raise ValueError(f"groups has shape {labels.shape}, and there are {rows} rows: one label each")
        if nodes is not None and nodes.index:
            numbers = np.array([nodes.number(label) for label in labels.tolist()])
            silent = np.setdiff1d(np.arange(len(nodes)), numbers)
            if silent.size:
                raise ValueError(f"node {nodes.names[silent[0]]!r} of the topology holds no row: every peer needs one")
        else:
            numbers = np.unique(labels, return_inverse=True)[1]
        sizes = np.bincount(numbers)
        if nodes is not None and len(nodes) != len(sizes):
            raise ValueError(f"groups has {len(sizes)} labels, and the topology {len(nodes)} nodes")
        table = {"count": len(sizes), "partition": "contiguous", "sizes": sizes.tolist()}
        return np.argsort(numbers, kind="stable"), table

    def _seed(self) -> int:
        if self.random_state is None:
            return secrets.randbelow(2**63)
        return int(check_random_state(self.random_state).randint(2**63 - 1, dtype=np.int64))


def _bound(name: str, value: Any) -> float:
    bound = float(value)
    if not (bound > 0.0 and np.isfinite(bound)):
        raise ValueError(f"{name}={value!r} must be a finite number above 0: a length that rows are shortened to")
    return bound
