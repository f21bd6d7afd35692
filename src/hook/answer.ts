/**
 * The program behind `skillcell hook`: JSON of an agent in, JSON for the agent out. It loads nothing but this folder and the
 * vocabulary, because an agent waits for it before every command.
 *
 * @module
 */
import { isAbsolute } from 'node:path';
import type { HookAnswer } from '../vocabulary/hook-answers.ts';
import { Findings, type Verdict } from './findings.ts';
import { matchesOf } from './globs.ts';
import { judgeText } from './judge.ts';
import { unreadable } from './shell-code.ts';
import { NotUnderstood } from './shell/syntax.ts';
import { namesPlace, SkillFolders, TooMuchWork } from './skill-folders.ts';
import { Surroundings } from './surroundings.ts';

/** Longer commands are not read. */
export const MAX_COMMAND: number = 256 * 1024;

export interface HookOptions {
  home: string;
  env: Readonly<Record<string, string | undefined>>;
  /** What starts Skillcell, as a word of a shell command. */
  program: string;
  answer: HookAnswer;
}

/** `output` goes to stdout, `refusal` to stderr with exit code 2. Neither: the agent goes on as usual. */
export interface HookReply {
  output?: string;
  refusal?: string;
}

const REFUSED = 'Skillcell could not read the call, so it was blocked';

export function answerHook(input: string, options: HookOptions): HookReply {
  let event: unknown;
  try {
    event = JSON.parse(input);
  } catch {
    return { refusal: `${REFUSED}: the input of the hook is not valid JSON.` };
  }
  if (!isObject(event)) return { refusal: `${REFUSED}: the input of the hook is not an object.` };
  // Other events and tools start no shell command.
  if (typeof event['hook_event_name'] === 'string' && event['hook_event_name'] !== 'PreToolUse') return {};
  if (typeof event['tool_name'] === 'string' && event['tool_name'] !== 'Bash') return {};
  const { tool_input: toolInput, cwd } = event;
  if (!isObject(toolInput) || typeof toolInput['command'] !== 'string')
    return { refusal: `${REFUSED}: "tool_input.command" is missing.` };
  if (typeof cwd !== 'string' || !isAbsolute(cwd))
    return { refusal: `${REFUSED}: "cwd" is not an absolute path.` };
  const verdict = judgeCommand(toolInput['command'], cwd, options);
  return reply(verdict, toolInput, options.answer);
}

const MAX_PATTERNS = 50;

/** Never throws: a defect of ours must not let a command pass. */
export function judgeCommand(command: string, cwd: string, options: Omit<HookOptions, 'answer'>): Verdict {
  const folders = new SkillFolders(options.home);
  const surroundings = new Surroundings(folders, cwd, options.env);
  const findings = new Findings();
  try {
    if (command.length > MAX_COMMAND) throw new NotUnderstood('it is too long');
    judgeText(
      command,
      { cwd, program: options.program },
      { surroundings, findings, editable: true, isFed: false, depth: 0 },
    );
    return findings.verdict(command);
  } catch (error) {
    const why = error instanceof NotUnderstood ? error.message : 'Skillcell failed while reading it';
    return isNear(command, error, new Surroundings(new SkillFolders(options.home), cwd, options.env))
      ? { kind: 'deny', reason: error instanceof TooMuchWork ? TOO_MUCH : unreadable(why) }
      : { kind: 'leave' };
  }
}

const TOO_MUCH =
  'The command names more files than Skillcell can check in time. Split it, or write long text to a file with another tool.';

/** What cannot be judged in time counts as near a skill. */
function isNear(command: string, error: unknown, surroundings: Surroundings): boolean {
  if (error instanceof TooMuchWork) return true;
  try {
    return isNearSkill(command, surroundings);
  } catch {
    return true;
  }
}

/** Whether a command that could not be read mentions a skill, with and without its quotes, variables and escapes. */
function isNearSkill(command: string, surroundings: Surroundings): boolean {
  const own = surroundings.folders.skillOf(surroundings.cwd);
  if (own !== undefined && surroundings.folders.isListed(own)) return true;
  const unescaped = unescape(command);
  const bare = [command, unescaped].map((text) => text.replaceAll(/\\\n|\$(?=['"])|["'\\]/g, ''));
  const plain = bare.map((text) => text.replaceAll(/\$\{?\w*\}?/g, ''));
  const variants = [...new Set([command, unescaped, ...bare, ...plain])];
  return variants.some(
    (text) =>
      namesPlace(text) || surroundings.mentionIn(text) !== 'none' || hasPatternOfSkill(text, surroundings),
  );
}

/** A pattern such as `.cl*` does not name the folder that it means. */
function hasPatternOfSkill(text: string, { folders, cwd }: Surroundings): boolean {
  const patterns = text.split(/[\s;|&()<>`=:]+/).filter((word) => word.includes('/') && /[*?[{]/.test(word));
  if (patterns.length > MAX_PATTERNS) return true;
  return patterns.some((pattern) => {
    const path = pattern.startsWith('~/') ? folders.home + pattern.slice(1) : pattern;
    const found = matchesOf([{ text: path, quoted: false }], cwd, folders);
    return found?.some((file) => folders.skillOf(file) !== undefined) ?? true;
  });
}

function unescape(text: string): string {
  return text.replaceAll(/\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|[0-7]{1,3})/g, (_whole, code: string) =>
    String.fromCodePoint(/^[xu]/.test(code) ? Number.parseInt(code.slice(1), 16) : Number.parseInt(code, 8)),
  );
}

function reply(verdict: Verdict, toolInput: Record<string, unknown>, answer: HookAnswer): HookReply {
  if (verdict.kind === 'leave') return {};
  if (verdict.kind !== 'rewrite')
    return decision({
      permissionDecision: verdict.kind,
      permissionDecisionReason: `Skillcell: ${verdict.reason}`,
    });
  const what = `runs ${verdict.skills.length === 1 ? 'a script of a skill' : 'scripts of skills'} in the sandbox of Skillcell`;
  if (answer === 'deny')
    return decision({
      permissionDecision: 'deny',
      permissionDecisionReason: `Skillcell: scripts of skills run only in the sandbox. Run this command instead: ${verdict.command}`,
    });
  const updatedInput = { ...toolInput, command: verdict.command };
  // A grant in the command is for a person, whatever the rules of the agent say.
  if (answer === 'rules' && !verdict.hasGrant) return decision({ updatedInput });
  return decision({
    permissionDecision: 'ask',
    permissionDecisionReason: `Skillcell: the command ${what}.`,
    updatedInput,
  });
}

function decision(fields: Record<string, unknown>): HookReply {
  return { output: JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } }) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
