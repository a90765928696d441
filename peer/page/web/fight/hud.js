// Bars, timer, rounds, meters, combo and words of a fight, in design pixels:
// 720 high, as wide as the window is. Side 0 is ▲, side 1 ◆.

import { t } from '../language.js';
import { Scene } from './scene.js';

const bold = (px) => `italic 800 ${px}px "Trebuchet MS", "DejaVu Sans", system-ui, sans-serif`;
const plain = (px) => `600 ${px}px "Trebuchet MS", "DejaVu Sans", system-ui, sans-serif`;

/** Meters beside the main one, by ruleset: [field, key, most]. */
const gauges = {
  sf: [['drive', 255], ['stun', 255]], tekken: [['heat', 255]], soulcalibur: [['guard', 100], ['soulCharge', 480]], mk: [], ufc: [['stamina', 255], ['stun', 255]],
  wwe: [['stamina', 255], ['hype', 255]], defjam: [['hype', 255]], tagteam: [['resolve', 100]],
};

function slab(c, x, y, w, h, lean) { c.beginPath(); c.moveTo(x + lean, y); c.lineTo(x + w + lean, y); c.lineTo(x + w, y + h); c.lineTo(x, y + h); c.closePath(); }

function label(c, s, x, y, fill, edge = 'rgba(10,8,24,0.85)', width = 5) {
  c.lineJoin = 'round';
  c.lineWidth = width;
  c.strokeStyle = edge;
  c.strokeText(s, x, y);
  c.fillStyle = fill;
  c.fillText(s, x, y);
}

export class Hud {
  constructor(app) { this.app = app; this.scene = new Scene(app); this.clear(); }

  clear() { this.ghost = [1, 1]; this.combo = [null, null]; this.told = [0, 0]; this.spoken = ''; }

  /** Training and theatre have a bar of their own below. */
  raised(s) { return s.kind === 1 ? 0 : s.kind === 2 ? 52 : 110; }

  /** The bars' slow parts and the combo counters move on; frames of display time. */
  tick(s, frames) {
    for (const side of [0, 1]) {
      const f = s.current.fighters[s.point[side]];
      if (!f) continue;
      const now = f.most ? f.health / f.most : 0;
      if (this.ghost[side] < now) this.ghost[side] = now;
      if (f.comboHits === 0 || now <= 0) this.ghost[side] = Math.max(now, this.ghost[side] - frames * 0.012);
      const other = 1 - side; // the counter stands on the attacker's side
      if (f.comboHits >= 2 && (now > 0 || this.told[other] !== f.comboHits)) this.combo[other] = { hits: f.comboHits, damage: f.comboDamage, age: 0 };
      else if (this.combo[other]) { this.combo[other].age += frames; if (this.combo[other].age > 50) this.combo[other] = null; }
      this.told[other] = f.comboHits; // one who is knocked out stays in the combo
    }
  }

  draw(c, s, w, h, part, words, halted) {
    const large = this.app.settings.value.large_text ? 1.25 : 1, colours = this.app.settings.colours;
    const m = s.current, middle = w / 2, bar = Math.min(520, middle - 84);
    c.textBaseline = 'alphabetic';
    for (const side of [0, 1]) {
      c.save();
      if (side) { c.translate(w, 0); c.scale(-1, 1); }
      this.side(c, s, side, middle - 62 - bar, bar, h, part, colours, large);
      c.restore();
      this.texts(c, s, side, w, middle, bar, h, part, colours, large);
    }
    // Timer.
    c.textAlign = 'center';
    c.fillStyle = 'rgba(14,12,32,0.86)';
    c.beginPath(); c.roundRect(middle - 44, 20, 88, 58, 10); c.fill();
    c.strokeStyle = 'rgba(255,232,190,0.5)';
    c.lineWidth = 2;
    c.stroke();
    const left = Math.max(0, Math.ceil(m.timer / 60)), late = left <= 10 && m.timer > 0;
    c.font = bold((left > 99 ? 33 : 40) * (large > 1 ? 1.1 : 1));
    c.fillStyle = late ? colours.bad : '#fff4dc';
    c.fillText(m.timer > 0 || s.kind !== 2 ? String(left) : '∞', middle - 2, 64);
    if (!halted) this.announce(c, s, w, h, part);
    this.scene.draw(c, s, w, h);
    for (const word of words) {
      c.textAlign = word.side ? 'right' : 'left';
      c.font = bold(26 * large);
      c.globalAlpha = Math.min(1, (55 - word.age) / 15);
      label(c, word.text, word.side ? w - 46 : 46, s.count > 2 ? 296 : 252, word.side ? colours.b : colours.a);
      c.globalAlpha = 1;
    }
  }

