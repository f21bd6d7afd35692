/**
 * A key that is used by an attacker: requests that ask the server, or another process, to answer on a subject that the key
 * may not use itself. Permissions say nothing about that subject; the accounts of `cluster init` do.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { connectCluster, setUpCluster } from '../../src/api/cluster.ts';
import { makeKey, parseKeyRequest } from '../../src/cluster/keys.ts';
import { serverConfig } from '../../src/cluster/server-config.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { startServer, type NatsServer } from './nats.ts';

type Connection = Awaited<ReturnType<typeof connectCluster>>;

const KEYS = ['admin:admin', 'front:web', 'front:bobweb:bob', 'worker:w1', 'worker:w3:bob:default'];
const MARK = '$KV.sc_marks.acme.01ARZ3NDEKTSV4RRFFQ69G5FAV';
const SHARED = ['SC_CALLS', 'SC_RECEIPTS', 'KV_sc_marks', 'KV_sc_keys', 'OBJ_sc_large_acme'];

let folder: string;
let server: NatsServer;
let manager: JetStreamManager;
const opened: Connection[] = [];

async function as(name: string): Promise<Connection> {
  const keyFile = join(folder, `${name}.nk`);
  const connection = await connectCluster({ url: server.url, name, keyFile });
  opened.push(connection);
  return connection;
}

beforeAll(async () => {
  folder = openFolder();
  const keys = KEYS.map((text) => makeKey(parseKeyRequest(text)));
  for (const { name, seed } of keys) writeFileSync(join(folder, `${name}.nk`), seed, { mode: 0o600 });
  const port = await freePort();
  const config = join(folder, 'nats-server.conf');
  writeFileSync(config, serverConfig(keys, { listen: `127.0.0.1:${port}`, storeDir: join(folder, 'js') }));
  server = await startServer(config, port);
  const admin = await as('admin');
  await setUpCluster(admin, { tenants: [{ name: 'acme' }, { name: 'bob' }] });
  manager = await jetstreamManager(admin);
  await jetstream(admin).publish(MARK, 'mark of acme');
  await jetstream(admin).publish('$O.sc_large_acme.C.a', 'object of acme');
});

afterAll(async () => {
  for (const connection of opened) await connection.close();
  await server.stop();
  removeFolder(folder);
});

/** Subjects that neither a front end of bob nor a worker of bob may publish. */
const TARGETS = [
  'sc.job.default.acme',
  MARK,
  'sc.receipt.w1',
  '$O.sc_large_acme.C.a',
  '$JS.API.STREAM.PURGE.SC_CALLS',
  '$JS.API.STREAM.DELETE.SC_RECEIPTS',
  '$JS.API.STREAM.DELETE.KV_sc_marks',
  '$JS.API.CONSUMER.DELETE.SC_CALLS.P-default-acme',
];

interface Detour {
  who: string;
  what: string;
  act: (connection: Connection, target: string) => Promise<void>;
}

const DETOURS: Detour[] = [
  {
    who: 'bobweb',
    what: 'has its entry of a bucket sent',
    act: async (one, target) => {
      await jetstream(one).publish('$KV.sc_keys.bob.evil', 'forged');
      one.publish('$JS.API.DIRECT.GET.KV_sc_keys.$KV.sc_keys.bob.evil', '', { reply: target });
    },
  },
  {
    who: 'bobweb',
    what: 'has an empty entry sent, which is how streams are deleted',
    act: async (one, target) => {
      await jetstream(one).publish('$KV.sc_keys.bob.empty', '');
      one.publish('$JS.API.DIRECT.GET.KV_sc_keys.$KV.sc_keys.bob.empty', '', { reply: target });
    },
  },
  {
    who: 'bobweb',
    what: 'has the confirmation of its own call sent',
    act: async (one, target) => {
      one.publish('sc.job.default.bob', 'x', { reply: target });
      return Promise.resolve();
    },
  },
  {
    who: 'w3',
    what: 'has a call of its queue sent',
    act: async (one, target) => {
      await jetstream(await as('bobweb')).publish('sc.job.default.bob', 'forged');
      const pull = '$JS.API.CONSUMER.MSG.NEXT.SC_CALLS.P-default-bob';
      one.publish(pull, JSON.stringify({ batch: 1, no_wait: true }), { reply: target });
    },
  },
  {
    who: 'w3',
    what: 'has its own receipt sent',
    act: async (one, target) => {
      const bound = headers();
      bound.set('Nats-Expected-Stream', 'SC_RECEIPTS');
      await jetstream(one).publish('sc.receipt.w3', 'forged', { headers: bound });
      one.publish('$JS.API.DIRECT.GET.SC_RECEIPTS.sc.receipt.w3', '', { reply: target });
    },
  },
  {
    who: 'w3',
    what: 'answers a question that it asked itself',
    act: async (one, target) => {
      const asked = one.subscribe('sc.alive.w3', {
        max: 1,
        callback: (_, message) => {
          message.respond('');
        },
      });
      await one.flush();
      one.publish('sc.alive.w3', 'x', { reply: target });
      await asked.closed;
    },
  },
];

/** What others than bob have in the shared streams. */
async function stateOfOthers(): Promise<unknown> {
  const streams = await Promise.all(
    SHARED.map(async (name) => {
      const { state } = await manager.streams.info(name, { subjects_filter: '>' });
      const ofOthers = ([subject]: [string, number]): boolean => !/\.bob(?:\.|$)|\.w3$/.test(subject);
      return [name, Object.entries(state.subjects ?? {}).filter(ofOthers)];
    }),
  );
  const queue = await manager.consumers.info('SC_CALLS', 'P-default-acme');
  const mark = await manager.streams.getMessage('KV_sc_marks', { last_by_subj: MARK });
  return { streams, queue: queue.name, mark: mark?.string() };
}

describe.each(DETOURS)('$who $what', ({ who, act }) => {
  test.each(TARGETS)('to %s, and nothing arrives', async (target) => {
    const before = await stateOfOthers();
    const one = await as(who);
    await act(one, target);
    await one.flush();
    // The server handles the requests of a connection in order.
    await one.request('$JS.API.INFO', '', { timeout: 20_000 });
    expect(await stateOfOthers()).toEqual(before);
  });
});

describe('a key of one tenant', () => {
  const LISTED = ['$JS.API.STREAM.INFO.KV_sc_marks', '$JS.API.STREAM.INFO.KV_sc_keys'];
  test.each(LISTED)('cannot list what all tenants have: %s', async (subject) => {
    for (const who of ['bobweb', 'w3']) {
      const asked = (await as(who)).request(subject, '{"subjects_filter":">"}', { timeout: 2000 });
      await expect(asked).rejects.toThrow();
    }
  });

  test.each(['bobweb', 'w3', 'web', 'w1'])(
    'cannot make a consumer that delivers anywhere: %s',
    async (who) => {
      const config = { deliver_subject: 'sc.job.default.acme', deliver_policy: 'all', ack_policy: 'none' };
      for (const stream of ['OBJ_sc_large_bob', 'SC_CALLS', 'SC_RECEIPTS', 'KV_sc_marks']) {
        const asked = (await as(who)).request(
          `$JS.API.CONSUMER.CREATE.${stream}`,
          JSON.stringify({ stream_name: stream, config }),
          { timeout: 1000 },
        );
        await expect(asked).rejects.toThrow();
      }
    },
  );
});
