/**
 * A process of its own that appends receipts to a log: `append-many.ts FILE NAME COUNT`.
 * Says when it is ready and starts when told, so that several of them really write at the same time.
 *
 * @module
 */
import { once } from 'node:events';
import { openAuditLog } from '../../src/audit/log.ts';
import { exampleReceipt } from './example-receipt.ts';

const [file = '', name = '', count = '0'] = process.argv.slice(2);
const log = openAuditLog({ file });
process.stdout.write('ready');
await once(process.stdin, 'data');
for (let index = 0; index < Number(count); index += 1)
  log.append(exampleReceipt({ call_id: `${name}-${index}` }));
log.close();
process.stdin.destroy();
