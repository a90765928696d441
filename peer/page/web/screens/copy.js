import { t } from '../language.js';

/** Puts a text on the clipboard and says so, or says how to do it by hand. */
export async function copy(app, value, what) {
  try {
    await navigator.clipboard.writeText(value);
    app.notice('info', t('copied', { what }));
  } catch {
    app.notice('warn', t('copy.failed', { what }));
  }
}
