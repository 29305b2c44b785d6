# Installs what is missing, into .tools/ as far as possible.

# need COMMAND WHAT-TO-INSTALL
need() {
  command -v "$1" >/dev/null || die "missing: $1. Install $2, then run this again."
}

set_up_base() {
  need cargo "the Rust toolchain with rustup (your system's package, or the rustup project's site)"
  need rustup "rustup (a Rust toolchain from elsewhere cannot be given the wasm32 target)"
  need git git
  need curl curl
  need node "Node.js"
  need npm "Node.js with npm"
  command -v cc >/dev/null || install_packages "a C compiler" gcc libc6-dev
  command -v cc >/dev/null || die "missing: cc. Install a C compiler, then run this again."
}

set_up_target() {
  local target=wasm32-unknown-unknown
  # A plain `rustup target list` asks which toolchain is the one here, so it respects an override.
  rustup target list --installed | grep -qx "$target" || {
    say "Adding the Rust target $target (some seconds)"
    rustup target add "$target" || die "could not add $target: run \`rustup target add $target\`."
  }
}

set_up_page() {
  set_up_base
  set_up_target

  wasm_bindgen_version=$(awk '$1 == "name" { name = $3 } $1 == "version" && name == "\"wasm-bindgen\"" { gsub("\"", "", $3); print $3; exit }' Cargo.lock)
  [ -n "$wasm_bindgen_version" ] || die "Cargo.lock has no wasm-bindgen: run \`cargo generate-lockfile\`."
  local wanted="trunk $trunk_version, wasm-bindgen $wasm_bindgen_version, wasm-split $wasm_split_version, binaryen $binaryen_version, esbuild $esbuild_version, axe $axe_version"
  if [ "$(cat "$tools/stamp" 2>/dev/null)" = "$wanted" ] && [ -x "$tools/bin/trunk" ] &&
    [ -x "$tools/bin/wasm-bindgen" ] && [ -x "$tools/bin/wasm-split-cli" ] &&
    [ -x "$tools/npm/node_modules/.bin/wasm-opt" ] &&
    [ -x "$tools/npm/node_modules/.bin/esbuild" ] && [ -f "$tools/npm/node_modules/axe-core/axe.min.js" ]; then
    return
  fi

  local missing=()
  has_version trunk "$trunk_version" || missing+=("trunk")
  has_version wasm-bindgen "$wasm_bindgen_version" || missing+=("wasm-bindgen")
  has_wasm_split || missing+=("wasm-split")
  has_version wasm-opt "${binaryen_version%%.*}" && has_version esbuild "$esbuild_version" && has_axe || missing+=("from-npm")
  local count=${#missing[@]} at=0 tool
  [ "$count" -eq 0 ] || say "Set-up, the first time only: ${missing[*]}. Several minutes on two cores; the next start is quick."
  for tool in ${missing[@]+"${missing[@]}"}; do
    at=$((at + 1))
    case $tool in
      trunk) install_crate "$at/$count" trunk "$trunk_version" "about 2½ min" --locked ;;
      # Not --locked: the versions it was locked with are older than some we need ourselves.
      wasm-bindgen) install_crate "$at/$count" wasm-bindgen-cli "$wasm_bindgen_version" "about 1 min" ;;
      wasm-split)
        install_crate "$at/$count" wasm_split_cli_support "$wasm_split_version" "about ½ min" --locked \
          --features build-binary
        ;;
      from-npm) install_from_npm "$at/$count" ;;
    esac
  done
  # What the two had in common need not be built twice; now it is only large.
  rm -rf "$tools/build"
  echo "$wanted" >"$tools/stamp"
}

set_up_tests() {
  set_up_page
  local component
  for component in clippy rustfmt; do
    rustup component list --installed | grep -q "^$component" || rustup component add "$component" ||
      die "missing: $component. Run \`rustup component add $component\`."
  done

  # The recommended packages of a desktop browser are many; of them tests need only letters.
  if ! find_chromedriver || ! find_browser; then
    install_packages "Chromium, for the browser tests" chromium chromium-driver fonts-liberation
    find_browser || die "missing: Chromium (or Chrome). Install it, then run this again."
    find_chromedriver || die "missing: chromedriver. Install it, or name it in CHROMEDRIVER, then run this again."
  fi
  [[ " $engines " != *" firefox "* ]] || set_up_firefox
  [[ " $engines " != *" webkit "* ]] || set_up_webkit
  set_up_python
}

