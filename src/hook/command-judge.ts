/**
 * Judges one simple command: whether it runs a script of a skill, only reads, or does something that is not known.
 *
 * @module
 */
import { basename, isAbsolute, normalize } from 'node:path';
import { printable, quoteWord, type Findings } from './findings.ts';
import { grantOf, hiddenGrant, homesIn, reasonOfVariable, variablesIn } from './own-commands.ts';
import { sourceOf } from './interpreters.ts';
import { CHANGE_NAMES, changesSkillcell, ENDINGS, kindOf, RUN_DATA, readsOnly } from './programs.ts';
import type { Interpreter, ProgramKind } from './programs.ts';
import { runsOfFind, searchesSkills } from './find-command.ts';
import { codeIn, isExpanded } from './standard-input.ts';
import { judgeShellCode, type CodeJudge, type CodePlace } from './shell-code.ts';
import type { SimpleCommand, Word } from './shell/syntax.ts';
import { strongest, type Resolved, type Surroundings } from './surroundings.ts';
import { isFilled, replacedByXargs, wrappedAt } from './wrappers.ts';
import { importedFiles, noteGiven, noteRun, noteStartup, noteWrites, runsItsInput } from './written-files.ts';

export interface CommandTask {
  cwd: string;
  program: string;
  assigned: ReadonlyMap<string, number>;
  judgeText: CodeJudge;
}

const PLAIN = 'Run the script with a plain command such as: python PATH/scripts/NAME.py ARGUMENTS';

export class CommandJudge {
  readonly #task: CommandTask;
  readonly #place: CodePlace;
  readonly #around: Surroundings;
  readonly #findings: Findings;
  readonly #state: { around: Surroundings; findings: Findings };
  #command: SimpleCommand = { kind: 'simple', assignments: [], words: [], redirections: [] };
  #resolved: Resolved[] = [];
  /** Undefined for words that only the shell knows, and for patterns. */
  #texts: (string | undefined)[] = [];
  /** What `xargs` replaces in the command; an empty text if it appends. */
  #replaced: string | undefined;

  constructor(task: CommandTask, place: CodePlace) {
    this.#task = task;
    this.#place = place;
    this.#around = place.surroundings;
    this.#findings = place.findings;
    this.#state = { around: this.#around, findings: this.#findings };
  }

  judge(command: SimpleCommand): void {
    this.#command = command;
    this.#resolved = command.words.map((word) => this.#around.resolve(word));
    this.#texts = this.#resolved.map(({ text, isPattern }) => (isPattern ? undefined : text));
    this.#judgeFrom(0);
  }

