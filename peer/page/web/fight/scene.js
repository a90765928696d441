// The moments that some rules put into a round: a pin, a submission, a fall off
// the stage, a finish by the surroundings, the points of the round.

import { t } from '../language.js';

const bold = (px) => `italic 800 ${px}px "Trebuchet MS", "DejaVu Sans", system-ui, sans-serif`;
const plain = (px) => `600 ${px}px "Trebuchet MS", "DejaVu Sans", system-ui, sans-serif`;

/** What stands in the middle: { head, text, side, presses } or null. side is who may act, 2 for both. */
export function sceneOf(m, name) {
  switch (name) {
    case 'wwe-pin': return { head: t('scene.pin'), text: t('scene.pintext'), side: m.target & 1, presses: Math.max(0, m.struggle) };
    case 'wwe-submission': return { head: t('scene.submission'), text: t('scene.submissiontext'), side: 2, presses: m.struggle };
    case 'sc-ring-out-termination': return { head: t('fight.ringout'), text: '', side: m.fallen === 1 ? 1 : m.fallen === 2 ? 0 : 2 };
    case 'dj-environment-finisher-prompt': return { head: t('scene.surroundings'), text: t('scene.surroundingstext'), side: m.owner & 1 };
    case 'ufc-round-end-scorecard': return { head: t('scene.scorecard'), text: `▲ ${m.score[0]}   ·   ◆ ${m.score[1]}`, side: m.score[0] === m.score[1] ? 2 : m.score[0] > m.score[1] ? 0 : 1 };
    default: return null;
  }
}

export class Scene {
  constructor(app) { this.app = app; this.spoken = ''; }

  /** Draws what the node of the newest state shows, in design pixels. */
  draw(c, s, w, h) {
    const name = this.app.data.nodes?.[s.current.node] || '', what = sceneOf(s.current, name);
    if (name !== this.spoken) { this.spoken = name; if (what) this.app.say(`${what.head}. ${what.text}`); }
    if (!what) return;
    const k = this.app.settings.colours, large = this.app.settings.value.large_text ? 1.2 : 1, colour = [k.a, k.b, '#ffe9b8'][what.side], x = w / 2, y = h * 0.27;
    c.font = plain(19 * large);
    const wide = Math.max(330, c.measureText(what.text).width + 70);
    c.fillStyle = 'rgba(14,12,32,0.86)';
    c.beginPath(); c.roundRect(x - wide / 2, y - 44, wide, what.presses === undefined ? 84 : 112, 12); c.fill();
    c.fillStyle = colour;
    c.fillRect(x - wide / 2, y - 44, 6, what.presses === undefined ? 84 : 112);
    c.textAlign = 'center';
    c.font = bold(34 * large);
    c.fillText(what.head, x, y - 6);
    c.font = plain(19 * large);
    c.fillStyle = '#fff4dc';
    c.fillText(what.text, x, y + 24);
    if (what.presses === undefined) return;
    // One bead a press, to the side that is ahead.
    const n = Math.min(16, Math.abs(what.presses)), ahead = name === 'wwe-pin' ? what.side : what.presses > 0 ? s.current.target & 1 : s.current.owner & 1;
    c.fillStyle = ahead ? k.b : k.a;
    for (let i = 0; i < n; i++) { c.beginPath(); c.arc(x + (ahead ? 1 : -1) * (12 + i * 13), y + 48, 5, 0, 7); c.fill(); }
    c.fillStyle = 'rgba(255,255,255,0.5)';
    c.fillRect(x - 1, y + 40, 2, 16);
  }
}
