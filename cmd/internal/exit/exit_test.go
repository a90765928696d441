package exit

import (
	"errors"
	"fmt"
	"testing"

	"backstep/cmd/internal/settings"
)

func TestCode(t *testing.T) {
	base := errors.New("broken")
	for _, tt := range []struct {
		name string
		err  error
		want int
	}{
		{"nil", nil, OK},
		{"plain", base, Internal},
		{"coded", With(Relay, base), Relay},
		{"wrapped", fmt.Errorf("peer: %w", With(Incompatible, base)), Incompatible},
		{"outermost wins", With(NoPath, With(Opponent, base)), NoPath},
		{"usage", settings.Usagef("no"), Usage},
		{"nothing to attach to", With(Desync, nil), OK},
	} {
		if got := Code(tt.err); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	if !errors.Is(With(Lobby, base), base) || With(Lobby, base).Error() != "broken" {
		t.Error("With hides the error it was given")
	}
}
