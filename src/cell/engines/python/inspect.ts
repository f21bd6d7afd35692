/**
 * Static inspection of Python source with Python's own parser. Untrusted source is parsed only inside a cell.
 *
 * @module
 */
import type { InspectInit } from '../../../../guest/protocol.ts';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { FileDigests } from '../../../load/bundle.ts';
import { NOTHING_INSPECTED, type Inspection } from '../../../load/inspection.ts';
import type { Grant } from '../../../policy/grant.ts';
import type { CellReport, Wall } from '../../contract.ts';
import { Session } from '../../protocol/session.ts';
import type { Offload } from '../../../offload/offload.ts';
import { ownBytes, TaskEndedError } from '../../../offload/task.ts';
import { inspectionKey, storeBytecode } from './bytecode.ts';
import { pythonSpec } from './engine.ts';
import {
  inspectionSchema,
  READ_INSPECTION,
  replySchema,
  type InspectorReply,
  type ReadInspection,
} from './inspection-tasks.ts';
import type { Interpreter } from './interpreter.ts';

const MIB = 1024 * 1024;
const READ_DEADLINE_MS = 30_000;
const RETRY_MS = 10_000;
export const INSPECT_GRANT: Grant = {
  filesystem: [],
  network: [],
  env: {},
  syscalls: 'default',
  // The CPU limit stops hostile source. The timeout only ends a cell that hangs, also on a machine at a load of 40.
  limits: { timeout: 180_000, cpu: 15_000, memory: 512 * MIB, output: 16 * MIB, processes: 0, scratch: MIB },
  withheld: [],
};

/** A parser of Python source in a cell. */
export interface Inspector {
  /** Cache key of the findings for this bundle; differs between parsers. */
  key(stagedDir: string): Promise<string>;
  /** Returns the findings and the bytecode for these files. */
  run(stagedDir: string, files: string[]): Promise<CellReport>;
}

export interface JailInspectorOptions {
  home: string;
  wall: Wall;
  interpreter: Interpreter;
}

/** The system's Python in a jail. */
export function jailInspector({ home, wall, interpreter }: JailInspectorOptions): Inspector {
  const artifact = { init: (): InspectInit => ({ task: 'inspect' }) };
  return {
    key: async (stagedDir) => inspectionKey(stagedDir, pythonSpec(home, interpreter)),
    run(stagedDir, files) {
      const spec = pythonSpec(home, interpreter);
      spec.mounts.push({ host: stagedDir, guest: '/skill' });
      const process = wall.launch(spec, INSPECT_GRANT);
      const session = new Session({ process, artifact, grant: INSPECT_GRANT, start: 'cold', preload: false });
      return session.call({ files });
    },
  };
}

export interface InspectOptions {
  home: string;
  inspector: () => Promise<Inspector>;
  offload: Offload;
}

/** Inspects the Python files of a staged bundle. Findings are cached by digest. */
export async function inspectPython(
  { home, inspector, offload }: InspectOptions,
  stagedDir: string,
  files: FileDigests,
): Promise<Inspection> {
  const sources = Object.keys(files).filter((name) => name.endsWith('.py') && !isTest(name));
  if (sources.length === 0) return NOTHING_INSPECTED;
  const parser = await inspector();
  const key = await parser.key(stagedDir);
  const cached = join(home, 'inspected', `${key}.json`);
  const known = readCached(cached);
  if (known) return known;
  const { findings, bytecode } = await readReport(await parser.run(stagedDir, sources), offload);
  storeBytecode({ home, key, bytecode, sources });
  mkdirSync(join(home, 'inspected'), { recursive: true, mode: 0o700 });
  writeFileSync(cached, JSON.stringify(findings), { mode: 0o600 });
  return findings;
}

async function readReport(
  { reply: given, started, logs, killReason }: CellReport,
  offload: Offload,
): Promise<InspectorReply> {
  const read = given?.kind === 'unread' ? await readElsewhere(given, offload) : { reply: given };
  if ('answer' in read) return read.answer;
  const { reply } = read;
  if (reply?.kind === 'result') return replySchema.parse(reply.value);
  if (killReason === 'timeout') throw tooSlow();
  if (!started) throw notInspected(logs);
  const reason =
    reply?.kind === 'error' || reply?.kind === 'broken' ? reply.message : logs.trim() || 'no answer';
  const unparsed = [{ value: `the parser gave up: ${reason.slice(0, 300)}`, at: 'bundle' }];
  return { findings: { ...NOTHING_INSPECTED, unparsed }, bytecode: {} };
}

/** Reads the reply in a worker thread, because the bytecode of a large bundle is megabytes of text. */
async function readElsewhere(
  { form, bytes }: Extract<CellReport['reply'], { kind: 'unread' }>,
  offload: Offload,
): Promise<ReadInspection> {
  const own = ownBytes(bytes);
  const options = { deadlineMs: READ_DEADLINE_MS, owner: 'inspection', transfer: [own] };
  try {
    return await offload.run(READ_INSPECTION, { form, bytes: own }, options);
  } catch (error) {
    if (!(error instanceof TaskEndedError) || error.reason === 'closed') throw error;
    return { reply: { kind: 'broken', message: 'its findings take too long to read' } };
  }
}

/** A deadline of ours says nothing about the source, so nothing is cached. */
function tooSlow(): SkillError {
  const seconds = INSPECT_GRANT.limits.timeout / 1000;
  return new SkillError(
    'resource_exceeded',
    `Inspecting the source took longer than ${seconds} s, with little CPU time: the machine is busy`,
    {
      fix: 'Try again when the machine is less busy.',
      detail: { limit: 'busy', scope: 'all', retry_after_ms: RETRY_MS },
    },
  );
}

/** The cell failed, not the source, so nothing is cached. */
function notInspected(logs: string): SkillError {
  const reason = logs.trim().split('\n').at(-1) || 'it ended immediately';
  return new SkillError('internal', `The cell for source inspection did not start: ${reason}`, {
    fix: 'Run `skillcell doctor`, and keep the Skillcell home out of folders that only root can enter.',
    detail: { logs },
  });
}

function readCached(file: string): Inspection | undefined {
  try {
    return inspectionSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** The author's tests do not run in cells. */
function isTest(name: string): boolean {
  const file = basename(name);
  return file.startsWith('test_') || file.endsWith('_test.py') || file === 'conftest.py';
}
