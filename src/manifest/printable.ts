/**
 * Text of strangers for people: it must not steer the terminal that shows it, hide anything in it, or pass for a line of ours.
 * Everything that a skill, manifest, lock, receipt, policy or server says goes through here before it is printed.
 *
 * @module
 */

/**
 * What steers or hides: C0 but line break and tab, DEL, C1, marks of the direction of writing, separators of lines, characters
 * without a shape (zero-width, joiners, tags, fillers).
 */
const STEERING =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- they are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const JOINERS: ReadonlySet<string> = new Set(['\u200c', '\u200d']);

export interface PrintableOptions {
  /** Leaves the two joiners as they are, which scripts and emoji need and a model can read. */
  keepsJoiners?: boolean;
}

/** Text of several lines: line breaks and tabs stay, all else that steers is shown as its number. */
export function printable(text: string, { keepsJoiners = false }: PrintableOptions = {}): string {
  return text
    .toWellFormed()
    .replaceAll(STEERING, (found) => (keepsJoiners && JOINERS.has(found) ? found : escaped(found)));
}

/** Text within a line of ours: line breaks and tabs are shown as escapes, too. */
export function printableLine(text: string): string {
  return printable(text)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\t', String.raw`\t`);
}

/** Text of several lines below a line of ours: each further line is marked, so that none of them looks like one of ours. */
export function printableBlock(text: string): string {
  return printable(text.trimEnd()).replaceAll('\n', '\n  | ');
}

/** All lines marked, the first one too. */
export function markedLines(text: string): string {
  return `  | ${printableBlock(text)}`;
}

/** JSON that means the same and holds nothing that steers: in a pipe as on a terminal. */
export function printableJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) as string | undefined;
  return text === undefined ? 'null' : text.replaceAll(STEERING, escaped);
}

/** As JSON writes it: one escape for each unit of UTF-16. */
function escaped(found: string): string {
  return Array.from(
    { length: found.length },
    (_, at) => String.raw`\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
