#!/usr/bin/env bash
# Measures the header log in Redis beside the embedded one and prints two tables:
#
#   bench/redis/run.sh [-m SESSIONS]
#
#   1. what frozen sessions take in Redis (default 100000 of them),
#   2. three replicas with their log in one redis-server (log.durability: memory)
#      beside one proxy with the embedded log, in front of the simulated provider:
#      the first requests of new sessions, CPU per request of known ones, and
#      known ones while the server is stopped.
#
# The status is 0 if every bar is met. It takes some three minutes and needs go and
# redis-server (or PREFACE_REDIS=/path/to/server); everything listens on loopback,
# lives in one temporary folder, and is stopped in the end. Numbers are worth
# something on a machine that does nothing else: the load is printed.
set -euo pipefail
cd "$(dirname "$0")/../.."

sessions=100000
while getopts m: flag; do
	case $flag in
	m) sessions=$OPTARG ;;
	*) exit 2 ;;
	esac
done

server=${PREFACE_REDIS:-redis-server}
command -v "$server" >/dev/null || { echo "cannot find $server: install redis-server or set PREFACE_REDIS" >&2; exit 2; }
work=$(mktemp -d)
pids=()
stop() {
	for pid in "${pids[@]}"; do kill -CONT "$pid" 2>/dev/null && kill "$pid" 2>/dev/null || true; done
	for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

# start NAME COMMAND…: runs it in the background, its output in $work/NAME.
start() {
	local name=$1
	shift
	(cd "$work" && exec "$@") >"$work/$name" 2>&1 &
	pid=$!
	pids+=("$pid")
}

# await NAME PATTERN: waits for a line in $work/NAME and prints what \1 matches.
await() {
	for _ in $(seq 200); do
		local found
		found=$(sed -nE "s,.*$2.*,\1,p" "$work/$1" | head -n 1)
		[ -n "$found" ] && { echo "$found"; return; }
		sleep 0.05
	done
	echo "cannot start $1:" >&2
	cat "$work/$1" >&2
	return 1
}

# redis NAME: starts a server on a free port; sets pid and addr.
redis() {
	for _ in 1 2 3 4 5; do
		local port=$((20000 + RANDOM % 10000))
		start "$1" "$server" --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$work"
		addr=127.0.0.1:$port
		if await "$1" '(Ready to accept connections)' >/dev/null 2>&1; then return; fi
	done
	cat "$work/$1" >&2
	return 1
}

# replica NAME LOG: starts a proxy; sets pid and url.
replica() {
	cat >"$work/$1.yaml" <<YAML
listen: 127.0.0.1:0
admin: "off"
contributors: [{name: agents, kind: file, paths: [AGENTS.md]}]
routes: [{name: anthropic, dialect: anthropic, upstream: "$provider", policy: enforced, capture: prefix}]
log: {path: "$2", durability: memory}
logging: {level: warn}
YAML
	start "$1" "$work/preface" serve -config "$work/$1.yaml"
	url=$(await "$1" 'agents (http://[0-9.:]+)')
}

go build -o "$work/preface" ./cmd/proxy
go build -o "$work/bench" ./bench/redis
head -c 8192 <(yes -- '- Never touch the billing tables; ask "who owns this?" first.') >"$work/AGENTS.md"
echo "$(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg), $("$server" --version | cut -d' ' -f1-3), $(go version | cut -d' ' -f3), commit $(git rev-parse --short HEAD)"

status=0
redis memory
timeout 300 "$work/bench" memory -redis "$addr" -sessions "$sessions" || status=1
kill "$pid"
echo

redis log
log=$addr
args=(-redis "$addr@$pid")
start provider "$work/preface" provider
provider=$(await provider 'provider at (http://[0-9.:]+)')
replica embedded "$work/embedded.db"
args+=(-embedded "$url@$pid")
for n in 1 2 3; do
	replica "replica$n" "redis://$log"
	args+=(-replica "$url@$pid")
done
timeout 180 "$work/bench" proxies "${args[@]}" || status=1
echo "load $(cut -d' ' -f1-3 /proc/loadavg)"
exit $status
