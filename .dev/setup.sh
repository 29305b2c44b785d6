# Installs missing tools. Each version has its own folder, which all checkouts of this user share; .tools/ contains links.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/atelier

# need COMMAND WHAT-TO-INSTALL: fails if a command is missing.
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
  # `rustup target list` uses the toolchain that is active in this folder, so it respects an override.
  is_line_of "$target" "$(rustup target list --installed)" || {
    say "Adding the Rust target $target (some seconds)"
    retry rustup target add "$target" || die "could not add $target: run \`rustup target add $target\`."
  }
}

set_up_page() {
  set_up_base
  set_up_target
  wasm_bindgen_version=$(awk '$1 == "name" { name = $3 } $1 == "version" && name == "\"wasm-bindgen\"" { gsub("\"", "", $3); print $3; exit }' Cargo.lock)
  [ -n "$wasm_bindgen_version" ] || die "Cargo.lock has no wasm-bindgen: run \`cargo generate-lockfile\`."
  set_up_npm
  set_up_crate trunk trunk "$trunk_version" "about 2½ min" --locked
  # Not --locked: its own lock file has older versions than we need.
  set_up_crate wasm-bindgen wasm-bindgen-cli "$wasm_bindgen_version" "about 1 min"
  set_up_crate wasm-split-cli wasm_split_cli_support "$wasm_split_version" "about ½ min" --locked \
    --features build-binary
  # The tools share this build folder. It is large, and no longer needed.
  rm -rf "$cache/build"
}

set_up_tests() {
  set_up_base
  # Packages are downloaded while the tools are built.
  start_download "Python packages" set_up_python_packages
  start_download "JavaScript packages" set_up_npm_packages javascript "${javascript_packages[@]}"
  find_chromedriver && find_browser || start_download "Chromium" install_chromium
  [[ " $engines " != *" firefox "* ]] || find_firefox || start_download "Firefox" install_firefox
  [[ " $engines " != *" webkit "* ]] || find_webkit || start_download "WebKit" install_webkit
  set_up_page
  if ! is_version_from "$nextest_version" "$(cargo nextest --version 2>/dev/null)"; then
    set_up_crate cargo-nextest cargo-nextest "$nextest_version" "about 3 min" --locked \
      --no-default-features --features default-no-update
  fi
  [[ " $engines " != *" firefox "* ]] || set_up_geckodriver
  rm -rf "$cache/build"
  await_downloads

  local component installed
  installed=$(rustup component list --installed)
  for component in clippy rustfmt; do
    [[ "$installed" == *"$component"* ]] || retry rustup component add "$component" ||
      die "missing: $component. Run \`rustup component add $component\`."
  done
  find_browser || die "missing: Chromium (or Chrome). Install it, then run this again."
  find_chromedriver || die "missing: chromedriver. Install it, or name it in CHROMEDRIVER, then run this again."
  [[ " $engines " != *" firefox "* ]] || find_firefox || die "missing: Firefox. Install it, or name it in FIREFOX, then run this again."
  [[ " $engines " != *" webkit "* ]] || find_webkit || die "missing: WebKitWebDriver and xvfb-run. Install them, then run this again."
  export ATELIER_PYTHON=$tools/python/bin/python
  export ATELIER_NODE_MODULES=$tools/javascript/node_modules
}

# A desktop browser recommends many packages. Tests need only the fonts.
install_chromium() {
  install_packages "Chromium, for the browser tests" chromium chromium-driver fonts-liberation
}

install_firefox() {
  install_packages "Firefox, for the browser tests" firefox-esr fonts-liberation
}

# WebKit has no headless mode, so its windows are on a virtual display.
install_webkit() {
  install_packages "WebKit, for the browser tests" webkit2gtk-driver xvfb xauth fonts-liberation
}

downloads=()

