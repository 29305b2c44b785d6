# A temporary PostgreSQL server for tests and measurements.

# Starts the server on a free port, $postgres_port, with the log .tools/logs/postgres.log. Fails if it does not respond.
start_postgres() {
  set_up_postgres
  local log=$tools/logs/postgres.log as=()
  postgres_port=$(node .dev/port.mjs 18791 0)
  # PostgreSQL refuses to run as root. Its folder must belong to the user that runs it.
  postgres_data=$(mktemp -d /tmp/atelier-postgres.XXXXXX)
  if [ "$(id -u)" -eq 0 ]; then
    as=(runuser -u postgres --)
    chown postgres "$postgres_data"
  fi
  : >"$log"
  (cd "$postgres_data" && ${as[@]+"${as[@]}"} "$postgres_bin/initdb" -D "$postgres_data/data" -A trust -U atelier) \
    >>"$log" 2>&1 || true
  start "$log" ${as[@]+"${as[@]}"} "$postgres_bin/postgres" -D "$postgres_data/data" \
    -k "$postgres_data" -h 127.0.0.1 -p "$postgres_port" -c max_connections=300
  postgres=$started
  timeout 30 sh -c "until '$postgres_bin/pg_isready' -q -h 127.0.0.1 -p $postgres_port; do sleep 0.2; done"
}

stop_postgres() {
  stop "$postgres"
  rm -rf "$postgres_data"
}
