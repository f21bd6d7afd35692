/**
 * How the evidence about Agent Skills judges an answer, and which files it asks.
 *
 * @module
 */
import { expect, test } from 'vitest';
import { classify } from '../../scripts/agent-skills/classify.ts';
import { withoutHosts } from '../../scripts/agent-skills/hosts.ts';
import { isMeant } from '../../scripts/agent-skills/meant-to-run.ts';
import { countLoads, readCheckout } from '../../scripts/agent-skills/report.ts';
import { NO_USAGE, type CapabilityEvent, type Outcome } from '../../src/outcome.ts';

function outcome(exitCode: number, stderr: string, denied: CapabilityEvent[] = []): Outcome {
  const skill = { name: 'a', version: '0', digest: '' };
  const base = { call_id: '1', skill, usage: NO_USAGE, logs: '', warnings: [] };
  const result = { exit_code: exitCode, stdout: '', stderr, files: [] };
  return { ...base, ok: true, result, capabilities: { used: [], denied } };
}

test.each([
  [0, '', 'answered', ''],
  [2, 'usage: x.py [-h] file\nx.py: error: no file\n', 'answered', ''],
  [1, 'Usage: x.py FILE\n', 'answered', ''],
  [1, "Traceback …\nModuleNotFoundError: No module named 'numpy'\n", 'needs', 'numpy'],
  [1, "Traceback …\nFileNotFoundError: [Errno 2] No such file or directory: 'soffice'\n", 'needs', 'soffice'],
  [127, 'x.sh: line 3: jq: command not found\n', 'needs', 'jq'],
  [1, "FileNotFoundError: [Errno 2] No such file or directory: '--help'\n", 'argument', undefined],
  [1, 'ValueError: broken\n', 'failed', 'ValueError: broken'],
  [3, '', 'failed', 'exit code 3'],
])('exit code %i with %j means %s', (exitCode, stderr, ...[kind, why]) => {
  const answer = classify(outcome(exitCode, stderr));
  expect(answer.kind).toBe(kind);
  if (why !== undefined) expect(answer.why).toBe(why);
});

test('a denial is the reason of a failure, without the host that a stranger chose', () => {
  const denied = { capability: 'network', asked: 'GET http://tables.example/x', declared: '' } as const;
  expect(classify(outcome(1, 'no answer\n', [denied]))).toEqual({ kind: 'denied', why: 'GET a host' });
  expect(withoutHosts('read /etc/hosts.example')).toBe('read /etc/hosts.example');
});

test('libraries of other scripts are not meant to be run', () => {
  const texts = new Map([
    ['a.py', '#!/usr/bin/env python3\nimport argparse\nfrom lib.tool import x\n'],
    ['lib/tool.py', '#!/usr/bin/env python3\nx = 1\n'],
    ['lib/base.py', 'if __name__ == "__main__":\n    raise RuntimeError("a library")\n'],
    ['lib/__init__.py', 'import sys\nsys.argv\n'],
    ['b.py', 'if __name__ == "__main__":\n    # comment\n    main()\n'],
    ['alone.py', '#!/usr/bin/env python3\nprint(1)\n'],
    ['c.sh', 'echo\n'],
  ]);
  const meant = [...texts.keys()].filter((path) =>
    isMeant({ path, language: path.endsWith('.sh') ? 'shell' : 'python' }, texts),
  );
  expect(meant).toEqual(['a.py', 'b.py', 'alone.py', 'c.sh']);
});

test('a checkout may say its name and its commit', () => {
  expect(readCheckout('/a/b=owner/name@0123abc')).toEqual({
    dir: '/a/b',
    name: 'owner/name',
    commit: '0123abc',
  });
  expect(readCheckout('/a/b/')).toEqual({ dir: '/a/b/', name: 'b', commit: '' });
});

test('folders that break a rule are counted by rule', () => {
  const row = { folder: 'a', loads: true, reason: '', kind: 'script', scripts: 1, languages: [], needs: [] };
  const rows = [
    { ...row, rules: [] },
    { ...row, rules: ['name'] },
    { ...row, loads: false, kind: '-', rules: ['name'] },
  ];
  expect(countLoads(rows)).toEqual({
    ...{ folders: 3, loads: 2, following: 1, followingLoads: 1, withScripts: 2 },
    rules: { name: 2 },
  });
});
