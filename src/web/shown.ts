/**
 * Escapes characters in untrusted text that change the writing direction or are invisible. The browser gets no files from
 * outside this folder, so this repeats the rule of `src/manifest/printable.ts`; a test compares them.
 *
 * @module
 */
const UNPRINTABLE =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- they are what it matches
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

export function escapeUnprintable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(UNPRINTABLE, (found) =>
      Array.from(
        { length: found.length },
        (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`,
      ).join(''),
    );
}
