/**
 * A process of its own that appends receipts to a log: `append-many.ts FILE NAME COUNT`.
 *
 * @module
 */
import { openAuditLog } from '../../src/audit/log.ts';
import { exampleReceipt } from './example-receipt.ts';

const [file = '', name = '', count = '0'] = process.argv.slice(2);
const log = openAuditLog({ file });
for (let index = 0; index < Number(count); index += 1)
  log.append(exampleReceipt({ call_id: `${name}-${index}` }));
log.close();
