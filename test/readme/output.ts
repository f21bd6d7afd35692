/**
 * Compares the output of a command with a document, except for ids, times, digests and paths of this machine. In a document,
 * `...` matches any text in a line, or any lines if it is on a line by itself.
 *
 * @module
 */
export interface Place {
  /** The real folder. */
  here: string;
  /** The folder as shown in documents. */
  shown: string;
}

const VARYING: [RegExp, string][] = [
  [/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, 'ID'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME'],
  [/\b[0-9a-f]{64}\b/g, 'HASH'],
  [/\b\d+\.\d+(?= )/g, 'NUMBER'],
  [/(?<="(?:wall_ms|cpu_ms|memory_peak_bytes)": ?)[\d.]+/g, '0'],
  [/[ \t]+/g, ' '],
  [/ $/gm, ''],
];

export function normalise(text: string, places: Place[] = []): string {
  const moved = places.reduce((result, { here, shown }) => result.replaceAll(here, shown), text);
  const steady = VARYING.reduce((result, [pattern, word]) => result.replaceAll(pattern, word), moved);
  return `${steady.trim()}\n`;
}

/** Converts the text of a document to a pattern for the whole output. */
export function shownPattern(text: string): RegExp {
  const lines = normalise(text).trimEnd().split('\n');
  return new RegExp(`^${lines.map(linePattern).join('')}$`);
}

function linePattern(line: string): string {
  if (line.trim() === '...') return '(?:.*\n)*';
  return `${line.split('...').map(escaped).join('.*')}\n`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
