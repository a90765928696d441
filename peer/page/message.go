package page

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Protocol is the version of docs/page.md.
const (
	Protocol    = 1
	subProtocol = "backstep.page.1"
)

// Types of messages from the page.
const (
	inHello byte = 1 + iota
	inInput
	inCommand
	inUpload
	inSeen
)

// Types of messages to the page.
const (
	outWelcome byte = 1 + iota
	outScreen
	outSnapshot
	outNet
	outSettings
	outFile
	outNotice
	outTalk
	outTypes
)

// Bounds of messages from the page, type byte included.
const (
	maxHello    = 512
	maxCommand  = 4096
	maxSettings = 48 << 10
	maxUpload   = 120 << 10
	maxMessage  = maxUpload
	inputLen    = 7
	seenLen     = 3
	reserved    = 0xf000 // bits of a word that must be 0
)

// errMessage: what a page that follows docs/page.md does not send.
var errMessage = errors.New("malformed message")

type hello struct {
	Token string `json:"token"`
	Tab   string `json:"tab"`
	Mode  string `json:"mode"`
}

func parseHello(b []byte) (hello, error) {
	var h hello
	if len(b) < 1 || b[0] != inHello || len(b) > maxHello {
		return h, fmt.Errorf("%w: no HELLO", errMessage)
	}
	if err := strictJSON(b[1:], &h); err != nil {
		return h, err
	}
	if raw, err := hex.DecodeString(h.Tab); err != nil || len(raw) != 8 {
		return h, fmt.Errorf("%w: tab", errMessage)
	}
	switch h.Mode {
	case "play", "view", "take":
		return h, nil
	}
	return h, fmt.Errorf("%w: mode", errMessage)
}

type input struct {
	word, word2, seq uint16
}

func parseInput(b []byte) (input, error) {
	if len(b) != inputLen || b[0] != inInput {
		return input{}, fmt.Errorf("%w: INPUT of %d bytes", errMessage, len(b))
	}
	in := input{binary.LittleEndian.Uint16(b[1:]), binary.LittleEndian.Uint16(b[3:]), binary.LittleEndian.Uint16(b[5:])}
	if (in.word|in.word2)&reserved != 0 {
		return input{}, fmt.Errorf("%w: INPUT with a reserved bit", errMessage)
	}
	return in, nil
}

// Command is what the player asked for. Only the fields docs/page.md names for
// Cmd can be set; pointers tell absent from zero.
type Command struct {
	Cmd       string          `json:"cmd"`
	Rounds    *int            `json:"rounds,omitempty"`
	Ruleset   string          `json:"ruleset,omitempty"`
	Format    string          `json:"format,omitempty"`
	Relay     string          `json:"relay,omitempty"`
	Code      string          `json:"code,omitempty"`
	Bot       string          `json:"bot,omitempty"`
	Text      string          `json:"text,omitempty"`
	Team      []string        `json:"team,omitempty"`
	Teams     [][]string      `json:"teams,omitempty"`
	Ready     *bool           `json:"ready,omitempty"`
	Accept    *bool           `json:"accept,omitempty"`
	Addresses *bool           `json:"addresses,omitempty"`
	ID        string          `json:"id,omitempty"`
	Play      *bool           `json:"play,omitempty"`
	Speed     *float64        `json:"speed,omitempty"`
	Seek      *int            `json:"seek,omitempty"`
	Step      *int            `json:"step,omitempty"`
	Boxes     *bool           `json:"boxes,omitempty"`
	Exhibit   string          `json:"exhibit,omitempty"`
	Verify    *bool           `json:"verify,omitempty"`
	Export    *bool           `json:"export,omitempty"`
	Settings  json.RawMessage `json:"settings,omitempty"`
	Train

	Upload []byte `json:"-"` // of CommandUpload
}

// CommandUpload is the Cmd of a file the player opened.
const CommandUpload = "upload"

// Train are the options of the training room that a command changes.
type Train struct {
	Dummy    *string `json:"dummy,omitempty"`
	Slot     *int    `json:"slot,omitempty"`
	Refill   *bool   `json:"refill,omitempty"`
	Latency  *int    `json:"latency_ms,omitempty"`
	Jitter   *int    `json:"jitter_ms,omitempty"`
	Loss     *int    `json:"loss_pct,omitempty"`
	Rollback *int    `json:"rollback,omitempty"`
	Delay    *int    `json:"delay,omitempty"`
	Side     *int    `json:"side,omitempty"`
	Paused   *bool   `json:"paused,omitempty"`
	Act      string  `json:"act,omitempty"`
}

var commandNames = map[string]bool{
	"host": true, "join": true, "play": true, "train": true, "replays": true, "cancel": true, "accept": true, "decline": true,
	"pick": true, "rematch": true, "change": true, "leave": true, "option": true, "open": true, "theatre": true, "export": true,
	"delete": true, "settings": true, "answer": true, "chat": true, "doctor": true, "title": true, "quit": true,
}

const (
	maxText = 256
	maxChat = 2048 // bytes; what is longer than a line is cut later
)

func parseCommand(b []byte) (Command, error) {
	var c Command
	if len(b) < 1 || b[0] != inCommand || len(b) > maxSettings {
		return c, fmt.Errorf("%w: COMMAND of %d bytes", errMessage, len(b))
	}
	if err := strictJSON(b[1:], &c); err != nil {
		return Command{}, err
	}
	switch {
	case !commandNames[c.Cmd]:
		return Command{}, fmt.Errorf("%w: unknown command", errMessage)
	case c.Cmd != "settings" && (len(b) > maxCommand || c.Settings != nil), c.Cmd == "settings" && c.Settings == nil:
		return Command{}, fmt.Errorf("%w: settings", errMessage)
	case len(c.Teams) > 2, len(c.Relay) > maxText, len(c.Ruleset) > maxText, len(c.Format) > maxText, len(c.Code) > 4*maxText, len(c.ID) > maxText, len(c.Bot) > maxText, len(c.Text) > maxChat, len(c.Act) > maxText, len(c.Exhibit) > maxText:
		return Command{}, fmt.Errorf("%w: text too long", errMessage)
	}
	for _, team := range append(c.Teams, c.Team) {
		for _, name := range team {
			if len(name) > maxText || len(team) > 3 {
				return Command{}, fmt.Errorf("%w: text too long", errMessage)
			}
		}
	}
	return c, nil
}

// strictJSON reads exactly one value without unknown keys.
func strictJSON(b []byte, into any) error {
	if !utf8.Valid(b) {
		return fmt.Errorf("%w: not UTF-8", errMessage)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %v", errMessage, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more than one value", errMessage)
	}
	return nil
}
