#!/usr/bin/env bash
# Measures the reference results of this machine: all scenarios at their full size, skirmish on a real
# game map when one is given, one worker against two, and agents per core. Takes about half an hour; leave
# the machine alone meanwhile.
#
#   bash loadtest/reference.sh [FOLDER] [MAP]
#
# FOLDER  receives the JSON and CSV files; loadtest/results otherwise
# MAP     a .map file of the MovingAI benchmarks, for skirmish-map
#
# Environment
#   PRESET    build to measure; release
#   MAPF      folder of the MAPF benchmark maps; ../shared/maps/mapf. Left out where there is none.
#   DURATION  measured seconds of each run; the scenario's own otherwise
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-loadtest/results}
map=${2:-}
preset=${PRESET:-release}
load="build/$preset/bin/fogmarch-load"
duration=(${DURATION:+--duration "$DURATION"})

# Configured anew, so that the results name the commit that they belong to.
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" --target fogmarchd fogmarch-load fogmarch-lab
mkdir -p "$folder"

# play NAME SCENARIO [FLAG]...: one run, kept as FOLDER/NAME.json and .csv.
play() {
    local name=$1 scenario=$2 scratch
    shift 2
    echo "== $name"
    scratch=$(mktemp -d)
    "$load" --scenario "loadtest/scenarios/$scenario.yaml" --output "$scratch" "${duration[@]}" "$@"
    for form in json csv; do
        mv "$scratch/$scenario.$form" "$folder/$name.$form"
    done
    rmdir "$scratch"
}

for scenario in solo skirmish classes siege blitz crowd storm storm-reachable storm-open crater; do
    play "$scenario" "$scenario"
done
play solo-1-worker solo --workers 1 --agents 1000
play solo-dstar-lite solo --planner dstar-lite
play solo-adaptive-astar solo --planner adaptive-astar
# The same load for one worker and for two, more than either can carry: expansions per second compare.
play saturated-1-worker solo --planner dstar-lite --workers 1 --agents 4000
play saturated-2-workers solo --planner dstar-lite --workers 2 --agents 4000
if [[ -n $map ]]; then
    play skirmish-map skirmish --map "$map"
fi
mapf=${MAPF:-../shared/maps/mapf}
for name in random-64-64-20 warehouse-10-20-10-2-1; do
    if [[ -f $mapf/$name.map ]]; then
        echo "== mapf, $name"
        "$load" --mapf "$mapf/$name.map" "$mapf/$name-random-1.scen" --agents 400 --json |
            tee "$folder/mapf-$name.json"
    fi
done
echo "== laboratory: bench, maze"
"build/$preset/bin/fogmarch-lab" bench >"$folder/bench.csv"
"build/$preset/bin/fogmarch-lab" maze --runs 300 --json >"$folder/lab-maze.json"
echo "== solo, agents per core"
"$load" --scenario loadtest/scenarios/solo.yaml --find-max --seconds-per-try 10 --output "$folder"
