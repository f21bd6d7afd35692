/**
 * Makes untrusted text safe to print: it cannot control the terminal, hide anything, or pass for our own output.
 * All text from a skill, manifest, lock, receipt, policy or server goes through here before it is printed.
 *
 * @module
 */

/**
 * Characters that control or hide: C0 except line break and tab, DEL, C1, bidirectional marks, line separators, and
 * invisible characters (zero-width, joiners, tags, fillers).
 */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- this pattern matches them on purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const JOINERS: ReadonlySet<string> = new Set(['\u200c', '\u200d']);

export interface PrintableOptions {
  /** Keeps the two joiners, which scripts and emoji need and a model can read. */
  keepsJoiners?: boolean;
}

/** For text of several lines: keeps line breaks and tabs, escapes all other control and invisible characters. */
export function printable(text: string, { keepsJoiners = false }: PrintableOptions = {}): string {
  return text
    .toWellFormed()
    .replaceAll(UNSAFE, (found) => (keepsJoiners && JOINERS.has(found) ? found : escapeUnits(found)));
}

/** For text within a line of our output: also escapes line breaks and tabs. */
export function printableLine(text: string): string {
  return printable(text)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\t', String.raw`\t`);
}

/** For text of several lines after our own text: marks each further line, so that none passes for our output. */
export function printableBlock(text: string): string {
  return printable(text.trimEnd()).replaceAll('\n', '\n  | ');
}

/** Marks every line, including the first. */
export function markedLines(text: string): string {
  return `  | ${printableBlock(text)}`;
}

/** Equivalent JSON without control or invisible characters, in a pipe as on a terminal. */
export function printableJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) as string | undefined;
  return text === undefined ? 'null' : text.replaceAll(UNSAFE, escapeUnits);
}

/** One escape for each UTF-16 unit, as in JSON. */
function escapeUnits(found: string): string {
  return Array.from(
    { length: found.length },
    (_, at) => String.raw`\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
