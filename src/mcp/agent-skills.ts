/**
 * Agent Skills over MCP: one tool runs a command of a skill, another reads its files. A tool per skill would show the model
 * the same schema many times; it chooses by name and description instead, and reads the rest when it needs it.
 *
 * @module
 */
import { open } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { JsonText, printableLine, type CommandResult, type Runtime, type Skill } from '../inside.ts';
import { combinedHints } from './annotations.ts';
import type { CatalogEntry, Entries } from './catalog.ts';
import type { ToolArguments } from './large-arguments.ts';
import { toolError } from './result.ts';
import { visibleText } from './visible.ts';

/** Names that no skill can have, because tool names of skills contain a double underscore. */
export const EXEC_TOOL = 'skillcell_exec';
export const READ_TOOL = 'skillcell_read';

/** Descriptions of all skills together, in the description of a tool. */
const MAX_LISTED = 8000;
const MAX_EACH = 300;
/** What one call of the read tool returns. */
const MAX_READ_BYTES = 64 * 1024;
const MAX_WORDS = 256;

const name = z.string().max(128).describe('Name of an Agent Skill.');
const command = z
  .array(z.string())
  .min(1)
  .max(MAX_WORDS)
  .describe(
    'The command and its arguments, such as ["python", "scripts/x.py", "in.pdf"]. Not a line for a shell.',
  );
const execInput = z.strictObject({
  skill: name,
  command,
  stdin: z.string().optional().describe('Text for the standard input of the command.'),
});
/** The standard input is still text. */
const largeInput = execInput.extend({ stdin: z.unknown() });
const readInput = z.strictObject({
  skill: name.optional().describe('Name of an Agent Skill; absent: lists all of them.'),
  file: z
    .string()
    .max(1024)
    .default('SKILL.md')
    .describe('Path of a file in the folder of the skill, such as "references/forms.md".'),
  offset: z.int().min(0).default(0).describe('Byte to start at, for files that are read in several parts.'),
});
const execOutput = z.object({
  exit_code: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  files: z.array(z.object({ path: z.string(), bytes: z.int(), change: z.string() })),
});

/** The tools for the Agent Skills among the entries; none if there are no such skills. */
export function agentTools(entries: Entries): Tool[] {
  const agentSkills = agentSkillsOf(entries);
  if (agentSkills.length === 0) return [];
  const scripts = agentSkills.filter(({ skill }) => skill.bundle.kind === 'script');
  return [...(scripts.length === 0 ? [] : [execTool(scripts, entries)]), readTool(agentSkills, entries)];
}

function agentSkillsOf(entries: Entries): CatalogEntry[] {
  return [...entries.values()].filter(isAgentSkill);
}

export function isAgentSkill({ skill }: CatalogEntry): boolean {
  return skill.bundle.kind !== 'function';
}

function execTool(scripts: readonly CatalogEntry[], entries: Entries): Tool {
  return {
    name: EXEC_TOOL,
    title: 'Run a script of a skill',
    description:
      'Runs a command of an Agent Skill in a fresh sandbox: a script of the skill, or Python code on stdin with ["python", "-"]. ' +
      'Relative paths are those of the workspace; "scripts/…" is found in the skill. ' +
      `Read the instructions first with ${READ_TOOL}. Skills:\n${listed(scripts, entries)}`,
    inputSchema: z.toJSONSchema(execInput, { io: 'input' }) as Tool['inputSchema'],
    outputSchema: z.toJSONSchema(execOutput),
    annotations: combinedHints(scripts.map(({ tool }) => tool.annotations)),
  };
}

