package main

import (
	"bufio"
	"compress/gzip"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"backstep/sim"
	"backstep/sim/bot"
)

//go:embed testdata
var embedded embed.FS

// trace is a recorded game: the words of both players.
type trace struct {
	name  string
	words [2][]uint16
}

type sources struct {
	traces []trace
	model  *semiMarkov
}

func openSources() (*sources, error) {
	s := &sources{}
	list, err := embedded.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ".csv.gz") {
			t, err := readTrace(e.Name())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.Name(), err)
			}
			s.traces = append(s.traces, t)
		}
	}
	text, err := embedded.ReadFile("testdata/fighter_semimarkov.json")
	if err != nil {
		return nil, err
	}
	s.model, err = parseModel(text)
	return s, err
}

func readTrace(name string) (trace, error) {
	t := trace{name: name}
	f, err := embedded.Open("testdata/" + name)
	if err != nil {
		return t, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return t, err
	}
	var columns [2]int
	scan := bufio.NewScanner(z)
	for header := true; scan.Scan(); {
		line := scan.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, ",")
		if header {
			header = false
			for p, want := range []string{"w1", "w2"} {
				if columns[p] = slices.Index(cells, want); columns[p] < 0 {
					return t, fmt.Errorf("no column %s", want)
				}
			}
			continue
		}
		for p, c := range columns {
			w, err := strconv.ParseUint(cells[c], 16, 16)
			if err != nil {
				return t, err
			}
			t.words[p] = append(t.words[p], uint16(w))
		}
	}
	return t, scan.Err()
}

// inputs gives the words of a match and where they are from.
func (s *sources) inputs(p plan) (source string, words [][]uint16, err error) {
	switch p.kind {
	case recorded:
		t := s.traces[p.serial%len(s.traces)]
		// Matches of one recording take pieces one after the other, beginning anew when they have come to its end. Recordings
		// start with some waiting, so the first 300 rows are left out.
		at := 300 + p.serial/len(s.traces)*701%(len(t.words[0])-300-p.frames)
		source = fmt.Sprintf("recorded: %s, columns w1 and w2, rows %d to %d", t.name, at, at+p.frames-1)
		return source, [][]uint16{t.words[0][at : at+p.frames], t.words[1][at : at+p.frames]}, nil
	case model:
		seed := p.config.Seed
		source = fmt.Sprintf("model: fighter_semimarkov.json, seeds %016x and %016x", seed, ^seed)
		return source, [][]uint16{s.model.words(seed, p.frames), s.model.words(^seed, p.frames)}, nil
	}
	return played(p)
}

// played lets two bots play the match.
func played(p plan) (source string, words [][]uint16, err error) {
	skills := [...]string{"hard", "medium", "easy"}
	names := [2]string{skills[p.serial%3], skills[(p.serial+p.serial/3)%3]}
	source = fmt.Sprintf("bots: %s and %s, seed %016x", names[0], names[1], p.config.Seed)
	var w sim.World
	if err := w.Reset(p.config); err != nil {
		return "", nil, err
	}
	var players [2]bot.Bot
	for side := range players {
		if players[side], err = bot.New(names[side], p.config.Seed, side); err != nil {
			return "", nil, err
		}
	}
	frames := p.frames
	if p.whole {
		frames = mostFrames
	}
	words = make([][]uint16, 2)
	var in [2]sim.Input
	for f := 0; f < frames; f++ {
		if p.whole && w.Phase() == sim.PostMatch {
			frames, p.whole = min(frames, f+afterwards), false
		}
		for side := range in {
			in[side] = sim.Input{Now: players[side].Next(&w), Prev: in[side].Now}
			words[side] = append(words[side], in[side].Now)
		}
		w.Step(in[:], sim.SuppressCosmetics)
	}
	return source, words, nil
}
