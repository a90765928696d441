import { el, text, show, button } from '../dom.js';
import { t } from '../language.js';
import { clock } from '../dom.js';
import { openDialog } from './dialog.js';
import { rulesText } from './rules.js';

const most = 120 * 1024;

export function replays(app, root) {
  const body = el('tbody', {}), none = el('p', { class: 'lead' }, t('replays.none'));
  const file = el('input', { type: 'file', id: 'replay-file', hidden: true, 'aria-label': t('replays.file'), onchange: async () => {
    const f = file.files[0];
    if (!f) return;
    if (f.size > most) app.notice('warn', t('replays.large'));
    else app.link.upload(await f.arrayBuffer());
    file.value = '';
  } });
  const table = el('table', { class: 'list' }, el('caption', { class: 'unseen' }, t('replays.title')),
    el('thead', {}, el('tr', {}, ['when', 'who', 'length', 'rules', 'what'].map((k) => el('th', { scope: 'col' }, t('replays.' + k))))), body);
  const differ = el('section', { class: 'desyncs', hidden: true });
  root.append(el('div', { class: 'panel full' }, el('h1', {}, t('replays.title')), none, el('div', { class: 'scroll', tabindex: -1 }, table), differ,
    el('div', { class: 'row' }, button(t('replays.file'), () => file.click()), file, button(t('back'), () => app.cmd('title')))));
  const names = (team) => (team || []).map((k) => app.fighter(k).name).join(' + ');
  function remove(r) {
    const d = openDialog(app, t('replays.delete'), [el('p', {}, t('replays.sure')), el('div', { class: 'row' },
      button(t('back'), () => d.close(), { class: 'main', 'data-first': true }), button(t('replays.delete'), () => { app.cmd('delete', { id: r.id }); d.close(); }, { class: 'danger' }))]);
  }
  return {
    update(p) {
      show(differ, Boolean(p.desyncs?.length));
      differ.replaceChildren(el('h2', {}, t('replays.desyncs')), ...(p.desyncs || []).map((x) => el('div', { class: 'row' }, el('code', {}, x.code), el('span', { class: 'quiet' }, new Date(x.when).toLocaleString()),
        button(t('replays.look'), () => app.cmd('open', { id: x.id }), { 'aria-label': t('replays.lookat', { code: x.code }) }), button(t('replays.export'), () => app.cmd('export', { id: x.id })), button(t('replays.delete'), () => remove(x)))));
      const had = body.contains(document.activeElement);
      show(none, !p.list?.length);
      show(table.parentNode, Boolean(p.list?.length));
      body.replaceChildren(...(p.list || []).map((r, i) => {
        const when = new Date(r.when), who = `${names(r.teams[0])} – ${names(r.teams[1])}`;
        return el('tr', {}, el('td', {}, isNaN(when) ? '' : when.toLocaleString()), el('td', {}, who), el('td', {}, clock(r.frames * 1000 / 60)),
          el('td', {}, r.ruleset ? rulesText(app, r) : ''),
          el('td', {}, r.sentence ? el('span', { class: 'quiet' }, r.sentence, ' ') : button(t('replays.open'), () => app.cmd('open', { id: r.id }), { class: 'main', 'data-first': i === 0, 'aria-label': t('replays.openwhat', { who }) }),
            button(t('replays.export'), () => app.cmd('export', { id: r.id })), button(t('replays.delete'), () => remove(r))));
      }));
      if (had) body.querySelector('button')?.focus();
    },
    back() { app.cmd('title'); },
  };
}
