/**
 * The skills of the load: a fast one, and everything that could slow it down. Each has its own correct answer.
 *
 * @module
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Answer {
  status: number;
  body: {
    ok?: boolean;
    result?: unknown;
    call_id?: string;
    error?: { code?: string; detail?: Record<string, unknown> };
  };
}

export interface Kind {
  name: string;
  /** Share of the clients. */
  share: number;
  manifest: Record<string, unknown>;
  file: 'skill.js' | 'skill.py';
  source: string;
  /** Concurrent calls in the service; the rest waits. */
  concurrent: number;
  isRight: (answer: Answer, n: number) => boolean;
}

const failed =
  (status: number, code: string, limits: readonly string[] = []) =>
  ({ status: got, body }: Answer): boolean =>
    got === status &&
    body.error?.code === code &&
    (limits.length === 0 || limits.includes(String(body.error.detail?.['limit'])));

export const KINDS: readonly Kind[] = [
  {
    name: 'fast',
    share: 0.3,
    manifest: { execution: ['wasm'] },
    file: 'skill.js',
    source: 'export function execute({ n }) { return { twice: n * 2 }; }\n',
    concurrent: 8,
    isRight: ({ status, body }, n) =>
      status === 200 && JSON.stringify(body.result) === JSON.stringify({ twice: n * 2 }),
  },
  {
    name: 'slow',
    share: 0.2,
    manifest: { execution: ['subprocess'] },
    file: 'skill.py',
    source: 'import time\ndef execute(params):\n    time.sleep(0.3)\n    return {"n": params["n"]}\n',
    concurrent: 4,
    isRight: ({ status, body }, n) => status === 200 && JSON.stringify(body.result) === JSON.stringify({ n }),
  },
  {
    name: 'crashing',
    share: 0.15,
    manifest: { execution: ['subprocess'] },
    file: 'skill.py',
    source: 'import os\ndef execute(params):\n    os._exit(3)\n',
    concurrent: 2,
    isRight: failed(422, 'skill_error'),
  },
  {
    name: 'looping',
    share: 0.1,
    manifest: { execution: ['subprocess'], limits: { timeout: '500ms', cpu: '400ms' } },
    file: 'skill.py',
    source: 'def execute(params):\n    while True:\n        pass\n',
    concurrent: 1,
    isRight: (answer) =>
      failed(504, 'resource_exceeded', ['timeout'])(answer) ||
      failed(422, 'resource_exceeded', ['cpu'])(answer),
  },
  {
    name: 'hungry',
    share: 0.1,
    manifest: { execution: ['subprocess'], limits: { memory: '64MiB' } },
    file: 'skill.py',
    source: 'def execute(params):\n    held = []\n    while True:\n        held.append(bytearray(4 << 20))\n',
    concurrent: 1,
    isRight: failed(422, 'resource_exceeded', ['memory']),
  },
  {
    name: 'denied',
    share: 0.15,
    manifest: { execution: ['subprocess'] },
    file: 'skill.py',
    source: 'def execute(params):\n    return open("/etc/hostname").read()\n',
    concurrent: 2,
    isRight: failed(403, 'capability_denied'),
  },
];

/** Written to `skills/load/<name>` of the project in that folder. */
export function writeSkills(folder: string): void {
  chmodSync(folder, 0o711);
  for (const { name, manifest, file, source } of KINDS) {
    const dir = join(folder, 'skills/load', name);
    mkdirSync(dir, { recursive: true });
    const whole = {
      name: `load/${name}`,
      version: '1.0.0',
      description: `The ${name} skill of the load.`,
      parameters: { type: 'object', properties: { n: { type: 'integer' } } },
      capabilities: {},
      ...manifest,
    };
    // JSON is YAML.
    writeFileSync(join(dir, 'manifest.yaml'), JSON.stringify(whole));
    writeFileSync(join(dir, file), source);
  }
}
