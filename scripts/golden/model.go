package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"backstep/sim"
)

// semiMarkov draws words like those of people: a word is held for a time drawn from its own bins, then one that may follow it is
// drawn. Shares are kept as ten-thousandths, so that every machine draws the same.
type semiMarkov struct {
	edges []int
	held  []heldWord
}

type heldWord struct {
	word  uint16
	bins  []uint64
	nexts []int // positions in held
	odds  []uint64
}

// openBin is how much longer than the last edge the last, open bin may be.
const openBin = 200

func parseModel(text []byte) (*semiMarkov, error) {
	var file struct {
		Edges []int `json:"edges"`
		Words []struct {
			W    string        `json:"w"`
			Len  []json.Number `json:"len"`
			Next [][]any       `json:"next"`
		} `json:"words"`
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	m := &semiMarkov{edges: file.Edges}
	at := map[string]int{}
	for i, w := range file.Words {
		at[w.W] = i
	}
	for _, w := range file.Words {
		word, err := strconv.ParseUint(w.W, 16, 16)
		if err != nil || len(w.Len) != len(file.Edges)+1 {
			return nil, fmt.Errorf("the word %q or its bins", w.W)
		}
		h := heldWord{word: uint16(word)}
		for _, n := range w.Len {
			v, err := share(n)
			if err != nil {
				return nil, err
			}
			h.bins = append(h.bins, v)
		}
		for _, pair := range w.Next {
			if len(pair) != 2 {
				return nil, fmt.Errorf("a word after %q", w.W)
			}
			name, _ := pair[0].(string)
			odds, _ := pair[1].(json.Number)
			next, ok := at[name]
			v, err := share(odds)
			if err != nil {
				return nil, err
			}
			if ok && v > 0 {
				h.nexts, h.odds = append(h.nexts, next), append(h.odds, v)
			}
		}
		if len(h.nexts) == 0 {
			return nil, fmt.Errorf("no word follows %q", w.W)
		}
		m.held = append(m.held, h)
	}
	if len(m.held) == 0 {
		return nil, fmt.Errorf("the model has no words")
	}
	return m, nil
}

// share reads a number of at most four digits after the point as ten-thousandths.
func share(n json.Number) (uint64, error) {
	whole, part, _ := strings.Cut(n.String(), ".")
	if len(part) > 4 {
		return 0, fmt.Errorf("the share %q has more than four digits", n)
	}
	return strconv.ParseUint(whole+part+"0000"[len(part):], 10, 32)
}

// draw gives a position with probability in proportion to its weight.
func draw(r *sim.SplitMix64, weights []uint64) int {
	var sum uint64
	for _, w := range weights {
		sum += w
	}
	if sum == 0 {
		return 0
	}
	at := r.Next() % sum
	for i, w := range weights {
		if at < w {
			return i
		}
		at -= w
	}
	return len(weights) - 1
}

// words draws a stream of so many frames. It starts with the first word of the model, neutral.
func (m *semiMarkov) words(seed uint64, frames int) []uint16 {
	r := &sim.SplitMix64{State: seed}
	out := make([]uint16, 0, frames)
	for at := 0; len(out) < frames; {
		h := &m.held[at]
		bin := draw(r, h.bins)
		least, most := 1, m.edges[0]
		if bin > 0 {
			least = m.edges[bin-1] + 1
			most = least + openBin
			if bin < len(m.edges) {
				most = m.edges[bin]
			}
		}
		n := least + int(r.Next()%uint64(most-least+1))
		for range min(n, frames-len(out)) {
			out = append(out, h.word)
		}
		at = h.nexts[draw(r, h.odds)]
	}
	return out
}
