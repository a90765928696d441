// Texts of the page, by key, from lang/CODE.json. English is complete; what a
// language lacks is taken from it. Texts of the peer arrive as sentences.

let words = {};
let english = {};

/** Loads a language; an unknown one leaves English. */
export async function load(code) {
  if (!Object.keys(english).length) english = await (await fetch('lang/en.json')).json();
  words = english;
  if (code && code !== 'en' && /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$/.test(code)) {
    const answer = await fetch(`lang/${code}.json`).catch(() => null);
    if (answer && answer.ok) words = await answer.json();
  }
  document.documentElement.lang = words === english ? 'en' : code;
}

/** The text of a key, with {name} replaced by values.name. */
export function t(key, values) {
  const s = words[key] ?? english[key] ?? key;
  return values ? s.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)) : s;
}

/** A text that may be missing: the fallback then. */
export function maybe(key, fallback) {
  return words[key] ?? english[key] ?? fallback;
}
