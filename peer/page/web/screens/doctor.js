// What stands between this machine and a match. A finding is shown as soon as it
// is made; those to come have their place already, so that nothing moves.

import { el, text, show, button } from '../dom.js';
import { t } from '../language.js';
import { copy } from './copy.js';

/** Severity by shape as well as by colour. */
const shapes = { ok: '✓', note: '●', unknown: '?', warning: '▲', error: '■' };

export function doctor(app, root, part) {
  const relay = el('p', { class: 'quiet' }), verdict = el('p', { class: 'lead verdict', role: 'status' }), told = el('p', { class: 'quiet' });
  const list = el('ol', { class: 'findings', tabindex: 0, 'data-scrolls': true, 'aria-label': t('doctor.list') });
  const again = button(t('doctor.again'), () => app.cmd('doctor'), { class: 'main' });
  const addresses = button('', () => app.cmd('doctor', { addresses: !part.addresses }));
  const copied = button(t('doctor.copy'), () => copy(app, part.text, t('doctor.what')));
  const back = button(t('back'), () => app.cmd('title'), { 'data-first': true });
  root.append(el('div', { class: 'panel full doctorbox' }, el('h1', {}, t('doctor.title')), el('p', { class: 'quiet' }, t('doctor.lead')), relay, verdict,
    el('div', { 'data-wait': true }), list, el('div', { class: 'row' }, again, copied, addresses, back), told));
  const items = new Map(); // id of a check -> { node, shown }

  function item(id) {
    const mark = el('span', { class: 'mark', 'aria-hidden': 'true' }), state = el('span', { class: 'state' }), body = el('div', { class: 'said' });
    const node = el('li', { class: 'finding' }, mark, el('div', { class: 'what' }, el('h2', {}, app.word('doctor.check', id)), state), body);
    list.append(node);
    return { node, mark, state, body, shown: '' };
  }

  function fill(it, f) {
    const now = JSON.stringify(f || null);
    if (it.shown === now) return;
    it.shown = now;
    it.node.dataset.severity = f ? f.severity : '';
    text(it.mark, f ? shapes[f.severity] || '?' : '…');
    text(it.state, f ? app.word('doctor.severity', f.severity) : t('doctor.looking'));
    it.body.replaceChildren(...(!f ? [] : [el('p', {}, f.summary), f.addresses.length && el('p', { class: 'addresses' }, f.addresses.map((a) => el('code', {}, a))),
      f.meaning && el('p', { class: 'quiet' }, f.meaning), f.advice && el('p', { class: 'advice' }, el('strong', {}, t('doctor.todo') + ': '), f.advice)].filter(Boolean)));
  }

  return {
    update(p) {
      part = p;
      text(relay, p.relay ? t('doctor.relay', { relay: p.relay }) : t('doctor.norelay'));
      for (const id of p.checks) {
        if (!items.has(id)) items.set(id, item(id));
        fill(items.get(id), p.findings.find((f) => f.id === id));
      }
      text(verdict, p.verdict);
      show(verdict, Boolean(p.verdict));
      verdict.dataset.severity = p.severity;
      copied.disabled = !p.text;
      again.disabled = p.running;
      text(addresses, t(p.addresses ? 'doctor.hide' : 'doctor.addresses'));
      text(told, t(p.addresses ? 'doctor.shown' : 'doctor.hidden'));
    },
    back() { app.cmd('title'); },
  };
}
