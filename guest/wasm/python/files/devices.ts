/**
 * /dev: the few devices that programs expect.
 *
 * @module
 */
import { fail, StreamNode, type NodeStat, type OpenNode, type OpenOptions } from './contract.ts';
import { FixedTree } from './fixed-tree.ts';

type Fill = (into: Uint8Array) => number;

export class DeviceTree extends FixedTree {
  readonly #devices: ReadonlyMap<string, Fill>;

  constructor(random: (into: Uint8Array) => void) {
    super();
    const randomBytes: Fill = (into) => (random(into), into.length);
    this.#devices = new Map<string, Fill>([
      ['null', () => 0],
      ['zero', (into) => into.fill(0).length],
      ['random', randomBytes],
      ['urandom', randomBytes],
    ]);
    for (const name of this.#devices.keys()) this.addFile([name], 0, () => new Uint8Array());
  }

  override stat(path: readonly string[]): NodeStat {
    const stat = super.stat(path);
    return this.#fill(path) ? { ...stat, type: 'device', writable: true } : stat;
  }

  override open(path: readonly string[], options: OpenOptions): OpenNode {
    const fill = this.#fill(path);
    if (!fill) return super.open(path, options);
    if (options.directory) fail('notdir');
    return new Device(this.stat(path), fill);
  }

  #fill(path: readonly string[]): Fill | undefined {
    return path.length === 1 ? this.#devices.get(path[0] ?? '') : undefined;
  }
}

class Device extends StreamNode {
  readonly #stat: NodeStat;
  readonly #fill: Fill;

  constructor(stat: NodeStat, fill: Fill) {
    super();
    this.#stat = stat;
    this.#fill = fill;
  }

  override stat(): NodeStat {
    return this.#stat;
  }

  override read(into: Uint8Array): number {
    return this.#fill(into);
  }

  override write(bytes: Uint8Array): number {
    return bytes.length;
  }
}
