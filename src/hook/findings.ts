/**
 * What was found in a command, and what follows from all of it together.
 *
 * @module
 */

export interface Edit {
  start: number;
  end: number;
  text: string;
}

export type Verdict =
  | { kind: 'leave' }
  | { kind: 'deny'; reason: string }
  /** The command itself asks Skillcell for something that only a person may give. */
  | { kind: 'ask'; reason: string }
  | { kind: 'rewrite'; command: string; skills: string[]; hasGrant: boolean };

export class Findings {
  readonly edits: Edit[] = [];
  readonly skills: Set<string> = new Set();
  readonly denials: string[] = [];
  /** Why a person must decide. */
  readonly grants: string[] = [];
  /** Commands that run what only the shell knows, or what they read. */
  readonly openRuns: string[] = [];
  /** Files that the command writes, and files that it runs. */
  readonly written: Set<string> = new Set();
  readonly run: Set<string> = new Set();
  /** Files that programs get which may run them. */
  readonly given: Set<string> = new Set();
  readonly copies: { from: string; to: string }[] = [];
  /** Whether a skill is mentioned outside a rewritten command. */
  mentionsSkill = false;
  /** Whether what is mentioned may be code. */
  mentionsCode = false;
  /** Whether files of skills may be among those that the command looks for. */
  searchesSkills = false;
  /** Whether an interpreter runs what it reads, or the files that it reads the names of. */
  runsInput = false;
  /** Whether the command changes where programs and modules are found. */
  changesPaths = false;
  /** Whether the text of a here-document mentions a skill. */
  writesMention = false;

  deny(reason: string): void {
    this.denials.push(reason);
  }

  mention(relation: 'code' | 'data' | 'above' | 'none'): void {
    this.mentionsSkill ||= relation !== 'none';
    this.mentionsCode ||= relation === 'code' || relation === 'above';
  }

  /** Takes over what was found in a script inside this one, except its edits. */
  add(inner: Findings): void {
    this.denials.push(...inner.denials);
    this.grants.push(...inner.grants);
    this.openRuns.push(...inner.openRuns);
    for (const path of inner.written) this.written.add(path);
    for (const path of inner.run) this.run.add(path);
    for (const path of inner.given) this.given.add(path);
    this.copies.push(...inner.copies);
    this.mentionsCode ||= inner.mentionsCode;
    this.changesPaths ||= inner.changesPaths;
    this.searchesSkills ||= inner.searchesSkills;
    this.runsInput ||= inner.runsInput;
    for (const skill of inner.skills) this.skills.add(skill);
    this.mentionsSkill ||= inner.mentionsSkill;
    this.writesMention ||= inner.writesMention;
  }

  /** Skillcell provides the packages itself, so `uv run` is not needed, and would run outside the sandbox. */
  dropLauncher([launcher, , program]: readonly { start: number }[], instead: string): void {
    const edit = this.edits.at(-1);
    if (launcher === undefined || program === undefined || edit === undefined) return;
    edit.start = launcher.start;
    edit.end = program.start;
    edit.text += instead;
  }

  verdict(command: string): Verdict {
    const reason = this.denials[0] ?? this.#conflict();
    if (reason !== undefined) return { kind: 'deny', reason };
    const [grant] = this.grants;
    if (this.edits.length > 0)
      return {
        kind: 'rewrite',
        command: applyEdits(command, this.edits),
        skills: [...this.skills],
        hasGrant: grant !== undefined,
      };
    return grant === undefined ? { kind: 'leave' } : { kind: 'ask', reason: grant };
  }

  /** Parts that are harmless one by one can together run a script. */
  #conflict(): string | undefined {
    const isAboutSkills = this.mentionsSkill || this.skills.size > 0;
    if (this.searchesSkills && this.runsInput)
      return 'The command looks for files where skills are, and runs what it finds.';
    const [open] = this.openRuns;
    if (isAboutSkills && open !== undefined)
      return `The command mentions a skill, and ${open}, so it could run a script of the skill outside the sandbox.`;
    const runsOwnFile =
      [...this.run].some((path) => this.written.has(path)) || (this.changesPaths && this.written.size > 0);
    const givesOwnFile = this.mentionsCode && [...this.given].some((path) => this.written.has(path));
    if (givesOwnFile || (runsOwnFile && (isAboutSkills || this.writesMention)))
      return 'The command writes a file that mentions a skill, and runs that file.';
    return undefined;
  }
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = text;
  for (const { start, end, text: inserted } of edits.toSorted((a, b) => b.start - a.start))
    result = result.slice(0, start) + inserted + result.slice(end);
  return result;
}

/** A word of a shell command that means exactly this text. */
export function quoteWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Text of a model in a sentence: one short line of plain characters. */
export function printable(text: string): string {
  return text.replaceAll(/[^ -~]/g, '?').slice(0, 80);
}
