# Runs all checks, or the named ones. After a failure the other checks still run, so that one run shows all failures. The last
# line has the counts.
#
# There are two tiers: core and `full`, see .config/nextest.toml.

phases=(format lint native browser build end-to-end budget)
# These phases run in `full` or if they are named.
full_phases=(engines trials soak runners cluster chaos)
more_phases=("${full_phases[@]}" comfyui)
passed=0
failed=0
left_out=0
# The profile of nextest; `default` is core.
profile=default
# The durations of the phases that have ended.
phase_times=()
# The failures, which are printed again at the end, because the output can be long.
failures=()

# The browsers. Chromium runs all suites. The others run the suites in which browsers may differ. Only Chromium runs the
# measurements, the tests of releases, axe, and tests that use Chromium's own protocol.
engines="chromium"
engine_suites=(main_job first_view model_page later_part boot models_page browser gallery kept_outputs
  copy_as times chaining history_file remote_models many_tasks hostile batch durability)

test_all() {
  local begin engine
  wanted=()
  while [ $# -gt 0 ]; do
    case $1 in
      full) profile=full ;;
      --all-browsers) engines="chromium firefox webkit" ;;
      --browsers=*) engines=${1#*=} ;;
      *) wanted+=("$1") ;;
    esac
    shift
  done
  for engine in $engines; do
    [[ " chromium firefox webkit " == *" $engine "* ]] || die "no such browser: $engine"
  done
  local is_whole=no
  if [ "${#wanted[@]}" -eq 0 ]; then
    is_whole=yes
    wanted=("${phases[@]}")
    [ "$profile" = default ] || wanted+=("${full_phases[@]}")
  fi
  for phase in "${wanted[@]}"; do
    [[ " ${phases[*]} ${more_phases[*]} " == *" $phase "* ]] ||
      die "no such phase: $phase (there are: ${phases[*]} ${more_phases[*]})"
  done
  counting=yes
  local commit
  commit=$(clean_commit)
  echo "$(getconf _NPROCESSORS_ONLN) processors; disk: $(df -h . | awk 'END { print $4 " of " $2 " free" }')"
  phase="set-up"
  start_time_limit
  set_up_tests
  phase_times=("set-up: $(minutes "$SECONDS")")
  use_memory_for_temporary_files
  # With a token from the user's environment, the service would refuse the tests.
  unset ATELIER_SERVICE_TOKEN
  # Core tests use the same random cases in each run; `full` uses new ones.
  [ "$profile" = full ] || export PROPTEST_RNG_SEED=1
  [[ " ${wanted[*]} " != *" build "* ]] || start_release_build
  for phase in "${wanted[@]}"; do
    begin=$SECONDS
    "test_${phase//-/_}"
    phase_times+=("$phase: $(minutes $((SECONDS - begin)))")
    echo "    ($phase: $(minutes $((SECONDS - begin))))"
  done
  # Record the commit for which all phases have passed.
  if [ "$is_whole" = yes ] && [ "$failed" -eq 0 ] && [ -n "$commit" ] && [ "$(clean_commit)" = "$commit" ]; then
    echo "$commit" >"$tools/passed"
  fi
  print_result
  [ "$failed" -eq 0 ]
}

print_result() {
  [ "${#failures[@]}" -eq 0 ] || printf '\n== failed: %s\n' "${failures[@]}"
  printf '\nminutes'
  printf ', %s' ${phase_times[@]+"${phase_times[@]}"}
  echo ", all: $(minutes "$SECONDS")"
  [ "$left_out" -eq 0 ] || echo "$left_out left out because the browser does not support what they need (listed above)"
  echo "$passed passed, $failed failed"
}

