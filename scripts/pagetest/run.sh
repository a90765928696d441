#!/bin/sh
# The tests of the page in a real browser: needs node 20, npm and Debian's chromium, and bin/peer.
# PAGETEST_OPTIONAL=1 turns what is missing into a skip with a reason.
set -eu
cd "$(dirname "$0")"
lacks() {
	echo "the tests of the page cannot run here: $1" >&2
	[ "${PAGETEST_OPTIONAL:-}" = 1 ] && exit 0
	exit 1
}
command -v node >/dev/null 2>&1 || lacks "node is not installed (apt-get install nodejs npm)"
node -e "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)" || lacks "node is older than 20"
node --test unit.test.js
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || lacks "Chromium is not installed (apt-get install chromium)"
[ -x "${PEER:-../../bin/peer}" ] || lacks "there is no bin/peer (make build)"
if [ ! -d node_modules/playwright-core ]; then
	command -v npm >/dev/null 2>&1 || lacks "npm is not installed (apt-get install npm)"
	npm ci --no-audit --no-fund || lacks "playwright-core could not be fetched"
fi
node --test --test-concurrency=1 page.test.js picture.test.js walk.test.js
