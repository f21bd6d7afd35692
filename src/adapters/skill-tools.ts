/**
 * Skills as tools that any agent framework can wrap: a name, a schema, and a call that never throws unless it was asked to.
 *
 * @module
 */
import { HostFolders } from '../calls/host-folders.ts';
import { SkillError, toSkillError } from '../errors.ts';
import type { Skill } from '../load/skill.ts';
import type { JsonSchema } from '../manifest/manifest.ts';
import { toToolResult } from '../mcp/result.ts';
import type { Outcome } from '../outcome.ts';
import type { ExecuteOptions } from '../runtime-options.ts';
import type { Runtime } from '../runtime.ts';
import type { ToolFormats } from '../tools/formats.ts';
import type { SkippedSkill, ToolSet } from '../tools/tool-set.ts';
import { nameMatches } from '../trust/skill-rules.ts';

/** Options of every adapter. */
export interface AdapterOptions {
  /** Ids or folders of skills, or patterns of ids such as `text/*`; absent: all skills that can be tools. */
  skills?: string | readonly string[] | undefined;
  /** Options of every call, such as `timeout` and `workspace`. */
  execute?: Omit<ExecuteOptions, 'signal' | 'reject' | 'turn' | 'load'> | undefined;
  /** `answer` (default) tells the model about a failed call; `throw` throws a SkillError, which may end the agent. */
  onFailure?: 'answer' | 'throw' | undefined;
  /** Gets the whole outcome of every call, with the `call_id` of its receipt. */
  onOutcome?: ((outcome: Outcome) => void) | undefined;
  /** Gets every skill that a pattern names, or that exists, and that cannot be a tool. */
  onSkipped?: ((skipped: SkippedSkill) => void) | undefined;
}

/** The result of a tool call, for the program; the model reads `text`. */
export interface SkillToolOutput {
  ok: boolean;
  /** The id of the receipt; absent if no call was made, for example because the arguments were not JSON. */
  call_id?: string;
  /** What the skill returned; absent if the call failed. */
  result?: unknown;
  /** What the model reads: the result as text, or what happened and who can do something about it. */
  text: string;
}

/** One skill, ready to be wrapped. */
export interface SkillTool<Schema = JsonSchema & { type: 'object' }> {
  name: string;
  description: string;
  parameters: Schema;
  call: (args: unknown, signal?: AbortSignal) => Promise<SkillToolOutput>;
}

/** The tool formats that keep a JSON Schema of the parameters. */
type AdapterFormat = 'mcp' | 'openai';

interface Offer<Format extends AdapterFormat> {
  tools: readonly ToolFormats[Format][];
  call: (tool: string, args: unknown, signal?: AbortSignal) => Promise<SkillToolOutput>;
}

/** Skills as tools of a framework that takes them by name. */
export async function toolsByName<Made>(
  runtime: Runtime,
  options: AdapterOptions,
  make: (offered: SkillTool) => Made,
): Promise<Record<string, Made>> {
  const offered = await skillTools(runtime, options);
  return Object.fromEntries(offered.map((one) => [one.name, make(one)]));
}

/** Skills with the JSON Schema of their manifests, unchanged. */
export async function skillTools(runtime: Runtime, options: AdapterOptions): Promise<SkillTool[]> {
  const { tools, call } = await offerSkills(runtime, 'mcp', options);
  return tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    parameters: inputSchema,
    call: (args, signal) => call(name, args, signal),
  }));
}

/** The tools of one format, and the way from a tool call to the answer for the model. */
export async function offerSkills<Format extends AdapterFormat>(
  runtime: Runtime,
  format: Format,
  options: AdapterOptions,
): Promise<Offer<Format>> {
  const set = await chosenTools(runtime, format, options);
  const call = async (tool: string, args: unknown, signal?: AbortSignal): Promise<SkillToolOutput> => {
    try {
      return answerOf(runtime, await execute(runtime, set.call(tool, args), { ...options, signal }), options);
    } catch (thrown) {
      if (options.onFailure === 'throw') throw thrown;
      return refusal(runtime, toSkillError(thrown), options);
    }
  };
  return { tools: set.tools, call };
}

async function execute(
  runtime: Runtime,
  { skill, params }: { skill: Skill; params: unknown },
  options: AdapterOptions & { signal: AbortSignal | undefined },
): Promise<Outcome> {
  const { signal, onOutcome, onFailure } = options;
  const outcome = await runtime.execute(skill, params, {
    caller: 'agent',
    ...options.execute,
    ...(signal ? { signal } : {}),
    reject: false,
  });
  onOutcome?.(outcome);
  if (!outcome.ok && onFailure === 'throw') throw SkillError.fromOutcome(outcome);
  return outcome;
}

/** A model passes on what it reads, so folders of this machine stay here. */
function foldersOf({ home, registries }: Runtime, options: AdapterOptions): HostFolders {
  return new HostFolders({ home, registries, workspace: options.execute?.workspace });
}

function answerOf(runtime: Runtime, outcome: Outcome, options: AdapterOptions): SkillToolOutput {
  const { content, isError } = toToolResult(foldersOf(runtime, options).outcome(outcome));
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const { call_id } = outcome;
  return outcome.ok && !isError
    ? { ok: true, call_id, result: outcome.result, text }
    : { ok: false, call_id, text };
}

/** No call was made, so there is no outcome to describe. */
function refusal(runtime: Runtime, error: SkillError, options: AdapterOptions): SkillToolOutput {
  const { code, message, fix } = foldersOf(runtime, options).error(error.toBody());
  return { ok: false, text: `${code}: ${message}\n${fix}` };
}

async function chosenTools<Format extends AdapterFormat>(
  runtime: Runtime,
  format: Format,
  { skills, onSkipped }: AdapterOptions,
): Promise<ToolSet<Format>> {
  const named = typeof skills === 'string' ? [skills] : skills;
  const set = await runtime.tools(format, named && (await loadNamed(runtime, named, onSkipped)));
  for (const skipped of set.skipped) onSkipped?.(skipped);
  return set;
}

/** A skill that is named has to load; one that only matches a pattern is left out if it does not. */
async function loadNamed(
  runtime: Runtime,
  named: readonly string[],
  onSkipped: AdapterOptions['onSkipped'],
): Promise<Skill[]> {
  const found = new Map<string, Skill>();
  const keep = (skill: Skill): unknown => found.set(skill.bundle.manifest.name, skill);
  for (const pattern of named) {
    if (!pattern.includes('*')) {
      keep(await runtime.load(pattern));
      continue;
    }
    const matches = runtime.list().filter(({ ref }) => nameMatches(pattern, ref));
    if (matches.length === 0) throw noMatch(pattern);
    for (const { ref, dir } of matches) {
      try {
        const skill = await runtime.load(dir);
        // Throws if it cannot be a tool.
        await runtime.tools('mcp', [skill]);
        keep(skill);
      } catch (error) {
        if (!(error instanceof SkillError)) throw error;
        onSkipped?.({ ref, reason: error.message });
      }
    }
  }
  return [...found.values()];
}

function noMatch(pattern: string): SkillError {
  return new SkillError('usage', `No skill matches "${pattern}"`, {
    fix: 'Run `skillcell list` to see the ids of all skills, and correct the pattern.',
    detail: { pattern },
  });
}
