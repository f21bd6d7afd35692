/**
 * Requests of native cells: how much of what a cell sends may wait in the host, and what happens after the end of its call.
 */
import { duplexPair } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { BrokerReply, BrokerRequest, CallBroker } from '../../../src/cell/contract.ts';
import { encodeFrame, readFrames } from '../../../src/cell/protocol/frames.ts';
import { SkillAsks } from '../../../src/cell/protocol/skill-asks.ts';

const MIB = 1024 * 1024;

/** A broker whose requests end only when the test says so. */
class SlowBroker implements CallBroker {
  readonly used = [];
  readonly denied = [];
  readonly asked: string[] = [];
  readonly #end: ((reply: BrokerReply) => void)[] = [];
  isClosed = false;

  handle({ op }: BrokerRequest): Promise<BrokerReply> {
    this.asked.push(op);
    return new Promise((resolve) => this.#end.push(resolve));
  }

  answerAll(): void {
    for (const end of this.#end.splice(0)) end({ value: { ok: true } });
  }

  close(): void {
    this.isClosed = true;
  }
}

function open(): {
  broker: SlowBroker;
  asks: SkillAsks;
  send: (payload?: Buffer) => void;
  taken: () => number;
} {
  const [host, guest] = duplexPair();
  const broker = new SlowBroker();
  const asks = new SkillAsks(broker, host);
  let taken = 0;
  guest.on('data', () => undefined);
  readFrames(
    host,
    { maxPayloadBytes: 8 * MIB, maxFrames: Number.POSITIVE_INFINITY },
    {
      onFrame: (frame) => {
        taken++;
        asks.take(frame);
      },
      onFault: () => undefined,
    },
  );
  let sent = 0;
  const send = (payload: Buffer = Buffer.from('{}')): void => {
    guest.write(encodeFrame({ t: 'ask', id: sent++, op: 'skill.call', args: {} }, payload));
  };
  return { broker, asks, send, taken: () => taken };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 2000; turn++) await nextTurn();
}

describe('requests of a native cell', () => {
  test('wait in the cell, not in the host, when many large ones are not answered', async () => {
    const { broker, send, taken } = open();
    for (let count = 0; count < 200; count++) send(Buffer.alloc(MIB));
    await settled();
    expect(broker.asked).toHaveLength(64);
    // Those that run, and at most 16 MiB that wait.
    expect(taken()).toBeLessThan(64 + 20);
    for (let round = 0; round < 10; round++) {
      broker.answerAll();
      await settled();
    }
    expect(broker.asked).toHaveLength(200);
  });

  test('that wait or arrive at the end of the call are dropped', async () => {
    const { broker, asks, send } = open();
    for (let count = 0; count < 100; count++) send();
    await settled();
    asks.end();
    expect(broker.isClosed).toBe(true);
    for (let count = 0; count < 10; count++) send();
    broker.answerAll();
    await settled();
    expect(broker.asked).toHaveLength(64);
    expect(asks.count).toBe(100);
  });
});
