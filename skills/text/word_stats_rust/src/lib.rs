//! Counts of a text: the Rust twin of `text/word_stats_*`. All five give the same bytes, so this one takes nothing
//! from the Unicode tables of its `std` and everything from `unicode.rs`.

mod skillcell;
mod unicode;

use std::collections::HashMap;
use std::fmt::Write;

const DEFAULT_TOP: i64 = 10;

skill!(execute);

fn execute(params: &str) -> Result<String, String> {
    let text = skillcell::string(params, "text").ok_or("The parameter \"text\" is missing")?;
    let top = skillcell::integer(params, "top").unwrap_or(DEFAULT_TOP);
    let points: Vec<char> = text.chars().collect();
    Ok(describe(&count(&points), top as usize))
}

#[derive(Default)]
struct Counts {
    characters: usize,
    words: usize,
    sentences: usize,
    lines: usize,
    by_word: HashMap<String, usize>,
}

fn count(text: &[char]) -> Counts {
    let mut counts = Counts { characters: text.len(), ..Counts::default() };
    let mut open_sentence = false;
    let mut at = 0;
    while let Some(&point) = text.get(at) {
        if is_letter(point) {
            let end = end_of_word(text, at);
            counts.words += 1;
            *counts.by_word.entry(fold(&text[at..end])).or_insert(0) += 1;
            open_sentence = true;
            at = end;
            continue;
        }
        let next = text.get(at + 1).copied();
        if open_sentence && ends_sentence(point, next) {
            counts.sentences += 1;
            open_sentence = false;
        }
        if point == '\n' || (point == '\r' && next != Some('\n')) {
            counts.lines += 1;
        }
        at += 1;
    }
    counts.lines += text.last().map_or(0, |last| !matches!(last, '\n' | '\r') as usize);
    counts.sentences += open_sentence as usize;
    counts
}

/// Letters and digits, the marks on them, and apostrophes between two of them.
fn end_of_word(text: &[char], start: usize) -> usize {
    let mut end = start + 1;
    while let Some(&point) = text.get(end) {
        let inner = || is_apostrophe(point) && text.get(end + 1).map_or(false, |&next| is_letter(next));
        if !is_letter(point) && !is_mark(point) && !inner() {
            break;
        }
        end += 1;
    }
    end
}

/// A full stop inside of a number or a name ends nothing: `3.14`, `example.com`.
fn ends_sentence(point: char, next: Option<char>) -> bool {
    match point {
        '!' | '.' | '?' | '\u{61f}' | '\u{964}' | '\u{2026}' => next.map_or(true, |next| !is_letter(next)),
        '\u{3002}' | '\u{ff01}' | '\u{ff1f}' => true,
        _ => false,
    }
}

fn describe(counts: &Counts, top: usize) -> String {
    let mut ranked: Vec<(&String, &usize)> = counts.by_word.iter().collect();
    // Strings compare by bytes, which in UTF-8 is the order of code points.
    ranked.sort_unstable_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let mut json = format!(
        "{{\"characters\":{},\"words\":{},\"unique_words\":{},\"sentences\":{},\"lines\":{},\"top_words\":[",
        counts.characters,
        counts.words,
        ranked.len(),
        counts.sentences,
        counts.lines
    );
    for (at, (word, count)) in ranked.iter().take(top).enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(json, "{}{{\"word\":\"{}\",\"count\":{}}}", comma, word, count);
    }
    let _ = write!(json, "],\"reading_time_seconds\":{}}}", (counts.words * 3 + 9) / 10);
    json
}

fn fold(word: &[char]) -> String {
    word.iter().map(|&point| if is_apostrophe(point) { '\'' } else { to_lower(point) }).collect()
}

fn is_apostrophe(point: char) -> bool {
    matches!(point, '\'' | '\u{2019}')
}

// --- the tables: numbers in digits of 5 bits, lowest first, the sixth bit says that more follow ---------------

/// Code points from `start` to `last`: every one (`step` 1) or every second; `delta` leads to the lower case.
struct Run {
    start: u32,
    last: u32,
    step: u32,
    delta: i32,
}

thread_local! {
    /// English text needs no table: they are read when the first other letter comes.
    static TABLES: Tables = Tables::read();
}

struct Tables {
    letters: Vec<Run>,
    marks: Vec<Run>,
    lower: Vec<Run>,
}

impl Tables {
    fn read() -> Tables {
        Tables {
            letters: read_ranges(unicode::LETTERS),
            marks: read_ranges(unicode::MARKS),
            lower: read_lower(unicode::LOWER),
        }
    }
}

fn is_letter(point: char) -> bool {
    if point.is_ascii() {
        return point.is_ascii_alphanumeric();
    }
    TABLES.with(|tables| run_of(&tables.letters, point).is_some())
}

fn is_mark(point: char) -> bool {
    point >= '\u{300}' && TABLES.with(|tables| run_of(&tables.marks, point).is_some())
}

fn to_lower(point: char) -> char {
    if point.is_ascii() {
        return point.to_ascii_lowercase();
    }
    let delta = TABLES.with(|tables| run_of(&tables.lower, point).map_or(0, |run| run.delta));
    char::from_u32((point as i32 + delta) as u32).unwrap_or(point)
}

fn run_of(runs: &[Run], point: char) -> Option<&Run> {
    let point = point as u32;
    let run = &runs[runs.partition_point(|run| run.start <= point).checked_sub(1)?];
    (point <= run.last && (point - run.start) % run.step == 0).then(|| run)
}

/// Pairs: gap since the end of the range before, length.
fn read_ranges(table: &str) -> Vec<Run> {
    let mut end = 0;
    let ranges = read_numbers(table);
    let read = |pair: &[u32]| {
        let start = end + pair[0];
        end = start + pair[1];
        Run { start, last: end - 1, step: 1, delta: 0 }
    };
    ranges.chunks_exact(2).map(read).collect()
}

/// Triples: gap, twice the count and one more for every second, twice the distance and one more for downwards.
fn read_lower(table: &str) -> Vec<Run> {
    let mut end = 0;
    let runs = read_numbers(table);
    let read = |triple: &[u32]| {
        let (start, step) = (end + triple[0], 1 + (triple[1] & 1));
        let last = start + ((triple[1] >> 1) - 1) * step;
        let distance = (triple[2] >> 1) as i32;
        end = last + 1;
        Run { start, last, step, delta: if triple[2] & 1 == 1 { -distance } else { distance } }
    };
    runs.chunks_exact(3).map(read).collect()
}

fn read_numbers(table: &str) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(table.len());
    let (mut value, mut shift) = (0, 0);
    for code in table.bytes() {
        let digit = digit_of(code);
        value |= (digit & 31) << shift;
        shift += 5;
        if digit < 32 {
            numbers.push(value);
            value = 0;
            shift = 0;
        }
    }
    numbers
}

/// A-Z, a-z, 0-9, minus, underscore.
fn digit_of(code: u8) -> u32 {
    u32::from(match code {
        b'-' => 62,
        b'_' => 63,
        b'0'..=b'9' => code - b'0' + 52,
        b'A'..=b'Z' => code - b'A',
        _ => code - b'a' + 26,
    })
}