set_up_firefox() {
  find_firefox || install_packages "Firefox, for the browser tests" firefox-esr fonts-liberation
  find_firefox || die "missing: Firefox. Install it, or name it in FIREFOX, then run this again."
  GECKODRIVER=${GECKODRIVER:-$tools/bin/geckodriver}
  export GECKODRIVER
  [ "$GECKODRIVER" = "$tools/bin/geckodriver" ] || return 0
  if ! [ -x "$GECKODRIVER" ] || ! has_version geckodriver "$geckodriver_version"; then
    install_crate "1/1" geckodriver "$geckodriver_version" "about 1 min" --locked
    rm -rf "$tools/build"
  fi
}

find_firefox() {
  FIREFOX=${FIREFOX:-$(command -v firefox-esr || command -v firefox || true)}
  export FIREFOX
  [ -x "$FIREFOX" ]
}

# WebKit has no headless browser: its windows are on a virtual display.
set_up_webkit() {
  find_webkit || install_packages "WebKit, for the browser tests" webkit2gtk-driver xvfb xauth fonts-liberation
  find_webkit || die "missing: WebKitWebDriver and xvfb-run. Install them, then run this again."
}

find_webkit() {
  WEBKITDRIVER=${WEBKITDRIVER:-$(command -v WebKitWebDriver || true)}
  export WEBKITDRIVER
  [ -x "$WEBKITDRIVER" ] && command -v xvfb-run >/dev/null && command -v xauth >/dev/null
}

# Runs the Python files that the service offers for download, and tries the service by its document.
set_up_python() {
  export ATELIER_PYTHON=$tools/python/bin/python
  local wanted="${python_packages[*]}"
  [ "$(cat "$tools/python/stamp" 2>/dev/null)" = "$wanted" ] && [ -x "$ATELIER_PYTHON" ] && return
  python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages "Python with venv" python3 python3-venv
  python3 -c 'import ensurepip, venv' 2>/dev/null || die "missing: Python 3 with venv. Install python3 and python3-venv, then run this again."
  say "Installing for tests of the Python files: $wanted (about 20 s)"
  rm -rf "$tools/python"
  python3 -m venv "$tools/python"
  run "$ATELIER_PYTHON" -m pip install --quiet --disable-pip-version-check "${python_packages[@]}" ||
    die "could not install $wanted with pip."
  echo "$wanted" >"$tools/python/stamp"
}

find_chromedriver() {
  CHROMEDRIVER=${CHROMEDRIVER:-$(command -v chromedriver || true)}
  export CHROMEDRIVER
  [ -x "$CHROMEDRIVER" ]
}

find_browser() {
  local name
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null && return
  done
  [ -d "/Applications/Google Chrome.app" ]
}

# has_version COMMAND VERSION: whether it says this version of itself.
has_version() {
  command -v "$1" >/dev/null && "$1" --version 2>/dev/null | grep -qwF -- "$2"
}

has_axe() {
  grep -qsF "\"version\": \"$axe_version\"" "$tools/npm/node_modules/axe-core/package.json"
}

# It does not say its version; cargo wrote down which one it has installed.
has_wasm_split() {
  [ -x "$tools/bin/wasm-split-cli" ] && grep -qF "\"wasm_split_cli_support $wasm_split_version " "$tools/.crates.toml" 2>/dev/null
}

