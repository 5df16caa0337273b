#!/usr/bin/env bash
# Three hospitals on one laptop: three keys, three ledgers, three processes that share nothing but what they send one another.
# Usage: examples/three-hospitals.sh [DIR]      (UNDERTONE names the command; FIRST_PORT the first of three free ports)
# Without DIR a new temporary folder is used, and its name printed at the end.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
port=${FIRST_PORT:-7701}

# The command: as UNDERTONE says, installed, or built in this checkout.
undertone=${UNDERTONE:-$(command -v undertone || true)}
[ -n "$undertone" ] || undertone=$root/target/release/undertone
[[ $undertone != */* ]] || undertone=$(realpath "$undertone" 2> /dev/null || echo "$undertone")
if ! command -v "$undertone" > /dev/null; then
    echo "error: there is no command $undertone: build it with \`cargo build --release\` in $root, or name it with UNDERTONE=..." >&2
    exit 2
fi

folder=${1:-$(mktemp -d -t three-hospitals.XXXXXX)}
mkdir -p "$folder"
cd "$folder"
if [ -e hospital-0 ]; then
    echo "error: $folder has the keys of an earlier run, which are never overwritten: name another folder, or none" >&2
    exit 2
fi

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

# 4. Each takes part. Lines of one process begin with its name.
for k in 0 1 2; do
    "$undertone" node run session.toml --data "rows-$k.csv" --state "hospital-$k" \
        --listen "/ip4/127.0.0.1/tcp/$((port + k))" --out "result-$k" 2>&1 \
        | while IFS= read -r line; do printf 'hospital-%s: %s\n' "$k" "$line"; done &
    pids[k]=$!
done
for k in 0 1 2; do wait "${pids[k]}"; done

cmp result-0/basis.npy result-1/basis.npy
cmp result-0/basis.npy result-2/basis.npy
echo "three hospitals have the same basis, and none has seen another's rows: $PWD/result-0/basis.npy"
