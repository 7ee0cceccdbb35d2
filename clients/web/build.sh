#!/usr/bin/env bash
# Builds the JavaScript library and the web client out of the source tree.
#
#   build.sh SOURCE WORK OUT    SOURCE: the project; WORK: a folder for npm; OUT: where the pages go
#
# When npm fails, such as without a network, it says so and exits with 0: the server runs without its
# web client and says how to build it. With FOGMARCH_WEB_REQUIRED set that is a failure.
set -uo pipefail

source=$1 work=$2 out=$3
mkdir -p "$work/clients" "$work/proto" "$out"
log=$work/build.log

step() {
    "$@" >"$log" 2>&1 && return
    tail -n 20 "$log" >&2
    echo "The web client was not built: '$*' failed; all it said is in $log. To try again: rm $work/stamp" >&2
    [ -z "${FOGMARCH_WEB_REQUIRED:-}" ] || exit 1
    exit 0
}

cp "$source/proto/protocol.json" "$work/proto/"
for part in package.json package-lock.json .npmrc js web; do
    rm -rf "$work/clients/${part:?}"
    cp -r "$source/clients/$part" "$work/clients/"
done
cd "$work/clients" || exit 1
if ! cmp -s package-lock.json "$work/installed-lock.json"; then
    step npm ci --no-audit --no-fund
    cp package-lock.json "$work/installed-lock.json"
fi
step npm run build -w js
step env FOGMARCH_WEB_OUT="$work/out" npm run build -w web
# index.html comes last: the server serves the client once it is there.
rm -f "$out/index.html"
cp -r "$work"/out/* "$out/"
touch "$out/index.html"
echo "Built the web client: $out"
