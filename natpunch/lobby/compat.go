package lobby

import (
	"fmt"

	"backstep/natpunch/cpace"
)

// agree picks the protocol both sides speak: the lower of the two newest. It is
// called with authenticated data only, after both tags were right. Both sides
// come to the same answer, so both can say it.
func agree(ours, theirs cpace.AD) (proto uint8, err error) {
	switch {
	case ours.Suite != theirs.Suite:
		return 0, fmt.Errorf("%w: the cipher suites differ; update the older program", ErrIncompatible)
	case ours.ProtoMax < theirs.ProtoMin:
		return 0, fmt.Errorf("%w: this program is older than the opponent's; update it", ErrIncompatible)
	case theirs.ProtoMax < ours.ProtoMin:
		return 0, fmt.Errorf("%w: the opponent's program is older; they have to update it", ErrIncompatible)
	}
	return min(ours.ProtoMax, theirs.ProtoMax), nil
}

// sameData refuses other game data than ours. A program that can tell whose
// versions are older says that instead: then the data differ because of it.
func sameData(cfg *Config, theirs uint64, opponent Hello) error {
	if cfg.DataHash == theirs {
		return nil
	}
	if cfg.Fits != nil {
		if err := cfg.Fits(opponent); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: the game data differ (here %016x, there %016x); both must use the same files", ErrIncompatible, cfg.DataHash, theirs)
}
