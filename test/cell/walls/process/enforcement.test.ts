import { expect, test } from 'vitest';
import { ComponentEngine } from '../../../../src/cell/engines/component/engine.ts';
import { processEnforcement } from '../../../../src/cell/walls/process/enforcement.ts';
import { ProcessWall } from '../../../../src/cell/walls/process/wall.ts';

test('a plain process reports no memory limit, but an engine with its own limit does', () => {
  const table = processEnforcement();
  expect(JSON.stringify(table)).not.toContain('polled');
  expect(table.memory.by).toBe('nobody');
  const engine = new ComponentEngine({ home: '/nowhere', wall: async () => new ProcessWall() });
  expect(engine.enforces(table).memory.by).toBe('wasm');
});
