# All checks, or those that are named. All of them run, even if one fails, so that one run shows all
# that is wrong; the last line is the sum.
#
# There are two tiers, see .config/nextest.toml: core, and `full`, which has everything.

phases=(format lint native browser build end-to-end budget)
# Part of `full`, or run when named.
full_phases=(engines trials soak runners cluster)
more_phases=("${full_phases[@]}" comfyui)
passed=0
failed=0
left_out=0
# The profile of nextest: `default` is core.
profile=default
# How long each phase that has ended took.
phase_times=()
# What a failure leaves for the end, because all that was printed before it can be much.
failures=()

# In which browsers. Chromium runs all of it; in the others run the suites of what they may do
# differently. Measurements, releases, axe's findings and what speaks Chromium's own protocol are
# Chromium's.
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
  # Somebody's own setting would refuse the tests.
  unset ATELIER_SERVICE_TOKEN
  # The same cases each time; `full` draws others.
  [ "$profile" = full ] || export PROPTEST_RNG_SEED=1
  [[ " ${wanted[*]} " != *" build "* ]] || start_release_build
  for phase in "${wanted[@]}"; do
    begin=$SECONDS
    "test_${phase//-/_}"
    phase_times+=("$phase: $(minutes $((SECONDS - begin)))")
    echo "    ($phase: $(minutes $((SECONDS - begin))))"
  done
  # So that a commit that was tested as a whole is known.
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
  [ "$left_out" -eq 0 ] || echo "$left_out left out, where an engine has no way to do what they need (named above)"
  echo "$passed passed, $failed failed"
}

# minutes SECONDS: as m:ss.
minutes() {
  printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# The commit that is checked out, if nothing differs from it.
clean_commit() {
  [ -n "$(git status --porcelain 2>&1)" ] || git rev-parse HEAD
}

# Ends the run after ATELIER_TEST_MINUTES (unset: never), and reports which phases did not finish: a run that is
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

# Browser profiles and data folders of tests are written and removed all the time. The page gives storage some
# seconds to answer, which a slow disk may need.
use_memory_for_temporary_files() {
  local free
  [ -d /dev/shm ] && [ -w /dev/shm ] || return 0
  free=$(df --output=avail -k /dev/shm | tail -n 1)
  [ "$free" -ge $((4 << 20)) ] || return 0
  temporary_files=$(mktemp -d /dev/shm/atelier.XXXXXX)
  export TMPDIR=$temporary_files
}

# fail NAME [LOG]: counts one that failed, with the end of its log.
fail() {
  failed=$((failed + 1))
  echo "FAILED: $1"
  failures+=("$1${2:+$'\n'$(tail -n 30 "$2")}")
}

# check NAME COMMAND…: counts as one.
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

# suite NAME COMMAND…: counts the tests that it says it has run, and those that say they were left
# out (the runner believes that these have passed).
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
    # It did not compile, or ended before it could say which test failed.
    fail "$name" "$log"
  elif [ "$good" -eq 0 ] && [ "$out" -eq 0 ]; then
    fail "$name: no test has run" "$log"
  fi
}

# nextest NAME FILTER OPTION…: runs the tests that the filter selects, each in a process of its own, and counts them.
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

# nextest_sum_of WORDS LOG: of the line `Summary [  1.234s] 10 tests run: 9 passed (1 slow), 1 failed, 5 skipped`.
nextest_sum_of() {
  sed 's/\x1b\[[0-9;]*m//g' "$2" | awk -v words="^($1)" '
    /^ *Summary \[/ {
      sum = 0
      for (i = 2; i <= NF; i++) if ($i ~ words && $(i - 1) ~ /^[0-9]+$/) sum += $(i - 1)
    }
    END { print sum + 0 }'
}

# nextest_failures_in LOG: what stands behind the summary: the tests that failed, and their output, shortened.
nextest_failures_in() {
  sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
    /^ *Summary \[/ { shown = 1 }
    shown && !/ (INFO|DEBUG) / && ++lines <= 200 { print substr($0, 1, 500) }'
}

# failures_in LOG: what the tests that failed have said, shortened. All of the log is read: who stops
# before its end breaks the pipe, and with it this script.
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

# sum_of passed|failed LOG: of all `test result:` lines.
sum_of() {
  sed 's/\x1b\[[0-9;]*m//g' "$2" | awk -v word="$1" '/^test result:/ {
    for (i = 2; i <= NF; i++) if ($i == word ";") sum += $(i - 1)
  } END { print sum + 0 }'
}

test_format() {
  check "format" cargo fmt --all --check
}

test_lint() {
  check "every style used" node .dev/unused_styles.mjs
  check "no root that looks through the page" node .dev/root_has.mjs
  heading "long files"
  node .dev/long_files.mjs || true
  check "every promise has its test" node .dev/promises.mjs
  check "clippy, native" cargo clippy --locked --workspace --exclude atelier --features atelier-service/cluster \
    --all-targets -- -D warnings
  # "All targets" leaves out tests that only run when they are named.
  check "clippy, trials and soak" cargo clippy --locked -p atelier-end-to-end --test trials --test soak -- -D warnings
  check "clippy, service without cluster" cargo clippy --locked -p atelier-service --lib -- -D warnings
  check "clippy, wasm32" cargo clippy --locked -p atelier --target wasm32-unknown-unknown --features split --all-targets -- -D warnings
  check "every file compiled, every test where it is run" node .dev/unreached.mjs
}

test_native() {
  nextest "native tests" "package(/^atelier-(contract|engine|procedural|service|studio)$/)"
}

# The tests run in a page and call the real service, and the fault proxy in front of it. They read
# where these are when they are compiled: with the same ports as last time nothing is built again.
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
    fail "the service does not answer" "$logs/service.log"
  fi
  stop "$faults_pid"
  stop "$service_pid"
  rm -rf "$browser_tests_data"
}

