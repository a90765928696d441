package rendezvous

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Alphabet holds the 27 symbols of a code: digits and capitals without vowels
// and without the pairs that are misread (0/O, 1/I/L, 5/S).
const Alphabet = "23456789BCDFGHJKMNPQRTVWXYZ"

// LookupLen is the number of symbols of the half that the relay knows.
const LookupLen = 4

// SecretLen is the default number of symbols of the half that it does not.
const SecretLen = 4

// MaxRelays is the most relays one code may name, maxCodeText the longest text
// that is looked at.
const (
	MaxRelays   = 4
	maxCodeText = 1200
)

// ErrCode is wrapped by every error of ParseCode.
var ErrCode = errors.New("not a lobby code")

// Lookup is the first half of a code. The relay draws it and finds the lobby
// by it; it is not secret.
type Lookup [LookupLen]byte

// String is the four symbols.
func (l Lookup) String() string { return string(l[:]) }

// Valid reports whether every symbol is in Alphabet.
func (l Lookup) Valid() bool { return validSymbols(l[:]) }

// Secret is the second half of a code in upper case: 4, 6 or 8 symbols, that is
// 19.0, 28.5 or 38.0 bits. It feeds CPace and must never reach a server or a log,
// so its fmt and JSON forms are masked; string(s) is the only way to the symbols.
type Secret string

// Valid reports whether s has a legal length and only symbols of Alphabet.
func (s Secret) Valid() bool {
	return (len(s) == 4 || len(s) == 6 || len(s) == 8) && validSymbols([]byte(s))
}

const masked = "****"

// String masks the secret.
func (Secret) String() string { return masked }

// GoString masks the secret in %#v.
func (Secret) GoString() string { return masked }

// MarshalText masks the secret in JSON and in log fields.
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// Code is a whole lobby code. The zero value is no code; Valid tells.
type Code struct {
	Lookup Lookup
	Secret Secret
	// Relays are canonical relay names (see ParseRelay) in the order in which
	// the joiner tries them; empty means the relay the joiner has configured.
	Relays []string
}

// Valid reports whether both halves are well formed.
func (c Code) Valid() bool { return c.Lookup.Valid() && c.Secret.Valid() }

// String is the whole pasteable form, LLLL-SSSS@relay,relay. It contains the
// secret: it is for the player's eyes and clipboard, never for a log or a server.
func (c Code) String() string {
	if len(c.Relays) == 0 {
		return c.Short()
	}
	return c.Short() + "@" + strings.Join(c.Relays, ",")
}

// Short is LLLL-SSSS, without relays. It contains the secret.
func (c Code) Short() string { return c.Lookup.String() + "-" + string(c.Secret) }

// MarshalText is the public half only, so that a code in a report or a log field
// does not carry its secret.
func (c Code) MarshalText() ([]byte, error) {
	return []byte(c.Lookup.String() + "-" + masked), nil
}

// ParseCode reads a code as players type or paste it: any case; spaces, dashes,
// dots and underscores anywhere in the symbols; with or without relays; alone,
// as the line "lobby CODE" or as a link that carries it behind a '#'. Every
// error wraps ErrCode and says which part is wrong without repeating the secret.
func ParseCode(text string) (Code, error) {
	var c Code
	if len(text) > maxCodeText {
		return c, fmt.Errorf("%w: it is longer than any code", ErrCode)
	}
	text = strings.TrimSpace(text)
	if i := strings.LastIndexByte(text, '#'); i >= 0 {
		text = text[i+1:]
	}
	if f := strings.Fields(text); len(f) > 1 && strings.EqualFold(f[0], "lobby") {
		text = strings.Join(f[1:], " ")
	}
	symbols, relays, at := strings.Cut(text, "@")
	var sym [LookupLen + 8]byte
	n := 0
	for _, r := range symbols {
		if isSeparator(r) {
			continue
		}
		if r >= 'a' && r <= 'z' {
			r -= 'a' - 'A'
		}
		if r > unicode.MaxASCII || strings.IndexByte(Alphabet, byte(r)) < 0 {
			return Code{}, fmt.Errorf("%w: %s", ErrCode, symbolHint(r))
		}
		if n == len(sym) {
			return Code{}, fmt.Errorf("%w: it has more than %d symbols", ErrCode, len(sym))
		}
		sym[n] = byte(r)
		n++
	}
	if n != 8 && n != 10 && n != 12 {
		return Code{}, fmt.Errorf("%w: it has %d symbols where 8, 10 or 12 are expected (like H4WT-9ZBG)", ErrCode, n)
	}
	copy(c.Lookup[:], sym[:LookupLen])
	c.Secret = Secret(sym[LookupLen:n])
	if !at {
		return c, nil
	}
	for part := range strings.SplitSeq(relays, ",") {
		if len(c.Relays) == MaxRelays {
			return Code{}, fmt.Errorf("%w: it names more than %d relays", ErrCode, MaxRelays)
		}
		relay, err := ParseRelay(part)
		if err != nil {
			return Code{}, fmt.Errorf("%w: %w", ErrCode, err)
		}
		c.Relays = append(c.Relays, relay)
	}
	return c, nil
}

// DrawLookup draws the first half without modulo bias. rand is crypto/rand.Reader
// outside tests.
func DrawLookup(rand io.Reader) (Lookup, error) {
	var l Lookup
	err := drawSymbols(rand, l[:])
	return l, err
}

// DrawSecret draws a second half of n symbols (4, 6 or 8; anything else is an
// error) without modulo bias.
func DrawSecret(rand io.Reader, n int) (Secret, error) {
	if n != 4 && n != 6 && n != 8 {
		return "", fmt.Errorf("rendezvous: a secret has 4, 6 or 8 symbols, not %d", n)
	}
	var sym [8]byte
	if err := drawSymbols(rand, sym[:n]); err != nil {
		return "", err
	}
	return Secret(sym[:n]), nil
}

// drawSymbols rejects bytes of 243 and more: 243 is the largest multiple of 27
// that fits a byte, so every symbol keeps exactly 9 of the 243 values.
func drawSymbols(rand io.Reader, dst []byte) error {
	const fair = 256 - 256%len(Alphabet)
	var b [1]byte
	for i := 0; i < len(dst); {
		if _, err := io.ReadFull(rand, b[:]); err != nil {
			return fmt.Errorf("rendezvous: no randomness: %w", err)
		}
		if int(b[0]) >= fair {
			continue
		}
		dst[i] = Alphabet[int(b[0])%len(Alphabet)]
		i++
	}
	return nil
}

func validSymbols(b []byte) bool {
	for _, c := range b {
		if strings.IndexByte(Alphabet, c) < 0 {
			return false
		}
	}
	return true
}

func isSeparator(r rune) bool {
	return r == '-' || r == '_' || r == '.' || unicode.IsSpace(r) || unicode.Is(unicode.Pd, r)
}

func symbolHint(r rune) string {
	switch r {
	case 'S':
		return "codes have no S, it may be a 5"
	case '0', 'O', '1', 'I', 'L', 'A', 'E', 'U':
		return fmt.Sprintf("codes have no %c (and none of 0 O 1 I L S A E U)", r)
	}
	return fmt.Sprintf("%q is not a symbol of codes", r)
}
