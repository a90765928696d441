// The WebSocket to the peer: HELLO with the token, reconnecting, messages.

import { parse } from './snapshot.js';

const In = { hello: 1, input: 2, command: 3, upload: 4, seen: 5 };
const Out = { welcome: 1, screen: 2, snapshot: 3, net: 4, settings: 5, file: 6, notice: 7, talk: 8 };

/** Token and tab: from the fragment, then from sessionStorage. */
export function identify() {
  const fragment = /^#([0-9a-f]{32})$/.exec(location.hash);
  if (fragment) {
    sessionStorage.setItem('token', fragment[1]);
    history.replaceState(null, '', location.pathname);
  }
  let tab = sessionStorage.getItem('tab');
  if (!tab) {
    tab = Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, '0')).join('');
    sessionStorage.setItem('tab', tab);
  }
  return { token: sessionStorage.getItem('token') || '', tab };
}

/**
 * A connection that comes back by itself. on(name, value) is called with
 * welcome, screen, snapshot, net, settings, file, notice, talk; with state "open",
 * "lost" (and is trying again), or "closed" with the close code.
 */
export class Link {
  constructor(on) {
    this.on = on;
    this.who = identify();
    this.mode = 'play';
    this.seq = 0;
    this.tries = 0;
    this.role = '';
    this.socket = null;
  }

  connect(mode) {
    if (mode) this.mode = mode;
    if (!this.who.token) { this.on('state', { state: 'closed', code: 4401 }); return; }
    const socket = new WebSocket(`ws://${location.host}/ws`, 'backstep.page.1');
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onopen = () => {
      this.seq = 0;
      this.seen = 0;
      this.json(In.hello, { token: this.who.token, tab: this.who.tab, mode: this.mode });
    };
    socket.onmessage = (e) => { if (this.socket === socket) this.take(e.data); };
    socket.onclose = (e) => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.role = '';
      if ([4400, 4401, 4409, 4410].includes(e.code)) { this.on('state', { state: 'closed', code: e.code }); return; }
      this.tries++;
      this.on('state', { state: 'lost', code: e.code, tries: this.tries });
      setTimeout(() => { if (!this.socket) this.connect(); }, Math.min(2000, 150 * 2 ** Math.min(this.tries, 4)));
    };
  }

  take(buffer) {
    if (!(buffer instanceof ArrayBuffer) || buffer.byteLength === 0) return;
    const type = new Uint8Array(buffer, 0, 1)[0];
    if (type === Out.snapshot) {
      const s = parse(new DataView(buffer));
      if (s) this.on('snapshot', s);
      this.seen = (this.seen + 1) & 0xffff; // the peer keeps no more than two on their way
      this.send(new Uint8Array([In.seen, this.seen & 255, this.seen >> 8]));
      return;
    }
    if (type === Out.file) {
      const n = new Uint8Array(buffer, 1, 1)[0];
      this.on('file', { name: new TextDecoder().decode(new Uint8Array(buffer, 2, n)), bytes: buffer.slice(2 + n) });
      return;
    }
    const name = Object.keys(Out).find((k) => Out[k] === type);
    if (!name) return; // a newer peer may say more
    const value = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 1)));
    if (name === 'welcome') {
      this.role = value.role;
      this.tries = 0;
      this.on('state', { state: 'open' });
    }
    this.on(name, value);
  }

  get open() { return this.socket?.readyState === WebSocket.OPEN && this.role !== ''; }

  json(type, value) {
    const text = new TextEncoder().encode(JSON.stringify(value));
    const b = new Uint8Array(1 + text.length);
    b[0] = type;
    b.set(text, 1);
    this.send(b);
  }

  send(b) { if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(b); }

  /** Sends a command; the peer ignores what does not fit. */
  command(cmd, fields) { if (this.role === 'player') this.json(In.command, { cmd, ...fields }); }

  /** Sends the words held now and gives the number of the message. */
  input(word, word2) {
    if (this.role !== 'player') return this.seq;
    this.seq = (this.seq + 1) & 0xffff;
    const v = new DataView(new ArrayBuffer(7));
    v.setUint8(0, In.input);
    v.setUint16(1, word, true);
    v.setUint16(3, word2, true);
    v.setUint16(5, this.seq, true);
    this.send(v.buffer);
    return this.seq;
  }

  upload(bytes) {
    const b = new Uint8Array(1 + bytes.byteLength);
    b[0] = In.upload;
    b.set(new Uint8Array(bytes), 1);
    this.send(b);
  }
}
