# Starting and ending processes. Each is the head of a process group of its own, so that ending it
# ends what it has started too; and bash waits for it rather than running it in the foreground,
# because a signal that comes meanwhile is otherwise dealt with only afterwards.

groups=()

# start LOG COMMAND…: in the background; its id is in $started.
start() {
  local log=$1
  shift
  set -m
  # `-` is this output itself: opened by its name, a file would be written over from another place.
  case $log in
    -) "$@" </dev/null 2>&1 & ;;
    *) "$@" </dev/null >>"$log" 2>&1 & ;;
  esac
  started=$!
  set +m
  groups+=("$started")
}

# run COMMAND…: waits for it and gives its status.
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

# stop ID: ends the group, politely first.
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

# answers URL: whether something there answers 200.
answers() {
  [ "$(curl --silent --noproxy '*' --max-time 5 --output /dev/null --write-out '%{http_code}' "$1")" = 200 ]
}

# await ID URL SECONDS: waits until the process answers there.
await() {
  local pid=$1 url=$2 patience=$((SECONDS + $3))
  until answers "$url"; do
    running "$pid" && [ "$SECONDS" -lt "$patience" ] || return 1
    sleep 0.2
  done
}