  #judgeFrom(from: number): void {
    const program = this.#texts[from];
    if (program === undefined) return this.#judgeComputedProgram(from);
    if (program.includes('/')) {
      const skill = this.#around.skillOf(program);
      if (skill !== undefined) return this.#run(from, skill, from);
      this.#noteRun(program);
    }
    const name = basename(program);
    const wrapped = wrappedAt(name, this.#texts.slice(from));
    if (wrapped !== undefined) return this.#judgeWrapper(name, from, wrapped);
    if (name === 'uv' && this.#texts[from + 1] === 'run') return this.#judgeUvRun(from);
    if (name === '.' || name === 'source') return this.#judgeSource(from);
    if (name === 'eval') return this.#judgeEval(from);
    const grant = grantOf(name, this.#texts.slice(from), this.#task.cwd);
    if (grant !== undefined) {
      const reason = grant || reasonOfVariable(this.#givenVariable());
      if (reason !== '') this.#findings.grants.push(reason);
      return;
    }
    this.#judgeKind(name, kindOf(name), from);
  }

  #judgeKind(name: string, kind: ProgramKind, from: number): void {
    const args = this.#texts.slice(from + 1);
    const isOpen = kind === 'unknown' || /^-\w*[ce]$/.test(args[0] ?? '');
    noteWrites(name, args, { ...this.#state, isFed: isOpen && this.#place.isFed });
    if (name === 'find') this.#findings.searchesSkills ||= searchesSkills(args, this.#around);
    if (kind === 'reader' || readsOnly(name, args)) return this.#noteMentions(from + 1);
    if (name === 'find') return this.#judgeFind(from);
    if (name === 'cp') return this.#judgeCopy(from);
    if (kind === 'unknown') return this.#judgeUnknown(name, from);
    if (kind === 'input-runner') {
      this.#findings.openRuns.push(`"${name}" runs what it is given`);
      return this.#judgeUnknown(name, from);
    }
    this.#judgeInterpreter(name, kind, from);
  }

  #judgeComputedProgram(from: number): void {
    this.#findings.openRuns.push('the program that it starts is computed by the shell');
    this.#judgeUnknown('a computed program', from - 1);
  }

  /** Of an unknown program, the arguments and the input: it may run every file that it gets. */
  #judgeUnknown(name: string, from: number): void {
    const relation = this.#relationOfRest(from + 1);
    if (relation === 'data') this.#findings.mention(relation);
    noteGiven(this.#texts.slice(from + 1), this.#state);
    const hidden = hiddenGrant(this.#texts.slice(from), this.#task.cwd);
    if (hidden !== '') this.#findings.grants.push(hidden);
    if (name === 'shopt') this.#findings.mentionsSkill ||= this.#texts.includes('globstar');
    if (CHANGE_NAMES.has(name)) this.#findings.openRuns.push(`"${name}" changes what commands mean`);
    if (this.#replaced !== undefined)
      this.#findings.openRuns.push(`"xargs" gives "${printable(name)}" what it reads`);
    if (relation === 'code' || relation === 'above' || (relation === 'data' && RUN_DATA.has(name)))
      return this.#deny(`"${printable(name)}" gets a script or a folder of a skill, and could run it.`, true);
    const root = this.#around.skillAround(this.#task.cwd);
    if (root !== undefined)
      this.#deny(
        `"${printable(name)}" would run inside the folder of the skill "${basename(root)}", and could run its files. Change to your project first.`,
      );
  }

  #relationOfRest(from: number): ReturnType<typeof strongest> {
    const inputs = this.#command.redirections.filter(
      ({ operator, body }) => operator.startsWith('<') && body === undefined,
    );
    const words = [...this.#command.words.slice(from), ...inputs.map(({ target }) => target)];
    return strongest(words.map((word) => this.#around.mentionOf(word)));
  }

  #noteMentions(from: number): void {
    this.#findings.mention(this.#relationOfRest(from));
  }

  #judgeWrapper(name: string, from: number, wrapped: number | 'none' | 'unclear'): void {
    if (name === 'command' && /^-[vV]$/.test(this.#texts[from + 1] ?? ''))
      return this.#noteMentions(from + 1);
    if (wrapped === 'none') return this.#noteMentions(from + 1);
    if (wrapped === 'unclear') {
      this.#findings.openRuns.push(`"${name}" has an option that is not known`);
      return this.#judgeUnknown(name, from);
    }
    const between = this.#command.words.slice(from + 1, from + wrapped);
    if (between.some((word) => ['code', 'above'].includes(this.#around.mentionOf(word))))
      return this.#deny(`An argument of "${name}" points into a skill.`, true);
    if (name === 'env') {
      const set = this.#texts.slice(from + 1, from + wrapped);
      this.#variables.push(...variablesIn(set));
      for (const home of homesIn(set)) this.#around.variables.set('HOME', home);
    }
    if (name === 'xargs') this.#replaced = replacedByXargs(this.#texts.slice(from)) ?? '';
    this.#judgeFrom(from + wrapped);
  }

  /** Variables in front of the command, which reach Skillcell as well. */
  readonly #variables: string[] = [];

  #judgeUvRun(from: number): void {
    const script = this.#texts[from + 2];
    const kind = script === undefined ? 'unknown' : kindOf(basename(script));
    if (kind === 'python') {
      const edits = this.#findings.edits.length;
      this.#judgeFrom(from + 2);
      if (this.#findings.edits.length > edits)
        this.#findings.dropLauncher(this.#command.words.slice(from), '');
      return;
    }
    const skill = script === undefined || script.startsWith('-') ? undefined : this.#around.skillOf(script);
    if (skill === undefined || script === undefined) return this.#judgeUnknown('uv', from);
    this.#run(from + 2, skill, from + 2);
    this.#findings.dropLauncher(this.#command.words.slice(from), 'python ');
  }

  #judgeSource(from: number): void {
    const file = this.#texts[from + 1];
    if (file === undefined) {
      this.#findings.openRuns.push('it sources a computed file');
    } else if (this.#around.skillOf(file) !== undefined) {
      return this.#deny(
        `A script of a skill cannot be sourced: it would run in your shell. Run instead: bash ${quoteWord(printable(file))}`,
      );
    } else this.#noteRun(file);
    this.#judgeUnknown('source', from);
  }

  #judgeEval(from: number): void {
    const words = this.#texts.slice(from + 1);
    if (words.includes(undefined)) {
      this.#findings.openRuns.push('"eval" runs computed text');
      return this.#judgeUnknown('eval', from);
    }
    const code = words.join(' ');
    const { kind } = judgeShellCode(code, this.#task, { ...this.#place, outer: this.#findings });
    if (kind !== 'leave') this.#deny('"eval" would run a script of a skill.', true);
    if (/\b(?:cd|pushd|popd)\b/.test(code)) this.#around.isLost = true;
  }

  #judgeFind(from: number): void {
    const runs = runsOfFind(this.#texts.slice(from + 1), this.#around);
    if (runs === 'nothing') return this.#noteMentions(from + 1);
    if (runs === 'near skills') return this.#deny('"find" would run a command on files of skills.', true);
    this.#judgeUnknown('find', from);
  }

  /** Copying data out of a skill, or anything into it, runs nothing. A copy of a script could be run. */
  #judgeCopy(from: number): void {
    const files = this.#command.words
      .slice(from + 1)
      .filter((_, at) => this.#texts[from + 1 + at]?.startsWith('-') !== true);
    const relation = strongest(files.slice(0, -1).map((word) => this.#around.mentionOf(word)));
    const hasTarget = this.#texts.slice(from + 1).some((word) => /^-\w*t|^--t/.test(word ?? ''));
    if (relation === 'code' || relation === 'above' || hasTarget) return this.#judgeUnknown('cp', from);
    this.#noteMentions(from + 1);
  }

  #judgeInterpreter(name: string, kind: Interpreter, from: number): void {
    const source = sourceOf(kind, this.#texts.slice(from));
    if (kind === 'shell') noteStartup(this.#texts.slice(from), this.#state);
    if (source.from === 'nothing') return this.#noteMentions(from + 1);
    if (source.from === 'attached') return this.#judgeAttached(name, source.text, from);
    if (source.from === 'input') return this.#judgeInput(name, kind, from);
    if (source.from === 'unclear') {
      this.#findings.openRuns.push(`"${printable(name)}" has an option that is not known`);
      return this.#judgeUnknown(name, from);
    }
    if (this.#command.words[from + source.at] === undefined) return this.#judgeUnknown(name, from);
    if (source.from === 'file') return this.#judgeScript(name, from, from + source.at);
    if (source.from === 'module') return this.#judgeModule(name, from, from + source.at);
    this.#judgeCode(name, kind, from + source.at);
  }

  /** `-mNAME` and `-cCODE` in one word, which `skillcell exec` does not take. */
  #judgeAttached(name: string, text: string, from: number): void {
    const relation = this.#around.mentionIn(`import ${text}`);
    if (relation === 'code' || relation === 'above' || this.#around.skillAround(this.#task.cwd) !== undefined)
      return this.#deny(`"${printable(name)}" would run code or a module of a skill.`, true);
    this.#findings.openRuns.push(`"${printable(name)}" has an option that is not known`);
    this.#judgeUnknown(name, from);
  }

  #judgeScript(name: string, from: number, at: number): void {
    const { text, isPattern, matches } = this.#resolved[at] ?? { text: undefined, isPattern: false };
    if (isPattern) {
      if (matches === undefined || matches.some((path) => this.#around.skillOf(path) !== undefined))
        return this.#deny('A pattern stands in place of the script, and matches files of a skill.', true);
      this.#findings.openRuns.push('a pattern stands in place of the script');
    } else if (text === undefined) {
      this.#findings.openRuns.push('the script that it runs is computed by the shell');
    } else {
      const skill = this.#around.skillOf(text);
      if (skill !== undefined) return this.#run(from, skill, at);
      if (
        name.startsWith('node') &&
        ENDINGS.some((ending) => this.#around.skillOf(text + ending) !== undefined)
      )
        return this.#deny('The script leads into a skill.', true);
      this.#noteRun(text);
      for (const ending of ENDINGS) this.#noteRun(text + ending);
    }
    if (
      this.#replaced !== undefined &&
      (text === undefined || (this.#replaced !== '' && text.includes(this.#replaced)))
    )
      this.#runsInput(name, 'gets its script from "xargs"');
    this.#judgeArguments(name, at);
  }

  /** The arguments of the user's own program. In the folder of a skill, a program is not more dangerous than elsewhere. */
  #judgeArguments(name: string, at: number): void {
    const relation = this.#relationOfRest(at);
    this.#findings.mention(relation);
    if (isFilled(this.#replaced, this.#texts.slice(at - 1)))
      this.#findings.openRuns.push(`"xargs" gives "${printable(name)}" what it reads`);
    if (relation === 'code' || relation === 'above')
      this.#deny(
        `"${printable(name)}" gets a script or a folder of a skill as an argument, and could run it.`,
        true,
      );
  }

  #judgeModule(name: string, from: number, at: number): void {
    const module = this.#texts[at];
    if (module === undefined)
      this.#findings.openRuns.push('the module that it runs is computed by the shell');
    const path = (module ?? '').replaceAll('.', '/');
    const files = [path, `${path}.py`, `${path}/__main__.py`];
    for (const file of files) this.#noteRun(file);
    const root = this.#around.skillAround(this.#task.cwd) ?? this.#around.ownerOf(files);
    if (root === undefined) return this.#judgeArguments(name, at + 1);
    if (this.#around.skillOf('.') === root) return this.#run(from, root, at);
    this.#deny('A module of a skill is started from outside its folder.', true);
  }

  #judgeCode(name: string, kind: Interpreter, at: number): void {
    const [word, code] = [this.#command.words[at], this.#texts[at]];
    if (word === undefined) return;
    if (code === undefined) {
      this.#findings.openRuns.push(`"${printable(name)}" runs computed code`);
      if (this.#around.mentionOf(word) !== 'none' || this.#around.skillAround(this.#task.cwd) !== undefined)
        this.#deny('Code that the shell computes mentions a skill.', true);
    } else if (kind === 'shell') this.#judgeShellCode(word, code);
    else if (
      ['code', 'above'].includes(this.#around.mentionIn(code)) ||
      this.#around.skillAround(this.#task.cwd) !== undefined
    )
      this.#deny(
        `Code for "${printable(name)}" mentions a script or a folder of a skill, or runs inside the folder of a skill. Write the code to a file of your project.`,
        true,
      );
    else {
      if (this.#place.isFed && runsItsInput(code))
        this.#findings.openRuns.push(`"${printable(name)}" may run what it reads`);
      for (const file of importedFiles(code)) this.#noteRun(file);
    }
    this.#judgeArguments(name, at + 1);
  }

  #judgeShellCode(word: Word, code: string): void {
    const verdict = judgeShellCode(code, this.#task, { ...this.#place, outer: this.#findings });
    if (verdict.kind === 'deny') return this.#findings.deny(verdict.reason);
    if (verdict.kind !== 'rewrite') return;
    if (!this.#place.editable || this.#replaced !== undefined)
      return this.#deny('A script of a skill is run by a shell inside another command.', true);
    for (const skill of verdict.skills) this.#findings.skills.add(skill);
    const text = `'${verdict.command.replaceAll("'", String.raw`'\''`)}'`;
    this.#findings.edits.push({ start: word.start, end: word.end, text });
    this.#checkOwnVariables();
  }

  #runsInput(name: string, how: string): void {
    this.#findings.openRuns.push(`"${printable(name)}" ${how}`);
    this.#findings.runsInput = true;
  }

  /** Code on standard input: a here-document is read, everything else is not known. */
  #judgeInput(name: string, kind: Interpreter, from: number): void {
    const document = this.#command.redirections.findLast(({ operator }) => operator.startsWith('<'));
    const text = codeIn(document, this.#around);
    if (text === undefined || this.#replaced !== undefined) this.#runsInput(name, 'runs what it reads');
    else if (kind === 'shell') {
      if (judgeShellCode(text, this.#task, { ...this.#place, outer: this.#findings }).kind !== 'leave')
        this.#deny('A here-document for a shell runs a script of a skill.', true);
    } else if (['code', 'above'].includes(this.#around.mentionIn(text)))
      this.#deny(
        `Code for "${printable(name)}" mentions a script or a folder of a skill. Write the code to a file of your project.`,
        true,
      );
    if (isExpanded(document)) this.#findings.openRuns.push(`"${printable(name)}" runs computed code`);
    this.#judgeUnknown(name, from);
  }

  /** A program or script that is not of a skill, as far as it is known. */
  #noteRun(path: string): void {
    if (noteRun(path, this.#state) === 'copy of a script')
      this.#deny('The command copies a script of a skill, and runs the copy.', true);
    if (/^\/(?:dev|proc)\//.test(normalize(path))) this.#findings.openRuns.push('it runs what it reads');
    if (this.#around.isLost && !isAbsolute(path))
      this.#findings.openRuns.push('its working directory is not known');
  }

  /** Puts `skillcell exec` in front of the program. `at` is the word that names the script. */
  #run(from: number, skill: string, at: number): void {
    const word = this.#command.words[from];
    if (word === undefined) return;
    this.#findings.skills.add(skill);
    if (!this.#place.editable)
      return this.#deny('A script of a skill is run inside backquotes, "eval" or a nested shell.', true);
    if (this.#around.isLost) return this.#deny('The working directory is not known after this "cd".', true);
    if (/\p{Cc}/u.test(skill + this.#task.cwd))
      return this.#deny('The path of the skill has control characters.');
    if (this.#replaced !== undefined && this.#replaced !== '') {
      const changed = [skill, this.#around.cwd, ...this.#texts.slice(from, at + 1)];
      if (changed.some((text) => text?.includes(this.#replaced ?? '') !== false))
        return this.#deny('"xargs" would change the path of the script.', true);
    }
    this.#checkOwnVariables();
    const workspace = this.#around.workspaceFor(skill, this.#task.cwd);
    const option = workspace === undefined ? '' : `--workspace ${quoteWord(workspace)} `;
    const input = this.#place.isFed ? '' : '--no-stdin ';
    this.#findings.edits.push({
      start: word.start,
      end: word.start,
      text: `${this.#task.program} exec ${quoteWord(skill)} ${option}${input}-- `,
    });
  }

  /** A variable that Skillcell itself would get, and that changes what it does. */
  #givenVariable(): string | undefined {
    const names = [...this.#variables, ...this.#task.assigned.keys()];
    return names.find((candidate) => changesSkillcell(candidate));
  }

  #checkOwnVariables(): void {
    const name = this.#givenVariable();
    if (name !== undefined)
      this.#deny(`The variable "${name}" would change how Skillcell runs. Leave it out.`);
  }

  #deny(reason: string, hint = false): void {
    this.#findings.deny(hint ? `${reason} ${PLAIN}` : reason);
  }
}
