"""How the bindings are called, for mypy: never run."""
from pathlib import Path
from typing import List

import numpy as np
import numpy.typing as npt

import reusescope

addresses: npt.NDArray[np.uint64] = np.zeros(10, np.uint64)
profile: reusescope.Profile = reusescope.analyze(addresses, sizes=8, kinds="W", threads=[1] * 10, line=64, engine="exact")
ratio: float = profile.miss_ratio(bytes=4096)
curve: npt.NDArray[np.void] = profile.mrc
every: List[reusescope.Profile] = reusescope.load_all(Path("x.data"))
from_file: reusescope.Profile = reusescope.analyze(Path("t.rsct"), workers=2)
profile.save(Path("x.json"))
with reusescope.Engine(line=64) as engine:
    for part in reusescope.read_trace("t.rsct"):
        engine.push(*part)
    total: int = engine.finish().references
profile.plot(what="rd")
