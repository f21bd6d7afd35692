/**
 * Runs a skill of ours once, in an interpreter that is then dropped, so that V8 has compiled what every skill needs.
 *
 * @module
 */
import type { PythonWasmInit } from '../../../protocol.ts';
import { collectNow } from '../../imaged/garbage.ts';
import { FixedTree } from '../files/fixed-tree.ts';
import type { StoredBytes } from '../../imaged/memory.ts';
import type { Engine } from './engine-files.ts';
import { ports } from './ports.ts';
import { PythonCell } from './python-cell.ts';

const encoder = new TextEncoder();
const SOURCE = encoder.encode(
  'import re\n\ndef execute(params):\n    return {"at": re.sub("a", "b", "c")}\n',
);
const INIT: PythonWasmInit = {
  fresh: { newInstance: false, strict: false },
  keepBytes: 0,
  limits: { pages: 1024, output: 4096, scratch: 65_536 },
  preopens: [],
  harness: {
    task: 'call',
    entry: 'skill.py',
    env: {},
    view: { read: [], write: [], processes: false, env: [], observe: false },
    manifest: { name: 'ours/rehearsal', version: '1.0.0', description: '', parameters: {}, outputs: {} },
    network: false,
    siblings: ['skill'],
  },
};

export function rehearse(engine: Engine<Uint8Array | StoredBytes>): void {
  run(engine);
  collectNow();
}

/** A separate function: its frame would keep the interpreter alive. */
function run(engine: Engine<Uint8Array | StoredBytes>): void {
  const bundle = new FixedTree();
  bundle.addFile(['skill.py'], SOURCE.length, () => SOURCE);
  const cell = new PythonCell({
    engine,
    init: INIT,
    folders: { '/skill': bundle },
    ports: ports(() => process.exit(1)),
    collect: collectNow,
  });
  const nobody = {
    ask: () => {
      throw new Error('The rehearsal asks for nothing');
    },
    log: () => undefined,
    denied: () => undefined,
  };
  cell.call(encoder.encode('{}'), nobody);
  cell.reset();
}
