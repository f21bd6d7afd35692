// What a skill must not do, once for every engine that runs JavaScript: `op` names the act. Node modules are imported when
// they are needed, because other engines have none.
import { requireEnv } from 'skillcell:env';
import { readFile } from 'skillcell:fs';

const MIB = 1024 * 1024;
const node = (name) => process.getBuiltinModule(name);

const OPS = {
  read: ({ path }) => readFile(path, 'utf8'),
  write: () => node('node:fs').writeFileSync(`${import.meta.dirname}/planted.txt`, 'planted'),
  fetch: async ({ url, method }) => (await fetch(url, { method })).text(),
  environment: ({ name }) => requireEnv(name),
  call: ({ name }) => skills[name]({}),
  spawn: () => {
    const { error, status } = node('node:child_process').spawnSync('/bin/true');
    if (error) throw error;
    return status;
  },
  sleep: () => new Promise((resolve) => setTimeout(resolve, 600_000)),
  spin: () => {
    for (;;);
  },
  memory: () => new Uint8Array(1024 * MIB).fill(1).length,
  output: () => 'x'.repeat(8 * MIB),
  crowd: async () => {
    const { spawn } = node('node:child_process');
    for (let count = 0; count < 20; count++) {
      const child = spawn('/bin/sleep', ['20']);
      await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    }
  },
  scratch: () => {
    const { openSync, writeSync } = node('node:fs');
    const file = openSync('/tmp/large', 'w');
    for (let count = 0; count < 64; count++) writeSync(file, new Uint8Array(MIB));
  },
};

export async function execute(params) {
  return { did: await OPS[params.op](params) };
}
