/** A skill is one function from parameters to a result. It may be async; a thrown error becomes the error of the call. */
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
