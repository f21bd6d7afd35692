/**
 * Compiles the packages of a skill with the interpreter that will import them. Runs in a process that can be killed:
 * `compile-packages.js <output> <engine> <image> <packages>`; the output is in `__pycache__` folders, where Python looks for it.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { readEngine, readFolder } from '../cell/engine-files.ts';
import { ports } from '../cell/ports.ts';
import { runSource } from '../engine/boot.ts';
import { Interpreter, PAGE_BYTES } from '../engine/interpreter.ts';
import { READ_ONLY } from '../files/contract.ts';
import { DeviceTree } from '../files/devices.ts';
import { Mounts } from '../files/mounts.ts';
import { Quota, ScratchTree } from '../files/scratch.ts';
import { GuestProcess } from '../host/process.ts';

const MAX_PAGES = 8192;
const SPARE_PAGES = 16;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

const [, , output = '', engineFolder = '', imageFolder = '', packages = ''] = process.argv;
const made = new ScratchTree({ quota: new Quota(MAX_OUTPUT_BYTES), now: () => Date.now() });
const interpreter = openInterpreter();
runSource(interpreter, 'from _skillcell.wasm_compile import compile_packages\ncompile_packages()\n');
writeOut([]);

function openInterpreter(): Interpreter {
  const engine = readEngine(engineFolder, imageFolder, packages);
  const outside = ports((code) => {
    throw new Error(`The engine exited with code ${code} while compiling packages`);
  });
  const devices = new DeviceTree(outside.random);
  const mounts = new Mounts();
  mounts.mount('/lib', engine.library);
  mounts.mount('/dev', devices);
  mounts.mount('/deps', readFolder(packages));
  mounts.mount('/tmp', made);
  const guest = new GuestProcess({
    mounts,
    onOutput: (bytes) => process.stderr.write(bytes),
    channel: devices.open(['null'], READ_ONLY),
  });
  const opened = new Interpreter({
    code: engine.code,
    initialPages: engine.image.memory.length / PAGE_BYTES + SPARE_PAGES,
    maxPages: MAX_PAGES,
    surroundings: { process: guest, ports: outside, env: {} },
  });
  opened.restore(engine.image, engine.facts.layout);
  return opened;
}

function writeOut(path: string[]): void {
  const folder = made.open(path, { ...READ_ONLY, directory: true });
  for (const { name, type } of folder.list()) {
    const inside = [...path, name];
    const target = [output, ...inside].join('/');
    if (type === 'directory') {
      mkdirSync(target);
      writeOut(inside);
    } else {
      const file = made.open(inside, READ_ONLY);
      const content = new Uint8Array(file.stat().size);
      file.read(content, 0);
      writeFileSync(target, content);
    }
  }
}
