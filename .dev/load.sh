# Load tests of the service.

load() {
  local options=() features=()
  while [ $# -gt 0 ]; do
    case $1 in
      --postgres) features=(--features cluster) ;;
      *) options+=("$1") ;;
    esac
    shift
  done
  # Each client needs a file descriptor.
  ulimit -n "$(ulimit -Hn)"
  run cargo build --release --locked -p atelier-service --examples --bins ${features[@]+"${features[@]}"}
  if [ -n "${features[*]:-}" ]; then
    start_postgres || die "PostgreSQL does not respond; see .tools/logs/postgres.log"
    options+=(--database "postgres://atelier@127.0.0.1:$postgres_port")
    PATH=$postgres_bin:$PATH
  fi
  run "$target/release/examples/load" --service "$target/release/atelier-service" --json "$target/load.json" \
    ${options[@]+"${options[@]}"}
  [ -z "${features[*]:-}" ] || stop_postgres
}
