/**
 * A front end of `cluster-chaos.ts`: calls until its standard input closes, and prints a line for each call that was
 * accepted and for each that ended.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterClient, connectCluster } from '../src/api/cluster.ts';
import { createRuntime } from '../src/index.ts';

const AT_ONCE = 6;
const CONNECT_MS = 60_000;
const [url = '', name = '', folder = ''] = process.argv.slice(2);
const connection = await connectPatiently();
const runtime = createRuntime({ home: join(folder, `home-${name}`), cwd: folder });
const client = await ClusterClient.open({ connection, name, runtime, waitMs: 20_000 });
const closing = new AbortController();
process.stdin.resume().on('end', () => closing.abort());

/** A server may be down just now. */
async function connectPatiently(): ReturnType<typeof connectCluster> {
  const until = Date.now() + CONNECT_MS;
  for (;;) {
    try {
      return await connectCluster({ url, name });
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(500);
    }
  }
}

function report(line: { id: string; code?: string }): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function callAgain(): Promise<void> {
  for (let round = 0; !closing.signal.aborted; round++) {
    const params = { key: randomUUID(), seconds: (round % 4) * 0.1, file: '/workspace/log' };
    const outcome = await client.execute('chaos/effect', params, {
      tenantName: 'acme',
      reject: false,
      onEvent: (event) => {
        if (event.type === 'accepted') report({ id: event.call.id });
      },
    });
    report({ id: outcome.call_id, code: outcome.ok ? 'ok' : outcome.error.code });
    if (!outcome.ok) await sleep(200);
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, callAgain));
await client.close();
await connection.close();
await runtime.close();
process.exit(0);
