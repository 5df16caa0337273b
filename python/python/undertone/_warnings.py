"""What a result is worth, where it is worth less than its reader may think."""

from __future__ import annotations

import warnings
from collections.abc import Iterable


class PrivacyWarning(UserWarning):
    """What an experiment warns of: what its numbers do not promise, or rest on."""


class PrivacyLeakWarning(PrivacyWarning):
    """Something was taken from the data that no epsilon covers."""


def warn(texts: Iterable[str], stacklevel: int = 3) -> None:
    """Warns of each text, at whoever called the public function."""
    for text in texts:
        warnings.warn(text, PrivacyWarning, stacklevel=stacklevel)
