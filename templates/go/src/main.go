// {{name}}: reverses a text. Reads JSON from stdin and writes JSON to stdout.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

type params struct {
	Text string `json:"text"`
}

type result struct {
	Reversed   string `json:"reversed"`
	Characters int    `json:"characters"`
}

func main() {
	var given params
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(execute(given)); err != nil {
		fail(err)
	}
}

func execute(given params) result {
	characters := []rune(given.Text)
	reversed := make([]rune, len(characters))
	for at, character := range characters {
		reversed[len(characters)-1-at] = character
	}
	return result{Reversed: string(reversed), Characters: len(characters)}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
