import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { OVERRIDE_FIELDS, OVERRIDE_HEADERS } from '../../../src/broker/gateway/overrides.ts';
import { packageRoot } from '../../../src/package-root.ts';

it('the document lists every header and field that is refused', () => {
  const page = readFileSync(`${packageRoot()}/docs/network.md`, 'utf8').toLowerCase();
  for (const name of [...OVERRIDE_HEADERS, ...OVERRIDE_FIELDS]) expect(page, name).toContain(`\`${name}\``);
});
