/**
 * The cost of a larger image: the same skill with more in its module body, which is restored for every call.
 *
 * @module
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Runtime, Skill } from '../../../src/index.ts';
import { measureCpu, type CpuCost } from '../cpu.ts';
import { ECHO_WORDS } from '../jobs.ts';
import { meanCellBytes } from '../memory.ts';
import { assertSame } from '../rounds.ts';
import { quantile, summarize } from '../statistics.ts';
import { pythonRuntime } from './ours.ts';

export interface ImageCost {
  image: string;
  /** The first call, including the start of a cell and the module body. */
  firstCallMs: number;
  medianMs: number;
  p95Ms: number;
  p99Ms: number;
  cpu: CpuCost;
  /** For one warm process; undefined if it cannot be read. */
  cellBytes: number | undefined;
}

export interface Image {
  name: string;
  /** Appended to the skill's own code. */
  code: string;
}

const CALLS_PER_ROUND = 3;

const MODULES = [
  'argparse asyncio csv dataclasses datetime decimal difflib email.message fractions html.parser',
  'ipaddress logging pathlib sqlite3 statistics tempfile tomllib unittest uuid xml.etree.ElementTree',
]
  .join(' ')
  .split(' ');

/** No page of the data is zero, so that none can be omitted. */
export const IMAGES: readonly Image[] = [
  { name: 'nothing but the skill', code: '' },
  { name: `imports ${MODULES.length} standard modules`, code: `import ${MODULES.join(', ')}` },
  { name: '2,000 functions', code: functions(2000) },
  { name: '8 MiB of data', code: data(8) },
  { name: '32 MiB of data', code: data(32) },
];

export async function measureImages(
  folder: string,
  { images, rounds }: { images: readonly Image[]; rounds: number },
): Promise<ImageCost[]> {
  const costs: ImageCost[] = [];
  for (const [at, { name, code }] of images.entries()) {
    const dir = writeSkill(folder, at, code);
    await using runtime = pythonRuntime(folder, { name: `image ${at}`, wall: 'jail', options: {} });
    const skill = await runtime.load(dir);
    costs.push({ image: name, ...(await measureImage(runtime, skill, rounds * CALLS_PER_ROUND)) });
  }
  return costs;
}

async function measureImage(
  runtime: Runtime,
  skill: Skill,
  calls: number,
): Promise<Omit<ImageCost, 'image'>> {
  let expected: string | undefined;
  const call = async (): Promise<number> => {
    const began = performance.now();
    const { result } = await runtime.execute(skill, ECHO_WORDS.params, { execution: 'wasm' });
    const ms = performance.now() - began;
    expected ??= JSON.stringify(result);
    assertSame('A skill with a larger image', JSON.stringify(result), expected);
    return ms;
  };
  const firstCallMs = await call();
  const samples: number[] = [];
  for (let at = 0; at < calls; at++) samples.push(await call());
  const { median, p95 } = summarize('', samples);
  const cpu = await measureCpu(calls, call);
  const p99Ms = quantile(samples, 0.99);
  return { firstCallMs, medianMs: median, p95Ms: p95, p99Ms, cpu, cellBytes: meanCellBytes() };
}

function writeSkill(folder: string, at: number, code: string): string {
  const name = `image_${at}`;
  const dir = join(folder, 'images', 'bench', name);
  cpSync(ECHO_WORDS.dir, dir, { recursive: true });
  const manifest = readFileSync(join(dir, 'manifest.yaml'), 'utf8');
  const edited = manifest
    .replace(/^name: .*/m, `name: bench/${name}`)
    .replace('memory: 128MiB', 'memory: 256MiB');
  writeFileSync(join(dir, 'manifest.yaml'), edited);
  writeFileSync(join(dir, 'skill.py'), `${readFileSync(join(dir, 'skill.py'), 'utf8')}\n\n${code}\n`);
  return dir;
}

function functions(count: number): string {
  const one = (at: number): string =>
    `def unused_${at}(a, b=${at}, *rest, c="${at}"):\n    """Never called."""\n    return [a + b, rest, {c: a}]\n`;
  return Array.from({ length: count }, (_, at) => one(at)).join('\n\n');
}

/** Source of that much data, which is not zero. */
export function data(mebibytes: number): string {
  return `DATA = [bytes((at % 251 + 1,)) * 65536 for at in range(${mebibytes * 16})]`;
}
