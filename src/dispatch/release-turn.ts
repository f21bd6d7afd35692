/**
 * Releases a call's turn.
 *
 * @module
 */

/** A turn that is still pending is released when it is granted. */
export function releaseTurn(turn: Promise<Disposable> | undefined): void {
  if (!turn) return;
  turn.then(
    (granted) => granted[Symbol.dispose](),
    () => 'no turn was granted',
  );
}
