#!/bin/sh
# Runs every fuzz target of the module for the given time each (default 10s) and stops at the first failure.
set -eu
time=${1:-10s}
go=${GO:-go}
cd "$(dirname "$0")/.."

list=$("$go" test -list '^Fuzz' ./...)
targets=$(printf '%s\n' "$list" | awk '
	/^Fuzz/      { names[++n] = $1; next }
	/^ok[ \t]/   { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }')
if [ -z "$targets" ]; then
	echo "no fuzz target found" >&2
	exit 1
fi
printf '%s\n' "$targets" | while read -r package target; do
	echo "fuzz $package $target $time"
	"$go" test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" </dev/null
done
