/**
 * `npm run bench:load [-- --clients N --seconds S]`: the HTTP service under load and with faults, on loopback.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { runLoad } from './load/run-load.ts';
import { formatLoadReport, verdictsOf } from './load/table.ts';
import { saveResult } from './saved-results.ts';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    save: { type: 'boolean', default: false },
  },
});
const report = await runLoad({ clients: Number(values.clients), seconds: Number(values.seconds) });
console.log(formatLoadReport(report));
if (values.save) console.log(`Written to ${saveResult(report, 'load')}`);
process.exitCode = verdictsOf(report).every(({ met }) => met) ? 0 : 1;
