#!/usr/bin/env bash
# A sweep as a job array of SLURM: one shard a task. All tasks write to a folder that they share.
#
#   sbatch --array=1-16 sims/cluster/slurm.sh sims/fig1-small.toml out/fig1
#
# Then, once the array has ended:
#
#   undertone sweep merge out/fig1/shard-* --out out/fig1/whole
#
# A task that is killed or requeued goes on where it stopped. All tasks must run the same binary: build it once, on a machine
# of the cluster, and name it with UNDERTONE if it is not on the PATH.
#SBATCH --job-name=undertone
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --time=04:00:00
#SBATCH --requeue
set -euo pipefail

sim=${1:?"give the experiment file and the folder for results: sbatch --array=1-16 $0 SIM.toml DIR"}
out=${2:?"give the folder for results"}
shard=${SLURM_ARRAY_TASK_ID:?"submit this as an array: sbatch --array=1-16 $0 $sim $out"}
of=${SLURM_ARRAY_TASK_MAX:?"submit this as an array that begins at 1"}

export RAYON_NUM_THREADS=${SLURM_CPUS_PER_TASK:-2}
exec "${UNDERTONE:-undertone}" run "$sim" --shard "$shard/$of" --out "$out/shard-$shard" --quiet
