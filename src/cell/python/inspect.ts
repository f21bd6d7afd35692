/**
 * Static inspection of Python source, by Python's own parser. Parsing hostile text is work for a cell, too.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../../errors.ts';
import type { FileDigests } from '../../load/bundle.ts';
import { NOTHING_INSPECTED, type Inspection } from '../../load/inspection.ts';
import type { Grant } from '../../policy/grant.ts';
import type { LaunchSpec, Wall } from '../contract.ts';
import { Session } from '../session.ts';
import { inspectionKey, storeBytecode } from './bytecode.ts';
import { pythonSpec } from './engine.ts';
import type { Interpreter } from './interpreter.ts';

const MIB = 1024 * 1024;
const INSPECT_GRANT: Grant = {
  filesystem: [],
  network: [],
  env: {},
  syscalls: 'default',
  limits: { timeout: 20_000, cpu: 15_000, memory: 512 * MIB, output: 16 * MIB, processes: 0, scratch: MIB },
  withheld: [],
};

const findings = z.array(z.object({ value: z.string().max(4000), at: z.string().max(2000) }));
const inspectionSchema: z.ZodType<Inspection> = z.object({
  modules: findings,
  interfaces: findings.default([]),
  env: findings,
  hosts: findings,
  unparsed: findings,
});
const replySchema = z.object({ findings: inspectionSchema, bytecode: z.record(z.string(), z.base64()) });
type InspectorReply = z.infer<typeof replySchema>;

export interface InspectorOptions {
  home: string;
  wall: Wall;
  interpreter: Interpreter | undefined;
}

/** Inspects the Python files of a staged bundle; what was found once for a digest is kept. */
export async function inspectPython(
  options: InspectorOptions,
  stagedDir: string,
  files: FileDigests,
): Promise<Inspection> {
  const sources = Object.keys(files).filter((name) => name.endsWith('.py') && !isTest(name));
  if (sources.length === 0) return NOTHING_INSPECTED;
  const { interpreter, home } = options;
  if (!interpreter) {
    throw new SkillError(
      'skill_unavailable',
      'Python source cannot be inspected: no system Python was found',
      {
        fix: 'Install it: apt-get install python3',
      },
    );
  }
  const spec = pythonSpec(home, interpreter);
  const key = inspectionKey(stagedDir, spec);
  const cached = join(home, 'inspected', `${key}.json`);
  const known = readCached(cached);
  if (known) return known;
  spec.mounts.push({ host: stagedDir, guest: '/skill' });
  const { findings, bytecode } = await runInspection(options.wall, spec, sources);
  storeBytecode({ home, key, bytecode, sources });
  mkdirSync(join(home, 'inspected'), { recursive: true, mode: 0o700 });
  writeFileSync(cached, JSON.stringify(findings), { mode: 0o600 });
  return findings;
}

async function runInspection(wall: Wall, spec: LaunchSpec, files: string[]): Promise<InspectorReply> {
  const artifact = { init: () => ({ task: 'inspect' }) };
  const process = wall.launch(spec, INSPECT_GRANT);
  const session = new Session({ process, artifact, grant: INSPECT_GRANT, start: 'cold', preload: false });
  const { reply, started, logs } = await session.call({ files });
  if (reply?.kind === 'result') return replySchema.parse(reply.value);
  if (!started) throw notInspected(logs);
  const reason = reply?.kind === 'error' || reply?.kind === 'broken' ? reply.message : logs.trim() || 'no answer';
  const unparsed = [{ value: `the parser gave up: ${reason.slice(0, 300)}`, at: 'bundle' }];
  return { findings: { ...NOTHING_INSPECTED, unparsed }, bytecode: {} };
}

/** The cell failed, not the source: nothing is known about it, and nothing is kept. */
function notInspected(logs: string): SkillError {
  const reason = logs.trim().split('\n').at(-1) || 'it ended at once';
  return new SkillError('internal', `The cell that inspects source did not start: ${reason}`, {
    fix: 'Run `skillcell doctor`; the Skillcell folder must not lie below a folder that only root can enter.',
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

/** Tests of the author are not part of what runs in a cell. */
function isTest(name: string): boolean {
  const file = basename(name);
  return file.startsWith('test_') || file.endsWith('_test.py') || file === 'conftest.py';
}
