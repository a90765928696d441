package natpunch

import (
	"testing"

	"backstep/natpunch/rendezvous"
)

// Why the path is no better, in every state of the search.
func TestReason(t *testing.T) {
	const now = 60_000_000
	some := []rendezvous.Candidate{{Kind: rendezvous.CandidateHost}}
	for _, c := range []struct {
		d    directState
		hide bool
		want string
	}{
		{directState{}, false, "a direct path has not been tried yet"},
		{directState{stage: stageHidden, lobbyGone: 1}, true, "a player hides the address"},
		{directState{stage: stageWaiting}, false, "waiting for the opponent's addresses"},
		{directState{stage: stageChecking, theirs: some}, false, "looking for a direct path"},
		{directState{stage: stageFailed, theirs: some}, false, "no direct check was answered"},
		{directState{stage: stageFailed}, false, "the opponent offered no address that could be tried"},
		{directState{stage: stageFailed, theirs: some, ownSymmetric: true, theirSymmetric: true}, false,
			"symmetric NAT on both sides, and no direct check was answered"},
		{directState{stage: stageFailed, theirs: some, ownSymmetric: true}, false, "symmetric NAT on this side, and no direct check was answered"},
		{directState{stage: stageFailed, theirs: some, theirSymmetric: true}, false,
			"symmetric NAT on the opponent's side, and no direct check was answered"},
		{directState{stage: stageLost, theirs: some}, false, "the direct path was lost, looking for a new one"},
		{directState{stage: stageConnected, theirs: some}, false, "a direct path was found and is being tried"},
		// At the end of a match one side leaves the lobby first: that is not why the path was what it was.
		{directState{stage: stageFailed, theirs: some, lobbyGone: now - lobbyEnd}, false, "no direct check was answered"},
		{directState{stage: stageFailed, theirs: some, lobbyGone: now - lobbyEnd - 1}, false,
			"no direct check was answered; without the lobby no new attempt is possible"},
		{directState{stage: stageLost, theirs: some, lobbyGone: 1}, false,
			"the direct path was lost; without the lobby no new attempt is possible"},
	} {
		p := &Paths{policy: newPolicy(16_667), direct: c.d}
		p.cfg.Clock, p.cfg.Hide = func() int64 { return now }, c.hide
		p.policy.setUp(Relay, 0)
		if got := p.Reason(); got != "relayed: "+c.want {
			t.Errorf("stage %d: %q, want %q", c.d.stage, got, c.want)
		}
	}
}
