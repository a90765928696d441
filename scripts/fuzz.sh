#!/bin/sh
# Runs every fuzz target of the module for the given time each (default 10s) and stops at the first failure.
# With a second argument only those whose "package Target" matches that extended regular expression:
#   sh scripts/fuzz.sh 2m 'rollback/wire '
#
# Two habits of the toolchain are dealt with here:
#
# Reducing an input that reached new code may take a minute by default. Where the coverage of an input differs from
# run to run, that minute goes by without a single new input, and the next one too: in 22 s a target of rollback/wire
# ran 2 117 inputs instead of 134 532. A hundred attempts are enough to keep the corpus small.
#
# Up to Go 1.26 a run whose time is over may end as a failure that says nothing but "context deadline exceeded"
# (go.dev/issue/75804: the end of the time is seen before the workers' own context has ended). That, word for word,
# without an input that failed, is a run that ended in time; everything else is a failure.
set -eu
time=${1:-10s}
only=${2:-}
go=${GO:-go}
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# ended_in_time FILE TARGET: all that the output in FILE complains of is the end of the time.
ended_in_time() {
	awk -v target="$2" '
		/^fuzz: elapsed: .*now fuzzing with / { began = 1; next }
		/^fuzz: elapsed: /                    { next }
		$0 ~ "^--- FAIL: " target " \\([0-9.]+s\\)$" && !failed { failed = 1; next }
		failed == 1 && /^    context deadline exceeded$/ { failed = 2; next }
		failed == 2 && (/^FAIL/ || /^exit status 1$/)    { next }
		{ other = 1 }
		END { exit !(began && failed == 2 && !other) }' "$1"
}

"$go" test -list '^Fuzz' ./... >"$work/list"
awk '
	/^Fuzz/      { names[++n] = $1; next }
	/^ok[ \t]/   { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }' "$work/list" | grep -E -e "$only" >"$work/targets" || {
	echo "no fuzz target found" >&2
	exit 1
}
while read -r package target <&3; do
	echo "fuzz $package $target $time"
	{
		code=0
		"$go" test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 100x "$package" 2>&1 </dev/null || code=$?
		echo "$code" >"$work/code"
	} | tee "$work/output"
	code=$(cat "$work/code")
	if [ "$code" -ne 0 ]; then
		if ! ended_in_time "$work/output" "$target"; then
			echo "fuzz $package $target failed" >&2
			exit 1
		fi
		echo "fuzz $package $target: the time was over; no input failed (go.dev/issue/75804)"
	fi
done 3<"$work/targets"