  side(c, s, side, x, bar, h, part, colours) {
    const f = s.current.fighters[s.point[side]];
    if (!f) return;
    const most = f.most || 1, health = Math.max(0, f.health / most), rec = Math.max(health, Math.min(1, (f.health + f.recoverable) / most)), colour = side ? colours.b : colours.a;
    // Health fills towards the middle.
    const y = 28, tall = 26;
    c.fillStyle = 'rgba(14,12,32,0.86)';
    slab(c, x - 5, y - 5, bar + 10, tall + 10, 12); c.fill();
    c.fillStyle = '#3a2438';
    slab(c, x, y, bar, tall, 11); c.fill();
    const part_ = (k, fill, from = 0) => { if (k > from) { c.fillStyle = fill; slab(c, x + bar * (1 - k), y, bar * (k - from), tall, 11); c.fill(); } };
    part_(Math.min(1, this.ghost[side]), '#f5efe2');
    part_(rec, 'rgba(255,255,255,0.42)');
    if (rec > health) { // recoverable: striped as well as pale
      c.save(); slab(c, x + bar * (1 - rec), y, bar * (rec - health), tall, 11); c.clip();
      c.strokeStyle = 'rgba(30,20,40,0.5)'; c.lineWidth = 3; c.beginPath();
      for (let i = 0; i < bar; i += 9) { c.moveTo(x + i, y + tall); c.lineTo(x + i + tall, y); }
      c.stroke(); c.restore();
    }
    const g = c.createLinearGradient(0, y, 0, y + tall);
    g.addColorStop(0, '#fff6dc'); g.addColorStop(0.18, colour); g.addColorStop(1, health < 0.25 ? colours.bad : colour);
    part_(health, g);
    // Rounds won.
    const need = part?.rounds ?? 2;
    for (let i = 0; i < need; i++) {
      c.beginPath();
      const px = x + bar - 10 - i * 24, py = y + tall + 20;
      if (side) { c.moveTo(px, py - 9); c.lineTo(px + 9, py); c.lineTo(px, py + 9); c.lineTo(px - 9, py); } else { c.moveTo(px, py - 9); c.lineTo(px + 9, py + 7); c.lineTo(px - 9, py + 7); }
      c.closePath();
      c.fillStyle = i < s.current.wins[side] ? colour : 'rgba(14,12,32,0.7)';
      c.fill();
      c.strokeStyle = 'rgba(255,240,210,0.8)'; c.lineWidth = 1.6; c.stroke();
    }
    // Partners of a team.
    let row = 0;
    for (let slot = side; slot < s.count; slot += 2) {
      if (slot === s.point[side]) continue;
      const p = s.current.fighters[slot], py = y + tall + 42 + row++ * 25, k = Math.max(0, p.health / (p.most || 1)), r = Math.max(0, Math.min(1, (p.health + p.recoverable) / (p.most || 1)));
      c.fillStyle = 'rgba(14,12,32,0.86)'; slab(c, x - 3, py - 3, 216, 23, 9); c.fill();
      c.fillStyle = '#3a2438'; slab(c, x, py, 210, 17, 7); c.fill();
      if (r > k) { c.fillStyle = 'rgba(255,255,255,0.4)'; slab(c, x, py, 210 * r, 17, 7); c.fill(); }
      if (k > 0) { c.globalAlpha = p.place > 1 ? 1 : 0.72; c.fillStyle = k < 0.25 ? colours.bad : colour; slab(c, x, py, 210 * k, 17, 7); c.fill(); c.globalAlpha = 1; }
    }
    if (this.app.view.name === 'desync') return; // a panel stands there
    // Meter in thousands, at the bottom.
    const my = h - 46 - this.raised(s), mw = Math.min(330, bar), mx = 40, full = f.mostMeter || 1, stocks = Math.max(1, Math.round(full / 1000));
    for (let i = 0; i < stocks; i++) {
      const k = Math.max(0, Math.min(1, (f.meter - i * full / stocks) / (full / stocks))), sx = mx + i * (mw / stocks), sw = mw / stocks - 6;
      c.fillStyle = 'rgba(14,12,32,0.86)'; slab(c, sx - 2, my - 2, sw + 4, 18, -7); c.fill();
      if (k > 0) { c.fillStyle = k >= 1 ? '#ffe08a' : '#7f8cff'; slab(c, sx, my, sw * k, 14, -6); c.fill(); }
    }
    // Gauges of the ruleset.
    (gauges[part?.ruleset] || []).forEach(([field, top], i) => {
      const k = Math.max(0, Math.min(1, f[field] / top)), gy = my - 24 - i * 20, gw = 190;
      c.fillStyle = 'rgba(14,12,32,0.82)'; slab(c, mx - 2, gy - 2, gw + 4, 13, -5); c.fill();
      c.fillStyle = field === 'drive' ? (f.bits & 64 ? '#8a8a8a' : '#6fe08b') : field === 'stun' ? '#ffd24d' : field === 'heat' ? '#ff6f91' : field === 'stamina' ? '#7fd4ff' : '#d39bff';
      if (k > 0) { slab(c, mx, gy, gw * k, 9, -4); c.fill(); }
      if (field === 'drive') { c.fillStyle = 'rgba(14,12,32,0.9)'; for (let q = 1; q < 6; q++) c.fillRect(mx + gw * q / 6, gy - 1, 2, 11); }
    });
  }

