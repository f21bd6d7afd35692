/**
 * The difference between two texts in the format of `diff -u`.
 *
 * @module
 */

const CONTEXT_LINES = 3;
/** Beyond this, the middle is shown as one change; manifests are far smaller. */
const MAX_PAIRS = 4_000_000;

interface Line {
  sign: ' ' | '-' | '+';
  text: string;
}

/** Empty when the texts are equal. */
export function unifiedDiff(before: string, after: string, file: string): string {
  if (before === after) return '';
  const lines = compare(splitLines(before), splitLines(after));
  return [`--- a/${file}`, `+++ b/${file}`, ...hunks(lines), ''].join('\n');
}

function splitLines(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

function compare(before: string[], after: string[]): Line[] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const middle = changes(before.slice(head, before.length - tail), after.slice(head, after.length - tail));
  const same = (texts: string[]): Line[] => texts.map((text) => ({ sign: ' ', text }));
  return [...same(before.slice(0, head)), ...middle, ...same(before.slice(before.length - tail))];
}

/** By the longest common subsequence. */
function changes(before: string[], after: string[]): Line[] {
  const width = after.length + 1;
  const isLarge = before.length * after.length > MAX_PAIRS;
  const lengths = isLarge ? undefined : commonLengths(before, after);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old = '', fresh = ''] = [before[i], after[j]];
    const isSame = i < before.length && j < after.length && old === fresh;
    const skipOld = lengths ? (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0) : true;
    if (isSame && lengths) lines.push({ sign: ' ', text: old });
    else if (i < before.length && (j >= after.length || skipOld)) lines.push({ sign: '-', text: old });
    else lines.push({ sign: '+', text: fresh });
    const { sign } = lines.at(-1) ?? { sign: ' ' };
    if (sign !== '+') i++;
    if (sign !== '-') j++;
  }
  return lines;
}

function commonLengths(before: string[], after: string[]): Uint32Array {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        before[i] === after[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  return lengths;
}

function hunks(lines: Line[]): string[] {
  const visible = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1).some(({ sign }) => sign !== ' '),
  );
  const text: string[] = [];
  let [old, fresh] = [1, 1];
  for (let at = 0; at < lines.length;) {
    if (!visible[at]) {
      at++;
      old++;
      fresh++;
      continue;
    }
    const end = visible.indexOf(false, at);
    const hunk = lines.slice(at, end < 0 ? lines.length : end);
    const [olds, freshes] = ['+', '-'].map((sign) => hunk.filter((line) => line.sign !== sign).length);
    text.push(
      `@@ -${range(old, olds)} +${range(fresh, freshes)} @@`,
      ...hunk.map((line) => line.sign + line.text),
    );
    at += hunk.length;
    old += olds ?? 0;
    fresh += freshes ?? 0;
  }
  return text;
}

/** By convention, an empty range has the number of the line before it. */
function range(start: number, count = 0): string {
  return `${count === 0 ? start - 1 : start},${count}`;
}
