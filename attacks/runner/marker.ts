/**
 * What an attack writes to its log right before its act.
 *
 * @module
 */
export const REACHED = 'attack reached';
const PYTHON_ENTRY = /^def execute\(.*\):\n/m;
const JS_ENTRY = /^export (?:async )?function execute\(.*\) \{/m;
/** The whole line that says so. */
const PYTHON_LINE = `print("${REACHED}", flush=True)`;
const JS_LINE = `console.log('${REACHED}');`;

export type Language = 'python' | 'javascript';
/** By the file that the attack is. */
export const LANGUAGES = { 'skill.py': 'python', 'skill.js': 'javascript' } as const;

/** The source of an attack that says when it is reached: at the beginning of `execute`, unless it has the words already. */
export function withMarker(source: string, language: Language): string {
  if (source.includes(REACHED)) return source;
  const [entry, line] =
    language === 'python' ? [PYTHON_ENTRY, `    ${PYTHON_LINE}\n`] : [JS_ENTRY, `\n  ${JS_LINE}\n`];
  const found = entry.exec(source);
  if (found === null) throw new Error('The attack has no `execute` to put the marker into: print it there.');
  const end = found.index + found[0].length;
  return source.slice(0, end) + line + source.slice(end);
}

/** The same source, which raises where the marker is: for engines that keep what a skill prints while it is loaded. */
export function raisingAtMarker(source: string, language: Language): string {
  const [line, raise] =
    language === 'python'
      ? [PYTHON_LINE, `raise RuntimeError("${REACHED}")`]
      : [JS_LINE, `throw new Error('${REACHED}');`];
  if (!source.includes(line)) throw new Error(`The attack has no line "${line}".`);
  return source.replace(line, raise);
}
