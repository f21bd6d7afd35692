/**
 * Situations whose fix once led nowhere: following it gave the same error again, or blamed the wrong limit.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openScenes } from './hello-server.ts';
import { inLanguage } from './languages.ts';
import type { Row } from './scene.ts';

const { scenes, port } = await openScenes();

const SENDS_KEY = `
  import os, urllib.request
  def execute(params):
      request = urllib.request.Request(params["url"], headers={"authorization": os.environ["API_KEY"]})
      return urllib.request.urlopen(request).read().decode()
`;
const STARTS_THREADS = `
  import threading
  def execute(params):
      wait = threading.Event()
      threads = [threading.Thread(target=wait.wait, daemon=True) for _ in range(20)]
      for thread in threads:
          thread.start()
      wait.set()
      return len(threads)
`;
const USES_NODE = `
  import { basename } from 'node:path';
  export const execute = (): string => basename('/a/b');
`;

const ROWS: Row[] = [
  {
    ...inLanguage('python'),
    name: 'memory in which no cell can start',
    code: 'resource_exceeded',
    params: { op: 'echo' },
    options: { memory: 65_536 },
    says: /do this: Pass a --memory above 64KiB, or leave the option out\.$/,
  },
  {
    skill: {
      source: STARTS_THREADS,
      manifest: { execution: ['subprocess'], limits: { timeout: '120s', memory: '64MiB', processes: 100 } },
    },
    name: 'memory for the stacks of threads',
    code: 'resource_exceeded',
    raiseTo: '512MiB',
    says: /Raise limits\.memory in/,
  },
  {
    skill: { source: SENDS_KEY, manifest: { execution: ['subprocess'] } },
    name: 'a secret that is sent but not declared',
    code: 'manifest_drift',
    params: { url: `http://127.0.0.1:${port}/a` },
    policy: 'network: { allow_private: ["127.0.0.1"] }\n',
    says: /`skillcell record .* --allow-network --allow-secret API_KEY --write` with the same parameters and API_KEY in the environment/,
    person: ({ dir }) => {
      expect(readFileSync(join(dir, 'manifest.yaml'), 'utf8')).toContain('hosts: [ 127.0.0.1 ]');
    },
    // The next error, approval_required, says to name it.
    options: { allowEnv: ['API_KEY'] },
  },
  {
    skill: { files: { 'skill.ts': USES_NODE }, manifest: { execution: ['wasm'] } },
    name: 'a module of Node in Wasm',
    code: 'skill_error',
    says: /run the skill on Node: Set execution in ".*": \["subprocess"\]\./,
  },
  {
    skill: {
      source: 'def execute(params):\n    raise ValueError("no input")\n',
      manifest: {
        execution: ['subprocess'],
        capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] },
      },
    },
    name: 'any error without a workspace',
    code: 'skill_error',
    options: { workspace: undefined } as never,
    advice: true,
    says: /^Pass --workspace DIR \(library: workspace\), which the skill declares\. If that does not help: Correct skill\.py:2/,
  },
];

test.each(ROWS)('$name', async (row) => {
  expect(await scenes.prove(row)).not.toBe('');
});
