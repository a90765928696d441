// A peer of bad manners: built from these sources, but what it says of itself
// and in the chat goes out as it is, uncleaned.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Builds it in dir and gives its path. */
export function rudePeer(dir) {
  const clean = join(root, 'natpunch/rendezvous/text.go'), changed = join(dir, 'text.go'), overlay = join(dir, 'overlay.json'), file = join(dir, 'rude');
  const from = readFileSync(clean, 'utf8'), head = 'maxRunes, maxBytes int) string {', to = from.replace(head, `${head}\n\tif maxRunes > 0 {\n\t\treturn s\n\t}`);
  if (from === to) throw new Error('natpunch/rendezvous/text.go has changed');
  writeFileSync(changed, to);
  writeFileSync(overlay, JSON.stringify({ Replace: { [clean]: changed } }));
  execFileSync(process.env.GO || 'go', ['build', '-trimpath', '-buildvcs=false', '-overlay', overlay, '-o', file, './cmd/peer'], { cwd: root, env: { ...process.env, CGO_ENABLED: '0' } });
  return file;
}
