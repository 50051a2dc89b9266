#!/usr/bin/env bash
# Makes all drafters of a target, going on from those of the shipped family:
#   assets/demo/recipe/drafters.sh TARGET MEDUSA OUT
# MEDUSA are the heads that were trained with the target. Steps are D (draft), E3, E1 and M (Medusa).
# Two trainings run at a time, a core each. Given again after it was stopped, it goes on.
set -euo pipefail
target=$1 medusa=$2 out=$3
cd "$(dirname "$0")/../../.."
mkdir -p "$out"

if [[ ! -e $out/own.done ]]; then  # the target's answers to what it was not trained on
    python -m assets.demo.recipe.corpus.build --out "$out/corpus" --conversations 6000 --seed 1071 >"$out/corpus.log"
    python -m assets.demo.recipe.prompts --data "$out/corpus/train.jsonl" --count 3400 --long 300 \
        --out "$out/prompts.jsonl"
    python -m assets.demo.recipe.answers --target "$target" --turns 6 --max-new-tokens 256 --batch-size 128 \
        --prompts "$out/prompts.jsonl" --out "$out/own.jsonl"
    touch "$out/own.done"
fi

hidden=$(python -c 'import json, sys; print(json.load(open(sys.argv[1] + "/config.json"))["hidden_size"])' "$target")
for kind in eagle1 eagle3; do
    [[ -d $out/begun-$kind ]] || python -m assets.demo.recipe.widen_heads \
        --heads assets/demo/$kind --hidden "$hidden" --out "$out/begun-$kind"
done

train() {  # its name, the heads to begin with, options
    local name=$1 heads=$2 resume=()
    shift 2
    [[ -e $out/$name.done ]] && return
    [[ -d $out/$name/training ]] && resume=(--resume)
    specchat heads train --target "$target" --heads "$heads" --data "$out/own.jsonl" --length 900 --batch-size 14 \
        --evaluate-every 150 --out "$out/$name" "${resume[@]}" "$@" >"$out/$name.log" 2>&1
    touch "$out/$name.done"
}
export OMP_NUM_THREADS=1
train eagle3 "$out/begun-eagle3" --unroll 6 --lr 2e-3 --muon-lr 5e-3 --max-steps "${E3:-600}" &
first=$!
train draft assets/demo/draft --lr 1.5e-3 --muon-lr 3e-3 --max-steps "${D:-400}"
train medusa "$medusa" --lr 2e-3 --muon-lr 3e-3 --max-steps "${M:-120}"
train eagle1 "$out/begun-eagle1" --lr 2e-3 --muon-lr 5e-3 --max-steps "${E1:-250}"
wait $first
