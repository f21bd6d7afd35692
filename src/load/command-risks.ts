/**
 * Recognizes risky shell commands by their words. The text is matched, not parsed, so findings can be wrong.
 *
 * @module
 */
import type { CommandRisk } from '../vocabulary/command-risks.ts';

const SHELL = String.raw`(?:\/\S{0,60}\/)?(?:(?:ba|z|k|da)?sh|python3?|perl|node)\b`;
const DECODES = String.raw`(?:base64\s{1,10}(?:-d|-D|--decode)|xxd\s{1,10}-r|openssl\s{1,10}(?:enc|base64)\s[^|]{0,200}-d)\b`;
const PATTERNS: Readonly<Record<Exclude<CommandRisk, 'writes_outside'>, RegExp>> = {
  sudo: /(?:^|[\s;&|(`])(?:sudo|doas)\s{1,20}\S/,
  eval: /(?:^|[;&|(`])\s{0,20}eval\s{1,20}\S/,
  decoded: new RegExp(String.raw`\b${DECODES}[^|]{0,300}\|\s{0,20}(?:sudo\s{1,20})?${SHELL}`),
};

/** Programs that change each path they are given, and those that change only the last one. */
const CHANGE_ALL: ReadonlySet<string> = new Set('rm mkdir touch chmod chown truncate shred tee'.split(' '));
const CHANGE_LAST: ReadonlySet<string> = new Set('cp mv ln install dd rsync'.split(' '));
const REDIRECT = /(?:^|[^<>=-])>{1,2}\s{0,10}["']?([^\s"'&;|()<>]{1,200})/g;
/** Devices and scratch that every cell has. */
const HARMLESS = /^\/(?:dev\/(?:null|stdout|stderr|tty|fd\/\d+)$|tmp(?:\/|$))/;
const OUTSIDE = /^(?:\/|~|\$HOME\b|\$\{HOME\b|\.\.\/)/;

/** The risks of one line. Expects at most a few thousand characters. */
export function risksOf(line: string): CommandRisk[] {
  const found: CommandRisk[] = [];
  for (const [risk, pattern] of Object.entries(PATTERNS) as [keyof typeof PATTERNS, RegExp][])
    if (pattern.test(line)) found.push(risk);
  if (writesOutside(line)) found.push('writes_outside');
  return found;
}

function writesOutside(line: string): boolean {
  if ([...line.matchAll(REDIRECT)].some(([, target = '']) => isOutside(target))) return true;
  return line.split(/\|\||&&|[;|&()`]/).some((part) => {
    const words = part
      .trim()
      .split(/\s+/)
      .map((word) => word.replaceAll(/["']/g, ''));
    const at = words.findIndex((word) => !/^(?:sudo|doas|then|do|else|!|[A-Za-z_]\w*=.*)$/.test(word));
    const program = (words[at] ?? '').replace(/^.*\//, '');
    const paths = words.slice(at + 1).filter((word) => !word.startsWith('-'));
    if (CHANGE_ALL.has(program)) return paths.some(isOutside);
    return CHANGE_LAST.has(program) && isOutside((paths.at(-1) ?? '').replace(/^of=/, ''));
  });
}

function isOutside(path: string): boolean {
  return OUTSIDE.test(path) && !HARMLESS.test(path);
}
