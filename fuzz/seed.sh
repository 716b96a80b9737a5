#!/bin/sh
# Makes the readers' test corpus into seeds: fuzz/corpus/read_<agent>/. Each file is given the three bytes that
# select its path and its cut, see lookback_testkit::fuzzing.
set -eu
cd "$(dirname "$0")"
for agent in claude codex gemini; do
    seeds="corpus/read_$agent"
    mkdir -p "$seeds"
    number=0
    find "../crates/readers/tests/corpus/$agent" -type f -path '*/home/*' \( -name '*.json' -o -name '*.jsonl' \) -size -16k |
        LC_ALL=C sort | while read -r file; do
        number=$((number + 1))
        case "$agent:$file" in
            gemini:*.json) select='\001' ;;
            *) select='\000' ;;
        esac
        { printf "$select\177\377"; cat "$file"; } > "$seeds/$number"
    done
done
