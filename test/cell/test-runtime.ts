/**
 * A runtime for one test file, with a new home that is removed at the end.
 *
 * @module
 */
import { join } from 'node:path';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/index.ts';
import { openFolder, removeFolder } from '../write-skill.ts';

export const TEST_ENV = {
  TEST_GREETER_KEY: 'key-of-the-test',
  TEST_DECLARED: 'a value with ü = and spaces',
  NOT_DECLARED: 'must never be seen',
};

export interface TestRuntime {
  runtime: Runtime;
  folder: string;
  close: () => Promise<void>;
}

export function openTestRuntime(options: RuntimeOptions = {}): TestRuntime {
  const folder = openFolder();
  const runtime = createRuntime({
    home: join(folder, 'home'),
    cwd: folder,
    env: TEST_ENV,
    allowEnv: 'all',
    ...options,
  });
  const close = async (): Promise<void> => {
    await runtime.close();
    removeFolder(folder);
  };
  return { runtime, folder, close };
}