# browser_suite ENGINE
browser_suite() {
  # The runner takes the first driver that it is told of.
  local driver=() frame=()
  case $1 in
    chromium) driver=("CHROMEDRIVER=$CHROMEDRIVER") ;;
    firefox) driver=(-u CHROMEDRIVER "GECKODRIVER=$GECKODRIVER") ;;
    webkit)
      # To the runner every WebKit is Safari.
      driver=(-u CHROMEDRIVER -u GECKODRIVER "SAFARIDRIVER=$WEBKITDRIVER")
      frame=("${virtual_display[@]}")
      ;;
  esac
  # The page of a test is on another origin than the service, as in a real deployment; isolated
  # (the runner's default) it could not show the service's pictures.
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

# The browser suite and the end-to-end suites in the other browsers.
test_engines() {
  local engines="firefox webkit" profile=full
  set_up_tests
  test_browser
  test_end_to_end
}

# A display as high as the tests make a page that is to show all of a list.
#
# WebKitGTK 2.50 miscomputes now and then where it replaces wasm that runs by code that is better optimised: on a
# busy machine `n % 10000` of a module that does nothing else was above 9999 in 4 of 4,500 instances; without these
# two in none of 3,600. It is not what is tested here.
virtual_display=(env JSC_useOMGJIT=0 JSC_useWasmOSR=0
  xvfb-run --auto-servernum --server-args "-screen 0 1440x4200x24")

# The release build needs only one processor for most of its time, so it runs next to the phases before `build`.
start_release_build() {
  # So that the phases after it cannot pass on an older build.
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

# Random trials of the page on what build has left in dist/; ATELIER_TRIAL_SEED chooses others.
test_trials() {
  build_tests || return 0
  suite "random trials" env ATELIER_SERVICE_BIN="$target/debug/atelier-service" \
    cargo test --locked --no-fail-fast -p atelier-end-to-end --test trials -- --test-threads=1
}

# Half an hour of work at twenty times the speed, on what build has left in dist/.
test_soak() {
  build_tests || return 0
  suite "soak" env ATELIER_SERVICE_BIN="$target/debug/atelier-service" \
    cargo test --locked -p atelier-end-to-end --test soak -- --nocapture
}

# The node files in ComfyUI itself: a checkout of it is named in COMFYUI_DIR, and the Python that has
# its requirements in COMFYUI_PYTHON, unless that is its own .venv or venv.
test_comfyui() {
  [ -f "${COMFYUI_DIR:-}/main.py" ] || die "name a checkout of ComfyUI in COMFYUI_DIR, then run this again."
  suite "ComfyUI" cargo test --locked -p atelier-service --test python -- --ignored --nocapture comfyui
}

# Models in the real cog servers from PyPI, of both generations, with a small predictor of our own.
test_runners() {
  set_up_cog
  suite "runners" env ATELIER_COG="$tools/cog-${cog_versions[0]}:$tools/cog-${cog_versions[1]}" \
    cargo test --locked -p atelier-service --test cog -- --ignored --test-threads=1
}

# The suites of the interface once more, with the tasks in a real PostgreSQL and the outputs in a bucket
# of a real server of S3's interface (moto's, over HTTP), and several processes that share them. Who may
# read a folder, and have it alone, is asked of folders alone.
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
      --test secrets -- \
      --include-ignored --test-threads=4 --skip data_is_readable_only_by_its_owner --skip a_directory_can_be_used_by_only_one_service
  else
    cat "$logs/moto.log" "$logs/postgres.log"
    fail "moto or PostgreSQL does not answer" "$logs/postgres.log"
  fi
  stop "$moto"
  stop_postgres
}

# The samples of the models, drawn once for all services of the end-to-end tests: in $ATELIER_TEST_SAMPLES.
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
  # Without them each service draws its own.
  [ ! -d "$data/outputs/previews" ] || export ATELIER_TEST_SAMPLES=$data/outputs
}

# On what build has left in dist/. One browser's tests mostly wait, so Chromium runs two at a time.
test_end_to_end() {
  local engine filter options frame
  build_tests || return 0
  export ATELIER_SERVICE_BIN=$target/debug/atelier-service
  draw_samples
  for engine in $engines; do
    filter="package(atelier-end-to-end)" options=()
    if [ "$engine" != chromium ]; then
      # What an engine has no way to do is reported by the tests that have passed.
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

# All native and end-to-end tests, and the programs that they start. Always the same packages: another selection has
# other features, and builds again.
test_packages=(-p atelier-contract -p atelier-engine -p atelier-procedural -p atelier-service -p atelier-studio -p atelier-end-to-end)

# Once a run; the second phase that needs them has them.
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
