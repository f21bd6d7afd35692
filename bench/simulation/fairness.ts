/**
 * Whether each tenant got its share.
 *
 * @module
 */

/** Jain's index: 1 if all values are equal, 1/n if one has everything. */
export function jain(values: readonly number[]): number {
  const sum = values.reduce((all, one) => all + one, 0);
  const squares = values.reduce((all, one) => all + one * one, 0);
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares);
}

/** Max-min fair shares: nobody gets more than it asked for, and the rest is divided evenly. */
export function fairShares(asked: readonly number[], total: number): number[] {
  const order = asked.map((_, at) => at).toSorted((a, b) => (asked[a] ?? 0) - (asked[b] ?? 0));
  const shares = asked.map(() => 0);
  let left = total;
  order.forEach((who, at) => {
    const share = Math.min(asked[who] ?? 0, left / (order.length - at));
    shares[who] = share;
    left -= share;
  });
  return shares;
}

/** Jain's index of what each tenant that asked got of its fair share. */
export function fairnessOf(asked: readonly number[], got: readonly number[]): number {
  const total = got.reduce((all, one) => all + one, 0);
  const shares = fairShares(asked, total);
  return jain(shares.flatMap((share, at) => (share > 0 ? [(got[at] ?? 0) / share] : [])));
}
