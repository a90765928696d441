// The graph of the connection: rollback depth of every frame, ping, loss,
// stalls, offset, bytes, FEC. Colour and height say the same.

import { t } from '../language.js';

const kept = 240;

export class NetGraph {
  constructor(app) {
    this.app = app;
    this.depth = new Uint8Array(kept);
    this.bits = new Uint8Array(kept);
    this.at = 0;
    this.pings = [];
    this.visible = false;
    this.last = null;
  }

  clear() { this.depth.fill(0); this.bits.fill(0); this.pings = []; this.last = null; }

  frame(s) {
    const i = this.at = (this.at + 1) % kept;
    this.depth[i] = s.depth;
    this.bits[i] = s.flags & 12; // stalled, frozen
  }

  take(n) {
    this.last = n;
    this.pings.push({ ping: n.ping_ms, jitter: n.jitter_ms, loss: n.loss_pct });
    if (this.pings.length > 60) this.pings.shift();
  }

  draw(c, w, h) {
    if (!this.visible) return;
    const x = w - 412, y = Math.min(104, h - 236), k = this.app.settings.colours;
    c.fillStyle = 'rgba(12,12,28,0.82)';
    c.beginPath(); c.roundRect(x, y, 392, this.last?.why ? 212 : 196, 8); c.fill();
    c.font = '600 11px system-ui, sans-serif';
    c.textAlign = 'left';
    c.textBaseline = 'alphabetic';
    c.fillStyle = '#f4ead8';
    c.fillText(t('graph.rollback'), x + 12, y + 18);
    const base = y + 82;
    c.strokeStyle = 'rgba(255,255,255,0.14)';
    c.lineWidth = 1;
    for (const d of [4, 8]) { c.beginPath(); c.moveTo(x + 12, base - d * 6.5); c.lineTo(x + 368, base - d * 6.5); c.stroke(); c.fillText(String(d), x + 373, base - d * 6.5 + 4); }
    for (let i = 0; i < kept; i++) {
      const j = (this.at + 1 + i) % kept, d = this.depth[j], px = x + 12 + i * 1.48;
      if (d) { c.fillStyle = d <= 2 ? k.good : d <= 5 ? k.fair : k.bad; c.fillRect(px, base - Math.min(9, d) * 6.5, 1.5, Math.min(9, d) * 6.5); }
      if (this.bits[j]) { c.fillStyle = k.bad; c.beginPath(); c.moveTo(px, base + 2); c.lineTo(px - 3, base + 9); c.lineTo(px + 3, base + 9); c.fill(); }
    }
    c.fillStyle = '#f4ead8';
    c.fillText(t('graph.ping'), x + 12, y + 106);
    const most = Math.max(60, ...this.pings.map((p) => p.ping + p.jitter));
    this.pings.forEach((p, i) => {
      const px = x + 12 + i * 6, py = y + 150 - (p.ping / most) * 36, half = (p.jitter / most) * 36;
      c.fillStyle = 'rgba(255,255,255,0.22)';
      c.fillRect(px, py - half, 5, Math.max(1, 2 * half));
      c.fillStyle = k.b;
      c.fillRect(px, py - 1, 5, 2.5);
      if (p.loss > 0.05) { c.fillStyle = k.bad; c.fillRect(px, y + 154 - Math.min(20, p.loss * 2), 3, Math.min(20, p.loss * 2)); }
    });
    const n = this.last;
    c.fillStyle = '#f4ead8';
    if (!n) { c.fillText(t('graph.none'), x + 12, y + 172); return; }
    c.fillText(t('graph.one', { path: n.path, loss: n.loss_pct.toFixed(1), stalls: n.stalls, offset: (n.offset_us / 1000).toFixed(1), adv: n.advantage }), x + 12, y + 172);
    c.fillText(t('graph.two', { up: (n.up_bps / 1000).toFixed(1), down: (n.down_bps / 1000).toFixed(1), fec: n.fec, rec: n.recovered, second: n.second }), x + 12, y + 187);
    if (n.why) c.fillText(n.why, x + 12, y + 202, 368);
  }
}
