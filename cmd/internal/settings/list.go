package settings

import (
	"errors"
	"strings"
)

// list is the value of a repeatable flag.
type list struct {
	values []string
	given  bool
}

func (l *list) String() string { return strings.Join(l.values, ",") }

func (l *list) Set(text string) error {
	if !l.given {
		l.values, l.given = nil, true
	}
	for _, v := range strings.Split(text, ",") {
		if v = strings.TrimSpace(v); v == "" {
			return errors.New("an entry is empty")
		}
		l.values = append(l.values, v)
	}
	return nil
}
