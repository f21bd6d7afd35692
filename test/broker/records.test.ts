import { expect, it } from 'vitest';
import { Records } from '../../src/broker/records.ts';
import { makeReceipt } from '../../src/audit/receipt.ts';
import { EXAMPLE_CONTEXT, exampleSuccess } from '../audit/example-receipt.ts';

it('an attempt to send a secret is recorded after any number of harmless denials, even in the receipt', () => {
  const records = new Records();
  for (let at = 0; at < 200; at++)
    records.note('denied', { capability: 'network', asked: `GET http://a.test/${at}`, declared: 'no rule' });
  const attempt = {
    capability: 'secret',
    asked: 'send KEY to evil.test',
    declared: 'exfiltration attempt',
  } as const;
  records.note('denied', attempt);
  expect(records.denied).toContainEqual(attempt);
  const { used, denied, cut } = records;
  const receipt = makeReceipt(exampleSuccess({ capabilities: { used, denied, cut } }), EXAMPLE_CONTEXT);
  expect(receipt.denied).toContainEqual(attempt);
  expect(receipt.denied_count).toBe(201);
  expect(receipt.cut?.denied).toBe(201 - receipt.denied.length);
});
