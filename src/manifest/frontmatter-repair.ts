/**
 * Corrects frontmatter that is not valid YAML but that agents accept: values with an unquoted ": ", and keys without a
 * space after the colon. Only the keys of the specification are touched, and lines keep their numbers.
 *
 * @module
 */

/** Keys whose value is always one text. */
const TEXT_KEYS = 'name|description|license|compatibility';
const TEXT_LINE = new RegExp(String.raw`^(${TEXT_KEYS}):([ \t]*)(\S.*)$`);
/** Starts of values that YAML already reads as quoted text or as a block. */
const QUOTED = /^["'|>]/;

/** Plain values that YAML reads as something other than text, or not at all. */
const NEEDS_QUOTES = /:(?:\s|$)|^[[{}\]&*!%@`#,?-]/;

export interface Repair {
  text: string;
  /** The keys whose values were rewritten. */
  keys: string[];
}

/** The corrected text; without keys if there is nothing to correct. */
export function repairFrontmatter(text: string): Repair {
  const lines = text.split('\n');
  const keys: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, key = '', space = '', value = ''] = TEXT_LINE.exec(lines[at] ?? '') ?? [];
    if (key === '') continue;
    const more = QUOTED.test(value) ? [] : continuation(lines, at);
    const whole = [value, ...more].map((line) => line.trim()).join(' ');
    const needsQuotes = !QUOTED.test(value) && NEEDS_QUOTES.test(whole);
    if (!needsQuotes && space !== '') continue;
    if (!needsQuotes) lines[at] = `${key}: ${value}`;
    else {
      lines[at] = `${key}: ${JSON.stringify(whole)}`;
      lines.fill('', at + 1, at + 1 + more.length);
    }
    keys.push(key);
  }
  return { text: lines.join('\n'), keys };
}

/** Indented lines that continue the value of the line before them. */
function continuation(lines: readonly string[], at: number): string[] {
  let end = at + 1;
  while (/^[ \t]+\S/.test(lines[end] ?? '')) end++;
  return lines.slice(at + 1, end);
}
