/** The C component as translated by jco, once; each call creates a new instance, on the caller's own thread. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transpileBytes } from '@bytecodealliance/jco-transpile';

const component = new URL('../../../skills/text/word_stats_c/skill.wasm', import.meta.url);

export async function start() {
  const { files } = await transpileBytes(readFileSync(component), {
    name: 'skill',
    instantiation: 'async',
    noTypescript: true,
  });
  const entries = Object.entries(files);
  const modules = new Map();
  for (const [name, bytes] of entries) {
    if (name.endsWith('.wasm')) modules.set(name, await WebAssembly.compile(bytes));
  }
  const [, glue] = entries.find(([name]) => name.endsWith('.js'));
  const instantiate = await load(glue);
  return {
    async call(params) {
      const { execute } = await instantiate((path) => modules.get(path), {});
      return execute(params);
    },
  };
}

async function load(glue) {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-bench-jco-'));
  try {
    const file = join(folder, 'skill.mjs');
    writeFileSync(file, glue);
    return (await import(pathToFileURL(file))).instantiate;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
