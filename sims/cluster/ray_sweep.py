"""A sweep as tasks of Ray, on a cluster that people already run, or on this machine.

    pip install "./python[ray]"                                            # on every machine, of one build
    python sims/cluster/ray_sweep.py sims/fig1-small.toml out/fig1 --tasks 16

RAY_ADDRESS names the cluster (``ray start --head``, a KubeRay service, …); without it Ray is started here. The experiment file and its data lie at the same
path on every machine. What is written is what ``undertone run SIM --out DIR`` writes, byte for byte; a second call goes on where the first was stopped.
"""

import argparse

import undertone.on_ray

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("sim", help="an experiment file with a [sweep]")
arguments.add_argument("out", help="the folder for results")
arguments.add_argument("--tasks", type=int, help="into how many tasks; four a processor where nothing is said")
arguments.add_argument("--cpus", type=int, default=1, help="processors of one task")
arguments.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as of `undertone run`")
given = arguments.parse_args()

curves = undertone.on_ray.sweep(
    given.sim,
    tasks=given.tasks,
    cpus=given.cpus,
    set=given.set,
    out=given.out,
    progress=lambda done, total: print(f"{done} of {total} tasks have ended", flush=True),
)
print(curves.to_string() if hasattr(curves, "to_string") else curves)
