import { describe, expect, it } from 'vitest';
import { EventList, firstEvents } from '../../../src/cell/protocol/event-list.ts';
import type { CapabilityEvent } from '../../../src/outcome.ts';

const event = (capability: CapabilityEvent['capability'], asked: string): CapabilityEvent => ({
  capability,
  asked,
  declared: 'x',
});

function flooded(): EventList {
  const list = new EventList();
  for (let at = 0; at < 1000; at++) list.add(event('network', `GET http://harmless.test/${at}`));
  return list;
}

describe('after a flood of harmless events', () => {
  it('the attempt to send a secret, its use and another host are still listed', () => {
    const list = flooded();
    const late = [
      event('secret', 'send KEY to evil.test'),
      event('secret', 'send KEY to other.test'),
      event('network', 'GET https://evil.test/'),
      event('filesystem', 'read /etc/passwd'),
      event('filesystem', 'write /etc/passwd'),
      event('process', 'start sh'),
    ];
    for (const one of late) list.add(one);
    expect(list.kept.slice(-late.length)).toEqual(late);
    expect(list.kept.length + list.cut).toBe(1000 + late.length);
  });

  it('the count is correct and the list is bounded', () => {
    const list = flooded();
    expect(list.kept.length).toBeLessThanOrEqual(65);
    expect(list.cut).toBe(1000 - list.kept.length);
    for (let at = 0; at < 5000; at++) list.add(event('network', `GET http://host-${at}.test/`));
    for (let at = 0; at < 5000; at++) list.add(event('secret', `send KEY to host-${at}.test`));
    expect(list.kept.length).toBeLessThan(64 + 3 * 64);
    expect(list.kept.length + list.cut).toBe(11_000);
  });
});

describe('after a flood of invented hosts', () => {
  const denied = (asked: string, declared: string): CapabilityEvent => ({
    capability: 'network',
    asked,
    declared,
  });
  const hosts = Array.from({ length: 1000 }, (_, at) => at);

  it('a denial for another reason is still listed, even if the reasons of the flood contain text from the skill', () => {
    const list = new EventList();
    for (const at of hosts) list.add(denied(`GET http://host-${at}.test/`, 'no network rule covers it'));
    for (const at of hosts)
      list.add(denied(`GET http://host-${at}.test/x`, `its Host header says "${'a '.repeat(at)}" b"`));
    for (const at of hosts)
      list.add(denied(`CONNECT https://host-${at}.test`, `the tunnel is for host-${at}.test`));
    const late = [
      denied('DELETE https://api.test/v1/all', 'no network rule covers its method and path'),
      denied('GET http://db.test/', '10.0.0.7 is no public address'),
      denied('GET http://me.test/', '192.0.2.1 is an address of this machine'),
    ];
    for (const one of late) list.add(one);
    expect(list.kept.slice(-late.length)).toEqual(late);
    expect(list.kept.length).toBeLessThan(64 + 64 + 32);
    expect(firstEvents(list.kept, 64)).toEqual(expect.arrayContaining(late));
  });

  it('another secret is still listed', () => {
    const list = new EventList();
    for (const at of hosts) list.add(event('secret', `send KEY to host-${at}.test`));
    list.add(event('secret', 'send OTHER to host-1.test'));
    expect(list.kept.at(-1)).toMatchObject({ asked: 'send OTHER to host-1.test' });
  });
});

it('an event list counts a repeated act once', () => {
  const list = new EventList();
  for (let at = 0; at < 100; at++) list.add(event('env', 'read HOME'));
  expect([list.kept.length, list.cut]).toEqual([1, 0]);
});

it('an event list truncates long texts', () => {
  const list = new EventList();
  list.add(event('env', 'x'.repeat(1000)));
  expect(list.kept[0]?.asked).toHaveLength(400);
});

it('an event list does not merge different acts, even if a weak hash of them collides', () => {
  const meeting =
    'GET http://127.0.0.1:8080/8gump2u12smjely21nxb8olvl3wc2e5vm5a8cqv31z53kxg0kdomu5plsoi8y2p5nn2vzg2uf4n33dk7elu96dg9jnzl17unyqfo9jculhpjeabn8ew3p4faauk7ym9fwy';
  const list = new EventList();
  list.add(event('network', meeting));
  list.add(event('secret', 'send KEY to 127.0.0.2'));
  expect(list.kept.map(({ capability }) => capability)).toEqual(['network', 'secret']);
});

it('an event list separates long acts with the same beginning, and shows the destination of a secret', () => {
  const [name, labels] = ['K'.repeat(128), `${'a'.repeat(60)}.`.repeat(3)];
  const asked = ['good', 'evil'].map((last) => `send ${name} to ${labels}${last}.test`);
  const list = new EventList();
  for (const one of asked) list.add(event('secret', one));
  expect(list.kept.map((one) => one.asked)).toEqual(asked);
});
