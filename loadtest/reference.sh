#!/usr/bin/env bash
# Measures the reference results of this machine: all scenarios at their full size, skirmish on a real
# game map when one is given, one worker against two, agents per core, and skirmish at growing sizes.
# Takes about 40 minutes; leave the machine alone meanwhile.
#
#   bash loadtest/reference.sh [FOLDER] [MAP]
#
# FOLDER  receives the CSV files; default loadtest/results
# MAP     a .map file of the MovingAI benchmarks, for skirmish-map
#
# Environment
#   PRESET    build to measure; default release
#   MAPF      folder of the MAPF benchmark maps; default ../shared/maps/mapf. Skipped if it does not exist.
#   DURATION  measured seconds of each run; default the scenario's own
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-loadtest/results}
map=${2:-}
preset=${PRESET:-release}
load="build/$preset/bin/fogmarch-load"
duration=(${DURATION:+--duration "$DURATION"})

# A missing map would be noticed after half an hour, and nothing be kept.
if [[ -n $map && ! -r $map ]]; then
    echo "reference.sh: $map: there is no such map; without the word, skirmish-map is left out" >&2
    exit 1
fi

# Configured again, so that the results name the right commit.
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" --target fogmarchd fogmarch-load fogmarch-lab
mkdir -p "$folder"
json=$(mktemp -d)
mkdir "$json/runs" "$json/mapf"
trap 'rm -r "$json"' EXIT

# play NAME SCENARIO [FLAG]...: one run, which adds a line to runs.csv.
play() {
    local name=$1 scenario=$2
    shift 2
    echo "== $name"
    "$load" --scenario "$scenario" --output "$json" "${duration[@]}" "$@"
    mv "$json/$scenario.json" "$json/runs/$name.json"
}

for scenario in skirmish skirmish-100k classes siege blitz crowd crater storm storm-reachable storm-open solo solo-10k; do
    play "$scenario" "$scenario"
done
play solo-1-worker solo --workers 1 --agents 1000
play solo-dstar-lite solo --planner dstar-lite
play solo-adaptive-astar solo --planner adaptive-astar
# The same load for one worker and for two, more than either can carry, to compare expansions per second.
play saturated-1-worker solo --planner dstar-lite --workers 1 --agents 4000
play saturated-2-workers solo --planner dstar-lite --workers 2 --agents 4000
if [[ -n $map ]]; then
    play skirmish-map skirmish --map "$map"
fi
python3 loadtest/to_csv.py "$json"/runs/*.json >"$folder/runs.csv"

mapf=${MAPF:-../shared/maps/mapf}
for name in random-64-64-20 warehouse-10-20-10-2-1; do
    if [[ -f $mapf/$name.map ]]; then
        for agents in 400 1000; do
            echo "== mapf, $name, $agents units"
            "$load" --mapf "$mapf/$name.map" "$mapf/$name-random-1.scen" --agents $agents --json |
                tee "$json/mapf/$name-$agents.json"
        done
    fi
done
if [[ -n $(ls "$json/mapf") ]]; then
    python3 loadtest/to_csv.py "$json"/mapf/*.json >"$folder/mapf.csv"
fi
echo "== laboratory: bench, maze"
"build/$preset/bin/fogmarch-lab" bench >"$folder/bench.csv"
"build/$preset/bin/fogmarch-lab" maze --runs 300 --minimal --json >"$json/lab-maze.json"
python3 loadtest/to_csv.py "$json/lab-maze.json" >"$folder/lab-maze.csv"
echo "== solo, agents per core"
"$load" --scenario solo --find-max --seconds-per-try 10 --seconds 300 --output "$json"
mv "$json/solo-max.csv" "$folder/"
echo "== skirmish at growing sizes"
"$load" --scenario skirmish --curve 5000,10000,15000,20000,30000,50000 "${duration[@]}" --output "$json"
mv "$json"/curve.{csv,svg} "$folder/"
