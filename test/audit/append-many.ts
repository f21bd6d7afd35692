/**
 * A separate process that appends receipts to a log: `append-many.ts FILE NAME COUNT`. It reports that it is ready and waits
 * for a signal to start, so that several of them write at the same time.
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