# install_packages WHAT PACKAGE…
install_packages() {
  local what=$1 root=()
  shift
  command -v apt-get >/dev/null || die "missing: $what. Install it with your system's package manager, then run this again."
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "missing: $what. As root: apt-get install $*"
    root=(sudo)
  fi
  say "Installing $what with apt: $* (about a minute)"
  local apt=(${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  # In the foreground, since sudo may ask for a password. The list of packages may be old or absent.
  "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null 2>&1 ||
    { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null; } ||
    die "could not install $what. By hand: apt-get install $*"
}

# install_crate N/M CRATE VERSION HOW-LONG [OPTION…]: a built one if cargo-binstall has it, else built
# here. Tools run for seconds: to optimise them at all takes as long again as to build them (686 s of
# processor time instead of 360, measured), and spares two seconds of a build of the page.
install_crate() {
  local step=$1 crate=$2 version=$3 time=$4
  shift 4
  if command -v cargo-binstall >/dev/null; then
    say "[$step] $crate $version: looking for a built one (some seconds)"
    if run cargo binstall --no-confirm --disable-strategies compile --root "$tools" --version "=$version" \
      "$crate" >"$tools/install.log" 2>&1; then
      return
    fi
  fi
  say "[$step] $crate $version: building it ($time on two cores)"
  : >"$tools/install.log"
  start "$tools/install.log" env \
    CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_TARGET_DIR="$tools/build" \
    CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=100 \
    cargo install "$crate" --version "$version" --root "$tools" --force "$@"
  local pid=$started begin=$SECONDS next=15 done_of status=0
  while running "$pid"; do
    sleep 0.5
    [ $((SECONDS - begin)) -ge "$next" ] || continue
    next=$((next + 15))
    # cargo draws a bar that says how many crates of how many; it is in the log.
    done_of=$(tail -c 4000 "$tools/install.log" | grep -oE '[0-9]+/[0-9]+' | tail -n 1 || true)
    say "    $((SECONDS - begin)) s, ${done_of:-no} crates built"
  done
  wait "$pid" || status=$?
  stop "$pid"
  if [ "$status" -ne 0 ]; then
    tr '\r' '\n' <"$tools/install.log" | tail -n 25 >&2
    die "could not build $crate $version. By hand: cargo install $crate --version $version $*"
  fi
}

install_from_npm() {
  say "[$1] binaryen $binaryen_version, esbuild $esbuild_version and axe-core $axe_version from npm (some seconds)"
  run npm install --silent --no-audit --no-fund --no-save --prefix "$tools/npm" \
    "binaryen@$binaryen_version" "esbuild@$esbuild_version" "axe-core@$axe_version" ||
    die "could not install binaryen $binaryen_version, esbuild $esbuild_version and axe-core $axe_version with npm."
}

# The servers that Replicate's models are packaged in, for the tests of runners.
set_up_cog() {
  local version folder
  for version in "${cog_versions[@]}"; do
    folder=$tools/cog-$version
    [ ! -f "$folder/stamp" ] || continue
    say "Installing for tests of runners: cog $version (about 30 s)"
    rm -rf "$folder"
    run python3 -m venv "$folder"
    run "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "cog==$version" "$cog_pillow" ||
      die "could not install cog $version"
    touch "$folder/stamp"
  done
}

# A server of S3's interface, for the tests of outputs in a bucket.
set_up_moto() {
  [ "$(cat "$tools/moto/stamp" 2>/dev/null)" != "$moto_package" ] || return 0
  say "Installing for tests of buckets: $moto_package (about 30 s)"
  rm -rf "$tools/moto"
  run python3 -m venv "$tools/moto"
  run "$tools/moto/bin/python" -m pip install --quiet --disable-pip-version-check "$moto_package" ||
    die "could not install $moto_package with pip."
  echo "$moto_package" >"$tools/moto/stamp"
}

# PostgreSQL itself, for the tests of several processes: its programs are in $postgres_bin.
set_up_postgres() {
  find_postgres || install_packages "PostgreSQL, for the tests of several processes" postgresql
  find_postgres || die "missing: PostgreSQL. Install it, then run this again."
}

find_postgres() {
  local folder
  for folder in /usr/lib/postgresql/*/bin "$(dirname "$(command -v initdb || true)")"; do
    postgres_bin=$folder
    [ ! -x "$folder/initdb" ] || return 0
  done
  return 1
}
