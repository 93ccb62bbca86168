#!/usr/bin/env bash
# A program that was compiled against the release before prints with today's library what it prints compiled today.
#   old_program_test.sh OLD_PROGRAM NEW_PROGRAM MODEL [EMULATOR...]
set -euo pipefail
old=$("${@:4}" "$1" "$3")
new=$("${@:4}" "$2" "$3")
printf '%s\n' "$old"
if [[ $old != "$new" || $(grep -c ' bytes, ' <<<"$old") -eq 0 ]]; then
  printf 'compiled against today'\''s headers it prints:\n%s\n' "$new" >&2
  exit 1
fi
