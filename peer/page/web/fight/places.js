// Where each ruleset is fought: colours from back to front, and what stands
// behind the fighters. All of it keeps darker or paler than they are.

export const places = {
  // The quay at dusk.
  sf: { sky: ['#10122b', '#2c2350', '#7a3d63', '#d9775a'], moon: ['#ffeccb', 0.72, 0.2, 38], hills: ['#563457', '#392a4f'], houses: ['#241d3b', '#2b2242', '#1f1a35'], windows: ['#ffc96b', '#c98a4f'],
    water: ['#8b4a5e', '#3b2b55', '#191a3a'], floor: ['#4a3340', '#5c3e44', '#241a2b'], planks: true, back: 'rail', ink: '#14122a' },
  // The same at dawn.
  tekken: { sky: ['#23305c', '#5d5f98', '#c98aa0', '#ffd0a0'], moon: ['#fff3d6', 0.3, 0.4, 46], hills: ['#7d6b93', '#53507c'], houses: ['#37365c', '#413f66', '#302f52'], windows: ['#ffd9a0', '#c7a58f'],
    water: ['#dba39b', '#6a739e', '#2a3763'], floor: ['#5f5160', '#716069', '#302a40'], planks: true, back: 'rail', ink: '#26264a' },
  // A jetty in the open sea.
  soulcalibur: { sky: ['#0d1733', '#274a70', '#8d6a72', '#f2a65e'], moon: ['#ffe3a8', 0.5, 0.46, 54], hills: ['#3d4f74', '#2c3d62'], water: ['#d98f62', '#3a5f7d', '#10243f'],
    floor: ['#4b4a4e', '#64605c', '#23222d'], planks: true, back: 'none', ink: '#161c33' },
  // A court under a red moon.
  mk: { sky: ['#0b0712', '#200d1e', '#451522', '#7d2a24'], moon: ['#e4644a', 0.5, 0.25, 62], hills: ['#3a1724', '#240f1b'], houses: ['#1b0e1c', '#220f1f', '#170b18'], windows: ['#e0653c', '#7a3426'],
    water: ['#5a2028', '#2a1322', '#120a18'], floor: ['#3a2c34', '#4a3a40', '#1a1219'], planks: false, back: 'fires', ink: '#0e0812' },
  // A cage in a full hall.
  ufc: { hall: ['#070912', '#141a2e', '#232c46'], crowd: ['#262f4c', '#1e2640', '#151b30'], beams: 'rgba(190,215,255,0.07)', floor: ['#7f838c', '#8f939b', '#3c404c'], planks: false, back: 'cage', ink: '#10131f' },
  // A ring with ropes.
  wwe: { hall: ['#0d0714', '#24112e', '#3a1c3f'], crowd: ['#432550', '#341c40', '#261430'], beams: 'rgba(255,210,240,0.08)', floor: ['#6d6273', '#857b88', '#37303f'], planks: false, back: 'ropes', ink: '#140c1c' },
  // A yard between brick walls.
  defjam: { hall: ['#0c0f14', '#1a2027', '#2b2f31'], wall: ['#3a2a29', '#2e2121'], crowd: ['#23292e', '#171c20'], beams: 'rgba(255,214,150,0.06)', floor: ['#43454a', '#52545a', '#1f2126'], planks: false, back: 'yard', ink: '#0d1014' },
  // The quay on the evening of the lanterns.
  tagteam: { sky: ['#0d1836', '#1f3460', '#3f5a86', '#c58a78'], moon: ['#f3f0e0', 0.72, 0.18, 34], hills: ['#2f3f66', '#24325a'], houses: ['#1c2748', '#223054', '#18213f'], windows: ['#ffd27a', '#d59a5c'],
    water: ['#7d6f80', '#2f416c', '#131f40'], floor: ['#4c3c3a', '#604a42', '#251c26'], planks: true, back: 'lanterns', ink: '#101830' },
};

/** Rows of people, as heads and shoulders; they sway unless motion is reduced. */
export function crowd(c, cam, colours, time, calm, foot) {
  colours.forEach((colour, row) => {
    const far = 0.3 + row * 0.14, size = (10 + row * 3) * cam.zoom, step = size * 2.5, y = foot - (colours.length - 1 - row) * 30 * cam.zoom, shift = (((cam.x * far * cam.zoom + row * 17) % step) + step) % step;
    c.fillStyle = colour;
    c.beginPath();
    for (let i = -2; i * step < cam.w + step * 2; i++) {
      const n = i + Math.round((cam.x * far * cam.zoom + row * 17 - shift) / step), x = i * step - shift, up = calm ? 0 : Math.sin(time / 24 + n * 2.1 + row) * size * 0.14, tall = ((n * 37) % 7) * size * 0.07;
      c.moveTo(x + size, y - size + up - tall); c.arc(x, y - size + up - tall, size * 0.72, 0, 7);
      c.roundRect(x - size * 1.08, y - size * 0.42 + up - tall, size * 2.16, size * 5, size * 0.7);
    }
    c.fill();
  });
}