# minutes SECONDS: prints a duration as m:ss.
minutes() {
  printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# Prints the commit that is checked out, if there are no changes.
clean_commit() {
  [ -n "$(git status --porcelain 2>&1)" ] || git rev-parse HEAD
}

# Stops the run after ATELIER_TEST_MINUTES (unset: never), and reports which phases did not finish: a run that is
# killed from outside reports nothing.
start_time_limit() {
  [ -n "${ATELIER_TEST_MINUTES:-}" ] || return 0
  trap out_of_time USR1
  start - sleep_and_signal "$((ATELIER_TEST_MINUTES * 60))" "$$"
}

sleep_and_signal() {
  sleep "$1"
  kill -USR1 "$2"
}

out_of_time() {
  local name not_run=()
  trap - USR1
  for name in "${wanted[@]}"; do
    [[ " ${phase_times[*]:-}" == *" $name: "* ]] || [ "$name" = "$phase" ] || not_run+=("$name")
  done
  failures+=("time limit of $ATELIER_TEST_MINUTES minutes reached in phase $phase; not run: ${not_run[*]:-none}")
  stop_all
  failed=$((failed + 1))
  print_result
  exit 1
}

# Keeps browser profiles and data folders of tests in memory, if there is enough. On a slow disk, storage may take longer than
# the few seconds for which the page waits.
use_memory_for_temporary_files() {
  local free
  [ -d /dev/shm ] && [ -w /dev/shm ] || return 0
  free=$(df --output=avail -k /dev/shm | tail -n 1)
  [ "$free" -ge $((4 << 20)) ] || return 0
  temporary_files=$(mktemp -d /dev/shm/atelier.XXXXXX)
  export TMPDIR=$temporary_files
}

# fail NAME [LOG]: counts a failure, and records the end of its log.
fail() {
  failed=$((failed + 1))
  echo "FAILED: $1"
  failures+=("$1${2:+$'\n'$(tail -n 30 "$2")}")
}

# check NAME COMMAND…: runs a command, and counts it as one test.
check() {
  local name=$1 log
  shift
  log=$tools/logs/${name// /-}.log
  heading "$name"
  if run logged "$log" "$@"; then
    passed=$((passed + 1))
  else
    fail "$name" "$log"
  fi
}

# suite NAME COMMAND…: runs a command, and counts the tests that it reports. A test that prints `left out: ` was not run,
# although the test runner counts it as passed.
suite() {
  local name=$1 log status=0
  shift
  log=$tools/logs/${name// /-}.log
  heading "$name"
  run logged "$log" "$@" || status=$?
  count_suite "$name" "$log" "$status"
}

# count_suite NAME LOG STATUS: counts the tests that the command's log lists.
count_suite() {
  local name=$1 log=$2 status=$3 good bad out
  out=$(grep -c '^left out: ' "$log" || true)
  good=$(($(sum_of passed "$log") - out))
  left_out=$((left_out + out))
  bad=$(sum_of failed "$log")
  passed=$((passed + good))
  failed=$((failed + bad))
  if [ "$bad" -gt 0 ]; then
    failures+=("$name"$'\n'"$(failures_in "$log")")
  elif [ "$status" -ne 0 ]; then
    # The build failed, or the command ended before it reported a failed test.
    fail "$name" "$log"
  elif [ "$good" -eq 0 ] && [ "$out" -eq 0 ]; then
    fail "$name: no test has run" "$log"
  fi
}

# nextest NAME FILTER OPTION…: runs the tests that the filter selects, each in its own process, and counts them.
nextest() {
  local name=$1 filter=$2 log status=0 good bad out
  shift 2
  build_tests || return 0
  log=$tools/logs/${name// /-}.log
  heading "$name"
  run logged "$log" ${frame[@]+"${frame[@]}"} cargo nextest run --locked "${test_packages[@]}" --profile "$profile" -E "$filter" "$@" || status=$?
  out=$(grep -c '^ *left out: ' "$log" || true)
  good=$(($(nextest_sum_of 'passed' "$log") - out))
  bad=$(nextest_sum_of 'failed|timed|exec' "$log")
  passed=$((passed + good))
  failed=$((failed + bad))
  left_out=$((left_out + out))
  if [ "$bad" -gt 0 ]; then
    failures+=("$name"$'\n'"$(nextest_failures_in "$log")")
  elif [ "$status" -ne 0 ] || [ $((good + out)) -eq 0 ]; then
    fail "$name ended before all tests had run, or ran none" "$log"
  fi
}

# nextest_sum_of WORDS LOG: prints the sum of these counts in a line like
# `Summary [  1.234s] 10 tests run: 9 passed (1 slow), 1 failed, 5 skipped`.
nextest_sum_of() {
  sed 's/\x1b\[[0-9;]*m//g' "$2" | awk -v words="^($1)" '
    /^ *Summary \[/ {
      sum = 0
      for (i = 2; i <= NF; i++) if ($i ~ words && $(i - 1) ~ /^[0-9]+$/) sum += $(i - 1)
    }
    END { print sum + 0 }'
}

# nextest_failures_in LOG: prints what follows the summary, shortened: the tests that failed and their output.
nextest_failures_in() {
  sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
    /^ *Summary \[/ { shown = 1 }
    shown && !/ (INFO|DEBUG) / && ++lines <= 200 { print substr($0, 1, 500) }'
}

# failures_in LOG: prints the output of the tests that failed, shortened. Reads the whole log, because a reader that stops early
# breaks the pipe, which ends this script.
failures_in() {
  sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
    /^failures:$/ { shown = 1 }
    /^test result:/ { shown = 0 }
    shown && !/ (INFO|DEBUG) / && ++lines <= 80 { print substr($0, 1, 500) }'
}

logged() {
  local log=$1
  shift
  "$@" 2>&1 | tee "$log"
}

# sum_of passed|failed LOG: prints the sum of these counts in all `test result:` lines.
sum_of() {
  sed 's/\x1b\[[0-9;]*m//g' "$2" | awk -v word="$1" '/^test result:/ {
    for (i = 2; i <= NF; i++) if ($i == word ";") sum += $(i - 1)
  } END { print sum + 0 }'
}

test_format() {
  check "format" cargo fmt --all --check
}

test_lint() {
  check "no unused styles" node .dev/unused_styles.mjs
  check "no :has() on the root element" node .dev/root_has.mjs
  heading "long files"
  node .dev/long_files.mjs || true
  check "the tests of docs security exist" node .dev/promises.mjs
  check "clippy, native" cargo clippy --locked --workspace --exclude atelier --features atelier-service/cluster \
    --all-targets -- -D warnings
  # `--all-targets` does not include tests that run only if they are named.
  check "clippy, trials and soak" cargo clippy --locked -p atelier-end-to-end --test trials --test soak -- -D warnings
  check "clippy, service without cluster" cargo clippy --locked -p atelier-service --lib -- -D warnings
  check "clippy, wasm32" cargo clippy --locked -p atelier --target wasm32-unknown-unknown --features split --all-targets -- -D warnings
  check "every file is compiled, every test is run" node .dev/unreached.mjs
}

test_native() {
  nextest "native tests" "package(/^atelier-(contract|engine|metadata|procedural|service|studio)$/)"
}

# The tests run in a page, and call the real service and the fault proxy in front of it. The addresses of these are compiled
# into the tests. The ports of the last run are used if they are free, so that nothing is built again.
test_browser() {
  build_tests || return 0
  local service faults
  service=127.0.0.1:$(node .dev/port.mjs 18787 0)
  faults=127.0.0.1:$(node .dev/port.mjs 18788 0)
  browser_tests_data=$(mktemp -d "$tools/browser-tests.XXXXXX")
  local logs=$tools/logs service_pid faults_pid
  : >"$logs/service.log"
  start "$logs/service.log" "$target/debug/atelier-service" --listen "$service" --data "$browser_tests_data"
  service_pid=$started
  start "$logs/service.log" "$target/debug/fault-proxy" --service "http://$service" --listen "$faults"
  faults_pid=$started
  if await "$service_pid" "http://$service/api/models" 30 && await "$faults_pid" "http://$faults/__counts" 30; then
    local engine
    for engine in $engines; do
      ATELIER_TEST_SERVICE="http://$service" ATELIER_TEST_FAULTS="http://$faults" browser_suite "$engine"
    done
  else
    cat "$logs/service.log"
    fail "the service does not respond" "$logs/service.log"
  fi
  stop "$faults_pid"
  stop "$service_pid"
  rm -rf "$browser_tests_data"
}

# browser_suite ENGINE: runs the browser tests in a browser.
browser_suite() {
  # The runner uses the first driver variable that it finds.
  local driver=() frame=()
  case $1 in
    chromium) driver=("CHROMEDRIVER=$CHROMEDRIVER") ;;
    firefox) driver=(-u CHROMEDRIVER "GECKODRIVER=$GECKODRIVER") ;;
    webkit)
      # The runner knows WebKit only as Safari.
      driver=(-u CHROMEDRIVER -u GECKODRIVER "SAFARIDRIVER=$WEBKITDRIVER")
      frame=("${virtual_display[@]}")
      ;;
  esac
  # The page of a test has another origin than the service, as in a real deployment. With origin isolation, the runner's
  # default, it could not show the service's images.
  suite "browser tests, $1" env "${driver[@]}" \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER="$tools/bin/wasm-bindgen-test-runner" \
    WASM_BINDGEN_TEST_WEBDRIVER_JSON="$PWD/.dev/webdriver.json" \
    WASM_BINDGEN_USE_BROWSER=1 \
    WASM_BINDGEN_TEST_NO_ORIGIN_ISOLATION=1 \
    WASM_BINDGEN_TEST_TIMEOUT=600 \
    WASM_BINDGEN_TEST_DRIVER_TIMEOUT=30 \
    ${frame[@]+"${frame[@]}"} \
    cargo test --locked --no-fail-fast -p atelier --target wasm32-unknown-unknown --tests
}

# Runs the browser suite and the end-to-end suites in the other browsers.
test_engines() {
  local engines="firefox webkit" profile=full
  set_up_tests
  test_browser
  test_end_to_end
}

# The virtual display for WebKit. Some tests need a page that is high enough to show a whole list.
#
# The two variables switch off optimisations. WebKitGTK 2.50 sometimes computes wrong results when it replaces running wasm
# code with optimised code: on a busy machine, `n % 10000` in a minimal module was above 9999 in 4 of 4,500 instances, and
# without the optimisations in none of 3,600. These tests are not about that.
virtual_display=(env JSC_useOMGJIT=0 JSC_useWasmOSR=0
  xvfb-run --auto-servernum --server-args "-screen 0 1440x4200x24")

# Starts the release build. It uses only one processor most of the time, so it runs in parallel with the phases before
# `build`.
start_release_build() {
  # Otherwise later phases could pass with an older build.
  rm -rf dist
  : >"$tools/logs/release-build.log"
  start "$tools/logs/release-build.log" trunk build "${release[@]}"
  release_build=$started
}

test_build() {
  local name="release build of the page" log=$tools/logs/release-build.log status=0
  heading "$name"
  wait "$release_build" || status=$?
  stop "$release_build"
  cat "$log"
  if [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
  else
    fail "$name" "$log"
  fi
}

# Runs random trials with the page in dist/. ATELIER_TRIAL_SEED selects other trials.
test_trials() {
  build_tests || return 0
  suite "random trials" env ATELIER_SERVICE_BIN="$target/debug/atelier-service" \
    cargo test --locked --no-fail-fast -p atelier-end-to-end --test trials -- --test-threads=1
}

# Simulates half an hour of work at twenty times the speed, with the page in dist/.
test_soak() {
  build_tests || return 0
  suite "soak" env ATELIER_SERVICE_BIN="$target/debug/atelier-service" \
    cargo test --locked -p atelier-end-to-end --test soak -- --nocapture
}

# Tests the node files in ComfyUI itself. COMFYUI_DIR is a checkout of ComfyUI, and COMFYUI_PYTHON the Python with its
# requirements (default: the .venv or venv of the checkout).
test_comfyui() {
  [ -f "${COMFYUI_DIR:-}/main.py" ] || die "set COMFYUI_DIR to a checkout of ComfyUI, then run this again."
  suite "ComfyUI" cargo test --locked -p atelier-service --test python -- --ignored --nocapture comfyui
}

# Tests models in both generations of the real cog servers from PyPI, with a small predictor.
test_runners() {
  set_up_cog
  suite "runners" env ATELIER_COG="$tools/cog-${cog_versions[0]}:$tools/cog-${cog_versions[1]}" \
    cargo test --locked -p atelier-service --test cog -- --ignored --test-threads=1
}

# Repeats the suites of the interface with several processes of the service, which share a real PostgreSQL for tasks and a
# bucket for outputs. The bucket is on a real server with the S3 API (moto, over HTTP). The skipped tests are about data
# folders only.
test_cluster() {
  set_up_moto
  set_up_postgres
  local moto logs=$tools/logs s3_port
  s3_port=$(node .dev/port.mjs 18790 0)
  : >"$logs/moto.log"
  start "$logs/moto.log" "$tools/moto/bin/moto_server" -H 127.0.0.1 -p "$s3_port"
  moto=$started
  if start_postgres && await "$moto" "http://127.0.0.1:$s3_port/moto-api/" 30 &&
    curl -sf -X PUT "http://127.0.0.1:$s3_port/atelier" >/dev/null; then
    suite "cluster" env PATH="$postgres_bin:$PATH" \
      ATELIER_TEST_OUTPUTS=s3://atelier ATELIER_TEST_MOTO="$tools/moto/bin/moto_server" \
      ATELIER_TEST_DATABASE="postgres://atelier@127.0.0.1:$postgres_port" \
      AWS_ENDPOINT="http://127.0.0.1:$s3_port" AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1 \
      cargo test --locked --no-fail-fast -p atelier-service --features cluster \
      --test bucket --test cluster --test interface --test uploads --test idempotency --test restart --test accounts \
      --test secrets --test cancel --test events --test mcp --test webhooks -- \
      --include-ignored --test-threads=4 --skip data_is_readable_only_by_its_owner --skip a_directory_can_be_used_by_only_one_service
  else
    cat "$logs/moto.log" "$logs/postgres.log"
    fail "moto or PostgreSQL does not respond" "$logs/postgres.log"
  fi
  stop "$moto"
  stop_postgres
}

# Lets random faults happen to several processes of the service under load. ATELIER_CHAOS_ROUNDS is the number of rounds,
# ATELIER_CHAOS_SEED repeats one, and ATELIER_CHAOS_PREVIOUS is the program of an earlier release, which each round upgrades. The
# test starts its own PostgreSQL, whose user can't read a temporary folder of root's: hence TMPDIR.
test_chaos() {
  set_up_moto
  set_up_postgres
  suite "chaos" env TMPDIR=/tmp ATELIER_TEST_POSTGRES="$postgres_bin" ATELIER_TEST_MOTO="$tools/moto/bin/moto_server" \
    cargo test --locked -p atelier-service --features cluster --test chaos -- --include-ignored --nocapture
}

# Creates the samples of the models once for all services of the end-to-end tests, in $ATELIER_TEST_SAMPLES.
draw_samples() {
  local data=$tools/samples log=$tools/logs/samples.log address path
  rm -rf "$data"
  : >"$log"
  start "$log" "$target/debug/atelier-service" --listen 127.0.0.1:0 --data "$data"
  for _ in $(seq 300); do
    address=$(sed -n 's/.*Listening on //p' "$log")
    [ -z "$address" ] && running "$started" || break
    sleep 0.2
  done
  for path in $(curl --silent --noproxy '*' "$address/api/models" | grep -oE '/outputs/[^"]+' | sort -u); do
    curl --silent --noproxy '*' --output /dev/null "$address$path"
  done
  stop "$started"
  # Without this variable, each service creates its own samples.
  [ ! -d "$data/outputs/previews" ] || export ATELIER_TEST_SAMPLES=$data/outputs
}

# Tests the page in dist/. A test mostly waits for its browser, so Chromium runs two tests at a time.
test_end_to_end() {
  local engine filter options frame
  build_tests || return 0
  export ATELIER_SERVICE_BIN=$target/debug/atelier-service
  draw_samples
  for engine in $engines; do
    filter="package(atelier-end-to-end)" options=()
    if [ "$engine" != chromium ]; then
      # Tests that were left out count as passed, so the output of passed tests is needed.
      filter+=" & binary(/^($(IFS='|' && echo "${engine_suites[*]}"))$/)" options=(-j 1 --success-output immediate)
    fi
    frame=()
    [ "$engine" != webkit ] || frame=("${virtual_display[@]}")
    ATELIER_ENGINE=$engine nextest "end-to-end tests, $engine" "$filter" ${options[@]+"${options[@]}"}
  done
}

test_budget() {
  check "size of the first view" node .dev/budget.mjs dist "$first_cards_limit" "$first_view_limit" "$visit_limit"
  check "cost of opening a form" node benches/counts.mjs dist
}

# The packages of all native and end-to-end tests, and of the programs that they start. Always the same selection, because
# another one enables other features and causes a new build.
test_packages=(-p atelier-contract -p atelier-engine -p atelier-metadata -p atelier-procedural -p atelier-service -p atelier-studio -p atelier-end-to-end)

# Builds the tests, once per run.
build_tests() {
  [ -z "${tests_are_built:-}" ] || return "$tests_are_built"
  heading "build of the tests"
  tests_are_built=0
  run logged "$tools/logs/build-of-the-tests.log" cargo nextest run --locked --no-run "${test_packages[@]}" || {
    tests_are_built=1
    fail "build of the tests" "$tools/logs/build-of-the-tests.log"
  }
  return "$tests_are_built"
}
