/**
 * The text that an attack writes to its log right before its act.
 *
 * @module
 */
export const REACHED = 'attack reached';
const PYTHON_ENTRY = /^def execute\(.*\):\n/m;
const JS_ENTRY = /^export (?:async )?function execute\(.*\) \{/m;
/** The complete line that prints it. */
const PYTHON_LINE = `print("${REACHED}", flush=True)`;
const JS_LINE = `console.log('${REACHED}');`;

export type Language = 'python' | 'javascript';
/** By the file name of the attack. */
const LANGUAGES: Readonly<Record<string, Language>> = { 'skill.py': 'python', 'skill.js': 'javascript' };

type Files = Readonly<Record<string, string>>;

/** The files of a bundle, with the marker in its skill. */
export function markFiles(files: Files): Files {
  return changeSkill(files, withMarker);
}

/** The files of its twin, which raises where the marker is. */
export function raiseInFiles(files: Files): Files {
  return changeSkill(files, raisingAtMarker);
}

function changeSkill(files: Files, change: (source: string, language: Language) => string): Files {
  const changed = Object.entries(files).map(([name, source]) => {
    const language = LANGUAGES[name];
    return [name, language === undefined ? source : change(source, language)] as const;
  });
  return Object.fromEntries(changed);
}

/** The source of an attack that reports when it is reached: at the start of `execute`, unless it already has the marker. */
export function withMarker(source: string, language: Language): string {
  if (source.includes(REACHED)) return source;
  const [entry, line] =
    language === 'python' ? [PYTHON_ENTRY, `    ${PYTHON_LINE}\n`] : [JS_ENTRY, `\n  ${JS_LINE}\n`];
  const found = entry.exec(source);
  if (found === null)
    throw new Error('The attack has no `execute` for the marker. Print the marker in its code.');
  const end = found.index + found[0].length;
  return source.slice(0, end) + line + source.slice(end);
}

/** The same source, which raises where the marker is: for engines that hold back output while a skill is loaded. */
export function raisingAtMarker(source: string, language: Language): string {
  const [line, raise] =
    language === 'python'
      ? [PYTHON_LINE, `raise RuntimeError("${REACHED}")`]
      : [JS_LINE, `throw new Error('${REACHED}');`];
  if (!source.includes(line)) throw new Error(`The attack has no line "${line}".`);
  return source.replace(line, raise);
}
