/** {{name}}: turns a text around. */

interface Params {
  text: string;
}

interface Result {
  reversed: string;
  characters: number;
}

/** What Skillcell calls: JSON in, JSON out. What is thrown is the error of the call. */
export function execute(params: string): string {
  return JSON.stringify(run(JSON.parse(params) as Params));
}

function run({ text }: Params): Result {
  const characters = Array.from(text);
  return { reversed: characters.toReversed().join(''), characters: characters.length };
}
