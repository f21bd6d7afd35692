/**
 * Policy reload for services: edits are noticed while the service runs, and SIGHUP puts them in force completely.
 *
 * @module
 */
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { type LivePolicy, defaultHome, livePolicy } from '../inside.ts';
import { printNote } from './output.ts';

/** Every call checks the files itself; this is only how soon an idle service reports a change. */
const LOOK_MS = 1000;
const STDIN = 0;

export interface FollowedPolicy extends Disposable {
  readonly live: LivePolicy;
}

/** Throws if the policy cannot be used now. */
export function followPolicy(named: string | undefined): FollowedPolicy {
  const places = { folder: process.cwd(), home: defaultHome() };
  const live = livePolicy(places, named === undefined ? undefined : resolve(named), (text) =>
    printNote(text),
  );
  const looking = setInterval(() => live.current(), LOOK_MS).unref();
  return { live, [Symbol.dispose]: () => clearInterval(looking) };
}

/** SIGHUP means "reload" unless the terminal that the service was started from is gone. */
export function onHangUp({ reload, stop }: { reload: () => void; stop: () => void }): void {
  const hadTerminal = isatty(STDIN);
  process.on('SIGHUP', () => (hadTerminal && !isatty(STDIN) ? stop() : reload()));
}