# start_download NAME COMMAND…: installs something in the background, or in the foreground if sudo may ask for a password.
start_download() {
  local name=$1 log
  shift
  log=$tools/logs/set-up-${name// /-}.log
  if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
    "$@"
    return
  fi
  : >"$log"
  start "$log" "$@"
  downloads+=("$started $log")
}

await_downloads() {
  local download pid log
  for download in ${downloads[@]+"${downloads[@]}"}; do
    pid=${download%% *} log=${download#* }
    wait "$pid" || die "$(cat "$log")"
    stop "$pid"
  done
  downloads=()
}

set_up_geckodriver() {
  GECKODRIVER=${GECKODRIVER:-$tools/bin/geckodriver}
  export GECKODRIVER
  [ "$GECKODRIVER" != "$tools/bin/geckodriver" ] ||
    set_up_crate geckodriver geckodriver "$geckodriver_version" "about 1 min" --locked
}

find_firefox() {
  FIREFOX=${FIREFOX:-$(command -v firefox-esr || command -v firefox || true)}
  export FIREFOX
  [ -x "$FIREFOX" ]
}

find_webkit() {
  WEBKITDRIVER=${WEBKITDRIVER:-$(command -v WebKitWebDriver || true)}
  export WEBKITDRIVER
  [ -x "$WEBKITDRIVER" ] && command -v xvfb-run >/dev/null && command -v xauth >/dev/null
}

# The packages run the Python files that the service offers for download, and test the service against its OpenAPI document.
set_up_python_packages() {
  python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages "Python with venv" python3 python3-venv
  python3 -c 'import ensurepip, venv' 2>/dev/null || die "missing: Python 3 with venv. Install python3 and python3-venv, then run this again."
  set_up_venv python "${python_packages[@]}"
}

# set_up_npm_packages NAME PACKAGE@VERSION…: makes .tools/NAME a folder with these packages from npm.
set_up_npm_packages() {
  local name=$1 folder
  shift
  folder=$cache/$name-$(echo "$*" | cksum | cut -d ' ' -f 1)
  if [ ! -f "$folder/complete" ]; then
    say "Installing from npm: $* (some seconds)"
    rm -rf "$folder"
    mkdir -p "$folder"
    retry npm install --silent --no-audit --no-fund --no-save --prefix "$folder" "$@" </dev/null ||
      die "could not install $* with npm."
    touch "$folder/complete"
  fi
  # An earlier version of this script created a folder instead of a link.
  [ -L "$tools/$name" ] || rm -rf "${tools:?}/$name"
  ln -sfn "$folder" "$tools/$name"
}

# set_up_venv NAME PACKAGE…: makes .tools/NAME a Python virtual environment with these packages.
set_up_venv() {
  local name=$1 folder
  shift
  folder=$cache/$name-$(echo "$*" "$(python3 --version)" | cksum | cut -d ' ' -f 1)
  if [ ! -f "$folder/complete" ]; then
    say "Installing with pip: $*"
    rm -rf "$folder"
    mkdir -p "$cache"
    python3 -m venv "$folder"
    retry "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@" ||
      die "could not install $* with pip."
    touch "$folder/complete"
  fi
  # An earlier version of this script created a folder instead of a link.
  [ -L "$tools/$name" ] || rm -rf "${tools:?}/$name"
  ln -sfn "$folder" "$tools/$name"
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

# is_line_of LINE TEXT: succeeds if the text contains the line.
is_line_of() {
  [[ $'\n'"$2"$'\n' == *$'\n'"$1"$'\n'* ]]
}

# is_version_from VERSION TEXT: succeeds if the first version number in the text is this one or a later one.
is_version_from() {
  local found
  [[ "$2" =~ [0-9]+\.[0-9]+\.[0-9]+ ]] || return 1
  found=${BASH_REMATCH[0]}
  [ "$(printf '%s\n' "$1" "$found" | sort -V | head -n 1)" = "$1" ]
}

# retry COMMAND…: runs a command up to three times, because a download may fail.
retry() {
  local pause
  for pause in 5 15; do
    ! "$@" || return 0
    say "$1 failed; trying again in $pause s"
    sleep "$pause"
  done
  "$@"
}

# install_packages WHAT PACKAGE…: installs packages with apt. WHAT describes them in messages.
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
    { retry "${apt[@]}" update && retry "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null; } ||
    die "could not install $what. To install it manually: apt-get install $*"
}

# set_up_crate BINARY CRATE VERSION HOW-LONG [OPTION…]: makes .tools/bin/BINARY this version.
set_up_crate() {
  local binary=$1 crate=$2 version=$3 folder
  folder=$cache/$crate-$version
  mkdir -p "$tools/bin"
  [ -x "$folder/bin/$binary" ] || install_crate "$folder" "${@:2}"
  # Some crates contain several programs, such as a test runner.
  ln -sfn "$folder/bin/"* "$tools/bin/"
}

# install_crate FOLDER CRATE VERSION HOW-LONG [OPTION…]: downloads the program with cargo-binstall if possible, else builds
# it without optimisation. Tools run for seconds: optimising them doubles the processor time of their build (686 s instead of
# 360 s, measured), and saves two seconds of a build of the page.
install_crate() {
  local folder=$1 crate=$2 version=$3 time=$4
  shift 4
  mkdir -p "$cache"
  if command -v cargo-binstall >/dev/null; then
    say "$crate $version: looking for a prebuilt program (some seconds)"
    if run cargo binstall --no-confirm --disable-strategies compile --root "$folder" --version "=$version" \
      "$crate" >"$tools/install.log" 2>&1; then
      return
    fi
  fi
  say "$crate $version: building it ($time on two cores; the first time only)"
  local attempt status
  for attempt in 1 2 3; do
    : >"$tools/install.log"
    build_crate "$folder" "$crate" "$version" "$@" && return
    # Only failed downloads are retried.
    grep -qiE 'download|spurious|network|timed? ?out|connection' "$tools/install.log" || break
    sleep 10
  done
  tr '\r' '\n' <"$tools/install.log" | tail -n 25 >&2
  die "could not build $crate $version. To build it manually: cargo install $crate --version $version $*"
}

# build_crate FOLDER CRATE VERSION [OPTION…]: builds a crate, and reports the progress.
build_crate() {
  local folder=$1 crate=$2 version=$3
  shift 3
  start "$tools/install.log" env \
    CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_TARGET_DIR="$cache/build" \
    CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=100 \
    cargo install "$crate" --version "$version" --root "$folder" --force "$@"
  local pid=$started begin=$SECONDS next=15 done_of status=0
  while running "$pid"; do
    sleep 0.5
    [ $((SECONDS - begin)) -ge "$next" ] || continue
    next=$((next + 15))
    # The log contains cargo's progress bar, with the number of built crates.
    done_of=$(tail -c 4000 "$tools/install.log" | grep -oE '[0-9]+/[0-9]+' | tail -n 1 || true)
    say "    $((SECONDS - begin)) s, ${done_of:-no} crates built"
  done
  wait "$pid" || status=$?
  stop "$pid"
  return "$status"
}

set_up_npm() {
  set_up_npm_packages npm "binaryen@$binaryen_version" "esbuild@$esbuild_version" "axe-core@$axe_version"
}

# The servers in which Replicate's models are packaged, for the tests of runners.
set_up_cog() {
  local version
  for version in "${cog_versions[@]}"; do
    set_up_venv "cog-$version" "cog==$version" "$cog_pillow"
  done
}

# A server with the S3 API, for the tests of outputs in a bucket.
set_up_moto() {
  set_up_venv moto "$moto_package"
}

# PostgreSQL, for the tests of several processes. Its programs are in $postgres_bin.
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
