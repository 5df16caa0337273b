#!/usr/bin/env bash
# Three hospitals on one laptop: three keys, three ledgers, three processes that share nothing but what they send one another.
# Usage: examples/three-hospitals.sh [DIR]      (UNDERTONE names the command; FIRST_PORT the first of three free ports)
set -euo pipefail
undertone=${UNDERTONE:-undertone}
port=${FIRST_PORT:-7701}
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-out/three-hospitals}"
cd "${1:-out/three-hospitals}"

# Each hospital has rows of its own: here every third biopsy of a public file, without the diagnosis.
gunzip -c "$root/sims/data/breast-cancer/breast-cancer.csv.gz" | tail -n +2 | cut -d, -f1-30 > all.csv
for k in 0 1 2; do awk "NR % 3 == $k" all.csv > "rows-$k.csv"; done

# 1. Each hospital makes its key, its policy and its ledger, and gives one line to the others.
for k in 0 1 2; do
    "$undertone" node init --state "hospital-$k" --name "hospital-$k" > /dev/null
    "$undertone" node id --state "hospital-$k" --address "/ip4/127.0.0.1/tcp/$((port + k))"
done > tickets.txt

# 2. One of them writes the invitation. It has no other role.
"$undertone" node invite "$root/sims/sessions/three-hospitals.toml" --members tickets.txt \
    --items "$root/sims/sessions/columns.txt" --grace 5 --state hospital-0 --out session.toml

# 3. Each looks at what it would cost its own patients.
for k in 0 1 2; do
    "$undertone" node check session.toml --data "rows-$k.csv" --state "hospital-$k" > "check-$k.txt"
done

# 4. Each takes part.
for k in 0 1 2; do
    "$undertone" node run session.toml --data "rows-$k.csv" --state "hospital-$k" \
        --listen "/ip4/127.0.0.1/tcp/$((port + k))" --out "result-$k" &
    pids[k]=$!
done
for k in 0 1 2; do wait "${pids[k]}"; done

cmp result-0/basis.npy result-1/basis.npy
cmp result-0/basis.npy result-2/basis.npy
echo "three hospitals have the same basis, and none has seen another's rows: $PWD/result-0/basis.npy"