  texts(c, s, side, w, middle, bar, h, part, colours, large) {
    const f = s.current.fighters[s.point[side]];
    if (!f) return;
    const at = (x) => (side ? w - x : x), left = middle - 62 - bar, colour = side ? colours.b : colours.a;
    c.textAlign = side ? 'right' : 'left';
    const kind = this.app.view.kind(f), who = part?.players ? this.app.person(part.players[side], side, part.side) : '';
    c.font = bold(20 * large);
    label(c, `${side ? '◆' : '▲'} ${kind?.name || ''}`, at(left), 84, '#fff4dc', undefined, 4);
    const long = c.measureText(`▲ ${kind?.name || ''}`).width;
    c.font = plain(15 * large);
    if (who) label(c, who, at(left + long + 14), 83, colour, undefined, 4);
    let row = 0;
    for (let slot = side; slot < s.count; slot += 2) {
      if (slot === s.point[side]) continue;
      c.font = plain(14 * Math.min(large, 1.15));
      const p = s.current.fighters[slot], name = this.app.view.kind(p)?.name || '';
      label(c, p.health > 0 ? name : '✕ ' + name, at(left + 10), 110 + row++ * 25, p.health > 0 ? '#fff8e8' : '#b8aeb8', undefined, 4);
    }
    if (this.app.view.name === 'desync') return;
    c.font = plain(12 * large);
    label(c, t('hud.meter'), at(40 + Math.min(330, bar) + 10), h - 34 - this.raised(s), '#f4ead8', undefined, 3);
    (gauges[part?.ruleset] || []).forEach(([field], i) => label(c, t('gauge.' + field), at(240), h - 61 - i * 20 - this.raised(s), '#f4ead8', undefined, 3));
    const marks = [f.bits & 4 && t('fight.rage'), f.bits & 64 && t('fight.burnout'), f.bits & 8 && t('fight.armor'), f.stance > 0 && t('fight.stance', { n: f.stance })].filter(Boolean);
    if (marks.length) label(c, marks.join(' · '), at(40), h - 68 - this.raised(s) - (gauges[part?.ruleset] || []).length * 20, colour, undefined, 4);
    const combo = this.combo[side], drop = s.kind === 1 ? (s.count > 4 ? 12 : 0) : s.count > 4 ? 52 : s.count > 2 ? 28 : 0;
    if (combo) {
      const pop = Math.max(0, 1 - combo.age / 8);
      c.globalAlpha = Math.min(1, (50 - combo.age) / 12);
      c.font = bold((44 + pop * 4) * large);
      label(c, String(combo.hits), at(48), 188 + drop, colour, undefined, 8);
      const n = c.measureText(String(combo.hits)).width;
      c.font = bold(21 * large);
      label(c, t('hud.hits'), at(58 + n), 176 + drop, '#fff4dc');
      c.font = plain(16 * large);
      label(c, t('hud.damage', { n: combo.damage }), at(58 + n), 196 + drop, '#fff4dc', undefined, 4);
      c.globalAlpha = 1;
    }
  }

  announce(c, s, w, h, part) {
    const m = s.current, phase = this.app.data.phases[m.phase];
    let big = '', small = '';
    const winner = (n) => (n === 3 ? t('fight.draw') : n ? t('fight.wins', { name: this.winner(s, n - 1, part) }) : '');
    if (s.kind === 2) return;
    if (phase === 'intro') { big = t('fight.round', { n: m.round + 1 }); }
    if (phase === 'round start') { big = t('fight.ready'); }
    if (phase === 'live' && m.phaseFrames < 45 && s.kind !== 2) big = t('fight.go');
    if (phase === 'round end') { big = m.timer <= 0 ? t('fight.time') : t('fight.ko'); if (m.phaseFrames > 50) { small = winner(m.roundWinner); } }
    if (phase === 'finisher window') big = t('fight.finish');
    if (phase === 'match end' || phase === 'post match') { big = winner(m.matchWinner); }
    if (big !== this.spoken) { this.spoken = big; if (big) this.app.say(big + (small ? ', ' + small : '')); }
    if (!big) return;
    c.textAlign = 'center';
    const calm = this.app.settings.reduced, enter = calm ? 1 : Math.min(1, (m.phaseFrames + 4) / 10), size = big.length > 14 ? 64 : 96;
    c.save();
    c.translate(w / 2, h * 0.4);
    c.scale(1 + (1 - enter) * 0.5, 1 + (1 - enter) * 0.5);
    c.globalAlpha = enter;
    c.font = bold(size);
    label(c, big, 0, 0, '#ffe9b8', 'rgba(18,12,34,0.92)', 14);
    if (small) { c.font = bold(34); label(c, small, 0, 52, '#fff4dc', 'rgba(18,12,34,0.92)', 8); }
    c.restore();
    c.globalAlpha = 1;
  }

  winner(s, side, part) {
    const p = part?.players?.[side];
    return p?.name || this.app.view.kind(s.current.fighters[s.point[side]])?.name || t('person.opponent');
  }
}
