# Measures the page and a hand-written one in the same run.

bench() {
  local runs=7 before=()
  while [ $# -gt 0 ]; do
    case $1 in
      --runs) runs=${2:?--runs needs a number} && shift 2 ;;
      --before) before=("${2:?--before needs a folder}") && shift 2 ;;
      *) die "unknown argument of bench: $1; see ./dev help" ;;
    esac
  done
  [[ $runs =~ ^[1-9][0-9]*$ ]] || die "invalid --runs $runs: use a number from 1"
  set_up_page
  find_browser || die "missing: Chromium (or Chrome). Install it, then run this again."
  run trunk build "${release[@]}"
  mkdir -p "$target"
  heading "Measuring $runs times (1.5 minutes each): do not use the machine meanwhile"
  run node benches/bench.mjs dist "$target/bench.json" "$runs" ${before[@]+"${before[@]}"}
  echo
  echo "All measurements are in ${target#"$PWD"/}/bench.json."
}
