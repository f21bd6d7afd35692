/** A skill is one function: parameters in, result out. It may be async, and a thrown error is the error of the call. */
export function execute({ text }: Params): Result {
  const characters = Array.from(text);
  return { reversed: characters.toReversed().join(''), characters: characters.length };
}

interface Params {
  text: string;
}

interface Result {
  reversed: string;
  characters: number;
}
