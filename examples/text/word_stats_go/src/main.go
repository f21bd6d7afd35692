// Counts of a text: the Go twin of text/word_stats_*. All five give the same bytes, so this one takes nothing from
// the Unicode tables of Go and everything from unicode.go.
//
// Built as a WASI command: the parameters are JSON on stdin, the result is JSON on stdout.
package main

import (
	"encoding/json"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
)

const defaultTop = 10

// end marks the end of the text: no code point.
const end = rune(-1)

type params struct {
	Text string `json:"text"`
	Top  *int   `json:"top"`
}

func main() {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(err)
	}
	var given params
	if err := json.Unmarshal(input, &given); err != nil {
		fail(err)
	}
	top := defaultTop
	if given.Top != nil {
		top = *given.Top
	}
	os.Stdout.WriteString(describe(count([]rune(given.Text)), top))
}

func fail(err error) {
	os.Stderr.WriteString(err.Error() + "\n")
	os.Exit(1)
}

type counts struct {
	characters, words, sentences, lines int
	byWord                              map[string]int
}

func count(text []rune) counts {
	found := counts{characters: len(text), byWord: map[string]int{}}
	openSentence := false
	for at := 0; at < len(text); {
		point := text[at]
		if isLetter(point) {
			after := endOfWord(text, at)
			found.words++
			found.byWord[fold(text[at:after])]++
			openSentence = true
			at = after
			continue
		}
		at++
		next := end
		if at < len(text) {
			next = text[at]
		}
		if openSentence && endsSentence(point, next) {
			found.sentences++
			openSentence = false
		}
		if point == '\n' || (point == '\r' && next != '\n') {
			found.lines++
		}
	}
	if len(text) > 0 && text[len(text)-1] != '\n' && text[len(text)-1] != '\r' {
		found.lines++
	}
	if openSentence {
		found.sentences++
	}
	return found
}

// endOfWord reads on over letters and digits, the marks on them, and apostrophes between two of them.
func endOfWord(text []rune, start int) int {
	at := start + 1
	for ; at < len(text); at++ {
		inner := isApostrophe(text[at]) && at+1 < len(text) && isLetter(text[at+1])
		if !isLetter(text[at]) && !isMark(text[at]) && !inner {
			break
		}
	}
	return at
}

// endsSentence: a full stop inside of a number or a name ends nothing, as in 3.14 and example.com.
func endsSentence(point, next rune) bool {
	switch point {
	case '!', '.', '?', '\u061f', '\u0964', '\u2026':
		return next == end || !isLetter(next)
	case '\u3002', '\uff01', '\uff1f':
		return true
	}
	return false
}

func describe(found counts, top int) string {
	ranked := make([]string, 0, len(found.byWord))
	for word := range found.byWord {
		ranked = append(ranked, word)
	}
	// Strings compare by bytes, which in UTF-8 is the order of code points.
	sort.Slice(ranked, func(i, j int) bool {
		a, b := ranked[i], ranked[j]
		if found.byWord[a] != found.byWord[b] {
			return found.byWord[a] > found.byWord[b]
		}
		return a < b
	})
	words := make([]string, 0, top)
	for at := 0; at < len(ranked) && at < top; at++ {
		words = append(words, `{"word":"`+ranked[at]+`","count":`+strconv.Itoa(found.byWord[ranked[at]])+`}`)
	}
	return `{"characters":` + strconv.Itoa(found.characters) +
		`,"words":` + strconv.Itoa(found.words) +
		`,"unique_words":` + strconv.Itoa(len(ranked)) +
		`,"sentences":` + strconv.Itoa(found.sentences) +
		`,"lines":` + strconv.Itoa(found.lines) +
		`,"top_words":[` + strings.Join(words, ",") +
		`],"reading_time_seconds":` + strconv.Itoa((found.words*3+9)/10) + `}`
}

func fold(word []rune) string {
	folded := make([]rune, len(word))
	for at, point := range word {
		folded[at] = toLower(point)
		if isApostrophe(point) {
			folded[at] = '\''
		}
	}
	return string(folded)
}

func isApostrophe(point rune) bool {
	return point == '\'' || point == '\u2019'
}

func isLetter(point rune) bool {
	if point < 0x80 {
		small := point | 0x20
		return (point >= '0' && point <= '9') || (small >= 'a' && small <= 'z')
	}
	_, found := runOf(letterRanges, point)
	return found
}

func isMark(point rune) bool {
	_, found := runOf(markRanges, point)
	return point >= 0x300 && found
}

func toLower(point rune) rune {
	if run, found := runOf(lowerRuns, point); found {
		return point + run.delta
	}
	return point
}

// --- the tables: numbers in digits of 5 bits, lowest first, the sixth bit says that more follow ---------------

// run has the code points from start to last: every one (step 1) or every second; delta leads to the lower case.
type run struct {
	start, last, step, delta rune
}

var (
	letterRanges = readRanges(letters)
	markRanges   = readRanges(marks)
	lowerRuns    = readLower(lower)
)

func runOf(runs []run, point rune) (run, bool) {
	at := sort.Search(len(runs), func(i int) bool { return runs[i].start > point }) - 1
	if at < 0 || point > runs[at].last || (point-runs[at].start)%runs[at].step != 0 {
		return run{}, false
	}
	return runs[at], true
}

// readRanges reads pairs: gap since the end of the range before, length.
func readRanges(table string) []run {
	numbers := readNumbers(table)
	ranges := make([]run, 0, len(numbers)/2)
	after := rune(0)
	for at := 0; at < len(numbers); at += 2 {
		start := after + numbers[at]
		after = start + numbers[at+1]
		ranges = append(ranges, run{start: start, last: after - 1, step: 1})
	}
	return ranges
}

// readLower reads triples: gap, twice the count and one more for every second, twice the distance and one more for
// downwards.
func readLower(table string) []run {
	numbers := readNumbers(table)
	runs := make([]run, 0, len(numbers)/3)
	after := rune(0)
	for at := 0; at < len(numbers); at += 3 {
		start, step, delta := after+numbers[at], 1+numbers[at+1]&1, numbers[at+2]>>1
		if numbers[at+2]&1 == 1 {
			delta = -delta
		}
		last := start + (numbers[at+1]>>1-1)*step
		runs = append(runs, run{start: start, last: last, step: step, delta: delta})
		after = last + 1
	}
	return runs
}

func readNumbers(table string) []rune {
	numbers := make([]rune, 0, len(table))
	value, shift := rune(0), 0
	for at := 0; at < len(table); at++ {
		digit := digitOf(table[at])
		value |= (digit & 31) << shift
		shift += 5
		if digit < 32 {
			numbers = append(numbers, value)
			value, shift = 0, 0
		}
	}
	return numbers
}

// digitOf: A-Z, a-z, 0-9, minus, underscore.
func digitOf(code byte) rune {
	switch {
	case code == '-':
		return 62
	case code == '_':
		return 63
	case code <= '9':
		return rune(code) - '0' + 52
	case code <= 'Z':
		return rune(code) - 'A'
	}
	return rune(code) - 'a' + 26
}
