/**
 * Text of strangers on a page: what would turn the direction of writing or hide something is shown as its number. The browser
 * gets no file from outside of this folder, so this is the rule of `src/manifest/printable.ts` again; a test compares them.
 *
 * @module
 */
const STEERING =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- they are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

export function shownText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(STEERING, (found) =>
      Array.from(
        { length: found.length },
        (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`,
      ).join(''),
    );
}
