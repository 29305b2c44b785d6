# Builds the page for deployment.

build_release() {
  local previous=
  if [ "${1:-}" = --previous ]; then
    previous=${2:?--previous needs a folder} && shift 2
    [ -f "$previous/index.html" ] || die "$previous is not the dist/ of a release"
    command -v zstd >/dev/null || install_packages "zstd, for differences between releases" zstd
    # It may be dist/ itself, which the build replaces.
    temporary_files=$(mktemp -d)
    cp -R "$previous/." "$temporary_files"
  fi
  set_up_page
  run trunk build "${release[@]}" "$@"
  [ -z "$previous" ] || run node .dev/differences.mjs dist "$temporary_files"
  echo "The page is in dist/."
}
