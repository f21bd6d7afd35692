/**
 * A separate process that writes receipts and is killed before they reach the log: `left-behind.ts FILE BEGUN ENDED`. It
 * reports when all of them are written, and waits to be killed.
 *
 * @module
 */
import { openAuditLog } from '../../src/audit/log.ts';
import { exampleReceipt } from './example-receipt.ts';

const [file = '', begun = '0', ended = '0'] = process.argv.slice(2);
const log = openAuditLog({ file });
for (let index = 0; index < Number(begun); index += 1)
  log.begin(exampleReceipt({ call_id: `call-${index}`, code: 'internal', message: 'ended early' }));
for (let index = 0; index < Number(ended); index += 1)
  log.append(exampleReceipt({ call_id: `call-${index}` }));
process.stdout.write('written');
// Blocks the event loop, so that no receipt reaches the log.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
