#!/usr/bin/env bash
# Compiles each public header alone, as an application may include it: headers_test.sh CXX CC VULKAN_INCLUDES. Those of C are
# compiled as C99 and as C++.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT

count=0
for folder in "$root"/runtime/include "$root"/planner/include; do
  while IFS= read -r header; do
    name=${header#"$folder/"}
    echo "#include \"$name\"" >"$sources/${name//\//_}.cpp"
    if [[ $header == *.h ]]; then echo "#include \"$name\"" >"$sources/${name//\//_}.c"; fi
    count=$((count + 1))
  done < <(find "$folder" -name '*.h' -o -name '*.hpp')
done
((count > 30)) || { echo "headers_test.sh: found $count headers" >&2; exit 1; }
includes=(-I "$root/runtime/include" -I "$root/planner/include" -I "$3")
"$1" -std=c++20 -fsyntax-only -Wall -Wextra -Werror "${includes[@]}" "$sources"/*.cpp
"$2" -std=c99 -fsyntax-only -Wall -Wextra -Werror "${includes[@]}" "$sources"/*.c
echo "$count headers"
