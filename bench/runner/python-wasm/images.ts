/**
 * What a larger image costs: the same skill with more in its module body, which every call finds as it was.
 *
 * @module
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Runtime } from '../../../src/index.ts';
import { measureCpu, type CpuCost } from '../cpu.ts';
import { ECHO_WORDS } from '../jobs.ts';
import { meanCellBytes } from '../memory.ts';
import { summarize } from '../statistics.ts';
import { pythonRuntime } from './ours.ts';

export interface ImageCost {
  image: string;
  /** The first call, with the start of a cell and the module body. */
  firstCallMs: number;
  medianMs: number;
  p95Ms: number;
  cpu: CpuCost;
  /** Of one warm process; undefined where it cannot be read. */
  cellBytes: number | undefined;
}

const CALLS = 100;

const MODULES = [
  'argparse asyncio csv dataclasses datetime decimal difflib email.message fractions html.parser',
  'ipaddress logging pathlib sqlite3 statistics tempfile tomllib unittest uuid xml.etree.ElementTree',
]
  .join(' ')
  .split(' ');

/** What is put below the skill's own code. Data are bytes that no page of zeros can stand for. */
const IMAGES: readonly (readonly [image: string, code: string])[] = [
  ['nothing but the skill', ''],
  [`imports ${MODULES.length} standard modules`, `import ${MODULES.join(', ')}`],
  ['2,000 functions', functions(2000)],
  ['8 MiB of data', data(8)],
  ['32 MiB of data', data(32)],
];

export async function measureImages(folder: string): Promise<ImageCost[]> {
  const costs: ImageCost[] = [];
  for (const [at, [image, code]] of IMAGES.entries()) {
    const dir = writeSkill(folder, at, code);
    await using runtime = pythonRuntime(folder, { name: `image ${at}`, wall: 'jail', options: {} });
    costs.push({ image, ...(await measureImage(runtime, dir)) });
  }
  return costs;
}

async function measureImage(runtime: Runtime, dir: string): Promise<Omit<ImageCost, 'image'>> {
  const skill = await runtime.load(dir);
  const call = async (): Promise<number> => {
    const began = performance.now();
    await runtime.execute(skill, ECHO_WORDS.params, { execution: 'wasm' });
    return performance.now() - began;
  };
  const firstCallMs = await call();
  const samples: number[] = [];
  for (let at = 0; at < CALLS; at++) samples.push(await call());
  const { median, p95 } = summarize(dir, samples);
  const cpu = await measureCpu(CALLS, call);
  return { firstCallMs, medianMs: median, p95Ms: p95, cpu, cellBytes: meanCellBytes() };
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

function data(mebibytes: number): string {
  return `DATA = [bytes((at % 251 + 1,)) * 65536 for at in range(${mebibytes * 16})]`;
}
