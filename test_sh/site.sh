#!/usr/bin/env bash
# Makes the site: all documents as one set of pages with a search, the API reference from the public headers, and the
# last committed report of the claims. Checks every link.
#
#   test_sh/site.sh [options]
#
#   --out=FOLDER   where it goes, in place of what this script made there before; default: build/site
#   --serve        show it on http://localhost:8000 afterwards, until Ctrl-C; the search needs a server
#   --help         this text
#
# Installs missing packages first (test_sh/install_deps.sh --site): mkdocs, mkdocs-material, doxygen.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

out=$MIODB_ROOT/build/site
serve=false
while (($# > 0)); do
  take_option --serve "$@"
  shift "$option_words"
  case $option in
    --out) out=$value ;;
    --serve) serve=true ;;
    *) die "unknown option $option; see --help" ;;
  esac
done
[[ -n $out ]] || die "--out needs a folder"
if [[ -e $out && ! -e $out/search/search_index.json ]]; then
  die "--out: $out is there and is no site; nothing was removed"
fi

"$MIODB_ROOT/test_sh/install_deps.sh" --site
cd "$MIODB_ROOT"
scratch=$(mktemp -d)
exit_on_signals
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/stage" "$scratch/site"

python3 tools/site/stage.py "$MIODB_ROOT" "$scratch/stage"
MIODB_SITE_STAGE=$scratch/stage MIODB_SITE_OUT=$scratch/site \
  /usr/bin/env mkdocs build --quiet --config-file tools/site/mkdocs.yml >"$scratch/mkdocs.txt" 2>&1 || {
  cat "$scratch/mkdocs.txt" >&2
  die "mkdocs failed"
}
{ cat tools/site/Doxyfile && printf 'OUTPUT_DIRECTORY = "%s"\n' "$scratch/site"; } >"$scratch/Doxyfile"
doxygen "$scratch/Doxyfile" >"$scratch/doxygen.txt" 2>&1 || {
  cat "$scratch/doxygen.txt" >&2
  die "doxygen failed"
}
tools/site/links.py "$scratch/site" || die "links lead nowhere; see above"
rm -rf "$out"
mkdir -p "$(dirname "$out")"
mv "$scratch/site" "$out"
say "Site: $out/index.html"
if $serve; then (cd "$out" && exec python3 -m http.server --bind localhost 8000); fi
