/**
 * setTimeout and similar functions. The host wakes the cell, so waiting uses no CPU.
 *
 * @module
 */
import { ask, withdraw } from './pending.ts';

type Callback = (...args: unknown[]) => void;

/** Pending request numbers by timer. */
const running = new Map<number, number>();
let last = 0;

export function setTimeout(callback: Callback, delay?: number, ...args: unknown[]): number {
  return begin(callback, { delay, args, repeats: false });
}

export function setInterval(callback: Callback, delay?: number, ...args: unknown[]): number {
  return begin(callback, { delay, args, repeats: true });
}

export function clearTimeout(timer: unknown): void {
  const id = running.get(Number(timer));
  running.delete(Number(timer));
  if (id !== undefined) withdraw(id);
}

interface TimerOptions {
  delay: number | undefined;
  args: unknown[];
  repeats: boolean;
}

function begin(callback: Callback, { delay, args, repeats }: TimerOptions): number {
  if (typeof callback !== 'function') throw new TypeError('The callback of a timer must be a function');
  const timer = ++last;
  const milliseconds = Math.max(repeats ? 1 : 0, Number(delay) || 0);
  const wait = (): void => {
    const { id, answer } = ask('sleep', { milliseconds });
    running.set(timer, id);
    void answer.then(() => {
      running.delete(timer);
      if (repeats) wait();
      callback(...args);
    });
  };
  wait();
  return timer;
}
