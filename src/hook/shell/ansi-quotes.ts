/**
 * The text of `$'…'`.
 *
 * @module
 */
import { NotUnderstood } from './syntax.ts';

const LETTERS: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  E: '\u001b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
};
const ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([^])|([^]))/g;

export function decodeAnsi(text: string): string {
  return text.replaceAll(ESCAPE, (whole: string, ...groups: (string | undefined)[]) => {
    const [hex, short, long, octal, control, letter] = groups;
    if (control !== undefined) return String.fromCodePoint((control.codePointAt(0) ?? 0) & 0x1f);
    if (letter !== undefined) return LETTERS[letter] ?? whole;
    const digits = hex ?? short ?? long;
    const code = digits === undefined ? Number.parseInt(octal ?? '0', 8) & 0xff : Number.parseInt(digits, 16);
    // Bash ends the text at a NUL, and writes bytes above 0x7f as they are: neither is text here.
    if (code === 0 || code > 0x10ffff || (code > 0x7f && short === undefined && long === undefined))
      throw new NotUnderstood("it has an unusual character in $'…'");
    return String.fromCodePoint(code);
  });
}