function readTool(skills: readonly CatalogEntry[], entries: Entries): Tool {
  return {
    name: READ_TOOL,
    title: 'Read a skill',
    description: `Returns the instructions of an Agent Skill (SKILL.md) or another text file of it. Runs nothing. Skills:\n${listed(skills, entries)}`,
    inputSchema: z.toJSONSchema(readInput, { io: 'input' }) as Tool['inputSchema'],
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

/** As many descriptions as fit; of the others, the names. */
function listed(skills: readonly CatalogEntry[], entries: Entries): string {
  const each = Math.min(MAX_EACH, Math.floor(MAX_LISTED / skills.length));
  const names = namesOf(entries);
  const line = (skill: Skill): string => {
    const about = visibleText(printableLine(skill.bundle.manifest.description ?? '')).slice(0, each);
    return `- ${names.get(skill) ?? ''}: ${about}`;
  };
  return skills
    .map(({ skill }) => line(skill))
    .join('\n')
    .slice(0, 2 * MAX_LISTED);
}

/** `pdf` for `skills/pdf`, but the whole name if another skill is called `pdf` too: neither may pass for the other. */
function namesOf(entries: Entries): ReadonlyMap<Skill, string> {
  const skills = agentSkillsOf(entries).map(({ skill }) => skill);
  const counts = new Map<string, number>();
  for (const skill of skills) counts.set(shortName(skill), (counts.get(shortName(skill)) ?? 0) + 1);
  return new Map(
    skills.map((skill) => [
      skill,
      counts.get(shortName(skill)) === 1 ? shortName(skill) : skill.bundle.manifest.name,
    ]),
  );
}

function shortName({ bundle }: Skill): string {
  return bundle.manifest.name.slice(bundle.manifest.name.indexOf('/') + 1);
}

export interface WantedCommand {
  skill: Skill;
  params: JsonText | { command: string[]; stdin?: string };
}

/** The call behind the arguments of the exec tool, or an error for the model. */
export async function readExec(
  entries: Entries,
  given: ToolArguments,
  { runtime, signal }: { runtime: Runtime; signal: AbortSignal },
): Promise<WantedCommand | CallToolResult> {
  if (given instanceof JsonText) return readLargeExec(entries, given, { runtime, signal });
  const input = execInput.safeParse(given);
  if (!input.success) return invalid(EXEC_TOOL, input.error);
  const { skill: wanted, command: words, stdin } = input.data;
  const params = { command: words, ...(stdin === undefined ? {} : { stdin }) };
  return withSkill(entries, wanted, (skill) => ({ skill, params }));
}

/** The standard input stays text, and is checked with the other parameters in a worker thread. */
async function readLargeExec(
  entries: Entries,
  { bytes }: JsonText,
  { runtime, signal }: { runtime: Runtime; signal: AbortSignal },
): Promise<WantedCommand | CallToolResult> {
  const { message, parts } = await runtime.readMessage(bytes, { path: ['stdin'], owner: 'mcp', signal });
  const input = largeInput.safeParse(message);
  if (!input.success) return invalid(EXEC_TOOL, input.error);
  const [stdin] = parts;
  const head = `{"command":${JSON.stringify(input.data.command)}`;
  const tail = stdin ? [Buffer.from(',"stdin":'), stdin.bytes] : [];
  const params = new JsonText(Buffer.concat([Buffer.from(head), ...tail, Buffer.from('}')]));
  return withSkill(entries, input.data.skill, (skill) => ({ skill, params }));
}

/** A text file of a skill, or the list of all skills. */
export async function readSkill(entries: Entries, given: ToolArguments): Promise<CallToolResult> {
  if (given instanceof JsonText)
    return toolError(`invalid_params: The arguments of ${READ_TOOL} are too large.`);
  const input = readInput.safeParse(given);
  if (!input.success) return invalid(READ_TOOL, input.error);
  const { skill: wanted, file, offset } = input.data;
  if (wanted === undefined) return text(listed(agentSkillsOf(entries), entries));
  const found = withSkill(entries, wanted, (skill) => ({ skill }));
  return 'content' in found ? found : readFileOf(found.skill, file, offset);
}

async function readFileOf({ bundle }: Skill, file: string, offset: number): Promise<CallToolResult> {
  const path = posix.normalize(file);
  // Only verified files, from the copy that cells see.
  if (!Object.hasOwn(bundle.files, path)) return toolError(noSuchFile(file, Object.keys(bundle.files)));
  await using handle = await open(join(bundle.stagedDir, path), 'r');
  const { size } = await handle.stat();
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_READ_BYTES), 0, MAX_READ_BYTES, offset);
  const part = wholeCharacters(buffer.subarray(0, bytesRead), offset + bytesRead < size);
  if (part === undefined) return toolError(`The file ${JSON.stringify(path)} (${size} bytes) is not text.`);
  const next = offset + Buffer.byteLength(part);
  const more =
    next < size ? [`[${size - next} more bytes: call ${READ_TOOL} again with "offset": ${next}]`] : [];
  return text([visibleText(part), ...more].join('\n'));
}

/** Undefined if the bytes are not UTF-8. The last character may be cut off. */
function wholeCharacters(bytes: Buffer, isCut: boolean): string | undefined {
  for (let dropped = 0; dropped <= (isCut ? 3 : 0); dropped++) {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
        bytes.subarray(0, bytes.length - dropped),
      );
    } catch {
      // Tried again with one byte less.
    }
  }
  return undefined;
}

function noSuchFile(file: string, files: readonly string[]): string {
  const paths: string[] = [];
  let room = MAX_LISTED;
  for (const path of files.map((one) => visibleText(printableLine(one)))) {
    room -= path.length + 1;
    if (room < 0) break;
    paths.push(path);
  }
  const more = files.length > paths.length ? [`and ${files.length - paths.length} more`] : [];
  return [`The skill has no file ${JSON.stringify(file.slice(0, 200))}. Its files:`, ...paths, ...more].join(
    '\n',
  );
}

function withSkill<T>(entries: Entries, wanted: string, use: (skill: Skill) => T): T | CallToolResult {
  const known = [...namesOf(entries)];
  const found = known.find(([skill, own]) => own === wanted || skill.bundle.manifest.name === wanted);
  if (found) return use(found[0]);
  const names = known
    .map(([, own]) => own)
    .join(', ')
    .slice(0, MAX_LISTED);
  return toolError(
    `invalid_params: There is no Agent Skill ${JSON.stringify(wanted.slice(0, 128))}. Known: ${names}`,
  );
}

/** Whatever a model could take for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

/** What the command printed, as text for a model. Every line of it is indented, so that none of them looks like a title. */
export function commandText({ exit_code, stdout, stderr, files }: CommandResult): string {
  const section = (title: string, body: string): string[] =>
    body === ''
      ? []
      : [
          `[${title}]`,
          ...body
            .replace(/\n$/, '')
            .split(LINE_END)
            .map((line) => `  ${line}`),
        ];
  const changed = files
    .map(({ path, bytes, change }) => `${change} ${printableLine(path)} (${bytes} bytes)`)
    .join('\n');
  return [
    `[exit code ${exit_code}]`,
    ...section('stdout', stdout),
    ...section('stderr', stderr),
    ...section('files', changed),
  ].join('\n');
}

function text(body: string): CallToolResult {
  return { content: [{ type: 'text', text: body }] };
}

function invalid(tool: string, error: z.ZodError): CallToolResult {
  return toolError(`invalid_params: The arguments of ${tool} are invalid.\n${z.prettifyError(error)}`);
}
