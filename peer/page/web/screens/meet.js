import { el, text, show, button } from '../dom.js';
import { t } from '../language.js';
import { chatBox } from './chat.js';
import { copy } from './copy.js';

/** A QR code as SVG, with its quiet zone. */
function qrPicture(qr, label) {
  const ns = 'http://www.w3.org/2000/svg', quiet = 4, size = qr.size + 2 * quiet;
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label);
  svg.setAttribute('shape-rendering', 'crispEdges');
  const back = document.createElementNS(ns, 'rect');
  back.setAttribute('width', size);
  back.setAttribute('height', size);
  back.setAttribute('fill', '#fff');
  let d = '';
  qr.rows.forEach((row, y) => { for (const run of row.matchAll(/1+/g)) d += `M${quiet + run.index} ${quiet + y}h${run[0].length}v1h-${run[0].length}z`; });
  const path = document.createElementNS(ns, 'path');
  path.setAttribute('d', d);
  path.setAttribute('fill', '#14152a');
  svg.append(back, path);
  return svg;
}

export function hosting(app, root) {
  const code = el('output', { class: 'bigcode', 'aria-label': t('hosting.code') });
  const relay = el('p', { class: 'quiet' });
  const qr = el('div', { class: 'qr' });
  const qrText = el('p', { class: 'quiet qrtext' });
  const note = el('p', { class: 'note', role: 'status' });
  const whole = el('code', {}), link = el('code', {}), command = el('code', {});
  let now = {};
  const line = (key, node, field) => el('div', { class: 'copyline' }, el('span', { class: 'label' }, t(key)), node,
    button(t('copy'), () => copy(app, now[field], t(key)), { 'aria-label': t('copy.what', { what: t(key) }) }));
  const ready = el('div', { class: 'hostgrid', hidden: true },
    el('div', {}, el('p', { class: 'lead' }, t('hosting.lead')), code, relay,
      el('div', { class: 'row' }, button(t('hosting.copy'), () => copy(app, now.code, t('hosting.code')), { class: 'main', 'data-first': true })),
      line('hosting.whole', whole, 'code'), line('hosting.link', link, 'link'), line('hosting.command', command, 'command'), note),
    el('figure', {}, qr, el('figcaption', {}, t('hosting.qr'), qrText)));
  root.append(el('div', { class: 'panel' }, el('h1', {}, t('hosting.title')), el('div', { 'data-wait': true }), ready));
  return {
    update(p) {
      const fresh = p.code && p.code !== now.code;
      now = p;
      show(ready, Boolean(p.code));
      if (!p.code) return;
      const [short, host] = p.code.split('@');
      text(code, short);
      text(relay, host ? t('hosting.relay', { relay: host }) : '');
      text(whole, p.code);
      text(link, p.link);
      text(command, p.command);
      text(note, p.note || (p.guesses ? t('hosting.guesses', { n: p.guesses }) : ''));
      note.hidden = !note.textContent;
      if (fresh) {
        qr.replaceChildren(...(p.qr ? [qrPicture(p.qr, t('hosting.qrlabel'))] : []));
        text(qrText, p.qr_text || '');
        ready.querySelector('[data-first]').focus();
      }
    },
    back() { app.cmd('cancel'); },
  };
}

export function joining(app, root) {
  const code = el('output', { class: 'bigcode' });
  const steps = ['lobby', 'link'].map((s) => el('li', { 'data-step': s }, t('joining.' + s)));
  root.append(el('div', { class: 'panel' }, el('h1', {}, t('joining.title')), code, el('ol', { class: 'steps' }, steps), el('div', { 'data-wait': true })));
  return {
    update(p) {
      text(code, p.code);
      for (const s of steps) s.className = s.dataset.step === p.stage ? 'now' : p.stage === 'link' ? 'done' : '';
    },
    back() { app.cmd('cancel'); },
  };
}

export function starting(app, root) {
  const sentence = el('p', { class: 'lead' });
  root.append(el('div', { class: 'panel narrow' }, el('h1', {}, t('starting.title')), sentence, el('div', { 'data-wait': true })));
  return { update(p, s) { text(sentence, p.sentence); show(sentence, s?.wait?.reason !== p.sentence); }, back() { app.cmd('cancel'); } };
}

const shapes = { good: '●', borderline: '▲', poor: '■' };

export function forecast(app, root, part) {
  const who = el('h1', {}), from = el('p', { class: 'quiet' });
  const sentence = el('p', { class: 'lead verdict', role: 'status' });
  const bar = el('progress', { max: 1, value: 0, 'aria-label': t('forecast.probe') });
  const fact = (key) => { const v = el('dd', {}); return { node: el('div', {}, el('dt', {}, t('forecast.' + key)), v), v }; };
  const facts = { ping: fact('ping'), jitter: fact('jitter'), loss: fact('loss'), path: fact('path'), delay: fact('delay'), depth: fact('depth'), mode: fact('mode') };
  const warnings = el('ul', { class: 'warnings' });
  const you = el('span', { class: 'mark you' }), they = el('span', { class: 'mark they' });
  const accept = button(t('forecast.accept'), () => app.cmd('accept'), { class: 'main', 'data-first': true });
  const side = app.screen.forecast.side ?? 0, people = [];
  people[1 - side] = part.opponent;
  const chat = chatBox(app, side, () => people);
  root.append(el('div', { class: 'panel' }, who, from, bar, sentence, el('dl', { class: 'facts' }, Object.values(facts).map((f) => f.node)), warnings,
    el('div', { class: 'row' }, accept, button(t('forecast.decline'), () => app.cmd('decline'))), el('p', { class: 'marks' }, you, they), el('div', { 'data-wait': true }), chat.node));
  const ms = (x) => (x === null || x === undefined ? '–' : t('ms', { n: x < 10 ? x.toFixed(1) : Math.round(x) }));
  return {
    update(p) {
      const name = app.person(p.opponent, 1, 0);
      text(who, t('forecast.title', { name }));
      text(from, [p.opponent.region, p.opponent.build && t('forecast.build', { build: p.opponent.build })].filter(Boolean).join(' · '));
      bar.value = p.probe;
      show(bar, p.probe < 1);
      sentence.replaceChildren(el('span', { class: 'grade ' + p.grade, 'aria-hidden': 'true' }, shapes[p.grade] || '…'), ' ', p.sentence || t('forecast.measuring'));
      text(facts.ping.v, ms(p.ping_ms));
      text(facts.jitter.v, ms(p.jitter_ms));
      text(facts.loss.v, p.loss_pct === null ? '–' : t('percent', { n: p.loss_pct.toFixed(1) }));
      text(facts.path.v, app.word('path', p.path || 'none'));
      text(facts.delay.v, t('frames', { n: p.delay }));
      text(facts.depth.v, p.depth[0] === p.depth[1] ? t('frames', { n: p.depth[0] }) : t('frames', { n: `${p.depth[0]}–${p.depth[1]}` }));
      text(facts.mode.v, app.word('mode', p.mode || 'rollback'));
      warnings.replaceChildren(...(p.warnings || []).map((w) => el('li', {}, w)));
      text(you, (p.you === 'accepted' ? '✓ ' : '○ ') + t(p.you === 'accepted' ? 'forecast.youyes' : 'forecast.youasked'));
      text(they, (p.they === 'accepted' ? '✓ ' : '○ ') + t(p.they === 'accepted' ? 'forecast.theyyes' : 'forecast.theyasked', { name }));
      accept.disabled = p.you === 'accepted';
    },
    talk: chat.take,
    back() { app.cmd('decline'); },
  };
}
