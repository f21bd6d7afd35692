/**
 * The work of text/word_stats, as one would write it in JavaScript: for peers that run JavaScript. It does no more than
 * English needs, so that the peers do not have more work than we do.
 */
export function execute(params) {
  const { text, top = 10 } = JSON.parse(params);
  const words = text.toLowerCase().match(/[a-z0-9']+/g) ?? [];
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const ranked = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return JSON.stringify({
    characters: text.length,
    words: words.length,
    unique_words: counts.size,
    sentences: text.split(/[.!?]+/).length - 1,
    lines: text.split('\n').length,
    top_words: ranked.slice(0, top).map(([word, count]) => ({ word, count })),
    reading_time_seconds: Math.floor((words.length * 3 + 9) / 10),
  });
}
