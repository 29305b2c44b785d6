# Serves Atelier on this machine: trunk serves the page, and forwards calls to the local service or another one.

serve() {
  local port=8080 upstream="" options=()
  while [ $# -gt 0 ]; do
    case $1 in
      --port) port=${2:?--port needs a number} && shift 2 ;;
      --upstream) upstream=${2:?--upstream needs a URL} && shift 2 ;;
      --)
        shift
        options=("$@")
        break
        ;;
      *) die "unknown argument of serve: $1; see ./dev help" ;;
    esac
  done
  [[ $port =~ ^[0-9]+$ ]] && [ "$port" -ge 1 ] && [ "$port" -le 65535 ] || die "invalid --port $port: use a number from 1 to 65535"
  [ -z "$upstream" ] || [[ $upstream =~ ^https?://[^/] ]] || die "invalid --upstream $upstream: use an http or https URL"
  upstream=${upstream%/}
  [ -z "$upstream" ] || [ "${#options[@]}" -eq 0 ] || die "arguments for the local service can't be combined with --upstream: ${options[*]}"

  set_up_base
  # This changes the toolchain, so it comes before any build.
  set_up_target
  node .dev/port.mjs "$port" >/dev/null ||
    die "port $port of 127.0.0.1 is in use: choose another with ./dev serve --port N"

  local service=$upstream folder=$tools/serve-$port
  local log=$folder/trunk.log service_log=$folder/service.log build_log=$folder/build.log
  mkdir -p "$folder"
  if [ -z "$upstream" ]; then
    # The service is built while missing tools are built, because neither build always uses all cores.
    : >"$build_log"
    start "$build_log" cargo build --release -p atelier-service
    local service_build=$started
  fi
  set_up_page
  if [ -z "$upstream" ]; then
    heading "Building the service (release; some minutes the first time)"
    await_build "$service_build" "$build_log" || die "the service could not be built; see cargo's output above"
    service=http://127.0.0.1:$(node .dev/port.mjs)
    : >"$service_log"
    # trunk's proxy sends the address of the page only in X-Forwarded-Host.
    start "$service_log" "$target/release/atelier-service" --listen "${service#http://}" --data "$tools/data" \
      --trust-proxy ${options[@]+"${options[@]}"}
    await "$started" "$service/api/models" 30 || {
      cat "$service_log" >&2
      die "the service does not respond; its log is above"
    }
    local service_pid=$started
  fi

  heading "Building the page (release; some minutes the first time)"
  # trunk resolves paths relative to its configuration, so the configuration must be in this folder.
  local system_proxy=true
  serve_configuration=.trunk-serve-$port.toml
  # An upstream may be reachable only through the system's proxy.
  [ -z "$upstream" ] || system_proxy=false
  sed -e "s|http://127\.0\.0\.1:8787|$service|" -e "s|^no_system_proxy = .*|no_system_proxy = $system_proxy|" \
    Trunk.toml >"$serve_configuration"
  : >"$log"
  ATELIER_COMPRESS=no start "$log" trunk --config "$serve_configuration" serve "${release[@]}" --port "$port" \
    --no-autoreload=true --dist "$folder/site"
  local trunk_pid=$started shown=0 lines
  # trunk serves even if the build has failed, so wait for its message, and show its output meanwhile.
  until grep -q '✅ success' "$log" && answers "http://127.0.0.1:$port/"; do
    lines=$(wc -l <"$log")
    [ "$lines" -le "$shown" ] || sed -n "$((shown + 1)),${lines}p" "$log"
    shown=$lines
    if ! running "$trunk_pid" || grep -q '❌ error' "$log"; then
      die "the page could not be built; see trunk's output above"
    fi
    sleep 0.3
  done

  echo
  echo "Atelier is at http://127.0.0.1:$port/ (Ctrl-C ends it)"
  [ -n "$upstream" ] && echo "with the service at $upstream" || echo "with the local service, its data in .tools/data"
  # Show the output when trunk builds again after a file has changed.
  start /dev/stdout tail -n 0 -f "$log"
  while running "$trunk_pid"; do
    if [ -z "$upstream" ] && ! running "$service_pid"; then
      cat "$service_log" >&2
      die "the service has ended"
    fi
    sleep 1
  done
  die "trunk has ended"
}

# await_build ID LOG: shows the log of a build until the build ends, and returns its status.
await_build() {
  local pid=$1 log=$2 shown status=0
  start - tail -n +1 -f "$log"
  shown=$started
  wait "$pid" || status=$?
  stop "$pid"
  # Time to show the last lines.
  sleep 0.2
  stop "$shown"
  return "$status"
}
