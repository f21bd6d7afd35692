/**
 * Configuration files: defaults of the user, restrictions of a project.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfig, withConfig } from '../../src/cli/config.ts';
import { openCommandLine, type CommandLine } from './command.ts';

let line: CommandLine;
let project: string;
let user: string;

beforeEach(() => {
  line = openCommandLine();
  project = join(line.folder, 'project/below');
  user = join(line.folder, 'config/skillcell/config.yaml');
  mkdirSync(project, { recursive: true });
  mkdirSync(join(line.folder, 'config/skillcell'), { recursive: true });
  process.env['XDG_CONFIG_HOME'] = join(line.folder, 'config');
});

afterEach(() => {
  delete process.env['XDG_CONFIG_HOME'];
  line.close();
});

const writeUser = (text: string): void => writeFileSync(user, text);
const writeProject = (text: string): void =>
  writeFileSync(join(line.folder, 'project/skillcell.config.yaml'), text);

describe('configuration files', () => {
  test('are optional and may be empty', () => {
    expect(withConfig({}, readConfig(project))).toEqual({});
    writeUser('# nothing yet\n');
    expect(withConfig({}, readConfig(project))).toEqual({});
  });

  test('give defaults that the command line overrides', () => {
    writeUser('timeout: 20s\nworkspace: ../work\nkeep_content: true\n');
    const config = readConfig(project);
    expect(withConfig({}, config)).toEqual({
      timeout: '20s',
      workspace: join(line.folder, 'config/work'),
      keepContent: true,
    });
    expect(withConfig({ timeout: '60s', workspace: '/else' }, config)).toMatchObject({
      timeout: '60s',
      workspace: '/else',
    });
  });

  test('of a project only restrict, whatever the user and the command line say', () => {
    writeUser('timeout: 20s\nmemory: 32MiB\n');
    writeProject('timeout: 5s\nmemory: 64MiB\nisolated: true\n');
    expect(withConfig({}, readConfig(project))).toEqual({ timeout: '5s', memory: '32MiB', isolated: true });
    expect(withConfig({ timeout: '60s', isolated: false }, readConfig(project))).toMatchObject({
      timeout: '5s',
      isolated: true,
    });
  });

  test.each([
    ['workspace: /', 'may not set "workspace", because a project can only restrict (line 1)'],
    ['keep_content: true', 'may not set "keep_content"'],
    ['isolated: false', 'has a wrong value for "isolated" (line 1)'],
    ['timeout: 1s\ntrust_remote_code: true', 'has the unknown key "trust_remote_code" (line 2)'],
    ['policy: mine.yaml', 'has the unknown key "policy"'],
    ['env: [TOKEN]', 'has the unknown key "env"'],
    ['execution: in_process', 'has the unknown key "execution"'],
    ['timeout: 5 parsecs', 'has a wrong value for "timeout"'],
    ['- a', 'is not a mapping of keys to values'],
    ['a: [', 'cannot be read'],
  ])('of a project with %j are refused', (text, message) => {
    writeProject(text);
    expect(() => readConfig(project)).toThrow(message);
  });

  test('that are a pipe are refused instead of waited for', () => {
    spawnSync('mkfifo', [join(project, 'skillcell.config.yaml')]);
    expect(() => readConfig(project)).toThrow('is not a regular file');
  });

  test('are shown with the file of each value', async () => {
    writeUser('timeout: 20s\nmemory: 32MiB\n');
    writeProject('timeout: 5s\n');
    const env = { XDG_CONFIG_HOME: join(line.folder, 'config') };
    const { stdout, code } = await line.run(['config', '--json'], { cwd: project, env });
    expect(code).toBe(0);
    const file = join(line.folder, 'project/skillcell.config.yaml');
    expect(JSON.parse(stdout)).toEqual({
      user,
      project: file,
      settings: [
        { key: 'timeout', value: '5s', from: file },
        { key: 'memory', value: '32MiB', from: user },
      ],
    });
  });

  test('change the limits of a call', async () => {
    writeProject('timeout: 7s\n');
    const { stdout } = await line.run(['inspect', 'optimization/prompt_rewriter'], { cwd: project });
    expect(stdout).toMatch(/timeout +7s/);
  });
});
