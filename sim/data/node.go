package data

import "strings"

// NodeKind names a piece of flow that a ruleset injects into the match (MST-14).
type NodeKind uint8

// The eight nodes.
const (
	MKFinisherWindow NodeKind = iota
	WWEPin
	WWESubmission
	UFCRoundEndScorecard
	SCRingOutTermination
	DJEnvironmentFinisherPrompt
	SFKOReplay
	TekkenRageActivationLockout
	NodeKinds = 8
)

var nodeNames = [NodeKinds]string{"mk-finisher-window", "wwe-pin", "wwe-submission", "ufc-round-end-scorecard", "sc-ring-out-termination",
	"dj-environment-finisher-prompt", "sf-ko-replay", "tekken-rage-activation-lockout"}

// String gives the name used in data files.
func (k NodeKind) String() string {
	if k < NodeKinds {
		return nodeNames[k]
	}
	return "unknown"
}

// phases in the order of the match machine.
var phaseNames = [...]string{"uninitialized", "intro", "round-start", "live", "round-end", "match-end", "finisher-window", "post-match"}

// Node is one injected piece of flow. Frames 0: the ruleset does not have it.
type Node struct {
	Entry  uint8 // bits of the phases in which it may begin
	Exit   uint8 // bits of the phases that end it
	Frames int32
	Blocks bool // fighters do not obey their players meanwhile
}

// parseNode reads a [node KIND] section.
func parseNode(s *section, nodes *[NodeKinds]Node) {
	k := s.among(s.line, "node", s.name, nodeNames[:])
	if nodes[k].Frames != 0 {
		s.fail(s.line, "it stands twice")
	}
	nodes[k] = Node{Entry: s.phases("entry"), Exit: s.phases("exit"), Frames: s.integer("frames", 1, 600),
		Blocks: s.word("blocks-input", []string{"no", "yes"}, true, 0) == 1}
	if nodes[k].Entry&nodes[k].Exit != 0 {
		s.fail(s.line, "a phase both begins and ends it")
	}
}

func (s *section) phases(key string) uint8 {
	e, ok := s.one(key, true)
	if !ok {
		return 0
	}
	var m uint8
	for _, w := range strings.Fields(e.value) {
		m |= 1 << s.among(e.line, key, w, phaseNames[:])
	}
	return m
}
