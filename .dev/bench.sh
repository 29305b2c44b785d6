# The page beside one written by hand, measured in one run.

bench() {
  local runs=7 before=()
  while [ $# -gt 0 ]; do
    case $1 in
      --runs) runs=${2:?--runs needs a number} && shift 2 ;;
      --before) before=("${2:?--before needs a folder}") && shift 2 ;;
      *) die "bench does not know \`$1\`; see ./dev help" ;;
    esac
  done
  [[ $runs =~ ^[1-9][0-9]*$ ]] || die "--runs: $runs is no number"
  set_up_page
  find_browser || die "missing: Chromium (or Chrome). Install it, then run this again."
  run trunk build "${release[@]}"
  mkdir -p "$target"
  heading "Measuring, $runs times (a minute and a half each): leave the machine alone meanwhile"
  run node benches/bench.mjs dist "$target/bench.json" "$runs" ${before[@]+"${before[@]}"}
  echo
  echo "All that was measured is in ${target#"$PWD"/}/bench.json."
}