/** Light from above, in cones. */
export function beams(c, cam, colour) {
  c.fillStyle = colour;
  for (const [at, lean] of [[0.12, 90], [0.37, 20], [0.63, -20], [0.88, -90]]) {
    const x = cam.w * at - cam.x * 0.1, foot = cam.floor + 40;
    for (const wide of [190, 120]) { c.beginPath(); c.moveTo(x - 12, -20); c.lineTo(x + 12, -20); c.lineTo(x + lean + wide, foot); c.lineTo(x + lean - wide, foot); c.fill(); }
  }
}

/** A piece of wire fence, drawn once: so many fine lines are half a frame without a GPU. */
let mesh = null;
const meshStep = 24, meshTall = 264;

function wire() {
  mesh = new OffscreenCanvas(1536, meshTall);
  const c = mesh.getContext('2d');
  c.strokeStyle = 'rgba(150,165,190,0.3)';
  c.lineWidth = 1.5;
  c.beginPath();
  for (let x = -meshTall; x < 1536; x += meshStep) { c.moveTo(x, meshTall); c.lineTo(x + meshTall, 0); c.moveTo(x, 0); c.lineTo(x + meshTall, meshTall); }
  c.stroke();
}

/** A fence of wire between padded posts. */
export function cage(c, cam, back, at, z) {
  if (!mesh) wire();
  const tall = 176 * z, top = back - tall, k = tall / meshTall, step = meshStep * k, shift = ((cam.x * z * 0.92) % step + step) % step;
  c.imageSmoothingEnabled = false;
  for (let x = -90 - shift - (90 % step); x < cam.w + 90; x += mesh.width * k) c.drawImage(mesh, x, top, mesh.width * k, tall);
  c.imageSmoothingEnabled = true;
  c.fillStyle = '#12151f';
  c.fillRect(-80, top - 9 * z, cam.w + 160, 12 * z);
  for (let x = -1140; x <= 1140; x += 190) { c.fillStyle = '#151927'; c.fillRect(at(x, 0.92) - 8 * z, top - 14 * z, 16 * z, 192 * z); c.fillStyle = '#2a3148'; c.fillRect(at(x, 0.92) - 4 * z, top - 10 * z, 5 * z, 184 * z); }
}

/** Three ropes between posts. */
export function ropes(c, cam, back, at, half, z) {
  const sides = [-half - 36, half + 36].map((x) => at(x, 0.94));
  for (const [y, colour] of [[128, '#d8d2de'], [92, '#b0485e'], [56, '#d8d2de']]) {
    c.strokeStyle = '#120b18';
    c.lineWidth = 8 * z * 0.8;
    c.beginPath(); c.moveTo(sides[0], back - y * z); c.lineTo(sides[1], back - y * z); c.stroke();
    c.strokeStyle = colour;
    c.lineWidth = 4.4 * z * 0.8;
    c.stroke();
  }
  for (const x of sides) { c.fillStyle = '#1a1222'; c.fillRect(x - 9 * z, back - 146 * z, 18 * z, 150 * z); c.fillStyle = '#8a3a50'; c.fillRect(x - 12 * z, back - 140 * z, 24 * z, 100 * z); }
}

/** Bricks, and a row of lamps over them. */
export function bricks(c, cam, back, colours) {
  const z = cam.zoom, top = back - 250 * z, tall = 15 * z, wide = 40 * z, shift = ((cam.x * 0.6 * z) % wide + wide) % wide;
  c.fillStyle = colours[0];
  c.fillRect(-80, top, cam.w + 160, back - top);
  c.strokeStyle = colours[1];
  c.lineWidth = 2;
  c.beginPath();
  for (let row = 0; top + row * tall < back; row++) {
    const y = top + row * tall;
    c.moveTo(-80, y); c.lineTo(cam.w + 80, y);
    for (let x = -wide * 2 - shift + (row % 2) * wide / 2; x < cam.w + wide; x += wide) { c.moveTo(x, y); c.lineTo(x, y + tall); }
  }
  c.stroke();
}

/** Paper lanterns with the light around them, drawn once for each colour. */
const paper = ['#ff9d5c', '#f2c14e', '#e86a6a'], lanternSize = 96;
let lamps = null;

export function lantern(c, x, y, r, n) {
  lamps ??= paper.map((colour) => {
    const picture = new OffscreenCanvas(lanternSize, lanternSize), p = picture.getContext('2d'), m = lanternSize / 2, g = p.createRadialGradient(m, m, 0, m, m, m);
    g.addColorStop(0, 'rgba(255,196,110,0.42)');
    g.addColorStop(1, 'rgba(255,196,110,0)');
    p.fillStyle = g;
    p.fillRect(0, 0, lanternSize, lanternSize);
    p.fillStyle = colour;
    p.beginPath(); p.ellipse(m, m, m / 3.4, m / 2.95, 0, 0, 7); p.fill();
    return picture;
  });
  const size = r * 6.8;
  c.drawImage(lamps[n % lamps.length], x - size / 2, y - size / 2, size, size);
}
