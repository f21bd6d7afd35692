/**
 * Which modules a command loads: most of the time of a short command goes into loading modules.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openFolder, removeFolder } from '../write-skill.ts';
import { PROMPT_REWRITER, ROOT } from './command.ts';

/** Prints the URL of each loaded file on stderr. */
const LIST_MODULES = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';
registerHooks({ load(url, context, next) { if (url.startsWith('file:')) writeSync(2, url + '\\n'); return next(url, context); } });
`)}`;

function modulesOf(...args: string[]): string[] {
  return modulesWith('', args);
}

function modulesWith(input: string, args: readonly string[]): string[] {
  const command = ['--import', LIST_MODULES, `${ROOT}bin/skillcell.js`, ...args];
  const { stderr, status } = spawnSync(process.execPath, command, { encoding: 'utf8', cwd: ROOT, input });
  expect(status).toBe(0);
  const urls = stderr.split('\n').filter((line) => line.startsWith('file:'));
  return urls.map((url) => fileURLToPath(url).slice(ROOT.length)).toSorted();
}

describe('a command loads only what it needs', () => {
  test('--version loads the command and the check of the version', () => {
    expect(modulesOf('--version')).toEqual(['bin/oldest-node.js', 'bin/skillcell.js']);
  });

  test.each([[['--help']], [['run', '--help']], [['audit', '--help']]])(
    '%j loads no part of the runtime',
    (args) => {
      const modules = modulesOf(...args);
      const own = modules.filter((file) => !file.startsWith('node_modules/'));
      expect(own.filter((file) => !/^(?:bin|src\/cli|src\/vocabulary)\//.test(file))).toEqual([
        'src/errors.ts',
        'src/package-root.ts',
      ]);
      // Raise this only for a new group of commands.
      expect(own.length).toBeLessThanOrEqual(28);
      expect(
        modules.filter((file) => file.startsWith('node_modules/') && !file.includes('/commander/')),
      ).toEqual([]);
    },
  );

  test('hook loads only its own folder, and not even the tree of commands', () => {
    const event = {
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      cwd: ROOT,
    };
    const modules = modulesWith(JSON.stringify(event), ['hook']);
    const others = modules.filter((file) => !/^(?:bin|src\/hook|src\/vocabulary)\//.test(file));
    expect(others).toEqual([
      'src/cli/commands/hook.ts',
      'src/cli/main.ts',
      'src/errors.ts',
      'src/package-root.ts',
    ]);
    expect(modules.length).toBeLessThanOrEqual(36);
  });

  test('run loads neither undici nor OpenTelemetry for a skill without network', () => {
    const list = `process.on('exit', () => console.error(process.moduleLoadList.join('\\n')));`;
    const command = ['--import', `data:text/javascript,${list}`, '--import', LIST_MODULES];
    const call = ['run', PROMPT_REWRITER, '--params', '{"raw_text":"a b"}'];
    const ended = spawnSync(process.execPath, [...command, `${ROOT}bin/skillcell.js`, ...call], {
      encoding: 'utf8',
      cwd: ROOT,
    });
    expect(ended.status, ended.stderr).toBe(0);
    expect(ended.stderr).toContain('NativeModule child_process');
    expect(ended.stderr).not.toContain('NativeModule internal/deps/undici');
    expect(ended.stderr).toContain('src/telemetry/telemetry.ts');
    expect(ended.stderr).not.toContain('@opentelemetry/');
  });

  test('run loads no front end, no framework and no library of another command', () => {
    const modules = modulesOf('run', PROMPT_REWRITER, '--params', '{"raw_text":"a b"}');
    const others = modules.filter((file) => !file.startsWith('node_modules/'));
    // Raise this only for a new stage of a call: each module is time that every run takes.
    expect(others.length).toBeLessThanOrEqual(680);
    expect(others.filter((file) => /^src\/(?:adapters|api|cluster|hook|http|mcp|web)\//.test(file))).toEqual(
      [],
    );
    expect(others.filter((file) => /^(?:guest|bench|attacks)\//.test(file))).toEqual([]);
    const libraries = modules.flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
    expect([...new Set(libraries)].toSorted()).toEqual([
      ...['ajv', 'ajv-formats', 'commander', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse'],
      ...['pend', 'yaml', 'yauzl', 'zod'],
    ]);
  });

  test('a second run starts one jail and nothing else', () => {
    const call = ['run', PROMPT_REWRITER, '--params', '{"raw_text":"a b"}'];
    const count = `
      import child from 'node:child_process';
      import { syncBuiltinESMExports } from 'node:module';
      import { writeSync } from 'node:fs';
      const { spawn } = child;
      child.spawn = (program, ...rest) => (writeSync(2, 'STARTED ' + program + '\\n'), spawn(program, ...rest));
      syncBuiltinESMExports();`;
    const command = [
      '--import',
      `data:text/javascript,${encodeURIComponent(count)}`,
      `${ROOT}bin/skillcell.js`,
      ...call,
    ];
    const home = openFolder();
    const env = { ...process.env, SKILLCELL_HOME: `${home}/home` };
    const started = (): string[] => {
      const { stderr, status } = spawnSync(process.execPath, command, { encoding: 'utf8', cwd: ROOT, env });
      expect(status, stderr).toBe(0);
      return stderr.split('\n').filter((line) => line.startsWith('STARTED'));
    };
    try {
      started();
      // The shell would end the cell if this process were killed.
      expect(started()).toEqual(['STARTED /bin/sh', 'STARTED /usr/bin/bwrap']);
    } finally {
      removeFolder(home);
    }
  });

  test('the usage of a wrong command loads no part of the runtime either', () => {
    const command = ['--import', LIST_MODULES, `${ROOT}bin/skillcell.js`, 'rnu', '--json'];
    const ended = spawnSync(process.execPath, command, { encoding: 'utf8' });
    expect(ended.status).toBe(2);
    expect(ended.stderr).not.toContain('src/inside.ts');
  });
});
