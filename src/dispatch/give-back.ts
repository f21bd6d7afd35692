/**
 * How a call lets go of the place that it was given or waits for.
 *
 * @module
 */

/** Whatever became of the call. A place that is still waited for is given back when it comes. */
export function giveBack(turn: Promise<Disposable> | undefined): void {
  if (!turn) return;
  turn.then(
    (place) => place[Symbol.dispose](),
    () => 'there never was one',
  );
}
