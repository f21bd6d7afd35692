/**
 * Goes through a command from left to right, follows its working directory and variables, and judges each part.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { isAbsolute, normalize } from 'node:path';
import { CommandJudge } from './command-judge.ts';
import { Findings } from './findings.ts';
import { ANY_NAME, assignedNames, changesOfFolder } from './overview.ts';
import { changesPaths, changesSkillcell, kindOf, readsOnly } from './programs.ts';
import { fedCommands } from './standard-input.ts';
import { readCommand } from './shell/reader.ts';
import type { Item, Nested, SimpleCommand, Word } from './shell/syntax.ts';
import type { CodeJudge } from './shell-code.ts';
import type { Surroundings } from './surroundings.ts';

/** The same for every part of one command. */
export interface Task {
  /** The folder that the agent is in. */
  cwd: string;
  /** What to write in front of `exec`. */
  program: string;
  /** How often each variable is assigned. */
  assigned: ReadonlyMap<string, number>;
  judgeText: CodeJudge;
}

export interface Place {
  surroundings: Surroundings;
  findings: Findings;
  /** Whether text can be inserted here. */
  editable: boolean;
  /** Whether the standard input comes from the command line, not from the agent. */
  isFed: boolean;
  depth: number;
}

const COMPOUND = new Set(['if', 'while', 'until', 'for', '{', '(']);
/** Programs, not builtins: to them, brackets are text. */
const TEXT_TOOLS = new Set('grep egrep fgrep rg sed awk jq cat echo head tail find git'.split(' '));
/** Text that bash may run: in a variable, it may be put into brackets later. */
const EVALUATED = { word: /\[[^\]]*(?:\$\(|`)/, value: /\$\(|`/, text: /(?!)/ };
const MAX_DEPTH = 8;

/** A text that a shell reads: the command itself, or the text after `-c`. */
export function judgeText(text: string, task: Pick<Task, 'cwd' | 'program'>, place: Place): void {
  const items = readCommand(text);
  const judgeInner = (inner: string, innerPlace: Place): void => judgeText(inner, task, innerPlace);
  new Judge({ ...task, assigned: assignedNames(items), judgeText: judgeInner }, place).judge(items);
}

class Judge {
  readonly #task: Task;
  readonly #place: Place;
  readonly #around: Surroundings;
  readonly #findings: Findings;
  #fed: ReadonlySet<SimpleCommand> = new Set();
  #compound = 0;
  /** Folders at the start of a chain of `&&`: where a part of it failed, the next chain may start there. */
  #chainStart: string[];
  #isChainStart = true;
  /** Folders at the start of a list, which `&` runs in a shell of its own; of the lists around it as well. */
  #listStarts: string[][];
  #beforeCommand: string[] = [];
  #lastOperator = ';';
  /** False once a program ran that may have removed folders. */
  #undisturbed = true;
  #saved: { cwds: string[]; isLost: boolean }[] = [];

  constructor(task: Task, place: Place) {
    this.#task = task;
    this.#place = place;
    this.#around = place.surroundings;
    this.#findings = place.findings;
    this.#chainStart = [...place.surroundings.cwds];
    this.#beforeCommand = [...this.#chainStart];
    this.#listStarts = [[...this.#chainStart]];
    if (place.depth > MAX_DEPTH) this.#findings.deny('The command is nested too deeply.');
  }

  judge(items: readonly Item[]): void {
    if (items.some((item) => item.kind === 'open' && ['while', 'until', 'for'].includes(item.text)))
      this.#expectFolders(items);
    this.#fed = fedCommands(items, this.#place.isFed);
    for (const item of items) this.#judgeItem(item);
  }

  /** In a loop, a `cd` also changes what the commands before it mean. */
  #expectFolders(items: readonly Item[]): void {
    for (const word of changesOfFolder(items)) {
      const { text } = this.#around.resolve(word);
      if (text !== undefined) this.#around.addFolders(this.#targetsOf(text));
    }
    this.#chainStart = [...this.#around.cwds];
  }

  #judgeItem(item: Item): void {
    if (item.kind === 'operator') this.#passOperator(item.text);
    else if (item.kind === 'open') this.#open(item.text);
    else if (item.kind === 'close') this.#close(item.text);
    else if (item.kind === 'simple') this.#judgeSimple(item);
    else {
      if (item.kind === 'for') this.#around.variables.set(item.name, undefined);
      for (const word of item.words) this.#passWord(word, this.#place.isFed);
      if (item.kind === 'for' && item.words.some((word) => this.#around.mentionOf(word) !== 'none'))
        this.#around.aboutSkills.add(item.name);
    }
  }

  #passOperator(text: string): void {
    this.#lastOperator = text;
    this.#isChainStart = text !== '&&';
    if (text === '&&') return;
    // The command before it ran in a shell of its own.
    if (/^(?:\||\|&|&)$/.test(text)) this.#around.cwds = [...this.#beforeCommand];
    this.#around.addFolders(this.#chainStart);
    if (text === '&') {
      const ended = this.#around.cwds;
      this.#around.cwds = [...(this.#listStarts.at(-1) ?? [])];
      this.#around.addFolders(ended);
    }
    this.#chainStart = [...this.#around.cwds];
    if (!text.startsWith('|')) this.#listStarts[this.#listStarts.length - 1] = [...this.#around.cwds];
  }

  #open(text: string): void {
    if (COMPOUND.has(text)) {
      this.#compound++;
      this.#listStarts.push([...this.#around.cwds]);
    }
    if (text === '(') this.#saved.push({ cwds: [...this.#around.cwds], isLost: this.#around.isLost });
    this.#isChainStart = true;
  }

  #close(text: string): void {
    this.#compound--;
    if (this.#listStarts.length > 1) this.#listStarts.pop();
    const saved = text === ')' ? this.#saved.pop() : undefined;
    this.#beforeCommand = [...this.#around.cwds];
    if (saved === undefined) return;
    this.#beforeCommand = [...saved.cwds];
    this.#around.cwds = saved.cwds;
    this.#around.isLost = saved.isLost;
  }

  /** A word that runs nothing itself, but may mention a skill or contain a script. */
  #passWord(word: Word, isFed: boolean): void {
    this.#judgeNested(word, isFed);
    this.#findings.mention(this.#around.mentionOf(word));
    this.#noteEvaluated(word);
  }

  /** In arithmetic and names of variables, bash runs `a[$(…)]` even from quotes, and `${x@P}` runs what `x` contains. */
  #noteEvaluated({ parts }: Word, role: keyof typeof EVALUATED = 'word'): void {
    const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    const expands = parts.some((part) => part.kind === 'computed' && part.raw.endsWith('@P}'));
    if (expands || EVALUATED[role].test(text))
      this.#findings.openRuns.push('it contains text that the shell may run');
  }

  #judgeNested(word: Word, isFed: boolean): void {
    for (const nested of word.nested) this.#judgeInside(nested, isFed);
  }

  #judgeInside({ items, editable }: Nested, isFed: boolean): void {
    const around = this.#around.copy();
    const place = { ...this.#place, surroundings: around, isFed, depth: this.#place.depth + 1 };
    if (editable) return new Judge(this.#task, place).judge(items);
    const findings = new Findings();
    new Judge(this.#task, { ...place, findings, editable: false }).judge(items);
    this.#findings.add(findings);
  }

  #judgeSimple(command: SimpleCommand): void {
    this.#beforeCommand = [...this.#around.cwds];
    const isFed = this.#fed.has(command);
    for (const { value } of command.assignments) this.#judgeNested(value, isFed);
    for (const word of command.words) this.#judgeNested(word, isFed);
    for (const { value } of command.assignments) this.#noteEvaluated(value, 'value');
    this.#passRedirections(command, isFed);
    this.#passAssignments(command);
    const [first] = command.words;
    const name = first === undefined ? undefined : this.#around.resolve(first).text;
    for (const word of command.words) this.#noteEvaluated(word, TEXT_TOOLS.has(name ?? '') ? 'text' : 'word');
    if (name === 'cd' || name === 'pushd' || name === 'popd')
      this.#changeFolder(name, command.words.slice(1));
    else if (first !== undefined) new CommandJudge(this.#task, { ...this.#place, isFed }).judge(command);
    this.#noteDisturbance(command, name);
    this.#isChainStart = false;
  }

  #noteDisturbance({ words }: SimpleCommand, name: string | undefined): void {
    if (name === undefined && words.length === 0) return;
    const isReader =
      name !== undefined &&
      (kindOf(name) === 'reader' ||
        readsOnly(
          name,
          words.slice(1).map((word) => this.#around.resolve(word).text),
        ));
    const removes = name !== undefined && /^(?:rm|rmdir|chmod|git|mkdir)$/.test(name);
    if ((!isReader || removes) && name !== 'cd') this.#undisturbed = false;
  }

  #passRedirections({ redirections }: SimpleCommand, isFed: boolean): void {
    for (const { operator, target, body } of redirections) {
      this.#judgeNested(target, isFed);
      if (body !== undefined) {
        const relation = this.#around.mentionIn(body);
        if (relation !== 'none') this.#findings.writesMention = true;
        // What is not written to a file may reach a program behind a pipe.
        if (!redirections.some((other) => other.operator.includes('>'))) this.#findings.mention(relation);
        continue;
      }
      if (!/>/.test(operator)) this.#findings.mention(this.#around.mentionOf(target));
      const { text } = this.#around.resolve(target);
      if (text === undefined || !operator.includes('>')) continue;
      for (const place of this.#around.placesOf(text)) this.#findings.written.add(normalize(place));
    }
  }

  #passAssignments({ assignments, words }: SimpleCommand): void {
    for (const { name, value } of assignments) {
      const relation = this.#around.mentionOf(value);
      this.#findings.mention(relation);
      const isPrefix = words.length > 0;
      if (changesPaths(name)) this.#findings.changesPaths = true;
      if (name === 'CDPATH')
        this.#findings.deny('The variable "CDPATH" changes what "cd" means. Leave it out.');
      if ((relation === 'code' || relation === 'above') && (isPrefix || changesSkillcell(name)))
        this.#denyVariable(name);
      // The command sees it too, and a shell goes by it.
      if (!isPrefix || name === 'HOME') this.#assign(name, value);
      if (!isPrefix && relation !== 'none') this.#around.aboutSkills.add(name);
    }
    const [first, ...others] = words;
    const isExport =
      first !== undefined && /^(?:export|readonly)$/.test(this.#around.resolve(first).text ?? '');
    if (isExport) for (const word of others) this.#passExport(word);
  }

  #passExport(word: Word): void {
    const [first] = word.parts;
    const [, name] = /^([A-Za-z_]\w*)=/.exec(first?.kind === 'text' ? first.text : '') ?? [];
    if (name === undefined) return;
    const relation = this.#around.mentionOf(word);
    if ((relation === 'code' || relation === 'above') && changesSkillcell(name)) this.#denyVariable(name);
    if (relation !== 'none') this.#around.aboutSkills.add(name);
    const { text, isPattern } = this.#around.resolve(word);
    const value = text?.slice(name.length + 1);
    const known = value?.startsWith('~/') === true ? `${this.#around.home}${value.slice(1)}` : value;
    this.#around.variables.set(name, this.#isCertain(name) && !isPattern ? known : undefined);
  }

  #denyVariable(name: string): void {
    this.#findings.deny(
      `The variable "${name}" points into a skill, and could make a program run its files.`,
    );
  }

  #assign(name: string, value: Word): void {
    const { text, isPattern } = this.#around.resolve(value);
    this.#around.variables.set(name, this.#isCertain(name) && !isPattern ? text : undefined);
  }

  /** A variable that is set once, and not only in some cases. */
  #isCertain(name: string): boolean {
    const { assigned } = this.#task;
    if (assigned.has(ANY_NAME)) return false;
    return assigned.get(name) === 1 && this.#compound === 0 && this.#lastOperator !== '||';
  }

  #changeFolder(name: string, args: readonly Word[]): void {
    const resolved = args.map((word) => this.#around.resolve(word));
    for (const word of args) this.#findings.mention(this.#around.mentionOf(word));
    const words = resolved.filter(({ text }) => !/^-[LPe@]+$|^--$/.test(text ?? ''));
    const [target] = words;
    if (name === 'cd' && target === undefined) return this.#enterHome();
    if (
      name === 'popd' ||
      words.length !== 1 ||
      target?.text === undefined ||
      target.isPattern ||
      /^[-+]/.test(target.text)
    ) {
      this.#around.isLost = true;
      return;
    }
    this.#enter(this.#targetsOf(target.text));
  }

  #enterHome(): void {
    const { home } = this.#around;
    if (home === undefined) this.#around.isLost = true;
    else this.#enter([home]);
  }

  #targetsOf(text: string): string[] {
    const paths = isAbsolute(text) ? [text] : this.#around.cwds.map((cwd) => `${cwd}/${text}`);
    const logical = paths.map((path) => normalize(path).replace(/(.)\/$/, '$1'));
    // After `cd -P` or `set -P`, `..` is the folder above that which a link leads to.
    const physical = text.includes('..') ? paths.map((path) => this.#around.folders.physical(path)) : [];
    return [...new Set([...logical, ...physical])];
  }

  #enter(targets: string[]): void {
    const before = this.#around.cwds;
    const isCertain =
      this.#undisturbed &&
      this.#isChainStart &&
      this.#compound === this.#saved.length &&
      isFolder(targets[0]);
    this.#around.cwds = targets;
    if (this.#compound > this.#saved.length || this.#lastOperator === '||') this.#around.addFolders(before);
    if (isCertain && this.#lastOperator !== '|' && this.#lastOperator !== '||')
      this.#chainStart = [...targets];
  }
}

function isFolder(path: string | undefined): boolean {
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
