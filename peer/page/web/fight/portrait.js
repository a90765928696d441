import { drawFighter } from './figure.js';
import { poseOf } from './pose.js';

/** Draws a fighter standing, for the select screen. */
export function portrait(canvas, app, kind, side) {
  const c = canvas.getContext('2d');
  c.clearRect(0, 0, canvas.width, canvas.height);
  const colour = app.settings.colours[side ? 'b' : 'a'];
  c.save();
  c.translate(canvas.width / 2, canvas.height - 14);
  const k = (canvas.height - 24) / 188; // the tallest, with what it holds
  c.scale(k, -k);
  const f = { action: 0, move: 0, frame: 1, length: 0, vx: 0, vy: 0, y: 0, bits: 16, code: 0, hitstop: 0 };
  drawFighter(c, kind, poseOf(kind, f, 'idle', null, 1, 12), { facing: side ? -1 : 1, colour, side, light: 1 });
  c.restore();
}
