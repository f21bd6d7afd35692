/**
 * Determines which packages with native code work in Python in Wasm by trying: installs each from the Python index,
 * links it and imports it in a cell. `docs/python.md` has the results.
 *
 *     node scripts/with-node.js scripts/probe-native-wheels.ts numpy msgpack pydantic:pydantic_core
 *
 * A name after the colon is the module to import, if it differs from the package.
 *
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Runtime } from '../src/index.ts';

const MAX_TEXT = 400;

/** Returns the native modules that the import loaded. */
function source(module: string): string {
  return `
import sys
import ${module}

def execute(params):
    loaded = [(name, getattr(module, "__file__", None) or "") for name, module in sys.modules.items()]
    return {"native": sorted(name for name, file in loaded if file.startswith("/deps/") and file.endswith(".so"))}
`;
}

function writeProbe(folder: string, name: string, module: string): string {
  const dir = join(folder, 'skills', name);
  const manifest = {
    name: `probes/${name.toLowerCase().replaceAll(/[^a-z0-9]/g, '_')}`,
    version: '1.0.0',
    description: `Imports ${module}.`,
    requirements: [name],
    execution: ['wasm'],
    capabilities: {},
    limits: { memory: '256MiB', timeout: '60s' },
  };
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'manifest.yaml'), JSON.stringify(manifest));
  writeFileSync(join(dir, 'skill.py'), source(module));
  return dir;
}

async function probe(runtime: Runtime, dir: string): Promise<string> {
  try {
    const { result, usage } = await runtime.execute(await runtime.install(dir), {});
    const { native } = result as { native: string[] };
    const memory = (usage.memory_peak_bytes / 1e6).toFixed(1);
    return native.length === 0 ? 'works without native code' : `works: ${native.join(', ')}; ${memory} MB`;
  } catch (error) {
    return String(error).replaceAll('\n', ' ').slice(0, MAX_TEXT);
  }
}

async function main(): Promise<number> {
  const wanted = process.argv.slice(2);
  if (wanted.length === 0) {
    console.error('Pass package names, e.g. numpy msgpack pydantic:pydantic_core');
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'probe-native-wheels-'));
  // If the host is root, cells run as another user.
  chmodSync(folder, 0o755);
  const runtime = createRuntime({ home: join(folder, 'home') });
  try {
    for (const one of wanted) {
      const [name = '', module = name.replaceAll('-', '_')] = one.split(':');
      console.log(`${name}: ${await probe(runtime, writeProbe(folder, name, module))}`);
    }
  } finally {
    await runtime.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return 0;
}

process.exitCode = await main();
