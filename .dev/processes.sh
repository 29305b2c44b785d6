# Starts and stops processes. Each process has its own process group, so that its child processes are stopped with it. bash
# waits for a background process instead of running it in the foreground, because bash handles signals only after a
# foreground process has ended.

groups=()

# start LOG COMMAND…: starts a command in the background. Its process id is in $started.
start() {
  local log=$1
  shift
  set -m
  # `-` is standard output. If that is a file, it must not be opened again by name: the writers would overwrite each other.
  case $log in
    -) "$@" </dev/null 2>&1 & ;;
    *) "$@" </dev/null >>"$log" 2>&1 & ;;
  esac
  started=$!
  set +m
  groups+=("$started")
}

# run COMMAND…: runs a command, waits for it, and returns its status.
run() {
  local pid status=0
  set -m
  "$@" </dev/null &
  pid=$!
  set +m
  groups+=("$pid")
  wait "$pid" || status=$?
  stop "$pid"
  return "$status"
}

# stop ID: stops the process group, with SIGTERM first.
stop() {
  local pid=$1 left=() group
  if kill -TERM -- "-$pid" 2>/dev/null; then
    for _ in $(seq 50); do
      kill -0 -- "-$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL -- "-$pid" 2>/dev/null || true
  fi
  wait "$pid" 2>/dev/null || true
  for group in "${groups[@]}"; do
    [ "$group" = "$pid" ] || left+=("$group")
  done
  groups=(${left[@]+"${left[@]}"})
}

stop_all() {
  local group
  for group in ${groups[@]+"${groups[@]}"}; do
    kill -TERM -- "-$group" 2>/dev/null || true
  done
  for group in ${groups[@]+"${groups[@]}"}; do
    stop "$group"
  done
}

running() {
  kill -0 "$1" 2>/dev/null
}

# answers URL: succeeds if the URL responds with status 200.
answers() {
  [ "$(curl --silent --noproxy '*' --max-time 5 --output /dev/null --write-out '%{http_code}' "$1")" = 200 ]
}

# await ID URL SECONDS: waits until the URL responds. Fails if the process ends or the time is over.
await() {
  local pid=$1 url=$2 patience=$((SECONDS + $3))
  until answers "$url"; do
    running "$pid" && [ "$SECONDS" -lt "$patience" ] || return 1
    sleep 0.2
  done
}
